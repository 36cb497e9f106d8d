"""The words of the sums over a vehicle's fines, for the screen and for paper."""

from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from portal import formats
from portal.law.assessment import Totals
from portal.wording import counted


class Sum(NamedTuple):
    """A sum with its label, and which fines it is of."""

    label: str
    value: str
    note: str


def owed(sums: Totals) -> Sum:
    """Return the sum of the open fines."""
    note = sums.open_words or ("" if sums.called_off_count else "todas pagas")
    if unpriced := sums.without_amount:
        note += f"; {formats.integer(unpriced)} sem valor informado, fora da soma"
    return Sum("Em aberto, valor cheio", amount_words(sums.amount, sums.open_count), note)


def enforceable(sums: Totals) -> Sum:
    """Return the sum of the fines that can be enforced, and what may be more of them."""
    value = amount_words(sums.enforceable_amount, sums.enforceable_count)
    due = counted(sums.enforceable_count, "multa", "multas") if sums.enforceable_count else ""
    if sums.unclear_count:
        unclear = f"{counted(sums.unclear_count, 'multa', 'multas')} de situação incerta"
        value = value if due else "não é possível dizer"
        due = f"{due} e talvez mais {unclear}" if due else unclear
    return Sum("Em regra já exigíveis", value, due)


def points(sums: Totals) -> Sum:
    """Return the points that count on a licence, and those that may come to count."""
    note = "de quem dirigia ou, se for o caso, do proprietário"
    if sums.points_to_come:
        note += f"; mais {formats.integer(sums.points_to_come)} podem vir a contar"
    if sums.points_unknown:
        unknown = counted(sums.points_unknown, "multa", "multas")
        note += f"; sem contar {unknown} cujos pontos não se conhecem"
    return Sum("Pontos que contam", formats.integer(sums.points), note)


def others(sums: Totals) -> Iterator[Sum]:
    """Yield the fines that no sum of open fines includes."""
    if sums.called_off_count:
        many = counted(sums.called_off_count, "multa", "multas")
        note = f"{many}, fora das somas: confirme com o órgão"
        yield Sum("Dadas como canceladas", formats.brl(sums.called_off_amount), note)
    if sums.paid_count:
        yield Sum("Pagas", formats.integer(sums.paid_count), "fora das somas")


def amount_words(amount: Decimal, count: int) -> str:
    """Return a sum in words: "nenhuma" without fines, and no zero without an amount."""
    if not count:
        return "nenhuma"
    return formats.brl(amount) if amount else formats.MISSING
