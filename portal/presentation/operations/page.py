"""The operator's page: usage, costs, failures, limits and storage.

An origin is a base address of the upstream: the primary address or the optional secondary address.
"""

from calendar import monthrange
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar, Final, Literal, Protocol

from portal import formats
from portal.batch.model import Batch
from portal.charts.bars import Bar, BarChart, Part, bar_chart, row_parts
from portal.gateway.backend import MOST_COUNTED, StoreSize
from portal.gateway.limits import StrainedLimit, Use
from portal.gateway.operations import CachePolicy
from portal.gateway.usage import CallFailures, CallsToday, OriginCalls, Usage, merged
from portal.messages.mail import mail_text
from portal.messages.outbox import DeliveryState
from portal.phrasebook.deliveries import failure_words
from portal.presentation.exports.tables import Column, Table
from portal.presentation.operations.checkup import checked
from portal.presentation.operations.tokens import SCOPE_LABELS, IssuedToken, IssuedTokens
from portal.system.checkup import Level, Line
from portal.system.local_time import local_date, local_time
from portal.vehicle.operation_name import OperationName
from portal.wording import counted, grouped

PERIODS: Final = (7, 30, 90)  # days
USUAL_PERIOD: Final = 30
MOST_CALLERS: Final = 10  # the number of tokens with their own row in the sums
MOST_TOKENS: Final = 25  # the number of valid tokens on a page
MOST_ENDED: Final = 20
MOST_NAMED: Final = 10  # the number of tokens that a list of things to do names
SOON_DAYS: Final = 7
KEY_SOON_DAYS: Final = 30  # a new certificate takes its authority some days
BreakerState = Literal["closed", "open", "half-open"]


class OriginBreaker(Protocol):
    """The circuit breaker of an origin. All processes share the breaker's state.

    ``name`` is the name of the origin. The breaker blocks all calls for the next ``wait_s``
    seconds. A ``wait_s`` of 0 means that the breaker blocks no calls.
    """

    @property
    def name(self) -> str: ...

    @property
    def state(self) -> BreakerState: ...

    @property
    def wait_s(self) -> float: ...


