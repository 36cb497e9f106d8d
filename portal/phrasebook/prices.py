"""The words of a price history: what it lost a month, and what stands in place of a chart."""

from decimal import Decimal

from portal import formats
from portal.vehicle.fipe import PriceSeries
from portal.wording import counted, listed


def monthly_words(change: Decimal | None) -> str:
    """Say what a price lost or gained a month in the past year: ``perdeu R$ 525 por mês``.

    ``change`` is in R$ a month. Return "" if it is unknown or less than R$ 1.
    """
    amount = monthly_amount(change)
    if change is None or not amount:
        return ""
    return f"{'perdeu' if change < 0 else 'subiu'} {amount}"


def monthly_amount(change: Decimal | None) -> str:
    """Return a change a month without its sign: ``R$ 525 por mês``, or ""."""
    if change is None or not round(change):
        return ""
    return f"{formats.whole_brl(abs(change))} por mês"


def monthly_range(changes: tuple[Decimal, Decimal] | None) -> str:
    """Format the changes of equally likely versions: ``−R$ 331 a −R$ 209``, or "" if unknown."""
    if changes is None:
        return ""
    return " a ".join(dict.fromkeys(map(formats.whole_brl, changes)))


def months_of_loss(gap: Decimal, change: Decimal | None) -> str:
    """Say how many months of the past year's loss a sum above the price is.

    ``gap`` is in R$. Return "" if the price did not fall, or for less than one month.
    """
    if change is None or change >= 0 or gap < -change:
        return ""
    months = counted(round(gap / -change), "mês", "meses")
    return f"São {formats.whole_brl(gap)} a mais: {months} da perda do último ano."


def instead_of_chart(series: PriceSeries, unread: str = "") -> str:
    """Say why there is no chart of a price history, with the prices that there are.

    ``unread`` are the source's words for what it could not read, or "".
    """
    if series.is_unread:
        return "O portal não conseguiu ler o histórico de preços que a fonte enviou desta versão."
    if not series.points and unread:
        return f"O histórico de preços desta versão não pôde ser lido na fonte: “{unread}”."
    if not series.points:
        return "A fonte não traz o histórico de preços desta versão."
    prices = [
        f"{formats.long_month(point.month)}, {formats.whole_brl(point.value)}"
        + (" (previsão)" if point.predicted else "")
        for point in series.points
    ]
    months = "um mês" if len(prices) == 1 else "dois meses"
    return f"A fonte traz só {months} desta versão, pouco para um gráfico: {listed(prices)}."
