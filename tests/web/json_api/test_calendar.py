"""Deadlines as calendars, read by the libraries "icalendar" and "ical", and by a strict reader."""

from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import Any

import pytest
from ical.calendar_stream import IcsCalendarStream

from portal.dossier.dossier import Dossier
from portal.presentation.exports.calendar import deadline_calendar
from tests.conftest import PortalFactory
from tests.factories import Record, fine, payment, renainf_body
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import PORTAL_TOKEN
from tests.hostile.strings import STRINGS
from tests.presentation.rendering import CONTEXT, NOW, PLATE, UNASKED_PANELS, answered, panels
from tests.web.calendar_reader import Entry, read_calendar
from tests.web.json_paths import expect_message, issue, no_upstream_call
from tests.web.page_client import PageClient

icalendar: Any = pytest.importorskip("icalendar")

DEADLINES = f"/api/v1/vehicles/{PLATE}/deadlines.ics"
FINES = f"/detran/v1/restrictions/renainf/{PLATE}"
NOTICE = fine(dataInfracao="10/10/2026", dataEmissaoNotificacao="01/11/2026")
PENALTY = fine(
    dataInfracao="10/05/2026",
    dataEmissaoNotificacao="01/06/2026",
    dataEmissaoPenalidade="10/11/2026",
)


def calendar(*fines: Record, age: timedelta = timedelta(minutes=3)) -> bytes:
    answer = answered(renainf_body(*fines), age=age)
    found = panels()
    dossier = CONTEXT.dossier(PLATE, type(found)(found.vehicle, answer, found.orders))
    written = deadline_calendar([dossier], "Prazos", CONTEXT.today)
    assert written is not None
    return written


def events(*fines: Record) -> list[Entry]:
    """Return the events in which the readers agree."""
    content = calendar(*fines)
    strict = read_calendar(content)[1]
    library = icalendar.Calendar.from_ical(content).subcomponents
    assert len(strict) == len(library)
    for (kind, entry), other in zip(strict, library, strict=True):
        assert kind == other.name
        assert entry["UID"] == other["UID"]
        assert entry["SUMMARY"] == other["SUMMARY"]
        assert entry["DTSTART"] == other["DTSTART"].dt
        assert entry["DTSTAMP"] == other["DTSTAMP"].dt
        if kind == "VEVENT":
            assert entry["DTEND"] == other["DTEND"].dt == other["DTSTART"].dt + timedelta(days=1)
    found = [entry for kind, entry in strict if kind == "VEVENT"]
    read = IcsCalendarStream.calendar_from_ics(content.decode()).events
    assert [(each.uid, each.summary, each.dtstart) for each in read] == [
        (each["UID"], each["SUMMARY"], each["DTSTART"]) for each in found
    ]
    return found


def days(*fines: Record) -> dict[str, date]:
    """Return the last days by the name of the deadline."""
    found = {}
    for event in events(*fines):
        name = str(event["SUMMARY"]).split(": ")[1].split(" (")[0]
        found[name] = event["DTSTART"]
    return found  # type: ignore[return-value]


def test_notice_has_defence_nomination_penalty_and_prescription() -> None:
    assert all("(autuação de 10/10/2026" in str(event["SUMMARY"]) for event in events(NOTICE))
    assert days(NOTICE) == {
        "último dia, no mínimo, para a defesa prévia": date(2026, 12, 1),
        "último dia, no mínimo, para indicar o condutor": date(2026, 12, 1),
        "limite para aplicar a penalidade, se não houve defesa": date(2027, 4, 8),
        "em regra, prescreve": date(2031, 10, 10),
    }


def test_penalty_has_appeal_and_prescription() -> None:
    assert all("(multa de 10/05/2026" in str(event["SUMMARY"]) for event in events(PENALTY))
    assert days(PENALTY) == {
        "último dia, no mínimo, para recorrer ou pagar com desconto": date(2026, 12, 10),
        "em regra, prescreve": date(2031, 12, 10),
    }


