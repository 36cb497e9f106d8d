"""The words of the counts and sums over fines, for the screen and for paper."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from portal import formats
from portal.law.assessment import AssessedFine, Totals, one_per_notice
from portal.law.standing import Standing
from portal.phrasebook.fines import gravity_counted
from portal.phrasebook.standings import WORDS
from portal.wording import counted, listed


class Sum(NamedTuple):
    """A sum with its label, and which fines it is of."""

    label: str
    value: str
    note: str


def count_words(fines: int, notices: int) -> str:
    """Count fines, of which some are only notices: ``30 multas e 1 autuação``, or "" for none."""
    penalties = fines - notices
    parts = [counted(penalties, "multa", "multas")] if penalties else []
    parts += [counted(notices, "autuação", "autuações")] if notices else []
    return " e ".join(parts)


def fines_in_words(fines: Sequence[AssessedFine]) -> str:
    """Count fines, each notice once: ``30 multas e 1 autuação``."""
    standings = [fine.standing for fine in one_per_notice(fines)]
    return count_words(len(standings), standings.count(Standing.NOTICE))


def open_words(sums: Totals) -> str:
    """Count the open fines: ``30 multas e 1 autuação``."""
    return count_words(sums.open_count, sums.open_notices)


def called_off_words(sums: Totals) -> str:
    """Count the fines that the source says are cancelled, or return "" for none.

    An example is ``1 dada como cancelada``.
    """
    off, count = WORDS[Standing.CALLED_OFF], sums.called_off_count
    return counted(count, off.of_one, off.of_many) if count else ""


def gravities(sums: Totals) -> str:
    """Count the open fines of each gravity: ``2 médias, 1 grave``."""
    return ", ".join(gravity_counted(gravity, count) for gravity, count in sums.gravities)


def repeated(sums: Totals) -> str:
    """Say which fines the source lists repeatedly, or return ""."""
    notes = []
    if groups := [counted(n, "registro idêntico", "registros idênticos") for n in sums.identical]:
        many = "cada grupo é uma multa só" if len(groups) > 1 else "é a mesma multa"
        notes.append(f"{listed(groups)}: confirme se {many}; a soma conta todos.")
    if records := [counted(n, "registro", "registros") for n in sums.same_notice]:
        notes.append(
            f"O mesmo auto de infração em {listed(records)}: confirme se é um só; a soma conta "
            "cada auto uma vez."
        )
    if sums.also_paid:
        what = counted(
            sums.also_paid,
            "auto de infração consta pago e também em aberto",
            "autos de infração constam pagos e também em aberto",
        )
        notes.append(f"{what}: confirme qual registro vale; a soma conta o que está em aberto.")
    return " ".join(notes)


def owed(sums: Totals) -> Sum:
    """Return the sum of the open fines."""
    note = open_words(sums) or ("" if sums.called_off_count else "todas pagas")
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


def enforceable_words(sums: Totals) -> str:
    """Count the fines that can be enforced, and name their sum: ``1 exigível, R$ 130,16``."""
    count = counted(sums.enforceable_count, "exigível", "exigíveis")
    return f"{count}, {amount_words(sums.enforceable_amount, sums.enforceable_count)}"


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
