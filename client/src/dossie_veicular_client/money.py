"""Amounts in R$ as Brazilians write them."""


def reais(amount: float | None) -> str:
    """Return an amount as Brazilians write it. An unknown amount (None) is never R$ 0,00."""
    if amount is None:
        return "valor desconhecido"
    return f"R$ {amount:,.2f}".translate(str.maketrans(",.", ".,"))
