"""The picture of a fine's deadlines until the fine is paid or lapses.

The date of a step is in the record, is computed from the record, is hidden by the source, or is
missing. The line from one step to the next shows how much of the legal period between them has
passed.
"""

from collections.abc import Iterator
from datetime import date
from typing import Literal, NamedTuple

from msgspec import Struct

from portal import formats
from portal.law.assessment import AssessedFine
from portal.law.deadlines import Deadline
from portal.law.standing import Standing
from portal.phrasebook import deadlines as say
from portal.vehicle.field import Field
from portal.wording import counted, since

DateMark = Literal["recorded", "computed", "hidden", "missing"]
Line = Literal["solid", "dashed", "dotted"]


class Leg(Struct, frozen=True):
    """The line from a step to the next one.

    ``used`` is the percentage of the legal period that passed before the next step, or None if
    unknown. If the next step is in the future, ``used`` counts until today.
    ``line`` is the style of the unused part. It depends on the date of the next step: solid if the
    record has this date, dotted if the source hides it, dashed if it is computed or missing.
    ``has_today`` adds a tick for today at the end of the used part.
    """

    used: int | None
    words: str
    line: Line
    is_late: bool = False
    has_today: bool = False


class DeadlineStep(NamedTuple):
    """A step. ``passed`` says how long ago a computed day has passed, or is ""."""

    name: str
    when: str
    mark: DateMark
    note: str
    leg: Leg | None
    passed: str = ""


def deadline_steps(law: AssessedFine) -> tuple[DeadlineStep, ...]:
    fine, today = law.record, law.today
    committed = _recorded(fine.committed_on, fine.committed_on_text)
    notified = _recorded(fine.notified_on, fine.notified_on_text)
    penalty = _recorded(fine.penalty_on, fine.penalty_on_text)
    paid = _recorded(fine.paid_on, fine.paid_on_text) if law.is_paid else None
    at = "" if fine.committed_at is None else f"{fine.committed_at:%H:%M}"
    awaits = law.standing is Standing.NOTICE and penalty[1] == "missing"
    start = fine.committed_on
    used = _until_today(law.penalty, start, today) if awaits else _used(law.penalty, penalty)
    to_next = Leg(None, "", _line_to(paid[1])) if paid else _to_due_date(law.appeal)
    steps = (
        DeadlineStep("Infração", *committed, at, _used(law.notice, notified)),
        DeadlineStep("Autuação notificada", *notified, _judged(law.notice), used),
        _awaited(law.penalty, to_next, today)
        if awaits
        else DeadlineStep("Penalidade emitida", *penalty, _judged(law.penalty), to_next),
    )
    if paid:
        return (*steps, DeadlineStep("Pagamento", *paid, "", None))
    return (*steps, *_computed(law.appeal, law.prescription, today))


def _recorded(day: date | None, text: Field) -> tuple[str, DateMark]:
    if day is not None:
        return formats.short_date(day), "recorded"
    mark: DateMark = "hidden" if text.is_hidden else "recorded" if text else "missing"
    return formats.field_text(text), mark


def _line_to(mark: DateMark) -> Line:
    return "dotted" if mark == "hidden" else "solid" if mark == "recorded" else "dashed"


def _used(deadline: Deadline, end: tuple[str, DateMark]) -> Leg:
    """Return the line to the next step. ``end`` is this step's date and its DateMark.

    The line has no text if the number of days between the two steps is unknown.
    """
    if deadline.days_used is None or not deadline.limit_days or deadline.days_used < 0:
        return Leg(None, "", _line_to(end[1]))
    return Leg(
        _percent(deadline.days_used, deadline.limit_days),
        f"{deadline.days_used} de {counted(deadline.limit_days, 'dia', 'dias')}",
        "solid",
        is_late=deadline.verdict == "late",
    )


def _until_today(deadline: Deadline, start: date | None, today: date) -> Leg:
    if start is None or deadline.ends_on is None or not deadline.limit_days or start > today:
        return Leg(None, "", "dashed")
    waited = (today - start).days
    days = f"hoje, {waited} de {counted(deadline.limit_days, 'dia', 'dias')}"
    return Leg(
        _percent(waited, deadline.limit_days),
        days if waited <= deadline.limit_days else f"{waited} dias sem multa",
        "dashed",
        has_today=True,
    )


def _judged(deadline: Deadline) -> str:
    return "no prazo" if deadline.verdict == "in_time" else say.doubt(deadline)


def _awaited(deadline: Deadline, leg: Leg, today: date) -> DeadlineStep:
    until, passed = say.doubt(deadline) if deadline.act else "", ""
    if deadline.ends_on is not None:
        passed = since(deadline.ends_on, today) if deadline.ends_on < today else ""
        word = "sem defesa, o prazo acabou em" if passed else "em regra, até"
        until = f"{word} {formats.short_date(deadline.ends_on)}"
    return DeadlineStep("Penalidade", "ainda não emitida", "missing", until, leg, passed)


def _to_due_date(appeal: Deadline) -> Leg:
    if appeal.days_used is None or not appeal.limit_days or appeal.days_used < 0:
        return Leg(None, "", "dashed")
    used = _percent(appeal.days_used, appeal.limit_days)
    runs = appeal.verdict == "in_time"
    words = f"ao menos {appeal.limit_days} dias"
    return Leg(used, f"hoje, {words}" if runs else words, "dashed", has_today=runs)


def _computed(appeal: Deadline, prescription: Deadline, today: date) -> Iterator[DeadlineStep]:
    due, lapse = appeal.ends_on, prescription.ends_on
    leg = Leg(None, "", "dashed")
    if due is not None and lapse is not None and due < today <= lapse:
        leg = Leg(
            _percent((today - due).days, (lapse - due).days), "hoje", "dashed", has_today=True
        )
    when = "sem data" if due is None else f"{formats.short_date(due)} ou depois"
    passed = since(due, today) if due is not None and due < today else ""
    name = "Vencimento provável" if passed else "Vencimento"
    yield DeadlineStep(name, when, "missing" if due is None else "computed", "", leg, passed)
    if lapse is None:
        yield DeadlineStep("Prescrição", "não é possível dizer", "missing", "", None)
    else:
        when = f"em regra, {formats.short_date(lapse)}"
        passed = since(lapse, today) if lapse < today else ""
        yield DeadlineStep("Prescrição", when, "computed", say.doubt(prescription), None, passed)


def _percent(used: int, limit: int) -> int:
    return min(100, round(100 * used / limit)) if limit else 0
