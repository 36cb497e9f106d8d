"""The fault matrix: fault × operation × cold, stale, fresh, for scripts and for people.

One portal serves all rows, so that each also shows that the one before left nothing behind.
"""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from tests import factories
from tests.effort import FULL
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import Operation, path_of
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal, built, managed
from tests.fakes.matrix import BROKEN, GOOD, REFUSED, SLOW, Row
from tests.web.person import Person

# Long enough for the good answers that a row needs, also on a busy machine.
LIMITS = {"FIRST_BYTE_TIMEOUT": "1.5", "CONNECT_TIMEOUT": "1.5", "DEADLINE": "3"}
# With no fresh time every answer is stale as soon as it is stored.
ALWAYS_STALE = {f"FRESH_{name}": "0" for name in ("DECODE", "RENAINF", "RENAJUD", "REPORT")}
ALWAYS_STALE |= {"STALE_REPORT": "600"}

MESSAGES = {
    404: "A fonte de dados não tem registro para o que foi pedido.",
    502: "A fonte de dados não deu uma resposta válida.",
    503: "A fonte de dados não aceitou o acesso deste portal. Avise quem o opera.",
    504: "A fonte de dados demorou demais para responder.",
}
NOT_STORED = "Não há resposta guardada para este pedido."
UNAVAILABLE = " — não significa “nada consta”"
PAGE_NAMES = {"decode": "panel-veiculo", "renainf": "panel-multas", "renajud": "panel-restricoes"}

# A 429 pauses the base address for everybody after it; it has a test of its own below.
RARE = [row for row in REFUSED if row.name != "status 429"]
# Making the bomb takes longer than these portals wait; it has its own test, too.
BAD = [row for row in BROKEN if not row.name.startswith("gzip bomb")]


def cases(*rows: Row):
    return [
        pytest.param(row, operation, id=f"{row}-{operation}")
        for row in rows
        for operation in row.tested
    ]


def page_cases(*rows: Row):
    """Each row in one of the panels it concerns, in turn, or in all of them with FUZZ=full."""
    found = []
    for number, row in enumerate(rows):
        panels = [name for name in PAGE_NAMES if name in row.operations]
        for name in panels if FULL else [panels[number % len(panels)]]:
            found.append(pytest.param(row, name, id=f"{row}-{name}"))
    return found


QUICK = cases(*BAD, *RARE, *GOOD)
plates = (f"{a}{b}{c}{n}D{m:02}" for a, b, c, n, m in itertools.product(
    "ABCD", "EFGH", "IJKL", range(10), range(100)
))  # fmt: skip


@dataclass
class Place:
    """A portal in front of an upstream, with questions that no other test has asked."""

    portal: InProcessPortal
    upstream: FaultUpstream

    def ask(self, operation: Operation, plate: str, **headers: str):
        path = path_of(operation, plate)
        if operation != "report":
            return self.portal.get(path, headers=headers)
        return self.portal.client.post(
            path,
            data=factories.report_request(plate),
            content_type="application/json",
            headers={"Authorization": PORTAL_TOKEN, **headers},
        )


@contextmanager
def place(folder, **settings: str) -> Iterator[Place]:
    with (
        FaultUpstream() as upstream,
        built(
            folder,
            managed(upstream.url) | {f"PORTAL_{name}": value for name, value in settings.items()},
        ) as portal,
    ):
        yield Place(portal, upstream)


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> Iterator[Place]:
    with place(tmp_path_factory.mktemp("plain")) as made:
        yield made


@pytest.fixture(scope="module")
def stale(tmp_path_factory) -> Iterator[Place]:
    with place(tmp_path_factory.mktemp("stale"), **ALWAYS_STALE) as made:
        yield made


@pytest.fixture(scope="module")
def hasty(tmp_path_factory) -> Iterator[Place]:
    """With a short patience, for the rows that outlast any."""
    with place(tmp_path_factory.mktemp("hasty"), **LIMITS) as made:
        yield made


@pytest.fixture(scope="module")
def hasty_stale(tmp_path_factory) -> Iterator[Place]:
    with place(tmp_path_factory.mktemp("hasty_stale"), **LIMITS, **ALWAYS_STALE) as made:
        yield made


def told(response) -> str:
    assert response.content_type == "application/json"
    assert list(response.get_json()) == ["message"]
    return response.get_json()["message"]


@pytest.mark.parametrize(("row", "operation"), QUICK)
def test_with_nothing_stored_a_fault_has_its_status_and_message_and_is_not_stored(
    plain: Place, row: Row, operation
):
    met_cold(plain, row, operation)


@pytest.mark.parametrize(("row", "operation"), cases(*SLOW))
def test_with_nothing_stored_a_slow_answer_is_504(hasty: Place, row: Row, operation):
    met_cold(hasty, row, operation)


