"""The deadlines of a traffic fine.

The cited articles are from the CTB, the traffic code (Lei 9.503/1997), as changed by Leis
14.071/2020, 14.229/2021 and 14.304/2022. The day of a notice is the day of its issue, not of its
receipt. If the record lacks a date that a deadline needs, the verdict is "unknown".

A deadline is facts: ``portal.phrasebook.deadlines`` says them.
"""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from portal.law.office_days import next_office_day
from portal.wording import day

# The first and the last day of a term.
Term = tuple[date, date]
Verdict = Literal["in_time", "late", "unknown"]
# What a deadline limits. The names are those of the attributes of ``AssessedFine``.
Step = Literal["notice", "penalty", "prior_defence", "driver_nomination", "appeal", "prescription"]
# A day of the record that a deadline depends on.
Event = Literal["infraction", "notice", "penalty"]
# Why the verdict is what it is. "no_date", "in_future" and "before_start" are of the day of
# ``Deadline.event``: the record does not state it, it lies ahead, or it is before the infraction.
Why = Literal[
    "in_time",
    "late",
    "no_date",
    "in_future",
    "before_start",
    # The penalty: there is none yet, within 180 days ("awaited") or after more of them. The
    # infraction is before the limits were law ("before_law").
    "awaited",
    "awaited_long",
    "infraction_ahead",
    "before_law",
    "before_notice",
    "before_defence",
    "only_with_defence",
    # The term touches a period in which it did not run: with a date, or with none yet.
    "standstill",
    "standstill_awaited",
    # A defence, a naming or an appeal: its time still runs, or the shortest time is over.
    "running",
    "minimum_over",
    # The lapse lies ahead, or may have come.
    "lapse_ahead",
    "may_have_lapsed",
    # The infraction shows only later, so its day does not start the term.
    "not_caught",
    # In the record of a NIC, it is unknown whose dates these are.
    "nic",
]

NOTICE_DAYS = 30
PENALTY_DAYS = 180
PENALTY_DAYS_WITH_DEFENCE = 360
# The shortest time that a notice may grant for a defence, an appeal or the payment. The law says
# "não inferior a trinta dias" ("not less than thirty days").
MINIMUM_DAYS = 30
# From MINIMUM_DAYS to PROBABLY_DUE_DAYS after the penalty, a fine is only "probably_due", because
# the record has no due date, and authorities often grant more than the minimum.
PROBABLY_DUE_DAYS = 60
PRESCRIPTION_YEARS = 5
# Lei 14.071/2020 came into force on this day. The law introduced the limits of 180 and 360 days for
# a penalty. It changed the gravity (severity) of the infractions in item XIII of art. 220 and in
# art. 233. It removed some infractions from the count of points on a licence.
LEI_14071_SINCE = date(2021, 4, 12)

_ARTICLES: Final[Mapping[Step, str]] = {
    "notice": "art. 281, § 1º, II, do CTB",
    "penalty": "art. 282, §§ 6º e 7º, do CTB",
    "prior_defence": "art. 281-A do CTB",
    "driver_nomination": "art. 257, § 7º, do CTB",
    "appeal": "art. 282, §§ 4º e 5º, do CTB",
    "prescription": "Lei 9.873/1999",
}
# The authority broke the rule, or may have broken it, or the fine may have lapsed.
_DOUBTS: Final = (
    *("late", "before_defence", "only_with_defence", "may_have_lapsed"),
    *("standstill", "standstill_awaited"),
)
# The longest time that the law gives an authority for a notice.
_LONGEST: Final[Mapping[Step, int]] = {"notice": NOTICE_DAYS, "penalty": PENALTY_DAYS_WITH_DEFENCE}


