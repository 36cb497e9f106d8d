"""Each fault in each cache state (cold, stale, fresh), in JSON, and each result on pages.

One portal serves all cases, so each case also shows that the previous case left no state.
"""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from werkzeug.test import TestResponse

from tests import factories
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import Operation, path_of
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal, built, managed, pass_through
from tests.fakes.matrix import BROKEN, GOOD, REFUSED, SLOW, Row, in_turn
from tests.web.person import Person

pytestmark = pytest.mark.upstream

# Long enough for a good answer on a busy machine.
LIMITS = {"FIRST_BYTE_TIMEOUT": "0.5", "CONNECT_TIMEOUT": "0.5", "DEADLINE": "1"}
# With a fresh time of 0 every answer is stale as soon as it is stored.
ALWAYS_STALE = {f"FRESH_{name}": "0" for name in ("DECODE", "RENAINF", "RENAJUD", "REPORT")}
ALWAYS_STALE |= {"STALE_REPORT": "600"}

MESSAGES = {
    404: "A fonte de dados não tem registro para o que foi pedido.",
    502: "A fonte de dados não deu uma resposta válida.",
    503: "A fonte de dados não aceitou o acesso deste portal. Avise quem o opera.",
    504: "A fonte de dados demorou demais para responder.",
}
NO_CREDIT = "A fonte de dados exige pagamento ou saldo. Avise quem contratou o acesso a ela."
NOT_STORED = "Não há resposta guardada para este pedido."
UNAVAILABLE = " — não significa “nada consta”"
PANELS: tuple[Operation, ...] = ("decode", "renainf", "renajud")

# A 429 pauses all later calls to the base address, so it has its own test below.
RARE = [row for row in REFUSED if row.name != "status 429"]
# Generating the gzip bomb takes seconds, so it has its own test too.
BAD = [row for row in BROKEN if not row.name.startswith("gzip bomb")]


# A page knows only the result of a lookup, so one fault stands for each result.
ON_PAGES = {(row.status, row.charge): row for row in reversed((*BAD, *RARE))}.values()
plates = (f"{a}{b}{c}{n}D{m:02}" for a, b, c, n, m in itertools.product(
    "ABCD", "EFGH", "IJKL", range(10), range(100)
))  # fmt: skip


@dataclass
class Setup:
    """A portal and its upstream. Each test requests plates that no other test uses."""

    portal: InProcessPortal
    upstream: FaultUpstream

    def ask(self, operation: Operation, plate: str, **headers: str) -> TestResponse:
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
def set_up(folder: Path, **settings: str) -> Iterator[Setup]:
    with (
        FaultUpstream() as upstream,
        built(
            folder,
            managed(upstream.url) | {f"PORTAL_{name}": value for name, value in settings.items()},
        ) as portal,
    ):
        yield Setup(portal, upstream)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setup]:
    with set_up(tmp_path_factory.mktemp("plain")) as setup:
        yield setup


@pytest.fixture(scope="module")
def stale(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setup]:
    with set_up(tmp_path_factory.mktemp("stale"), **ALWAYS_STALE) as setup:
        yield setup


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setup]:
    """A portal with short time-outs, for the faults without a timely answer."""
    with set_up(tmp_path_factory.mktemp("impatient"), **LIMITS) as setup:
        yield setup


@pytest.fixture(scope="module")
def impatient_stale(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setup]:
    with set_up(tmp_path_factory.mktemp("impatient_stale"), **LIMITS, **ALWAYS_STALE) as setup:
        yield setup


def message_of(response: TestResponse) -> str:
    assert response.content_type == "application/json"
    assert list(response.get_json()) == ["message"]
    return str(response.get_json()["message"])


@pytest.mark.parametrize(("row", "operation"), in_turn((*BAD, *RARE, *GOOD), 0))
def test_fault_without_a_stored_answer_has_its_status(
    plain: Setup, row: Row, operation: Operation
) -> None:
    check_cold(plain, row, operation)


@pytest.mark.parametrize(("row", "operation"), in_turn(SLOW, 0))
def test_slow_answer_without_a_stored_answer_is_504(
    impatient: Setup, row: Row, operation: Operation
) -> None:
    check_cold(impatient, row, operation)


def check_cold(setup: Setup, row: Row, operation: Operation) -> None:
    plate, other = next(plates), next(plates)
    before = setup.upstream.count()
    setup.upstream.script("/", row.fault)
    response = setup.ask(operation, plate)
    setup.upstream.clear()
    assert response.status_code == row.status
    assert setup.upstream.count() == before + 1
    if row.status == 200:
        assert response.headers["Cache-Status"] == "portal; fwd=miss; stored"
    elif row.status == 400:
        assert message_of(response) == factories.MESSAGES[400]
    else:
        expected = NO_CREDIT if "402" in row.name else MESSAGES[row.status]
        assert message_of(response) == expected
    again = setup.ask(operation, plate, **{"Cache-Control": "only-if-cached"})
    if row.status in (200, 400, 404):
        assert (again.status_code, again.data) == (row.status, response.data)
    else:
        assert (again.status_code, message_of(again)) == (504, NOT_STORED)
    clean = setup.ask(operation, other)
    assert clean.status_code == 200
    assert setup.upstream.count() == before + 2