@dataclass(frozen=True, kw_only=True)
class OperationsPage:
    """The operator's page. It contains nothing that identifies a vehicle.

    ``failures`` cover the last ``days`` days. ``by_day`` is keyed by day and operation, and covers
    at least these days and the present month. ``by_caller`` has the usage of the MOST_CALLERS
    costliest tokens in the present month, the costliest first. ``now`` has a time zone.
    ``daily_limit`` is a number of calls, or 0 if there is no limit. ``budget`` is what is used of
    the portal's budget of the month, or None. It ends on ``budget_ends_on`` at the rate of the last
    seven days, or lasts until the month's end. ``strained`` are limits of which little is left, as
    ``OperatorDesk`` returns them. ``store`` is None if the store
    of answers cannot be reached. ``database_bytes`` is None if the size of the database is unknown.

    ``tokens`` has at most MOST_TOKENS valid tokens and the next one, and MOST_ENDED ended ones. The
    tokens that end within SOON_DAYS, or have reached their limit, may be one more than MOST_NAMED.
    ``gets_messages`` says whether the operator has set an address for messages.
    ``key_ends_at`` is the end of the certificate that signs dossiers, or None without one.
    ``checkup`` is what was measured if the operator has asked for it.
    """

    template: ClassVar[str] = "pages/operations.html"
    periods: ClassVar[tuple[int, ...]] = PERIODS
    most_named: ClassVar[int] = MOST_NAMED
    most_counted: ClassVar[int] = MOST_COUNTED
    now: datetime
    days: int
    by_day: Mapping[tuple[date, str], Usage]
    by_caller: Mapping[str, Usage]
    failures: Sequence[CallFailures]
    breakers: Sequence[OriginBreaker]
    origins: Mapping[str, OriginCalls]
    calls_today: CallsToday
    daily_limit: int
    budget: Use | None
    budget_ends_on: date | None
    strained: Sequence[StrainedLimit]
    terms: Mapping[OperationName, CachePolicy]
    store: StoreSize | None
    database_bytes: int | None
    purges: int
    batches: Sequence[Batch]
    deliveries: Sequence[DeliveryState]
    gets_messages: bool
    tokens: IssuedTokens
    key_ends_at: datetime | None = None
    has_people: bool = False  # whether people sign in at their company
    checkup: Sequence[Line] | None = None

    @staticmethod
    def why_not_delivered(delivery: DeliveryState) -> str:
        return failure_words(delivery.result)

    @property
    def checked(self) -> Sequence[tuple[str, Level]]:
        """What was checked and how it is, the worst first."""
        return checked(self.checkup or ())

    @property
    def key_ends_soon(self) -> bool:
        """Whether the certificate that signs dossiers ends within KEY_SOON_DAYS, or has ended."""
        soon = self.now + timedelta(days=KEY_SOON_DAYS)
        return self.key_ends_at is not None and self.key_ends_at <= soon

    @property
    def today(self) -> date:
        return local_date(self.now)

    @property
    def first_day(self) -> date:
        return self.today - timedelta(days=self.days - 1)

    @cached_property
    def total(self) -> Usage:
        return merged(self.usage_by_day.values())

    @cached_property
    def month(self) -> Usage:
        """The usage of the present month."""
        first = self.today.replace(day=1)
        return merged(usage for (day, _), usage in self.by_day.items() if day >= first)

    @property
    def last_of_month(self) -> date:
        return self.today.replace(day=monthrange(self.today.year, self.today.month)[1])

    @property
    def month_projection(self) -> Decimal | None:
        """What the month will have cost at its rate so far.

        None on its first day, and if the price of a call is unknown.
        """
        now = local_time(self.now)
        elapsed = now.day - 1 + Decimal(now.hour * 60 + now.minute) / (24 * 60)
        if elapsed < 1 or self.month.spent is None:
            return None
        return self.month.spent * self.last_of_month.day / elapsed

    @cached_property
    def usage_by_day(self) -> Mapping[date, Usage]:
        """The usage of each day, the newest first."""
        return dict(sorted(self._by_part(0).items(), reverse=True))

    @property
    def today_usage(self) -> Usage:
        return self.usage_by_day.get(self.today, Usage())

    @cached_property
    def usage_by_operation(self) -> Mapping[str, Usage]:
        return dict(sorted(self._by_part(1).items()))

    @cached_property
    def usage_by_caller(self) -> Mapping[str, Usage]:
        """The month's usage by token. All further tokens share one entry, named with a blank."""
        rest = self.month.without(merged(self.by_caller.values()))
        return {**self.by_caller, **({"os outros": rest} if rest.lookups > 0 else {})}

    def share_of(self, usage: Usage) -> tuple[Part, ...]:
        """Return a bar whose length is relative to the largest of ``usage_by_caller``."""
        whole = max(usage.lookups for usage in self.usage_by_caller.values())
        return row_parts(_lookup_values(usage), whole)

    @property
    def unpriced(self) -> Sequence[OperationName]:
        """The operations without a configured price."""
        return [name for name, terms in self.terms.items() if terms.price is None]

    @property
    def money_chart(self) -> BarChart | None:
        """The chart of spent and saved money that is known, or None if all its values are 0."""
        return self._chart(
            lambda usage: (float(usage.known_spent), float(usage.known_saved)),
            lambda usage: f"{spent_words(usage)} gastos, {saved_words(usage)} economizados",
        )

    @property
    def lookup_chart(self) -> BarChart | None:
        """The chart of lookups, or None if there are none."""
        return self._chart(_lookup_values, self.lookup_words, self.daily_limit)

    @staticmethod
    def lookup_words(usage: Usage) -> str:
        return (
            f"{counted(usage.calls, 'chamada', 'chamadas')}, {grouped(usage.hits)} de resposta "
            f"guardada, {grouped(usage.collapsed)} de pedido igual, {grouped(usage.stale)} de "
            "resposta vencida"
        )

    @property
    def addresses(self) -> Sequence[tuple[str, OriginBreaker | None, OriginCalls]]:
        """The origins that have a breaker or had calls today."""
        breakers = {breaker.name: breaker for breaker in self.breakers}
        return [
            (name, breakers.get(name), self.origins.get(name, OriginCalls(0, 0)))
            for name in sorted(breakers.keys() | self.origins.keys())
        ]

    @staticmethod
    def message_words(delivery: DeliveryState) -> str:
        """Say what a message is about, as its e-mail does, how it goes and to whom."""
        subject, _ = mail_text(delivery.type, delivery.data)
        channel = "e-mail" if delivery.channel == "mail" else "webhook"
        return f"{subject}, por {channel} {'ao operador' if delivery.is_operators else 'ao dono'}"

    @property
    def strain_words(self) -> Sequence[str]:
        """What is to be said of limits of which little is left."""
        return [*map(_strain_words, self.strained[:MOST_NAMED])]

    def after(self, seconds: float) -> datetime:
        return self.now + timedelta(seconds=seconds)

    @property
    def calls_left(self) -> int:
        return max(0, self.daily_limit - self.calls_today.all)

    @property
    def valid_tokens(self) -> Sequence[IssuedToken]:
        return self.tokens.valid[:MOST_TOKENS]

    @property
    def next_tokens_after(self) -> str:
        """The name after which the next page of valid tokens begins, or "" on the last page."""
        return self.valid_tokens[-1].name if len(self.tokens.valid) > MOST_TOKENS else ""

    def state_of(self, token: IssuedToken) -> Literal["valid", "expired", "revoked"]:
        return token.state(self.now.timestamp())

    @staticmethod
    def scope_words(token: IssuedToken) -> Sequence[str]:
        return [word for scope, (_, word) in SCOPE_LABELS.items() if scope in token.scopes]

    def at_limit(self, token: IssuedToken) -> bool:
        used = self.calls_today.by_token.get(token.name, 0)
        return 0 < token.daily_limit <= used

    def ends_soon(self, token: IssuedToken) -> bool:
        left_s = (token.expires_at or float("inf")) - self.now.timestamp()
        return self.state_of(token) == "valid" and left_s < SOON_DAYS * 86400

    def _by_part(self, part: int) -> dict[Any, Usage]:
        groups: defaultdict[Any, list[Usage]] = defaultdict(list)
        for key, usage in self.by_day.items():
            if key[0] >= self.first_day:
                groups[key[part]].append(usage)
        return {key: merged(group) for key, group in groups.items()}

    def _chart(
        self,
        values: Callable[[Usage], tuple[float, ...]],
        text: Callable[[Usage], str],
        limit: int = 0,
    ) -> BarChart | None:
        bars = []
        oldest = min(self.usage_by_day, default=self.today)
        shown = max(PERIODS[0], (self.today - oldest).days + 1)
        for ago in reversed(range(shown)):
            day = self.today - timedelta(days=ago)
            usage = self.usage_by_day.get(day, Usage())
            name = f"{day:%d/%m}" if ago else "hoje"
            bars.append(Bar(name, f"{name}: {text(usage)}", values(usage)))
        return bar_chart(bars, _axis, limit or None)


