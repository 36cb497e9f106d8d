"""Responses to schemathesis's requests match the OpenAPI document."""

from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import CheckContext
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.effort import FULL, cases
from tests.fakes import FaultUpstream
from tests.fakes.in_process import PORTAL_TOKEN, built, managed


def no_server_error(context: CheckContext, response: Any, case: Any) -> None:
    """Check that a status from 500 on is a 504, and only for HEAD or only-if-cached."""
    if response.status_code >= 500:
        assert response.status_code == 504
        directive = (case.headers or {}).get("Cache-Control", "")
        assert case.method == "HEAD" or "only-if-cached" in directive


CHECKS = [
    no_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
]


def test_every_response_conforms_to_openapi(tmp_path: Path) -> None:
    with FaultUpstream() as upstream, built(tmp_path, managed(upstream.url)) as portal:
        document = schemathesis.openapi.from_wsgi("/openapi.json", portal.app)
        operations = [each.ok() for each in document.get_all_operations()]
        assert len(operations) == 60
        for operation in operations:

            @settings(
                max_examples=cases(5, 1_000),
                deadline=None,
                database=None,
                derandomize=not FULL,
                suppress_health_check=list(HealthCheck),
            )
            @given(operation.as_strategy())
            def conforms(case: Any) -> None:
                case.call_and_validate(headers={"Authorization": PORTAL_TOKEN}, checks=CHECKS)

            conforms()
