"""What pages and papers say of a price history that is too short for a chart."""

from portal import formats
from portal.vehicle.fipe import PriceSeries
from portal.wording import listed


def instead_of_chart(series: PriceSeries) -> str:
    """Say why there is no chart of a price history, with the prices that there are."""
    if series.is_unread:
        return "O portal não conseguiu ler o histórico de preços que a fonte enviou desta versão."
    if not series.points:
        return "A fonte não traz o histórico de preços desta versão."
    prices = [
        f"{formats.long_month(point.month)}, {formats.whole_brl(point.value)}"
        + (" (previsão)" if point.predicted else "")
        for point in series.points
    ]
    months = "um mês" if len(prices) == 1 else "dois meses"
    return f"A fonte traz só {months} desta versão, pouco para um gráfico: {listed(prices)}."
