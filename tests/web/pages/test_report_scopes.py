"""A stored report is shown only to tokens with the scopes of the records it is based on."""

import pytest

from tests.conftest import PortalFactory
from tests.factories import fine, renainf_body, report_body
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
from tests.fakes.wire import Call
from tests.web.json_paths import PLATE, issue
from tests.web.person import Person

WHOLE_PAGE = f"/placa/{PLATE}?completo=1"
SHELL = f"/placa/{PLATE}"
PAPER = f"/placa/{PLATE}/dossie"
PAGES = (WHOLE_PAGE, SHELL, PAPER)
REPORT = "/detran/v1/analytical-reports"
RENAJUD = "/detran/v1/restrictions/renajud"
PARTIAL = "escrito do que havia"
SECRET = "penhora da vara de Betim"


def person(here: InProcessPortal, *scopes: str) -> Person:
    return Person.at(here).signed_in(issue(here, "-".join(scopes), frozenset(scopes)))


def request_report(reader: Person) -> None:
    reader.pages.get(WHOLE_PAGE)
    assert reader.post(f"/placa/{PLATE}/laudo").status_code == 303


def read_by(reader: Person) -> list[str]:
    return [reader.pages.get(path).text for path in PAGES]


def report_naming_its_records(call: Call) -> bytes:
    """A report with the summary PARTIAL if its request names missing lookups, else SECRET."""
    lacking = b"indisponiveis" in call.body
    return report_body(PARTIAL if lacking else SECRET)


@pytest.fixture
def here(portal: PortalFactory, upstream: FaultUpstream) -> InProcessPortal:
    """A portal with a report that was requested by a token with all scopes."""
    upstream.script(REPORT, faults.answer("telling", report_naming_its_records))
    made = portal()
    request_report(Person.at(made).signed_in(PORTAL_TOKEN))
    return made


@pytest.mark.parametrize(
    "scopes",
    [("report",), ("decode", "report"), ("decode", "renainf", "report"), ("decode", "renajud")],
    ids="+".join,
)
def test_report_is_hidden_without_a_scope_of_its_records(
    here: InProcessPortal, scopes: tuple[str, str, str] | tuple[str, str] | tuple[str]
) -> None:
    reader = person(here, *scopes)
    assert not [text for text in read_by(reader) if SECRET in text]


def test_report_is_shown_with_the_scopes_of_its_records(here: InProcessPortal) -> None:
    reader = person(here, "decode", "renainf", "renajud", "report")
    assert [SECRET in text for text in read_by(reader)] == [True, True, True]


def test_report_on_changed_records_requires_all_record_scopes(
    here: InProcessPortal, upstream: FaultUpstream
) -> None:
    upstream.script("/detran/v1/restrictions/renainf", faults.answer("fine", renainf_body(fine())))
    whole = person(here, "decode", "renainf", "renajud", "report", "refresh")
    assert whole.post(f"/placa/{PLATE}/atualizar").status_code == 303
    assert all(SECRET in text for text in read_by(whole))
    partial = person(here, "decode", "renainf", "report")
    assert not any(SECRET in text for text in read_by(partial))


def test_report_on_the_readers_own_records_stays_shown(
    here: InProcessPortal, upstream: FaultUpstream
) -> None:
    reader = person(here, "decode", "renainf", "report")
    request_report(reader)
    assert all(PARTIAL in text for text in read_by(reader))
    calls = upstream.count(REPORT)
    request_report(Person.at(here).signed_in(PORTAL_TOKEN))  # the SECRET report is the newest again
    for text in read_by(reader):
        assert SECRET not in text
        assert PARTIAL in text
    assert upstream.count(REPORT) == calls == 2


def test_report_without_a_failed_lookup_requires_the_other_scopes(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    upstream.script(RENAJUD, faults.status(400))
    here = portal()
    upstream.script(REPORT, faults.answer("telling", report_naming_its_records))
    request_report(Person.at(here).signed_in(PORTAL_TOKEN))
    assert PARTIAL in person(here, "decode", "renainf", "report").pages.get(PAPER).text
    assert PARTIAL not in person(here, "decode", "report").pages.get(PAPER).text