class Deadline(Struct, frozen=True):
    """The state of one deadline.

    ``days_used`` are the days from the start of the period to the notice or penalty. For a
    defence, an appeal or the naming of the driver, they are the days from the start until today.
    ``days_used`` and ``limit_days`` are None if unknown or if the deadline is not measured in days.
    ``ends_on`` is the last day, or None if the record's dates do not determine this day.

    ``why`` is the reason for the verdict. ``event`` is the day that the reason is about, or from
    which a lapse is counted. ``days`` are the days since the infraction without a penalty, or from
    the notice to a penalty that came too early. ``act`` is the act by which the deadline
    did not run for a time, or "".
    """

    step: Step
    verdict: Verdict
    why: Why
    limit_days: int | None
    ends_on: date | None
    days_used: int | None = None
    event: Event = "infraction"
    days: int = 0
    act: str = ""

    @property
    def article(self) -> str:
        return _ARTICLES[self.step]

    @property
    def is_doubtful(self) -> bool:
        """Whether the authority broke the rule, or may have, or the fine may have lapsed."""
        return self.why in _DOUBTS


def notice_of_infraction(
    committed_on: date | None, notified_on: date | None, today: date
) -> Deadline:
    """Check that the infraction notice was issued within 30 days of the infraction."""
    ends_on = plus_days(committed_on, NOTICE_DAYS)
    deadline = Deadline("notice", "unknown", "no_date", NOTICE_DAYS, ends_on)
    used = _days_between(committed_on, notified_on)
    if used is None:
        return replace(deadline, event="infraction" if committed_on is None else "notice")
    if ahead := _in_future(today, {"infraction": committed_on, "notice": notified_on}):
        return replace(deadline, why="in_future", event=ahead, ends_on=None)
    if used <= NOTICE_DAYS:
        return _measured(deadline, "notice", used)
    return replace(deadline, verdict="late", why="late", days_used=used)


def _measured(deadline: Deadline, event: Event, used: int) -> Deadline:
    """Judge a step that came in time, or before the infraction."""
    if used < 0:
        return replace(deadline, why="before_start", event=event)
    return replace(deadline, verdict="in_time", why="in_time", days_used=used)


def notice_of_penalty(
    committed_on: date | None,
    penalty_on: date | None,
    today: date,
    notified_on: date | None = None,
) -> Deadline:
    """Check that the penalty was issued within 180 or 360 days of the infraction.

    The limit is 360 days if a defence was filed before the penalty. The record does not state
    whether a defence was filed. If the penalty was issued after 181 to 360 days, the verdict is
    therefore "unknown".
    """
    ends_on = plus_days(committed_on, PENALTY_DAYS)
    deadline = Deadline("penalty", "unknown", "no_date", PENALTY_DAYS, ends_on)
    if committed_on is None:
        return deadline
    if committed_on < LEI_14071_SINCE:
        return replace(deadline, why="before_law", limit_days=None, ends_on=None)
    if penalty_on is None:
        waited = (today - committed_on).days
        why: Why = "awaited" if waited <= PENALTY_DAYS else "awaited_long"
        return replace(deadline, why="infraction_ahead" if waited < 0 else why, days=waited)
    if ahead := _in_future(today, {"infraction": committed_on, "penalty": penalty_on}):
        return replace(deadline, why="in_future", event=ahead, ends_on=None)
    used = (penalty_on - committed_on).days
    if used >= 0 and (early := before_defence(committed_on, notified_on, penalty_on)) is not None:
        if early < 0:
            return replace(deadline, why="before_notice")
        return replace(deadline, why="before_defence", days_used=used, days=early)
    if used <= PENALTY_DAYS:
        return _measured(deadline, "penalty", used)
    longer = replace(
        deadline,
        days_used=used,
        limit_days=PENALTY_DAYS_WITH_DEFENCE,
        ends_on=plus_days(committed_on, PENALTY_DAYS_WITH_DEFENCE),
    )
    if used <= PENALTY_DAYS_WITH_DEFENCE:
        return replace(longer, why="only_with_defence")
    return replace(longer, verdict="late", why="late")


