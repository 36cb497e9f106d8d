"""Unknown query parameters and members of bodies under ``/api/v1``."""

from inspect import signature
from typing import Any

import pytest

from portal.web.json_api.calls import PARAMETERS
from portal.web.json_api.openapi import declared
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
from tests.web.json_paths import PLATE, QUESTIONS, no_upstream_call

AUTH = {"Authorization": PORTAL_TOKEN}
BATCHES = "/api/v1/batches"


def refused(response: Any, name: str) -> str:
    """Assert that the response refuses the parameter ``name``. Return its message."""
    assert response.status_code == 400, response.data
    found = response.get_json()
    assert found["code"] == "parameter_unknown"
    assert f"“{name}”" in found["message"]
    return str(found["message"])


def new_batch(here: InProcessPortal) -> str:
    created = here.client.post(BATCHES, json={"plates": [PLATE]}, headers=AUTH)
    return f"{BATCHES}/{created.get_json()['id']}"


def test_mistyped_parameter_of_every_path_is_refused_before_anything_is_asked(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    batch = new_batch(here)
    tried = 0
    for rule in here.app.url_map.iter_rules():
        if not rule.rule.startswith("/api/v1/"):
            continue
        path = rule.rule.replace(BATCHES + "/<batch>", batch).replace("<plate>", PLATE)
        for method in {"GET", "POST"} & (rule.methods or set()):
            with no_upstream_call(upstream):
                response = here.client.open(f"{path}?aks=decode", method=method, headers=AUTH)
            refused(response, "aks")
            tried += 1
    assert tried >= 17
    assert here.get(batch).get_json()["state"] == "draft"


def test_message_suggests_the_parameter_that_was_probably_meant(portal: PortalFactory) -> None:
    here = portal()
    path = f"/api/v1/vehicles/{PLATE}"
    assert refused(here.get(f"{path}?aks=decode"), "aks").endswith("Quis dizer “ask”?")
    assert "Quis dizer" not in refused(here.get(f"{path}?verbose=1"), "verbose")
    assert refused(here.get(f"{path}?{'x' * 500}=1"), "x" * 40)


@pytest.mark.parametrize("path", ["", "/start", "/pause", "/cancel"])
def test_unknown_member_of_a_body_is_refused(
    portal: PortalFactory, upstream: FaultUpstream, path: str
) -> None:
    here = portal()
    batch = new_batch(here)
    address, body = (f"{batch}{path}", {}) if path else (BATCHES, {"plates": [PLATE]})
    with no_upstream_call(upstream):
        response = here.client.post(address, json={**body, "aks": ["decode"]}, headers=AUTH)
    refused(response, "aks")
    assert here.get(batch).get_json()["state"] == "draft"
    assert len(here.get(BATCHES).get_json()["batches"]) == 1


@pytest.mark.parametrize("body", [{}, {"json": {}}, {"data": b""}])
def test_batch_starts_with_and_without_an_empty_body(
    portal: PortalFactory, body: dict[str, Any]
) -> None:
    here = portal()
    assert here.client.post(f"{new_batch(here)}/start", headers=AUTH, **body).status_code == 200


def test_credential_is_judged_before_parameters(portal: PortalFactory) -> None:
    here = portal()
    path = f"/api/v1/vehicles/{PLATE}?aks=decode"
    assert here.get(path, token=None).status_code == 401
    assert here.get(f"{path}&at=unknown", token=None).status_code == 401
    assert here.get(f"/api/v1/vehicles/{PLATE}?at={PORTAL_TOKEN}", token=None).status_code == 200


def test_upstreams_paths_tolerate_a_cache_buster(portal: PortalFactory) -> None:
    here = portal()
    assert here.get(f"{QUESTIONS[0].path}?_=99").status_code == 200


def test_each_declared_parameter_reaches_its_view(portal: PortalFactory) -> None:
    """The OpenAPI document alone declares which parameters a path has."""
    here = portal({})
    seen: set[str] = set()
    for rule in here.app.url_map.iter_rules():
        methods = rule.methods or set()
        if not rule.endpoint.startswith("own_api.") or "GET" not in methods:
            continue
        view: Any = here.app.view_functions[rule.endpoint]
        taken = signature(view.func).parameters.keys()
        names = declared(rule.rule, "GET").parameters - {"at", "cached"}
        assert names <= taken & PARAMETERS.keys(), rule
        seen |= names
    assert {"ask", "after", "dialect", "expired", "plates", "since", "wait"} <= seen