def test_toll_has_a_day_until_which_it_alone_may_be_owed() -> None:
    toll = fine(codigoInfracao="77301", valor="195.23", descricao="", dataInfracao="10/10/2026")
    assert days(toll)[
        "talvez o último dia para quitar só o pedágio; confira se ainda vale"
    ] == date(2026, 12, 30)
    (event,) = [each for each in events(toll) if "pedágio" in str(each["SUMMARY"])]
    assert "A tarifa é outra dívida" in str(event["DESCRIPTION"])


@pytest.mark.parametrize(
    ("penalty", "last"),
    [
        # A Saturday, and Christmas before a weekend.
        ("29/10/2026", "2026-11-30"),
        ("25/11/2026", "2026-12-28"),
    ],
)
def test_last_day_without_office_hours_moves(penalty: str, last: str) -> None:
    today = date(2026, 11, 26)
    answer = answered(renainf_body(fine(dataEmissaoPenalidade=penalty)))
    found = panels()
    context = CONTEXT.dossier(PLATE, type(found)(found.vehicle, answer, found.orders))
    dossier = type(context)(PLATE, context.answers, today, CONTEXT.marker)
    written = deadline_calendar([dossier], "Prazos", today)
    assert written is not None
    (first, *_) = read_calendar(written)[1]
    assert first[1]["DTSTART"] == date.fromisoformat(last)


@pytest.mark.parametrize(
    "record",
    [
        fine(pagamento=payment(dataPagamento="01/11/2026", valorPago="130")),
        fine(tipo="CANCELADA"),
        fine(dataInfracao="", dataEmissaoNotificacao=""),
        fine(dataInfracao="10/01/2015", dataEmissaoNotificacao="", dataEmissaoPenalidade=""),
    ],
)
def test_fine_without_running_deadline_has_no_event(record: Record) -> None:
    assert events(record) == []
    ((kind, entry),) = read_calendar(calendar(record))[1]
    assert kind == "VJOURNAL"
    assert "não prova que não haja" in str(entry["DESCRIPTION"])


def uids(entries: Iterable[Entry]) -> set[str]:
    return {str(entry["UID"]) for entry in entries}


def test_second_import_updates_the_first() -> None:
    """UIDs depend neither on the order of fines nor on the age of the answer."""
    first = events(NOTICE, PENALTY)
    assert len(uids(first)) == len(first)
    assert uids(events(PENALTY, NOTICE)) == uids(first)
    older = read_calendar(calendar(NOTICE, age=timedelta(days=2)))[1][0][1]
    newer = read_calendar(calendar(NOTICE))[1][0][1]
    assert older["UID"] == newer["UID"]
    assert int(str(older["SEQUENCE"])) < int(str(newer["SEQUENCE"]))
    assert older["DTSTAMP"] == NOW - timedelta(days=2)
    # The end of the prescription moves with the penalty, and keeps its event.
    penalised = NOTICE | {"dataEmissaoPenalidade": "15/11/2026"}
    assert len(uids(events(NOTICE)) & uids(events(penalised))) == 1


def test_fine_that_is_listed_twice_has_its_events_once() -> None:
    assert events(NOTICE, NOTICE) == events(NOTICE)


@pytest.mark.parametrize("string", STRINGS, ids=lambda each: repr(each)[:30])
def test_no_text_breaks_the_file(string: str) -> None:
    hostile = {"orgaoAutuador": string, "descricao": string, "localInfracao": string}
    assert len(events(NOTICE | hostile)) == 4


