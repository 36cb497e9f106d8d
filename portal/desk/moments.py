"""The proof of the moment of payment: lookups that are made again, and a dossier of them.

Who buys a vehicle in good faith has to show that nothing was recorded on the day of the payment
(Súmula 375 of the STJ). So the lookups are made at that moment, are compared with the dossier that
the buyer has in hand, and a new dossier says what has changed. If a source does not answer, nothing
is issued: an older answer proves nothing of this moment.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from portal.amounts import total
from portal.desk.caller import Caller
from portal.desk.core import Core
from portal.desk.issuing import Issuable, Issuing, Paper
from portal.desk.witness import Witness
from portal.dossier.answers import Panel, Panels, is_readable, kept_panel
from portal.dossier.changes import changes_of
from portal.dossier.dossier import Dossier
from portal.dossier.moment import Moment
from portal.gateway.lookup import Spend
from portal.issued.identifiers import Identifiers, display_number, new_identifiers, parse_number
from portal.issued.model import IssuedDossier, NumberTaken
from portal.system.local_time import utc_time
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import Plate

USUAL: Final[tuple[LookupName, ...]] = ("renajud",)
# Requests without an idempotency key that are equal within this time are one, also one after the
# other: two clicks, or a click after "back". It is longer than a request lasts. A request that is
# repeated with its key within it pays for no second answer: the paper of the first may be late.
ONE_MOMENT_S: Final = 120.0


class UnknownFormer(Exception):
    """The caller has no valid dossier of the plate with the number."""


class TooDear(Exception):
    """The lookups could cost more than the caller allows, or a price is not known."""


class Unanswered(Exception):
    """A lookup has no answer of this moment, so nothing was issued."""

    def __init__(self, panel: Panel) -> None:
        super().__init__(panel.cause)
        self.panel = panel


@dataclass(frozen=True, slots=True)
class Terms:
    """What a caller asks for. ``number`` names the dossier in hand, "" the newest of the plate."""

    plate: Plate
    ask: tuple[LookupName, ...] = USUAL
    number: str = ""
    max_cost: Decimal | None = None


# Renders the paper of a dossier, and encodes its summary.
Render = Callable[[Dossier, Moment, Identifiers], tuple[Paper, str]]


class Moments:
    """The moments of one caller."""

    def __init__(self, core: Core, caller: Caller, issuing: Issuing) -> None:
        self._core = core
        self._caller = caller
        self._issuing = issuing

    def may(self, ask: Sequence[LookupName]) -> bool:
        return self._caller.may("refresh") and all(map(self._caller.may, ask))

    def price(self, ask: Sequence[LookupName]) -> Decimal | None:
        """Return what the lookups cost, in R$, or None if a price is unknown."""
        return total([self._core.gateway.terms[name].price for name in ask])

    def issue(self, terms: Terms, render: Render, key: str | None = None) -> str:
        """Make the lookups, issue the dossier and return its number.

        Raises UnknownFormer or TooDear before anything is asked, KeyReused, Unanswered, or
        NothingToIssue if the vehicle was purged meanwhile.
        """
        former = self._former(terms)
        if terms.max_cost is not None:
            price = self.price(terms.ask)
            if price is None or price > terms.max_cost:
                raise TooDear
        number, since = self._claim(terms, key)
        if self._issuing.owned(number):  # issued by the first click of two
            return number
        last_purge = self._core.gateway.last_purge()
        before = self._core.lookups.panels(terms.plate, self._caller.identity, Spend.NEVER)
        asked = self._core.lookups.now(terms.plate, self._caller.identity, terms.ask, since)
        witness = Witness(self._core.trail, self._caller)
        witness.got(terms.plate, (panel.served for panel in asked.values()))
        for name, panel in asked.items():
            if not panel.has_answer or not is_readable(panel.result, name):
                raise Unanswered(panel)
        answers, bases = _compared(before, asked, former)
        dossier = self._issuing.of(terms.plate, answers)
        moment = self._moment(dossier, asked, bases, former, since)
        identifiers = new_identifiers()._replace(number=number)
        paper, summary = render(dossier, moment, identifiers)
        issuable, supersedes = Issuable(dossier, last_purge), former.number if former else None
        with suppress(NumberTaken):  # the other of two clicks has issued it meanwhile
            self._issuing.issue_as(issuable, identifiers, paper, summary, supersedes=supersedes)
        return number

    def _former(self, terms: Terms) -> IssuedDossier | None:
        """Return the dossier to compare with. Raises UnknownFormer."""
        if not terms.number:
            return self._core.archive.newest_owned(self._caller.owner, terms.plate.text)
        number = parse_number(terms.number)
        dossier = self._issuing.owned(number) if number else None
        if (
            dossier is None
            or dossier.snapshot is None
            or dossier.snapshot.plate != terms.plate.text
        ):
            raise UnknownFormer
        return dossier

    def _claim(self, terms: Terms, key: str | None) -> tuple[str, float]:
        """Return the number to issue, and since when an answer is of this moment (epoch s).

        Without a key, what was sent makes two requests equal, and not the dossier that it is
        compared with: after the first of two clicks, the newest dossier is another.
        """
        number, owner = new_identifiers().number, self._caller.owner
        former = parse_number(terms.number) or ""
        sent = "|".join((terms.plate.text, ",".join(terms.ask), former))
        claimed = self._core.idempotency.claimed
        if key is not None:
            content = f"{sent}|{terms.max_cost}".encode()
            claim = claimed("moment", owner, key, content, number)
        else:
            claim = claimed("clicks", owner, sent, b"", number, ONE_MOMENT_S)
        # A key that is used again later asks again.
        return claim.made, max(claim.at, time.time() - ONE_MOMENT_S)

    def _moment(
        self,
        dossier: Dossier,
        asked: dict[LookupName, Panel],
        bases: dict[LookupName, Panel],
        former: IssuedDossier | None,
        since: float,
    ) -> Moment:
        changes = changes_of(dossier.answers, dossier.today, dossier.marker)
        lines = [line.text for change in changes for line in change.lines]
        lines += [
            f"e mais {change.omitted} em {change.what}" for change in changes if change.omitted
        ]
        is_compared = all(name in bases and is_readable(bases[name].result, name) for name in asked)
        tag = self._core.keys.tag(dossier.subject.text)
        paid = self._core.ledger.paid(self._caller.identity.name, [tag], since)
        times = [panel.fetched_at for panel in bases.values() if panel.fetched_at]
        return Moment(
            at=max(panel.fetched_at for panel in asked.values() if panel.fetched_at),
            asked=tuple(asked),
            former=display_number(former.number) if former else "",
            since=utc_time(former.issued_at) if former else max(times, default=None),
            changes=tuple(lines),
            nothing_changed=False if lines else True if is_compared else None,
            spent=paid.get(tag, Decimal(0)),
        )


def _compared(
    before: Panels, asked: dict[LookupName, Panel], former: IssuedDossier | None
) -> tuple[Panels, dict[LookupName, Panel]]:
    """Return the answers, each beside the one that it is compared with, and the latter.

    These are the answers of the former dossier, or else those that were stored.
    """
    kept = former.snapshot.answers if former and former.snapshot else {}
    bases = {name: kept_panel(answer.body, answer.fetched_at) for name, answer in kept.items()}
    if former is None:
        bases = {name: before.of(name) for name in asked if before.of(name).has_answer}
    panels = {name: asked.get(name, before.of(name)) for name in LOOKUPS}
    compared = {
        name: replace(panel, replaced=bases.get(name) if panel.has_answer else None)
        for name, panel in panels.items()
    }
    return before.with_answers(compared), {n: p for n, p in bases.items() if n in LOOKUPS}