def met_cold(here: Place, row: Row, operation: Operation) -> None:
    plate, other = next(plates), next(plates)
    before = here.upstream.count()
    here.upstream.script("/", row.fault)
    response = here.ask(operation, plate)
    here.upstream.clear()
    assert response.status_code == row.status
    assert here.upstream.count() == before + 1
    if row.status == 200:
        assert response.headers["Cache-Status"] == "portal; fwd=miss; stored"
    elif row.status == 400:
        assert told(response) == factories.MESSAGES[400]
    else:
        assert told(response) == MESSAGES[row.status]
    again = here.ask(operation, plate, **{"Cache-Control": "only-if-cached"})
    if row.status in (200, 400):
        assert (again.status_code, again.data) == (row.status, response.data)
    else:
        assert (again.status_code, told(again)) == (504, NOT_STORED)
    clean = here.ask(operation, other)
    assert clean.status_code == 200
    assert here.upstream.count() == before + 2


@pytest.mark.parametrize(("row", "operation"), QUICK)
def test_with_a_stale_copy_a_fault_serves_it_and_says_so(stale: Place, row: Row, operation):
    met_stale(stale, row, operation)


@pytest.mark.parametrize(("row", "operation"), cases(*SLOW))
def test_with_a_stale_copy_a_slow_answer_serves_it(hasty_stale: Place, row: Row, operation):
    met_stale(hasty_stale, row, operation)


def met_stale(here: Place, row: Row, operation: Operation) -> None:
    plate, other = next(plates), next(plates)
    good = here.ask(operation, plate)
    assert good.status_code == 200
    before = here.upstream.count()
    here.upstream.script("/", row.fault)
    response = here.ask(operation, plate)
    assert here.upstream.count() == before + 1
    if row.status in (200, 400, 404):
        assert response.status_code == row.status
    else:
        assert (response.status_code, response.data) == (200, good.data)
        assert response.headers["Cache-Status"] == "portal; fwd=stale"
    here.upstream.script("/", faults.status(500))
    still = here.ask(operation, plate)
    if row.status in (400, 404):  # a rejection is remembered, and so is a failure, for a moment
        assert still.status_code == row.status
    elif row.name != "empty result":  # which is never served stale
        assert still.status_code == 200
        assert still.data == (response.data if row.status == 200 else good.data)
    here.upstream.clear()
    assert here.ask(operation, other).status_code == 200


@pytest.mark.parametrize("operation", ["decode", "renainf", "renajud", "report"])
def test_with_a_fresh_answer_no_fault_is_ever_met(plain: Place, operation):
    plate = next(plates)
    good = plain.ask(operation, plate)
    before = plain.upstream.count()
    for row in (*SLOW, *BROKEN):
        plain.upstream.script("/", row.fault)
        assert plain.ask(operation, plate).data == good.data
    plain.upstream.clear()
    assert plain.upstream.count() == before


@pytest.mark.parametrize(("row", "operation"), page_cases(*BAD, *RARE))
def test_on_a_page_a_fault_reads_unavailable_and_never_like_a_clean_record(
    plain: Place, row: Row, operation
):
    met_by_a_person(plain, row, operation)


@pytest.mark.parametrize("operation", PAGE_NAMES)
@pytest.mark.parametrize("row", [SLOW[0], SLOW[3]], ids=str)
def test_on_a_page_a_slow_answer_reads_unavailable(hasty: Place, row: Row, operation):
    met_by_a_person(hasty, row, operation)


def met_by_a_person(here: Place, row: Row, operation: Operation) -> None:
    """The other two panels stand as ever."""
    plate = next(plates)
    here.upstream.script(path_of(operation, plate), row.fault)
    page = Person.at(here.portal).signed_in().client.get(f"/placa/{plate}?completo=1")
    here.upstream.clear()
    assert page.status_code == 200
    html = page.get_data(as_text=True)
    assert UNAVAILABLE in html
    assert html.rstrip().endswith("</html>")
    for name, words in {"decode": "SED.1.8", "renainf": "130,16", "renajud": "TJMG"}.items():
        assert (words in html) == (name != operation), name


@pytest.mark.parametrize("operation", ["decode", "renainf", "renajud", "report"])
def test_a_gzip_bomb_is_no_answer(plain: Place, operation):
    met_cold(plain, next(row for row in BROKEN if row.name.startswith("gzip bomb")), operation)


def test_429_pauses_the_address_and_tells_until_when(tmp_path):
    with place(tmp_path) as made:
        made.upstream.once("/", faults.status(429, retry_after="7"))
        first = made.ask("decode", "ABC1D23")
        assert (first.status_code, first.headers["Retry-After"]) == (503, "7")
        second = made.ask("decode", "DEF4G56")
        assert second.status_code == 503
        assert 1 <= int(second.headers["Retry-After"]) <= 7
        assert made.upstream.count() == 1


def test_refused_by_both_addresses_is_503_at_once_and_no_empty_record_is_invented(tmp_path):
    with place(tmp_path) as made:
        made.upstream.stop()
        for number in range(8):
            response = made.ask("renajud", f"ABC1D{number:02}")
            assert response.status_code == 503
            assert int(response.headers["Retry-After"]) >= 1
            assert "nada consta" not in told(response).lower()
        made.upstream.start()
