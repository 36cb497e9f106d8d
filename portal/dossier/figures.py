"""The key figures of a vehicle: price, fines and court orders, in the words of every face."""

from collections.abc import Iterator
from datetime import date, datetime
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from portal import formats
from portal.charts.scale import month_index
from portal.dossier.answers import is_readable
from portal.dossier.dossier import Dossier
from portal.dossier.prices import RECENT_MONTHS
from portal.gateway.operations import lookups_of
from portal.law.findings import PaidShort
from portal.phrasebook import acts, sums
from portal.phrasebook.findings import paid_short_note
from portal.phrasebook.orders import count_words
from portal.phrasebook.prices import monthly_words
from portal.vehicle.operation_name import LOOKUPS, LookupName

_SOURCES: Final[tuple[tuple[str, LookupName], ...]] = (
    ("Renajud", "renajud"),
    ("Renainf", "renainf"),
    ("FIPE", "decode"),
)
# An answer that lacks what it was asked for is "nothing".
SourceState = Literal["answered", "nothing", "unanswered", "not_asked", "not_applicable"]
_NOT_CLEAN: Final = "não significa “nada consta”"
_NOTHING: Final = "nenhuma nos registros"


class Figure(Struct, frozen=True):
    """A figure with its label.

    ``is_known`` is False if no answer has the value. The value is then "indisponível"
    (unavailable) or says why there is none, and is never zero.
    """

    label: str
    value: str
    note: str = ""
    is_known: bool = True


class Source(Struct, frozen=True):
    label: str
    value: str
    state: SourceState

    @property
    def is_known(self) -> bool:
        return self.state == "answered"

    @property
    def icon(self) -> str:
        """The name of a shape in ``icons.toml``, or "" for what cannot be asked."""
        if self.state == "answered":
            return "check"
        return "" if self.state == "not_applicable" else "question"


def price(dossier: Dossier) -> Figure:
    prices = dossier.prices
    if prices is None:
        return Figure("Preço FIPE", "indisponível", _NOT_CLEAN, is_known=False)
    if prices.price_summary is None:
        return Figure("Preço FIPE", prices.no_price, is_known=False)
    return Figure("Preço FIPE", prices.price_summary.text, prices.price_summary.note)


def price_change(dossier: Dossier) -> Iterator[Figure]:
    """Yield the price change in 12 months, or nothing if it is unknown."""
    prices = dossier.prices
    if prices and prices.best and prices.twelve_months:
        last = prices.best.series.last_real
        until = f"até {formats.month(last.month)}" if last is not None else ""
        is_one = len(prices.likeliest) == 1
        monthly = monthly_words(prices.best.series.monthly_change) if is_one else ""
        note = ", ".join(filter(None, (monthly, until)))
        yield Figure("FIPE em 12 meses", prices.twelve_months, note)


def fines(dossier: Dossier) -> Figure:
    label, totals = "Multas em aberto", dossier.totals
    if totals is None:
        return Figure(label, "indisponíveis", _NOT_CLEAN, is_known=False)
    called_off = sums.called_off_words(totals)
    ended = f"{called_off}, fora da conta" if called_off else ""
    reasons = dossier.verdict.reasons
    short = [paid_short_note(reason) for reason in reasons if isinstance(reason, PaidShort)]
    ended = "; ".join(filter(None, (ended, *short)))
    if not totals.open_count:
        return Figure(label, _NOTHING, ended)
    unpriced = totals.without_amount
    note = f", {formats.integer(unpriced)} sem valor informado" if unpriced else ""
    note = "; ".join(filter(None, (sums.open_words(totals) + note, ended)))
    return Figure(label, formats.brl(totals.known_amount), note)