def _strain_words(one: StrainedLimit) -> str:
    left, most = one.use.left, one.use.limit.most
    match one.use.limit.scope:
        case "person":
            whose = f"da pessoa {one.name}"
        case "token":
            whose = f"do token {one.name}"
        case _:
            whose = "do portal"
    if one.use.limit.unit == "calls":
        if one.strain == "spent":
            return f"O limite do dia {whose} foi usado"
        rest = counted(int(left), "chamada resta", "chamadas restam")
        return f"{rest} no limite do dia {whose}, de {grouped(most)}"
    if one.strain == "spent":
        return f"O orçamento do mês {whose} acabou: {formats.brl(most)}"
    rest = f"Do orçamento do mês {whose}, de {formats.brl(most)}, restam {formats.brl(left)}"
    return rest if one.strain == "near" else f"{rest}: já não paga toda consulta"


def usage_table(by_day: Mapping[tuple[date, str], Usage]) -> Table:
    """A row for each day and operation, the oldest first."""
    names = ("lookups", "calls", "hits", "collapsed", "stale", "spent", "saved")
    columns = (Column("day", "date"), Column("operation"), *map(Column, names))
    rows = (
        (*key, *(getattr(usage, name) for name in names)) for key, usage in sorted(by_day.items())
    )
    return Table("usage", columns, rows)


def spent_words(usage: Usage) -> str:
    """Return what calls have cost, and how many of them have an unknown price."""
    return _sum_words(usage.known_spent, usage.calls, usage.unpriced_calls)


def saved_words(usage: Usage) -> str:
    return _sum_words(usage.known_saved, usage.hits + usage.stale, usage.unpriced_hits)


def _sum_words(known: Decimal, count: int, unpriced: int) -> str:
    if not unpriced:
        return formats.brl(known)
    if unpriced == count:
        return formats.UNPRICED
    return f"{formats.brl(known)} e {grouped(unpriced)} sem preço informado"


def chosen_period(text: str) -> int:
    """Return the number in ``text`` if PERIODS contains it, else USUAL_PERIOD."""
    return next((days for days in PERIODS if text == str(days)), USUAL_PERIOD)


def _lookup_values(usage: Usage) -> tuple[float, ...]:
    """Return the parts of a bar in the lookup chart, in the order of the legend."""
    return (usage.calls, usage.hits, usage.collapsed, usage.stale)


def _axis(value: float) -> str:
    return grouped(Decimal(value)) if value == int(value) else ""
