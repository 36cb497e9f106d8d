"""Responses to generated requests, valid or invalid, match the OpenAPI document."""

from collections import Counter
from ipaddress import ip_address
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, CheckContext
from schemathesis.core.result import Ok

from tests.effort import FULL, cases
from tests.fakes import FaultUpstream
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal, built, managed
from tests.fakes.ports import wait_until

# The only expected 5xx status is 504, for requests that must not cause an upstream call.
EXPECTED = ["2xx", "3xx", "4xx", "504"]
STATES = ("draft", "running", "paused", "done", "cancelled")
# Without a server, schemathesis asks for gzip and does not unpack it.
AUTH = {"Authorization": PORTAL_TOKEN, "Accept-Encoding": "identity"}


def no_server_error(context: CheckContext, response: Any, case: Any) -> None:
    """Check that a 5xx status is a 504 of a request that never asks the upstream."""
    if response.status_code >= 500:
        assert response.status_code == 504
        directive = (case.headers or {}).get("Cache-Control", "")
        is_calendar = case.path.endswith("/deadlines.ics")
        is_cached = "true" in str((case.query or {}).get("cached"))
        assert case.method == "HEAD" or "only-if-cached" in directive or is_calendar or is_cached


@pytest.mark.long  # tests/web/json_api/test_openapi.py has a table of requests and responses
@pytest.mark.upstream
@pytest.mark.parametrize(
    "mode", [GenerationMode.NEGATIVE, GenerationMode.POSITIVE], ids=lambda mode: mode.value
)
def test_every_response_conforms_to_openapi(tmp_path: Path, mode: GenerationMode) -> None:
    """All checks of schemathesis pass on every operation of the document."""
    with FaultUpstream() as upstream, built(tmp_path, managed(upstream.url)) as portal:
        inner = portal.app.wsgi_app
        addresses = map(str, map(ip_address, count(1)))
        # A check expects 401 for each unknown token, so each request has an address of its own.
        portal.app.wsgi_app = lambda environ, start_response: inner(  # type: ignore[method-assign]
            environ | {"REMOTE_ADDR": next(addresses)}, start_response
        )
        document = schemathesis.openapi.from_wsgi("/openapi.json", portal.app)
        document.config.checks.not_a_server_error.expected_statuses = EXPECTED
        checks = [*CHECKS.get_all(), no_server_error]
        assert len(checks) >= 14
        operations = []
        for each in document.get_all_operations():
            assert isinstance(each, Ok)
            operations.append(each.ok())
        assert len(operations) == 103
        assert sum("{batch}" in each.path for each in operations) == 45
        done = batch_in(portal, "done")
        portal.parts.batch_runner.stop()  # the other batches keep their states
        existing = {state: batch_in(portal, state) for state in STATES if state != "done"}
        existing["done"] = done
        tried = Counter[tuple[str, str]]()
        for operation in operations:
            if mode is GenerationMode.NEGATIVE and not can_be_invalid(operation):
                continue
            if operation.path.endswith("/dossiers/verify") and operation.method != "get":
                continue

            # A schema cannot say that a line stands once, or that a day is not in the future.
            is_declaring = operation.path.endswith("/declared") and operation.method == "put"
            if mode is GenerationMode.POSITIVE and is_declaring:
                continue

            @settings(
                max_examples=cases(5, 1_000),
                deadline=None,
                database=None,
                derandomize=not FULL,
                suppress_health_check=list(HealthCheck),
            )
            @given(operation.as_strategy(generation_mode=mode))
            def conforms(case: Any) -> None:
                case.call_and_validate(headers=AUTH, checks=checks)
                if mode is GenerationMode.NEGATIVE or "batch" not in (case.path_parameters or {}):
                    return
                # The generated batch id does not exist, so repeat the request with existing ids.
                for state in STATES:
                    tried[case.operation.label, state] += 1
                    if tried[case.operation.label, state] > cases(1, 50):
                        return
                    is_kept = case.method != "POST" or state == "done"
                    batch = existing[state] if is_kept else batch_in(portal, state)
                    case.path_parameters["batch"] = batch
                    case.call_and_validate(headers=AUTH, checks=checks)

            conforms()


def can_be_invalid(operation: Any) -> bool:
    """Whether a request to the operation can violate its schema."""
    has_input = operation.path_parameters or operation.query or operation.body
    return operation.method != "options" and bool(has_input)


def batch_in(portal: InProcessPortal, state: str) -> str:
    """Create a batch in a state and return its id."""
    body = {"plates": ["ABC1D23", "79831854647", "wrong"], "ask": ["decode", "renainf"]}
    batch = str(_post(portal, "", body)["id"])
    if state == "cancelled":
        _post(portal, f"/{batch}/cancel")
    elif state != "draft":
        _post(portal, f"/{batch}/start")
    if state == "paused":
        _post(portal, f"/{batch}/pause")
    if state == "done":
        wait_until(lambda: _ticked(portal, batch)["state"] == "done", "the end of a batch")
    return batch


def _ticked(portal: InProcessPortal, batch: str) -> Any:
    portal.parts.batch_runner.tick()
    return portal.get(f"/api/v1/batches/{batch}").get_json()


def _post(portal: InProcessPortal, path: str, body: object = None) -> Any:
    response = portal.client.post(f"/api/v1/batches{path}", json=body, headers=AUTH)
    assert response.status_code in (200, 201), response.data
    return response.get_json()
