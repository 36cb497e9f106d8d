"""Helpers for tests of the JSON API: its paths, messages and error shape."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from portal.access.tokens import SCOPES, Tokens
from portal.phrasebook.api_errors import API_ERRORS
from tests import factories
from tests.fakes import FaultUpstream
from tests.fakes.answers import OPERATIONS, Operation, path_of
from tests.fakes.databases import kept_open
from tests.fakes.in_process import InProcessPortal

PLATE = "ABC1D23"
RENAVAM = "00123456789"
UNAUTHORIZED = "Não autorizado."
FORBIDDEN = "Acesso negado!"
INVALID_PLATE = "Por favor, informe uma placa válida."


@dataclass(frozen=True, slots=True)
class Question:
    """A valid request to one of the JSON paths."""

    operation: Operation
    path: str

    @property
    def method(self) -> str:
        return "POST" if self.operation == "report" else "GET"

    @property
    def options(self) -> dict[str, Any]:
        """The test client's arguments besides the path."""
        if self.operation != "report":
            return {}
        body = factories.report_request(PLATE, {"fato": 1})
        return {"data": body, "content_type": "application/json"}

    def __str__(self) -> str:
        return self.path


QUESTIONS = (
    *(Question(operation, path_of(operation, PLATE)) for operation in OPERATIONS),
    Question("renainf", path_of("renainf", PLATE, "MG")),
    Question("renainf", path_of("renainf", RENAVAM)),
    Question("renajud", path_of("renajud", RENAVAM)),
)


def ask(portal: InProcessPortal, question: Question, **options: Any) -> Any:
    """Send the request; ``options`` override its method and the test client's other arguments."""
    method = options.pop("method", question.method)
    return portal.client.open(question.path, method=method, **{**question.options, **options})


def expect_message(response: Any, status: int, message: str | None = None) -> str:
    """Assert the shape of the contract's or of the portal's own errors; return the text."""
    assert response.status_code == status, (response.status_code, response.get_data(as_text=True))
    assert response.content_type == "application/json"
    assert response.headers["Cache-Control"] == "no-store, private"
    body = response.get_json()
    members = {"message": body["message"]}
    if response.request.path.startswith("/api/v1"):
        assert API_ERRORS[body["code"]].status == status
        members |= {"code": body["code"], "request_id": response.headers["X-Request-Id"]}
        if wait_s := response.headers.get("Retry-After"):
            members["retry_after_s"] = int(wait_s)
    assert body == members
    assert isinstance(body["message"], str)
    assert body["message"]
    if message is not None:
        assert body["message"] == message
    return str(body["message"])


def tokens_of(portal: InProcessPortal) -> Tokens:
    """The portal's tokens over separate connections, as in another process."""
    settings = portal.settings
    database = kept_open(settings.database_url, settings.data_dir)
    return Tokens(database, (), namespace=settings.namespace)


def issue(
    portal: InProcessPortal,
    name: str,
    scopes: frozenset[str] = SCOPES,
    lifetime_s: float | None = None,
    daily_limit: int = 0,
    monthly_budget: Decimal = Decimal(0),
) -> str:
    return tokens_of(portal).issue(name, scopes, lifetime_s, daily_limit, monthly_budget)


@contextmanager
def no_upstream_call(upstream: FaultUpstream) -> Iterator[None]:
    """Assert that no request inside the context reaches the upstream."""
    before = upstream.count()
    yield
    assert upstream.count() == before, upstream.calls[before:]