def before_defence(
    committed_on: date | None, notified_on: date | None, penalty_on: date | None
) -> int | None:
    """Return the days from the notice to a penalty that came before the end of the prior defence.

    They are negative if the penalty came before the notice. The defence has MINIMUM_DAYS for
    infractions since LEI_14071_SINCE (art. 281-A of the CTB).
    """
    used = _days_between(notified_on, penalty_on)
    if used is None or used >= MINIMUM_DAYS:
        return None
    is_older = committed_on is not None and committed_on < LEI_14071_SINCE
    return None if used >= 0 and is_older else used


def prior_defence(notified_on: date | None, today: date, state: str = "") -> Deadline:
    """Return the deadline of the prior defence, at least 30 days after the notice.

    ``state`` is the authority's state, whose holidays count.
    """
    return _at_least("prior_defence", "notice", notified_on, today, state)


def appeal(penalty_on: date | None, today: date, state: str = "") -> Deadline:
    """Return the deadline of the appeal to JARI (the appeals board).

    This deadline is also the fine's due date. It is 30 days or more after the notice of penalty.
    """
    return _at_least("appeal", "penalty", penalty_on, today, state)


def driver_nomination(notified_on: date | None, today: date, state: str = "") -> Deadline:
    """Return the deadline to name the driver, 30 days after the infraction notice."""
    deadline = _at_least("driver_nomination", "notice", notified_on, today, state)
    return replace(deadline, verdict="late") if deadline.why == "minimum_over" else deadline


def term_of(deadline: Deadline, start: date | None, end: date | None, today: date) -> Term | None:
    """Return the first and the last day on which the deadline may have run, or None.

    ``start`` is the day from which it ran, and ``end`` the day of the step that it limits.
    """
    last = plus_days(start, _LONGEST.get(deadline.step, MINIMUM_DAYS))
    if start is None or last is None or start > today:
        return None
    return start, min(last, end or today)


def stood_still(deadline: Deadline, act: str, until: date, today: date) -> Deadline:
    """Return a deadline that did not run for a time by an act, until a day at the earliest.

    It is never late. Its last day is unknown, or for a defence, a naming or an appeal at the
    earliest ``until``.
    """
    if deadline.step in _LONGEST:
        return _unjudged(replace(deadline, act=act))
    if deadline.ends_on is None or deadline.days_used is None:
        return deadline
    ends_on = max(deadline.ends_on, until)
    if today <= ends_on:
        return replace(deadline, verdict="in_time", why="running", ends_on=ends_on, act=act)
    return replace(deadline, verdict="unknown", ends_on=ends_on, act=act)


def _unjudged(deadline: Deadline) -> Deadline:
    match deadline.why:
        case "late" | "only_with_defence":
            days = deadline.days_used or 0
            deadline = replace(
                deadline, verdict="unknown", why="standstill", days=days, days_used=None
            )
        case "awaited" | "awaited_long":
            deadline = replace(deadline, why="standstill_awaited")
        case "no_date":
            pass
        case _:
            return deadline
    return replace(deadline, limit_days=None, ends_on=None)


