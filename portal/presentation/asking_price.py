"""Compares the price that a seller asks with the price table, in the chart and the negotiation."""

from decimal import Decimal
from typing import Final

from portal import formats
from portal.dossier.prices import LEAST_POINTS, PriceCandidate, Prices

ASKING: Final = "pedido"  # the parameter of the page's URL
# A price this much below the table's price gets a warning.
_SUSPICIOUS: Final = Decimal("-0.2")


def cheapest_words(prices: Prices) -> str:
    """Name the version from whose price a ceiling starts, if several may be the vehicle."""
    return f"da mais barata das {len(prices.likeliest)} versões prováveis"


def against_table(asking: Decimal, tab: PriceCandidate, doubt: str, *, of_version: str = "") -> str:
    """Compare an asking price with the current price of a version, and with its history.

    For example: ``5,2% acima da FIPE; preço de mar/25.`` (5.2 % above FIPE; the price of March
    2025). ``doubt`` is the reason why nothing may be computed from the price, or "". ``of_version``
    names the version ("desta versão"), or is "".
    """
    if tab.current is None:
        return "Esta versão não tem preço na fonte para comparar."
    if doubt:
        return "Sem comparação: o preço da tabela está em dúvida."
    table = f"FIPE {of_version}" if of_version else "FIPE"
    gap = asking / tab.current - 1
    if not round(abs(gap), 3):
        return f"É o preço da {table}."
    sentence = f"{formats.percent(abs(gap))} {'acima' if gap > 0 else 'abaixo'} da {table}"
    month = tab.series.last_month_at(asking, or_more=gap > 0)
    if month is not None:
        sentence += f"; preço de {formats.month(month.month)}"
    elif len(tab.series.real) >= LEAST_POINTS:
        sentence += f"; nenhum mês teve preço tão {'alto' if gap > 0 else 'baixo'}"
    if gap <= _SUSPICIOUS:
        sentence += ". Pergunte por quê antes de pagar qualquer valor"
    return f"{sentence}."
