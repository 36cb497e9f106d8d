"""What the operator's pages and the health check read and change."""

import math
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

from portal.access.people import People
from portal.access.tokens import Identity, Tokens
from portal.access.trail import Act, Trail, Written
from portal.batch.batches import Batches
from portal.batch.model import Batch
from portal.desk.caller import Caller
from portal.desk.measuring import Measuring
from portal.desk.witness import Witness
from portal.gateway.backend import StoreSize
from portal.gateway.gateway import Gateway
from portal.gateway.ledger import Ledger
from portal.gateway.limits import StrainedLimit, Use, strain_of
from portal.gateway.statement import Comparison
from portal.gateway.statement_file import check_statement
from portal.gateway.store import Store
from portal.gateway.usage import OriginCalls
from portal.gateway.usage_report import NamedUse, UsageLog, uses_of_portal
from portal.messages.outbox import DeliveryState, Message, Outbox
from portal.storage.database import Also, Database
from portal.system.checkup import Line
from portal.upstream.breaker import Breaker

Availability = tuple[date, Mapping[tuple[date, str], OriginCalls]]
_AVAILABILITY_S: Final = 60.0
MOST_DELIVERIES: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorDesk:
    """The desk of the operator, who sees figures of all callers, and vehicles in the trail alone.

    ``daily_limit`` is the most upstream calls of all callers in a day, or 0. ``is_draining``
    returns whether the server is to end. ``gets_messages`` says whether messages to the operator
    have an address. ``people`` is None if only tokens sign in. ``unpriced`` are the settings of
    unknown prices.
    """

    batches: Batches
    breakers: Sequence[Breaker]
    daily_limit: int
    database: Database
    gateway: Gateway
    gets_messages: bool
    ledger: Ledger
    measuring: Measuring
    outbox: Outbox
    people: People | None
    is_draining: Callable[[], bool]
    store: Store
    tokens: Tokens
    trail: Trail
    unpriced: Sequence[str]
    usage: UsageLog
    _availability: dict[int, tuple[float, Availability | None]] = field(default_factory=dict)

    def is_ready(self) -> bool:
        """Return whether this process can serve requests."""
        return not self.is_draining() and self.store.is_up() and self.database.is_in_place()

    def store_size(self) -> StoreSize | None:
        """Return the size of the store, or None if its backend does not respond."""
        return self.store.size()

    def database_bytes(self) -> int | None:
        """Return the size of the database. Raises SQLAlchemyError."""
        return self.database.size()

    def uses(self) -> Sequence[tuple[Use, date | None]]:
        """Return what is used of the portal's limits, and when each ends at its rate.

        Nothing without a limit, or if the database cannot be read.
        """
        return uses_of_portal(self.ledger, self.usage)

    def strained(self, uses: Sequence[Use]) -> Sequence[StrainedLimit]:
        """Return the portal's ``uses`` of which little is left, and those of tokens and people.

        Without the limits of a day of tokens that are used up. Raises SQLAlchemyError, or
        TokensUnavailable.
        """
        prices = {name: terms.price for name, terms in self.gateway.terms.items() if terms.price}
        dearest = max(prices.values(), default=Decimal(0))
        of_portal = [NamedUse("", [*prices], use) for use in uses]
        of_tokens = self.usage.tokens_near(dearest)
        strained = []
        for name, scopes, use in (*of_portal, *of_tokens, *self._people_near(dearest)):
            strain = strain_of(use, [price for each, price in prices.items() if each in scopes])
            if strain is not None:
                strained.append(StrainedLimit(use, strain, name))
        return strained

    def _people_near(self, dearest: Decimal) -> Sequence[NamedUse]:
        if self.people is None:
            return ()
        near = self.usage.people_near(*self.people.limits, dearest)
        return [
            NamedUse(person.name, person.scopes, use)
            for person in self.people.still_admitted(near)
            for use in near[person.id]
        ]

    def availability(self, days: int) -> Availability:
        """Return today, and the calls of each of the last days and operations.

        Reads the database at most once a minute, because every visitor may ask.
        """
        now = time.monotonic()
        read_at, counts = self._availability.get(days, (-math.inf, None))
        if counts is None or now - read_at >= _AVAILABILITY_S:
            today = self.usage.today()
            calls = self.usage.calls(today - timedelta(days=days - 1))
            counts = today, self.usage.answered_by_day(calls)
            self._availability[days] = now, counts
        return counts

    def check_statement(self, content: bytes, columns: Mapping[str, str]) -> Comparison:
        """Compare a provider's statement with the ledger.

        Raises WrongStatement and SQLAlchemyError.
        """
        return check_statement(self.ledger, self.store.tag, content, columns)

    def deliveries(self) -> Sequence[DeliveryState]:
        """Return the latest messages on their way, by whatever channel."""
        return self.outbox.latest(MOST_DELIVERIES)

    def send_test(self) -> None:
        """Send a message to the operator's channels. Raises SQLAlchemyError."""
        self.outbox.write(Message("test", f"test:{secrets.token_hex(8)}", {}))

    def checkup(self) -> Sequence[Line]:
        """Measure as ``flask doctor`` does, without a PDF. May take seconds."""
        return self.measuring.lines(with_pdf=False)

    def doing(self, identity: Identity, act: Act, number: str) -> Also:
        """Return what writes an operator's act in the transaction that does it."""
        return self._witness(identity).doing(act, number=number)

    def trail_page(
        self, most: int, before: int | None, who: str, vehicles: Sequence[str] | None
    ) -> Sequence[Written]:
        """Return the latest rows of the trail, the latest first. ``who`` is "" for everyone."""
        return self.trail.latest(most, before, who or None, vehicles)

    def trail_file(
        self, identity: Identity, who: str, vehicles: Sequence[str] | None
    ) -> Iterator[Written]:
        """Return the rows of the trail, the oldest first, and note the export."""
        self.trail.add(self._witness(identity).entry("exported", number="trail"))
        return self.trail.rows(who=who or None, vehicles=vehicles)

    def _witness(self, identity: Identity) -> Witness:
        caller = Caller.of_session(identity, lambda: identity.owner, lambda: identity.owner)
        return Witness(self.trail, caller)

    def last_purge(self) -> int:
        return self.gateway.last_purge()

    def batches_under_way(self) -> Sequence[Batch]:
        return self.batches.under_way()
