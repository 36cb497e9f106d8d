"""The deadlines of vehicles' fines as a calendar file (RFC 5545).

The records hold no time of day, so each deadline is an all-day event. An event's UID is made of the
vehicle, the fine and the deadline, and not of the fine's place in the answer: a second import
updates the events of the first. SEQUENCE grows with the time of the answer.
"""

import hashlib
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time, timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from portal import formats
from portal.dossier.dossier import Dossier
from portal.law.assessment import AssessedFine
from portal.law.running_deadlines import running_deadlines
from portal.law.standing import Standing
from portal.phrasebook import deadlines as say
from portal.phrasebook.authorities import appeal_body, code_conflict
from portal.system.local_time import sao_paulo
from portal.vehicle.plate import Plate
from portal.wording import day, listed

if TYPE_CHECKING:
    from icalendar import Component, Event, Journal

# An event takes 18 KB of memory while the calendar is written, and some milliseconds.
MOST_DEADLINES: Final = 2_000
_PRODUCT: Final = "-//Dossie Veicular//Prazos//PT"
_AGENDA: Final = "Prazos dos meus veículos"
_NOTHING_STORED: Final = "Nenhuma resposta guardada sobre multas"
_REFRESH: Final = timedelta(hours=6)
_REFRESH_TEXT: Final = "PT6H"
_MORE: Final = "Veja os prazos na página de cada veículo."
_NOTHING: Final = (
    "Os registros guardados não trazem prazo em curso. Isso não prova que não haja: uma data pode "
    "faltar no registro, e multas do estado e do município podem não aparecer."
)


def deadline_calendar(dossiers: Iterable[Dossier], name: str, today: date) -> bytes | None:
    """Return the calendar of the deadlines from ``today`` on, or None without a readable answer.

    If there are more than MOST_DEADLINES, a journal entry says so, and no further vehicle is read.
    A vehicle without a readable answer is named in a journal entry, as is a calendar without
    deadlines: RFC 5545 allows no calendar without an entry.
    """
    from icalendar import Calendar  # imported when needed: 0.1 s and 3 MB of memory

    calendar = Calendar()
    calendar.add("prodid", _PRODUCT)
    calendar.add("version", "2.0")
    calendar.add("x-wr-calname", name)
    unanswered, moments = [], []

    def events() -> "Iterator[Event]":
        for dossier in dossiers:
            fetched_at = dossier.answers.fines.fetched_at
            if dossier.fines is None or fetched_at is None:
                unanswered.append(dossier.subject.text)
            else:
                moments.append(fetched_at)
                yield from _events(dossier, dossier.fines, fetched_at)

    coming = events()
    for event in islice(coming, MOST_DEADLINES):
        calendar.add_component(event)
    has_more = next(coming, None) is not None
    if not moments:
        return None
    journals = []
    if has_more:
        journals.append((f"Só os primeiros {MOST_DEADLINES} prazos; há mais nos registros", _MORE))
    if unanswered:
        title = f"Sem resposta guardada, fora deste calendário: {listed(unanswered)}"
        journals.append((title, ""))
    elif not calendar.subcomponents:
        journals.append(("Nenhum prazo em curso nos registros", _NOTHING))
    for title, text in journals:
        calendar.add_component(_journal(title, text, today, max(moments)))
    written: bytes = calendar.to_ical()
    return written


def agenda_calendar(dossiers: Iterable[Dossier], today: date) -> bytes:
    """Return the calendar to which a program subscribes, also without any deadline.

    Vehicles without a stored answer are left out, because an owner looks up vehicles without fines
    too.
    """
    from icalendar import Calendar

    deadlines = deadline_calendar(
        (dossier for dossier in dossiers if dossier.fines is not None), _AGENDA, today
    )
    calendar: Any = Calendar.from_ical(deadlines) if deadlines else _empty(today)
    calendar.add("refresh-interval", _REFRESH, {"value": "DURATION"})  # RFC 7986
    calendar.add("x-published-ttl", _REFRESH_TEXT)
    written: bytes = calendar.to_ical()
    return written


