"""The periods in which deadlines of fines did not run, or ran anew.

CTB deadlines do not stop, except for force majeure that Contran acknowledges (art. 290-A). The acts
are in ``standstills.csv``: the first and the last day, the states whose bodies they concern (none:
all bodies of the country, federal ones too), and the steps. For the issue of a notice, the acts
do not say how the term runs on, so no term that touches such a period is ever called late. For a
defence, a naming and an appeal, ``until`` is the earliest last day.

The table lacks the acts of 2021 whose end is unknown. They concern defences, namings and appeals in
20 states.
"""

from datetime import date
from functools import cache

from msgspec import Struct

from portal.data_files import read_csv
from portal.law.deadlines import Step
from portal.vehicle.plate import STATES


class Standstill(Struct, frozen=True):
    """A period in which the deadlines of some steps did not run, for the bodies of some states."""

    since: date
    until: date
    states: str
    steps: str
    act: str
    source: str

    @property
    def cited(self) -> str:
        """The act and its states: ``Deliberação Contran 274/2024 (RS)``."""
        return f"{self.act} ({', '.join(self.states.split())})" if self.states else self.act


@cache
def standstills() -> tuple[Standstill, ...]:
    return tuple(read_csv(__package__, "standstills.csv", Standstill))


@cache
def _standstills_of(step: Step) -> tuple[Standstill, ...]:
    return tuple(period for period in standstills() if step in period.steps.split())


def standstill_of(
    step: Step, first: date, last: date, state: str, *, is_federal: bool
) -> Standstill | None:
    """Return the period that a term from ``first`` to ``last`` touches, or None.

    ``state`` is the authority's state. Where it is unknown, the authority may be of any state.
    """
    return next(
        (
            period
            for period in _standstills_of(step)
            if period.since <= last
            and first <= period.until
            and _concerns(period, state.strip().upper(), is_federal)
        ),
        None,
    )


def _concerns(period: Standstill, state: str, is_federal: bool) -> bool:
    if not period.states:
        return True
    return not is_federal and (state in period.states.split() or state not in STATES)
