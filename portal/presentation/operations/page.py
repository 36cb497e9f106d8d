"""The operator's page: usage, costs, failures, limits and storage.

An origin is a base address of the upstream: the primary address or the optional secondary address.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, ClassVar, Final, Literal, Protocol

from portal.batch import BatchUnderWay, Reason
from portal.charts import Bar, BarChart, Part, bar_chart, row_parts
from portal.gateway import (
    CachePolicy,
    CallFailures,
    CallsToday,
    OriginCalls,
    StoreSize,
    Usage,
    merged,
)
from portal.presentation import formats
from portal.presentation.caller_name import shown_caller
from portal.presentation.operation_names import OPERATION_TEXTS
from portal.presentation.operations.tokens import ListedToken, TokenFacts, listed_tokens
from portal.system.local_time import from_epoch, local_time
from portal.wording import counted, grouped

PERIODS: Final = (7, 30, 90)  # days
USUAL_PERIOD: Final = 30
MOST_CALLERS: Final = 10  # the number of tokens with their own row; all others share one row
# The keys have the type str, not OperationName, because the page looks up names from stored
# usage in this mapping. A stored name may be that of an operation that no longer exists.
_OPERATION_TITLES: Final[Mapping[str, str]] = {
    name: texts.title for name, texts in OPERATION_TEXTS.items()
}
_ORIGINS: Final[Mapping[str, str]] = {"primary": "Principal", "secondary": "Alternativo"}
_NO_CALLER: Final = "versões anteriores"
_OUTCOMES: Final[Mapping[str, str]] = {
    "not_sent": "Não foi possível enviar",
    "circuit_open": "Disjuntor aberto",
    "timed_out": "Demorou demais",
    "broken": "Conexão interrompida",
    "failing": "Erro da fonte",
    "unusable": "Resposta inválida",
    "maybe": "Sem desfecho registrado",
    "answered": "Pedido recusado pela fonte",
}
_REFUSALS: Final[Mapping[int, str]] = {
    401: "Credencial recusada",
    402: "A fonte exige pagamento ou saldo",
    403: "Credencial recusada",
    429: "A fonte pediu pausa",
}
_REASONS: Final[Mapping[Reason, str]] = {
    "": "pausado",
    "owner": "pausado por quem o criou",
    "day_limit": "espera o limite do dia",
    "token_limit": "espera o limite do token",
    "price": "passaria do valor confirmado",
    "unreachable": "espera a fonte voltar",
    "busy": "espera a pausa pedida pela fonte",
    "portal": "espera o livro-caixa",
    "access": "o acesso não é mais aceito",
    "operator_refused": "a fonte não aceitou o acesso deste portal",
    "no_credit": "a fonte exige pagamento ou saldo",
}
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


@dataclass(frozen=True, slots=True)
class OperationsFacts:
    """The data from which ``operations_page`` builds the page.

    ``by_day``, ``by_caller`` and ``failures`` cover the last ``days`` days. ``by_day`` is keyed
    by day and operation. ``now`` has a time zone. ``daily_limit`` is a number of calls, or 0 if
    there is no limit. ``store`` is None if the store of answers cannot be reached.
    ``database_bytes`` is None if the size of the database is unknown.
    """

    now: datetime
    days: int
    by_day: Mapping[tuple[date, str], Usage]
    by_caller: Mapping[str, Usage]
    failures: Sequence[CallFailures]
    breakers: Sequence[OriginBreaker]
    origins: Mapping[str, OriginCalls]
    calls_today: CallsToday
    daily_limit: int
    terms: Mapping[str, CachePolicy]
    store: StoreSize | None
    database_bytes: int | None
    purges: int
    batches: Sequence[BatchUnderWay]
    tokens: Sequence[TokenFacts]

    @property
    def today(self) -> date:
        return local_time(self.now).date()

    @property
    def first(self) -> date:
        return self.today - timedelta(days=self.days - 1)


@dataclass(frozen=True, slots=True)
class Period:
    """A link that selects a period. ``path`` is "" for the selected period."""

    label: str
    path: str


@dataclass(frozen=True, slots=True)
class Figure:
    label: str
    value: str
    note: str


@dataclass(frozen=True, slots=True)
class UsageRow:
    """The totals of a day, a token or an operation. Only a token's row has a ``bar``."""

    label: str
    usage: Usage
    bar: tuple[Part, ...] = ()

    @property
    def lookups(self) -> int:
        return _lookups(self.usage)