def _empty(today: date) -> "Component":
    from icalendar import Calendar

    calendar = Calendar()
    calendar.add("prodid", _PRODUCT)
    calendar.add("version", "2.0")
    calendar.add("x-wr-calname", _AGENDA)
    moment = datetime.combine(today, time(), tzinfo=sao_paulo())
    calendar.add_component(_journal(_NOTHING_STORED, "", today, moment))
    return calendar


def vehicle_calendar(dossier: Dossier) -> bytes | None:
    """Return the calendar of one vehicle, or None without a readable answer about its fines."""
    name = f"Prazos de {dossier.subject.display}"
    return deadline_calendar([dossier], name, dossier.today)


def _events(
    dossier: Dossier, fines: Iterable[AssessedFine], fetched_at: datetime
) -> "Iterator[Event]":
    from icalendar import Event

    seen = set()
    for fine in fines:
        for running in running_deadlines(fine):
            uid = _uid(dossier.subject.text, fine, running.name)
            if uid in seen:  # the source lists some fines twice
                continue
            seen.add(uid)
            title, last_day = say.title(running), running.last_day
            text = say.sentence(running.deadline) if running.deadline else say.toll_note(fine)
            event = Event()
            event.add("uid", uid)
            event.add("dtstart", last_day)
            event.add("dtend", last_day + timedelta(days=1))
            event.add("transp", "TRANSPARENT")
            event.add("summary", f"{_subject(dossier)}: {title} ({_fine_words(fine)})")
            event.add("description", _description(fine, running.name, text, fetched_at))
            _stamp(event, fetched_at)
            yield event


def _uid(subject: str, fine: AssessedFine, key: str) -> str:
    record = fine.record
    # Most answers hide the number of the notice.
    parts = (
        [str(record.notice)]
        if record.notice
        else [
            str(record.code),
            str(record.authority_code or record.authority),
            *(str(record.committed_on_text), str(record.committed_at_text), str(record.place)),
        ]
    )
    digest = hashlib.sha256("\0".join((subject, *parts, key)).encode()).hexdigest()
    return f"{digest[:32]}@dossie-veicular"


def _subject(dossier: Dossier) -> str:
    subject = dossier.subject
    return subject.text if isinstance(subject, Plate) else f"Renavam {subject.text}"


def _fine_words(fine: AssessedFine) -> str:
    committed_on, amount = fine.record.committed_on, fine.amount.value
    what = "autuação" if fine.standing is Standing.NOTICE else "multa"
    parts = [f"{what} de {day(committed_on)}" if committed_on else f"{what} sem data"]
    parts += [formats.brl(amount)] if amount is not None else []
    parts += [fine.issuer.value] if fine.record.authority else []
    return ", ".join(parts).replace("\u00a0", " ")


def _description(fine: AssessedFine, key: str, text: str, fetched_at: datetime) -> str:
    lines = [fine.description, text]
    if key == "appeal" and fine.authority:
        lines.append(f"Quem julga o recurso: {appeal_body(fine.authority)}.")
    lines.append(code_conflict(fine))
    lines.append(
        f"Calculado pelos registros de {formats.moment(fetched_at)}. Confirme na notificação."
    )
    return "\n".join(line for line in lines if line).replace("\u00a0", " ")


def _journal(summary: str, description: str, today: date, fetched_at: datetime) -> "Journal":
    from icalendar import Journal

    journal = Journal()
    journal.add("uid", f"{hashlib.sha256(summary.encode()).hexdigest()[:32]}@dossie-veicular")
    journal.add("dtstart", today)
    journal.add("summary", summary)
    if description:
        journal.add("description", description)
    _stamp(journal, fetched_at)
    return journal


def _stamp(component: "Component", fetched_at: datetime) -> None:
    component.add("dtstamp", fetched_at)
    component.add("sequence", int(fetched_at.timestamp()) // 60)