def test_calendar_never_asks_and_needs_a_stored_answer(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    with no_upstream_call(upstream):
        expect_message(here.get(DEADLINES), 504)
        assert here.client.head(DEADLINES, headers=auth()).status_code == 504
    here.get(FINES)
    with no_upstream_call(upstream):
        response = here.get(DEADLINES)
        head = here.client.head(DEADLINES, headers=auth())
    assert response.status_code == head.status_code == 200
    assert response.headers["Content-Type"] == "text/calendar; charset=utf-8"
    disposition = f'attachment; filename="{PLATE}-prazos.ics"'
    assert response.headers["Content-Disposition"] == disposition
    assert response.headers["Cache-Status"].startswith("portal; hit; ttl=")
    assert {"Age", "Cache-Status", "Content-Disposition"} <= {*head.headers.keys()}
    assert head.data == b""
    assert read_calendar(response.data)[1]
    options = here.client.options(DEADLINES)
    assert (options.status_code, options.headers["Allow"]) == (204, "GET, HEAD, OPTIONS")


def auth(token: str = PORTAL_TOKEN) -> dict[str, str]:
    return {"Authorization": token}


def test_stale_answer_is_said_to_be_stale(portal: PortalFactory, upstream: FaultUpstream) -> None:
    here = portal(FRESH_RENAINF="0")
    here.get(FINES)
    upstream.default(faults.status(500))
    assert here.get(DEADLINES).headers["Cache-Status"] == "portal; fwd=stale"


def test_order_of_judgement(portal: PortalFactory) -> None:
    here = portal()
    wrong = "/api/v1/vehicles/ABC/deadlines.ics"
    expect_message(here.client.get(wrong), 401)
    without = issue(here, "decode-only", scopes=frozenset(("decode",)))
    expect_message(here.client.get(wrong, headers=auth(without)), 403)
    expect_message(here.get(wrong), 400)
    assert here.get(f"{DEADLINES}?dialect=brazil").get_json()["code"] == "parameter_unknown"
    expect_message(here.client.post(DEADLINES, headers=auth()), 405)


def test_batch_has_the_deadlines_of_all_plates(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    body = {"plates": [str(PLATE), "LMP0A01"], "ask": ["renainf"]}
    batch = here.client.post("/api/v1/batches", json=body, headers=auth()).get_json()["id"]
    path = f"/api/v1/batches/{batch}/deadlines.ics"
    with no_upstream_call(upstream):
        expect_message(here.get(path), 504)
        expect_message(here.client.get(path, headers=auth(issue(here, "other"))), 404)
    here.get(FINES)
    with no_upstream_call(upstream):
        response = here.get(path)
    assert response.headers["Content-Type"] == "text/calendar; charset=utf-8"
    name, entries = read_calendar(response.data)
    assert name == f"Prazos do lote {batch[:8]}"
    assert "LMP0A01" in str(entries[-1][1]["SUMMARY"])  # named, because it has no answer
    assert entries[-1][0] == "VJOURNAL"


def test_page_has_a_link_and_the_file_a_phone_opens(portal: PortalFactory) -> None:
    anyone = PageClient(portal({}).client)
    early = anyone.client.get("/placa/ABC1D23/prazos.ics")
    assert early.status_code == 404
    assert "Isto não significa que não haja multa" in early.get_data(as_text=True)
    page = anyone.get("/placa/ABC1D23?completo=1")
    (link,) = page.all("a", href="/placa/ABC1D23/prazos.ics")
    response = anyone.client.get(str(link.get("href")))
    assert response.headers["Content-Disposition"].startswith("inline; ")
    assert read_calendar(response.data)[0] == "Prazos de ABC1D23"
    moved = anyone.client.get("/placa/abc-1d23/prazos.ics")
    assert (moved.status_code, moved.headers["Location"]) == (308, "/placa/ABC1D23/prazos.ics")


def test_vehicle_without_answers_gives_no_calendar() -> None:
    assert deadline_calendar([CONTEXT.dossier(PLATE, UNASKED_PANELS)], "", CONTEXT.today) is None


def test_calendar_of_too_many_deadlines_says_so_and_reads_no_further_vehicle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fines = [fine(autoInfracao=f"A{number}", dataInfracao="10/11/2026") for number in range(9)]
    one = CONTEXT.dossier(PLATE, panels(renainf=renainf_body(*fines)))

    def dossiers() -> Iterator[Dossier]:
        yield one
        raise AssertionError("a further vehicle is read")

    whole = deadline_calendar([one], "Prazos", CONTEXT.today)
    assert whole is not None and b"VJOURNAL" not in whole
    monkeypatch.setattr("portal.presentation.exports.calendar.MOST_DEADLINES", 7)
    cut = deadline_calendar(dossiers(), "Prazos", CONTEXT.today)
    assert cut is not None
    assert cut.count(b"BEGIN:VEVENT") == 7 < whole.count(b"BEGIN:VEVENT")
    assert "Só os primeiros 7 prazos" in cut.decode()