@dataclass(frozen=True, slots=True)
class AddressRow:
    """The row of an origin (a base address of the upstream).

    ``icon`` and ``tone`` show the state of the origin's circuit breaker. The tone "" is neutral.
    """

    name: str
    icon: Literal["check", "clock", "cross", "question"]
    tone: Literal["", "warn", "danger"]
    state: str
    calls: str
    failed: str


@dataclass(frozen=True, slots=True)
class FailureRow:
    kind: str
    origin: str
    calls: str
    charge: str
    last: str


@dataclass(frozen=True, slots=True)
class Limit:
    """Today's calls and the daily limit.

    If there is no limit, ``most`` is 0 and ``left`` is "".
    """

    used: int
    most: int
    text: str
    left: str


@dataclass(frozen=True, slots=True)
class RunningBatchRow:
    started: str
    state: str
    ended: str
    at_most: str


@dataclass(frozen=True, slots=True)
class OperationsPage:
    """The operator's page. It contains nothing that identifies a vehicle.

    A chart is None if all its values are 0.
    """

    template: ClassVar[str] = "pages/operations.html"
    updated: str
    period: str
    periods: tuple[Period, ...]
    figures: tuple[Figure, ...]
    has_prices: bool
    money_chart: BarChart | None
    money_text: str
    lookup_chart: BarChart | None
    lookup_text: str
    days: tuple[UsageRow, ...]
    callers: tuple[UsageRow, ...]
    operations: tuple[UsageRow, ...]
    addresses: tuple[AddressRow, ...]
    failures: tuple[FailureRow, ...]
    limit: Limit
    store: str
    database: str
    purges: str
    terms: Mapping[str, CachePolicy]  # the keys are labels of operations
    batches: tuple[RunningBatchRow, ...]
    tokens: tuple[ListedToken, ...]
    ended_tokens: tuple[ListedToken, ...]


def chosen_period(text: str) -> int:
    """Return the number in ``text`` if PERIODS contains it, else USUAL_PERIOD."""
    return next((days for days in PERIODS if text == str(days)), USUAL_PERIOD)


def operations_page(facts: OperationsFacts) -> OperationsPage:
    by_day = _by_part(facts.by_day, 0)
    by_operation = _by_part(facts.by_day, 1)
    total = merged(by_day.values())
    period = f"últimos {facts.days} dias"
    valid, ended = listed_tokens(facts.tokens, facts.calls_today.by_token, facts.now)
    return OperationsPage(
        updated=f"{local_time(facts.now):%H:%M}",
        period=period,
        periods=tuple(
            Period(f"{days} dias", "" if days == facts.days else f"/operacao?dias={days}")
            for days in PERIODS
        ),
        figures=_figures(facts, total, by_day),
        has_prices=any(each.price > 0 for each in facts.terms.values()),
        money_chart=_chart(
            facts, by_day, lambda each: (float(each.spent), float(each.saved)), _money_text
        ),
        money_text=(
            f"Nos {period}: {formats.brl(total.spent)} gastos e {formats.brl(total.saved)} "
            "economizados. Os números de cada dia estão na tabela abaixo."
        ),
        lookup_chart=_chart(facts, by_day, _lookup_values, _lookup_text, facts.daily_limit),
        lookup_text=(
            f"Nos {period}: {_lookup_text(total)}. Os números de cada dia estão na tabela abaixo."
        ),
        days=tuple(
            _row(formats.short_date(day), by_day[day]) for day in sorted(by_day, reverse=True)
        ),
        callers=_callers(facts.by_caller),
        operations=tuple(
            _row(_OPERATION_TITLES.get(name, name), usage)
            for name, usage in sorted(by_operation.items())
        ),
        addresses=tuple(_addresses(facts)),
        failures=tuple(_failure(each) for each in facts.failures),
        limit=_limit(facts.calls_today.all, facts.daily_limit),
        store=_store(facts.store),
        database=_size(facts.database_bytes) if facts.database_bytes is not None else "",
        purges=grouped(facts.purges),
        terms={_OPERATION_TITLES.get(name, name): terms for name, terms in facts.terms.items()},
        batches=tuple(_batch(each) for each in facts.batches),
        tokens=valid,
        ended_tokens=ended,
    )