def prescription(
    committed_on: date | None,
    penalty_on: date | None,
    today: date,
    state: str = "",
    appeal_until: date | None = None,
) -> Deadline:
    """Return the limitation period for punishment or collection, usually five years.

    The period to punish starts at the infraction. The period to collect starts when no appeal is
    possible any more, at the earliest on the last day of ``appeal`` (Lei 9.873/1999, arts. 1º and
    1º-A; Resolução CONTRAN 723/2018, art. 24), which is ``appeal_until`` if the appeal had longer
    than that. A period of years ends on the day of its date, with
    or without office hours: the rule on working days is for what a person has to do in time.

    The true end may differ from ``ends_on`` for reasons that the record does not show. Acts of the
    authority restart the period. Three years without any act in the case end the period early (Lei
    9.873/1999, art. 1º, § 1º). Since 1 January 2024, 24 months without a decision on an appeal have
    the same effect (CTB, § 6º of art. 285, and arts. 289 and 289-A).
    """
    event: Event = "penalty" if penalty_on else "infraction"
    deadline = Deadline("prescription", "unknown", "no_date", None, None, event=event)
    start = committed_on
    if penalty_on:
        start = appeal_until or last_day(penalty_on, MINIMUM_DAYS, state)
    ends_on = plus_years(start, PRESCRIPTION_YEARS)
    if start is None or ends_on is None:
        return deadline
    if ahead := _in_future(today, {"infraction": committed_on, "penalty": penalty_on}):
        return replace(deadline, why="in_future", event=ahead)
    if today <= ends_on:
        return replace(deadline, verdict="in_time", why="lapse_ahead", ends_on=ends_on)
    return replace(deadline, why="may_have_lapsed", ends_on=ends_on)


def not_judged(deadline: Deadline) -> Deadline:
    """Set the verdict to "unknown" for a NIC, a fine for not naming the driver.

    The record of a NIC does not say whether its dates belong to the NIC or to the infraction whose
    driver was not named.
    """
    return replace(deadline, verdict="unknown", why="nic", days_used=None, ends_on=None)


def not_caught(deadline: Deadline) -> Deadline:
    """Conclude nothing from the day of an infraction that no agent sees when it happens.

    Its term runs from the day on which the authority learned of it (art. 282, § 6º-A), which is
    later. A notice that came in time even so came in time.
    """
    if deadline.why not in ("late", "only_with_defence", "awaited", "awaited_long"):
        return deadline
    days = deadline.days if deadline.days_used is None else deadline.days_used
    return replace(
        deadline,
        verdict="unknown",
        why="not_caught",
        limit_days=None,
        ends_on=None,
        days_used=None,
        days=days,
    )


def last_day(start: date | None, days: int, state: str = "") -> date | None:
    """Return the earliest last day of a period for a defence, an appeal or a payment.

    The first day is excluded. A last day without office hours moves to the next working day.
    Returns None if ``start`` is None or the result exceeds ``date.max``.
    """
    ends_on = plus_days(start, days)
    try:
        return None if ends_on is None else next_office_day(ends_on, state)
    except OverflowError:
        return None


def plus_days(start: date | None, days: int) -> date | None:
    """Add days. Return None if ``start`` is None or the result exceeds ``date.max``."""
    try:
        return None if start is None else start + timedelta(days=days)
    except OverflowError:
        return None


def plus_years(start: date | None, years: int) -> date | None:
    """Add years. 29 February becomes 1 March if the later year lacks 29 February.

    The rule is art. 132, § 3º, of the Código Civil (civil code). Returns None if ``start`` is None
    or the result exceeds ``date.max``.
    """
    if start is None or start.year + years > date.max.year:
        return None
    try:
        return start.replace(year=start.year + years)
    except ValueError:
        return date(start.year + years, 3, 1)


def day_of(value: date | None) -> str:
    return "data desconhecida" if value is None else day(value)


def _in_future(today: date, days: Mapping[Event, date | None]) -> Event | None:
    """Return the first event whose day lies ahead."""
    return next((event for event, on in days.items() if on is not None and on > today), None)


def _days_between(start: date | None, end: date | None) -> int | None:
    return None if start is None or end is None else (end - start).days


def _at_least(step: Step, since: Event, start: date | None, today: date, state: str) -> Deadline:
    ends_on, used = last_day(start, MINIMUM_DAYS, state), _days_between(start, today)
    deadline = Deadline(step, "unknown", "no_date", MINIMUM_DAYS, ends_on, event=since)
    if used is None:
        return deadline
    if used < 0:
        return replace(deadline, why="in_future")
    if ends_on is None or today <= ends_on:
        return replace(deadline, verdict="in_time", why="running", days_used=used)
    return replace(deadline, why="minimum_over", days_used=used)
