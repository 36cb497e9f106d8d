"""Pages and JSON paths while the database of tokens and batches is unreachable."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError, ProgrammingError, TimeoutError
from sqlalchemy.pool import Pool

from tests.conftest import PortalFactory
from tests.effort import long
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
from tests.web.json_paths import expect_message
from tests.web.person import Person

pytestmark = pytest.mark.long

AUTH = {"Authorization": PORTAL_TOKEN}
AWAY = {
    "no connection of the pool is free": TimeoutError("QueuePool limit of size 16 reached"),
    "the file is locked": OperationalError(
        "SELECT secret", {}, sqlite3.OperationalError("database is locked")
    ),
}
MESSAGE = "O portal não pode atender a este pedido neste momento. Tente de novo em instantes."


@contextmanager
def away(error: Exception) -> Iterator[None]:
    def fail(_: Pool) -> None:
        raise error

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pool, "connect", fail)
        yield


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal()


def new_batch(here: InProcessPortal) -> str:
    made = here.client.post("/api/v1/batches", json={"plates": ["ABC1D23"]}, headers=AUTH)
    assert made.status_code == 201
    return str(made.get_json()["id"])


def paths(here: InProcessPortal, method: str, batch: str) -> list[str]:
    """Return a path of each route that takes the method."""
    values = {
        "plate": "ABC1D23",
        "text": "ABC1D23",
        "batch": batch,
        "uf": "MG",
        "code": "x",
        "key": "x",
        "number": 1,
    }
    names = {"name": "multas", "ending": "csv"}
    with here.app.test_request_context():
        adapter = here.app.url_map.bind("localhost")
        return [
            adapter.build(rule.endpoint, {**values, **names}, method=method)
            if rule.arguments
            else rule.rule
            for rule in here.app.url_map.iter_rules()
            if method in (rule.methods or ()) and rule.endpoint != "fixed.static_file"
        ]


# One handler answers for both, as the page of batches shows below.
@pytest.mark.parametrize("cause", [next(iter(AWAY)), *long(*list(AWAY)[1:])])
def test_no_page_and_no_json_path_answers_500(here: InProcessPortal, cause: str) -> None:
    ana = Person.at(here).signed_in()
    batch = new_batch(here)
    token = ana.csrf_token()
    with away(AWAY[cause]):
        found = {
            f"{method} {path}": _ask(here, ana, method, path, token).status_code
            for method in ("GET", "POST")
            for path in paths(here, method, batch)
        }
    assert len(found) > 50
    assert {path: status for path, status in found.items() if status in (500, 502)} == {}


def _ask(here: InProcessPortal, ana: Person, method: str, path: str, token: str) -> Any:
    if path.startswith(("/api/", "/detran/")):
        body: dict[str, Any] = {"json": {"plates": ["ABC1D23"]}} if method == "POST" else {}
        return here.client.open(path, method=method, headers=AUTH, **body)
    return ana.client.open(path, method=method, data={"csrf_token": token, "placas": "ABC1D23"})


@pytest.mark.parametrize("cause", AWAY)
def test_batch_page_says_it_and_offers_a_retry(
    here: InProcessPortal, cause: str, caplog: pytest.LogCaptureFixture
) -> None:
    ana = Person.at(here).signed_in()
    with away(AWAY[cause]):
        response = ana.client.get("/lote")
    assert response.status_code == 503
    assert response.headers["Retry-After"] == "1"
    text = response.get_data(as_text=True)
    assert "Indisponível no momento" in text
    assert 'href="/lote"' in text
    assert "secret" not in caplog.text


def test_json_of_batches_says_it(here: InProcessPortal) -> None:
    batch = new_batch(here)
    with away(AWAY["no connection of the pool is free"]):
        for path in ("/api/v1/batches", f"/api/v1/batches/{batch}/results.xlsx"):
            expect_message(here.get(path), 503, MESSAGE)
        expect_message(here.client.post(f"/api/v1/batches/{batch}/start", headers=AUTH), 503)


def test_wrong_statement_stays_500(here: InProcessPortal) -> None:
    """A retry would fail again, so the status is not 503."""
    with away(ProgrammingError("SELECT", {}, sqlite3.ProgrammingError())):
        expect_message(here.get("/api/v1/batches"), 500)