def _by_part(usage: Mapping[tuple[Any, ...], Usage], part: int) -> dict[Any, Usage]:
    groups: defaultdict[Any, list[Usage]] = defaultdict(list)
    for key, each in usage.items():
        groups[key[part]].append(each)
    return {key: merged(group) for key, group in groups.items()}


def _free(usage: Usage) -> int:
    return usage.hits + usage.stale + usage.collapsed


def _lookups(usage: Usage) -> int:
    return usage.calls + _free(usage)


def _lookup_values(usage: Usage) -> tuple[float, ...]:
    """Return the parts of a bar in the lookup chart, in the order of the legend."""
    return (usage.calls, usage.hits, usage.collapsed, usage.stale)


def _figures(
    facts: OperationsFacts, total: Usage, by_day: Mapping[date, Usage]
) -> tuple[Figure, ...]:
    today = by_day.get(facts.today, Usage())
    free, lookups = _free(total), _lookups(total)
    return (
        Figure(
            f"Gasto em {facts.days} dias",
            formats.brl(total.spent),
            counted(total.calls, "chamada à fonte", "chamadas à fonte"),
        ),
        Figure(
            "Gasto hoje",
            formats.brl(today.spent),
            counted(today.calls, "chamada à fonte", "chamadas à fonte"),
        ),
        Figure(
            "Respondido sem pagar",
            formats.percent(Decimal(free) / lookups, 0) if lookups else "–",
            f"{grouped(free)} de {counted(lookups, 'pedido', 'pedidos')}: de resposta guardada "
            "ou de um pedido igual em curso",
        ),
        Figure(
            "Economizado",
            formats.brl(total.saved),
            "o que as respostas guardadas teriam custado",
        ),
    )


def _chart(
    facts: OperationsFacts,
    by_day: Mapping[date, Usage],
    values: Callable[[Usage], tuple[float, ...]],
    text: Callable[[Usage], str],
    limit: int = 0,
) -> BarChart | None:
    days = [facts.first + timedelta(days=n) for n in range(facts.days)]
    bars = []
    for day in days:
        usage = by_day.get(day, Usage())
        name = "hoje" if day == facts.today else f"{day:%d/%m}"
        bars.append(Bar(name, f"{name}: {text(usage)}", values(usage)))
    return bar_chart(bars, _axis, limit or None)


def _axis(value: float) -> str:
    return grouped(Decimal(value)) if value == int(value) else ""


def _money_text(usage: Usage) -> str:
    return f"{formats.brl(usage.spent)} gastos, {formats.brl(usage.saved)} economizados"


def _lookup_text(usage: Usage) -> str:
    return (
        f"{counted(usage.calls, 'chamada', 'chamadas')}, {grouped(usage.hits)} de resposta "
        f"guardada, {grouped(usage.collapsed)} de pedido igual, {grouped(usage.stale)} de resposta "
        "vencida"
    )


def _row(label: str, usage: Usage, whole: float = 0) -> UsageRow:
    return UsageRow(label, usage, row_parts(_lookup_values(usage), whole))


