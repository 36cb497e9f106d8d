"""Assess a court order: its effect on each act, its court, and who can lift it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Literal

from portal.law.act_answers import ACTS, Act, Mark, is_worse, worst
from portal.law.courts import Court, court_body_name, find_court, has_wrong_check_digits
from portal.law.effects import Effect, effect_of, mark_of
from portal.law.restriction_kinds import (
    NOT_OF_A_JUDGE,
    Kind,
    denies,
)
from portal.vehicle.field import Field
from portal.vehicle.identity import VehicleIdentity, differing_fields
from portal.vehicle.judicial import Restriction
from portal.wording import bare

# What an order's record contradicts itself in.
Conflict = Literal[
    "included_in_future",
    "included_too_early",
    "detail_lifts",
    "check_digits",
    "other_court",
    "no_civil_court",
]
# Who can lift an order: its judge, or for these kinds the creditor and the body that put it.
Lifter = Literal["judge", "alienacao_fiduciaria", "bloqueio_administrativo"]


@dataclass(frozen=True)
class AssessedOrder:
    """A court order's record, and what the law says of it on the day ``today``.

    Nothing is computed before it is read. ``number`` is the order's place in the answer, from 1.
    ``vehicle`` is the vehicle as the lookup "decode" describes it, or None if that is unknown.
    """

    record: Restriction
    today: date
    number: int = 1
    vehicle: VehicleIdentity | None = None

    @property
    def anchor(self) -> str:
        """The HTML anchor of the order on every page."""
        return f"restricao-{self.number}"

    @cached_property
    def effect(self) -> Effect:
        return effect_of(self.record, self.today)

    @property
    def in_force(self) -> bool:
        return self.effect.in_force

    @property
    def is_of_judge(self) -> bool:
        """Whether a judge gave the order. A creditor or the Detran puts some kinds in place."""
        kinds = set(self.effect.kinds)
        return not kinds or bool(self.effect.unrecognised) or not kinds <= set(NOT_OF_A_JUDGE)

    @property
    def is_doubtful(self) -> bool:
        """Whether the record leaves open what the order forbids, or whether it still does."""
        marks = {answer.mark for answer in self.effect.answers.values()}
        return self.in_force and "no" not in marks and "unknown" in marks

    @cached_property
    def _court(self) -> Court | None:
        return find_court(self.record.court.value, self.record.case.value)

    @property
    def court(self) -> str:
        """The court's acronym and name, or the source's text if the court is not known."""
        if self._court is None:
            return self.record.court.value.strip()
        return f"{self._court.acronym} – {self._court.name}"

    @property
    def short_court(self) -> str:
        """The court's acronym, or the source's text if the court is not known."""
        return self._court.acronym if self._court else self.record.court.value

    @property
    def court_site(self) -> str:
        return self._court.site if self._court else ""

    @cached_property
    def court_body(self) -> str:
        return court_body_name(self.record.court_body.value)

    @cached_property
    def differing(self) -> tuple[Field, ...]:
        """The fields that name another vehicle than the one looked up."""
        return differing_fields(self.vehicle, self.record) if self.vehicle else ()


def is_graver(kinds: Iterable[Kind], orders: Sequence[AssessedOrder]) -> bool:
    """Return whether kinds forbid more than the orders do: a driving ban beside a transfer ban."""
    named = tuple(kinds)
    return any(is_worse(mark_of(named, act), _mark(act, orders)) for act in ACTS)


def _mark(act: Act, orders: Sequence[AssessedOrder]) -> Mark:
    answers = worst(one.effect.answers[act] for one in orders)
    return answers[0].mark if answers else "yes"


@dataclass(frozen=True, slots=True)
class OrderConflict:
    """What an order's record contradicts itself in.

    ``courts`` are the one that the record names and the one of its case's number, or empty.
    """

    code: Conflict
    courts: tuple[Court, ...] = ()


def conflicts_of(order: AssessedOrder) -> Iterator[OrderConflict]:
    """Yield what an order's record contradicts itself in."""
    record, today = order.record, order.today
    if record.included_at is not None and record.included_at.date() > today:
        yield OrderConflict("included_in_future")
    elif record.included_at is None and record.included_at_text:
        yield OrderConflict("included_too_early")
    if order.in_force and record.detail and denies(record.detail.value, today):
        yield OrderConflict("detail_lifts")
    if has_wrong_check_digits(record.case.value):
        yield OrderConflict("check_digits")
    named, of_case = find_court(record.court.value), find_court("", record.case.value)
    if named and of_case and named.j_tr != of_case.j_tr:
        yield OrderConflict("other_court", (named, of_case))
    if named and named.branch == "trabalho" and "CIVEL" in bare(record.court_body.value):
        yield OrderConflict("no_civil_court", (named,))


def lifters_of(orders: Iterable[AssessedOrder]) -> tuple[Lifter, ...]:
    """Return who can lift the orders in force, the judge first."""
    in_force = [order for order in orders if order.in_force]
    others = (kind for kind in NOT_OF_A_JUDGE if any(kind in o.effect.kinds for o in in_force))
    is_of_judge = not in_force or any(order.is_of_judge for order in in_force)
    return (*(("judge",) if is_of_judge else ()), *others)