@pytest.mark.parametrize(("row", "operation"), in_turn((*BAD, *RARE, *GOOD), 1))
def test_fault_serves_the_stale_copy(stale: Setup, row: Row, operation: Operation) -> None:
    check_stale(stale, row, operation)


@pytest.mark.parametrize(("row", "operation"), in_turn(SLOW, 1))
def test_slow_answer_serves_the_stale_copy(
    impatient_stale: Setup, row: Row, operation: Operation
) -> None:
    check_stale(impatient_stale, row, operation)


def check_stale(setup: Setup, row: Row, operation: Operation) -> None:
    plate, other = next(plates), next(plates)
    good = setup.ask(operation, plate)
    assert good.status_code == 200
    before = setup.upstream.count()
    setup.upstream.script("/", row.fault)
    response = setup.ask(operation, plate)
    assert setup.upstream.count() == before + 1
    if row.status in (200, 400, 404):
        assert response.status_code == row.status
    else:
        assert (response.status_code, response.data) == (200, good.data)
        assert response.headers["Cache-Status"] == "portal; fwd=stale"
    setup.upstream.script("/", faults.status(500))
    still = setup.ask(operation, plate)
    if row.status in (400, 404):
        assert still.status_code == row.status
    elif row.name != "empty result":  # an empty result is never served stale
        assert still.status_code == 200
        assert still.data == (response.data if row.status == 200 else good.data)
    setup.upstream.clear()
    assert setup.ask(operation, other).status_code == 200


@pytest.mark.parametrize("operation", ["decode", "renainf", "renajud", "report"])
def test_fresh_answer_is_served_without_an_upstream_call(
    plain: Setup, operation: Operation
) -> None:
    plate = next(plates)
    good = plain.ask(operation, plate)
    before = plain.upstream.count()
    for row in (*SLOW, *BROKEN):
        plain.upstream.script("/", row.fault)
        assert plain.ask(operation, plate).data == good.data
    plain.upstream.clear()
    assert plain.upstream.count() == before


@pytest.mark.parametrize("operation", PANELS)
@pytest.mark.parametrize("row", ON_PAGES, ids=str)
def test_page_shows_a_fault_as_unavailable_not_as_no_record(
    plain: Setup, row: Row, operation: Operation
) -> None:
    check_page(plain, row, operation)


@pytest.mark.parametrize("operation", PANELS)
@pytest.mark.parametrize("row", [SLOW[0], SLOW[3]], ids=str)
def test_page_shows_a_slow_answer_as_unavailable(
    impatient: Setup, row: Row, operation: Operation
) -> None:
    check_page(impatient, row, operation)


def check_page(setup: Setup, row: Row, operation: Operation) -> None:
    """Check that only the failed operation's panel is affected."""
    plate = next(plates)
    setup.upstream.script(path_of(operation, plate), row.fault)
    page = Person.at(setup.portal).signed_in().client.get(f"/placa/{plate}?completo=1")
    setup.upstream.clear()
    assert page.status_code == 200
    html = page.get_data(as_text=True)
    assert UNAVAILABLE in html
    assert html.rstrip().endswith("</html>")
    for name, words in {"decode": "SED.1.8", "renainf": "130,16", "renajud": "TJMG"}.items():
        assert (words in html) == (name != operation), name


def test_gzip_bomb_is_rejected(plain: Setup) -> None:
    check_cold(plain, next(row for row in BROKEN if row.name.startswith("gzip bomb")), "renainf")


def test_429_pauses_the_address_and_sets_retry_after(tmp_path: Path) -> None:
    with set_up(tmp_path) as setup:
        setup.upstream.once("/", faults.status(429, retry_after="7"))
        first = setup.ask("decode", "ABC1D23")
        assert (first.status_code, first.headers["Retry-After"]) == (503, "7")
        second = setup.ask("decode", "DEF4G56")
        assert second.status_code == 503
        assert 1 <= int(second.headers["Retry-After"]) <= 7
        assert setup.upstream.count() == 1


@pytest.mark.parametrize("text", ["900000", "9" * 30, "Fri, 31 Dec 2060 23:59:59 GMT"])
@pytest.mark.parametrize(("settings", "status"), [(managed, 503), (pass_through, 429)])
def test_retry_after_is_the_portals_own_pause(
    tmp_path: Path, text: str, settings: Callable[[str], dict[str, str]], status: int
) -> None:
    """The portal asks a base address again after at most a minute, whatever Retry-After says."""
    with FaultUpstream() as upstream, built(tmp_path, settings(upstream.url)) as portal:
        upstream.once("/", faults.status(429, retry_after=text))
        first = portal.get(path_of("decode"))
        assert (first.status_code, first.headers["Retry-After"]) == (status, "60")
        second = portal.get(path_of("decode", "DEF4G56"))
        assert 55 <= int(second.headers["Retry-After"]) <= 60
        assert upstream.count() == 1


def test_refused_connections_are_503_not_an_empty_record(tmp_path: Path) -> None:
    with set_up(tmp_path) as setup:
        setup.upstream.stop()
        for number in range(8):
            response = setup.ask("renajud", f"ABC1D{number:02}")
            assert response.status_code == 503
            assert int(response.headers["Retry-After"]) >= 1
            assert "nada consta" not in message_of(response).lower()
        setup.upstream.start()