def _callers(by_caller: Mapping[str, Usage]) -> tuple[UsageRow, ...]:
    """Return the rows of the MOST_CALLERS costliest tokens, the costliest first.

    All other tokens share one further row.
    """
    dearest = sorted(
        by_caller.items(), key=lambda item: (-item[1].spent, -_lookups(item[1]), item[0])
    )
    rows = [(shown_caller(name) or _NO_CALLER, usage) for name, usage in dearest[:MOST_CALLERS]]
    if rest := [usage for _, usage in dearest[MOST_CALLERS:]]:
        rows.append((f"outros {grouped(len(rest))}", merged(rest)))
    whole = max((_lookups(usage) for _, usage in rows), default=0)
    return tuple(_row(name, usage, whole) for name, usage in rows)


def _addresses(facts: OperationsFacts) -> Iterable[AddressRow]:
    breakers = {each.name: each for each in facts.breakers}
    for name in sorted(breakers.keys() | facts.origins.keys()):
        calls = facts.origins.get(name, OriginCalls(0, 0))
        icon, tone, state = _breaker(breakers.get(name), facts.now)
        yield AddressRow(
            _ORIGINS.get(name, name), icon, tone, state, grouped(calls.calls), grouped(calls.failed)
        )


def _breaker(
    breaker: OriginBreaker | None, now: datetime
) -> tuple[Literal["check", "clock", "cross", "question"], Literal["", "warn", "danger"], str]:
    if breaker is None:
        return "question", "", "sem disjuntor"
    until = f"{local_time(now + timedelta(seconds=breaker.wait_s)):%H:%M:%S}"
    match breaker.state:
        case "open":
            return "cross", "danger", f"aberto, testa às {until}"
        case "half-open":
            return "clock", "warn", "meio aberto, testa na próxima consulta"
    if breaker.wait_s > 0:
        return "clock", "warn", f"em pausa até {until}, a pedido da fonte"
    return "check", "", "fechado, atende"


def _failure(failures: CallFailures) -> FailureRow:
    kind = _OUTCOMES.get(failures.outcome, failures.outcome)
    if failures.outcome == "answered" and failures.status is not None:
        kind = _REFUSALS.get(failures.status, kind)
    if failures.status is not None and failures.outcome in ("answered", "failing"):
        kind = f"{kind} ({failures.status})"
    return FailureRow(
        kind=kind,
        origin=_ORIGINS.get(failures.origin, failures.origin),
        calls=grouped(failures.calls),
        charge="não" if failures.is_free else "talvez",
        last=formats.moment(from_epoch(failures.last_at)),
    )


def _limit(used: int, most: int) -> Limit:
    if not most:
        return Limit(used, 0, f"{counted(used, 'chamada', 'chamadas')} hoje; sem limite diário", "")
    left = max(0, most - used)
    verb = "resta" if left == 1 else "restam"
    return Limit(
        used,
        most,
        f"{grouped(used)} de {counted(most, 'chamada', 'chamadas')} hoje",
        f"{verb} {grouped(left)}" if left else "esgotado até a meia-noite",
    )


def _store(size: StoreSize | None) -> str:
    if size is None:
        return "fora do ar"
    return f"{counted(size.entries, 'entrada', 'entradas')}, {_size(size.bytes)}"


def _size(number: int) -> str:
    value, unit = Decimal(number), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{grouped(value, 0 if unit == 'bytes' or value >= 100 else 1)}\u00a0{unit}"


def _batch(batch: BatchUnderWay) -> RunningBatchRow:
    return RunningBatchRow(
        started=formats.moment(from_epoch(batch.started_at)) if batch.started_at else "–",
        state="em andamento" if batch.state == "running" else _REASONS[batch.reason],
        ended=f"{grouped(batch.ended)} de {grouped(batch.total)}",
        at_most=formats.brl(batch.at_most),
    )