def transfer(dossier: Dossier) -> Figure:
    """Whether the vehicle may be transferred, and how many court orders are in force."""
    of_orders, verdict = orders(dossier), dossier.verdict
    if verdict.finds_nothing:  # the acts say that nothing was found, and once is enough
        return Figure("Transfere?", "Sem ordem", "nos registros")
    note, all_orders = f"Ordens: {of_orders.value}", dossier.orders or ()
    if dossier.orders is not None and not all_orders:
        note = "nenhuma ordem"
    only = all_orders[0] if len(all_orders) == 1 else None
    if only and only.in_force and not only.is_doubtful and only.short_court:
        note = f"ordem ({only.short_court})"
    return Figure(
        "Transfere?", acts.short(verdict.row("transfer")), note, is_known=of_orders.is_known
    )


def owed(dossier: Dossier) -> Figure:
    """The open fines in the words of the first screen: their sum, and what can be enforced.

    Taxes and the fines of the states are not looked up, so that "Deve" only stands beside a sum.
    """
    of_fines, totals = fines(dossier), dossier.totals
    if totals is not None and not totals.open_count:
        note = "; ".join(filter(None, ("nos registros", of_fines.note)))
        return replace(of_fines, label="Multas", value="nenhuma", note=note)
    if totals is None or totals.known_amount is None:
        return replace(of_fines, label="Multas")
    note = f"em {of_fines.note}"
    if totals.enforceable_amount:
        is_all = totals.enforceable_amount == totals.known_amount
        note = "já exigível" if is_all else f"{formats.brl(totals.enforceable_amount)} já exigível"
    return replace(of_fines, label="Deve", note=note)


def worth(dossier: Dossier) -> Figure:
    """The price in the words of the first screen, with what it lost a month if that is sure."""
    of_price, prices = price(dossier), dossier.prices
    of_price = replace(of_price, label="Vale")
    if prices is None or prices.price_summary is None or prices.price_summary.doubt:
        return of_price
    if len(prices.likeliest) > 1:
        return replace(of_price, note=prices.price_summary.brief)
    tab = prices.best
    if tab and tab.words.now and (monthly := monthly_words(tab.series.monthly_change)):
        return replace(of_price, note=monthly)
    change = next(price_change(dossier), None)
    return replace(of_price, note=f"{change.value} em 12 meses" if change else "")


def sources(dossier: Dossier) -> Iterator[Source]:
    """Yield each source, with its state and when it answered.

    A source that has nothing on a Renavam did not fail to answer: it was not asked.
    """
    for label, lookup in _SOURCES:
        state, value = _state_of(dossier, lookup)
        yield Source(label, value, state)


def _state_of(dossier: Dossier, lookup: LookupName) -> tuple[SourceState, str]:
    panel, prices = dossier.answers.of(lookup), dossier.prices
    if is_readable(panel.result, lookup):
        if lookup != "decode" or prices is None:
            return "answered", _when(panel.fetched_at, dossier.today)
        if prices.price_summary is None:
            unread = prices.unread_words
            return ("unanswered", unread) if unread else ("nothing", "sem preço")
        last = prices.best.series.last_real if prices.best else None
        if last is None:
            return "answered", _when(panel.fetched_at, dossier.today)
        return "answered", formats.month(last.month) + _age(last.month, dossier.today)
    if lookup not in lookups_of(dossier.subject, LOOKUPS):
        return "not_applicable", "só pela placa"
    if panel.cause == "out_of_scope":
        return "not_asked", "fora do seu acesso"
    if panel.cause == "not_stored":
        return "not_asked", "não guardado"
    if lookup not in dossier.ask or panel.state == "unasked":
        return "not_asked", "não pedido"
    is_unclear = panel.cause == "unconfirmed"
    return "unanswered", "não confirmado" if is_unclear else "não respondeu"


def _when(fetched_at: datetime | None, today: date) -> str:
    return formats.near_moment(fetched_at, today) if fetched_at else ""


def _age(month: date, today: date) -> str:
    """Say how old a month's price is, unless it is recent: ``, há 24 meses``."""
    age = month_index(today) - month_index(month)
    return f", há {age} meses" if age > RECENT_MONTHS else ""


def orders(dossier: Dossier) -> Figure:
    label = "Restrições judiciais"
    if dossier.orders is None:
        return Figure(label, "indisponíveis", _NOT_CLEAN, is_known=False)
    return Figure(label, count_words(dossier.orders) or _NOTHING)
