"""Restore the exact amount of a fine.

The field ``valor`` (amount) of a record often lacks the cents. In this module, "the source" is the
upstream API that sends the records. Art. 284 of the CTB (the traffic code) grants two discounts.
Until the due date, a payer owes 80 % of the amount. A payer who uses SNE, the federal system of
electronic notices, and files no defence or appeal owes 60 % (§ 1º). Some fines double if the driver
repeats the infraction within 12 months. These are the fines of arts. 165 to 165-C, 173 to 175 and
191, of the sole paragraph of art. 203, and of § 2º of art. 253-A.
"""

from collections.abc import Iterator
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from portal.law.infractions import NEW_AMOUNTS_SINCE, Infraction, stands_for
from portal.wording import day, money

_CENT = Decimal("0.01")
_DOUBLED_ARTICLES = ("165", "165-A", "165-B", "165-C", "173", "174", "175", "191", "203", "253-A")
_OVERWEIGHT = "231, V"
# For each number of fractions of 200 kg, up to which the rate in R$ applies to each (art. 231, V).
_OVERWEIGHT_RATES = (
    (3, Decimal("5.32")),
    (4, Decimal("10.64")),
    (5, Decimal("21.28")),
    (15, Decimal("31.92")),
    (25, Decimal("42.56")),
    (200, Decimal("53.20")),
)
_BASE_AMOUNTS = tuple(map(Decimal, ("88.38", "130.16", "195.23", "293.47")))
_MULTIPLIERS = (1, 2, 3, 5, 10, 20, 60)
_SINGLE = (*_BASE_AMOUNTS, *(_BASE_AMOUNTS[-1] * factor for factor in _MULTIPLIERS[1:]))
# How often a NIC of before NIC_DOUBLED_SINCE is likely to be multiplied.
_MOST_REPEATED = 12
_OF_NIC = (
    "Em regra, é o dobro da multa original, desde abril de 2022; antes, multiplicava-se pelo "
    "número de infrações iguais em 12 meses (art. 257, § 8º, do CTB)."
)
# Since then a NIC is twice the original fine. Sources differ by a day.
NIC_DOUBLED_SINCE = date(2022, 4, 21)
_CHANGED = "a regra desta infração mudou entre 2016 e 2021: confirme."
# A number with more than _MOST_DIGITS digits before the decimal point is too large for a fine. The
# limit also bounds the cost of Decimal arithmetic.
_MOST_DIGITS = 15


class Amount(Struct, frozen=True):
    """A fine's amount in R$: in full, and with the discounts (80 % or 60 % is owed).

    ``origin`` states whether ``value`` is from the official table, was sent by the source, or is
    unknown ("none"). ``matches`` states whether the sent amount agrees with the table. It is None
    if no comparison is possible.
    """

    value: Decimal | None
    origin: Literal["table", "sent", "none"]
    note: str
    matches: bool | None = None

    @property
    def at_80(self) -> Decimal | None:
        return self._share(Decimal("0.8"))

    @property
    def at_60(self) -> Decimal | None:
        return self._share(Decimal("0.6"))

    def _share(self, share: Decimal) -> Decimal | None:
        if self.value is None:
            return None
        return (self.value * share).quantize(_CENT, ROUND_HALF_UP)


def exact_amount(
    infraction: Infraction | None, sent: Decimal | None, committed_on: date | None
) -> Amount:
    """Return the table's amount if ``sent`` agrees or is missing, else ``sent``.

    ``sent`` is the source's amount in reais. The source may have cut the cents, so "130" can mean
    R$ 130,16. A zero, negative, huge or infinite amount is treated as missing.
    """
    sent = plausible(sent)
    expected = infraction.amount_at(committed_on) if infraction else None
    has_changed = infraction is not None and infraction.gravity == "mudou"
    if sent is None:
        if expected is None:
            why = f", e {_CHANGED}" if has_changed else "."
            return Amount(None, "none", f"Não é possível dizer: a fonte não informa o valor{why}")
        period = "da data da infração"
        if committed_on is None:
            period = f"em vigor desde {day(NEW_AMOUNTS_SINCE)} (sem a data da infração, confirme)"
        return Amount(expected, "table", f"A fonte não informa o valor; é o da tabela {period}.")
    if infraction is None:
        return _as_sent(sent, "Valor enviado pela fonte; o código não está na tabela.")
    if has_changed:
        return _as_sent(sent, f"Valor enviado pela fonte, fora das tabelas; {_CHANGED}")
    found = stands_for(sent, expected)
    if found is not None:
        return Amount(found, "table", _cents(sent, found), matches=True)
    return _against_other_tables(infraction, sent, expected, committed_on)


def _against_other_tables(
    infraction: Infraction, sent: Decimal, expected: Decimal | None, committed_on: date | None
) -> Amount:
    if expected is not None and sent == expected * 100:
        note = f"O valor enviado ({sent:f}) está em centavos; pela tabela, são {money(expected)}."
        return Amount(expected, "table", note, matches=True)
    other = stands_for(sent, infraction.amount, infraction.amount_until_2016)
    if other is not None:
        era = "em vigor desde" if other == infraction.amount else "anterior a"
        note = f"{_cents(sent, other)} É o valor da tabela {era} {day(NEW_AMOUNTS_SINCE)}"
        note += "; confirme." if committed_on is None else ", que não é a da data da infração."
        return Amount(other, "table", note, matches=committed_on is None)
    if infraction.is_nic and (doubled := stands_for(sent, *_nic_amounts())) is not None:
        note = f"{_cents(sent, doubled)} É o dobro de uma multa de {money(doubled / 2)}. {_OF_NIC}"
        return Amount(doubled, "table", note, matches=True)
    if expected is None:
        note = "Valor enviado pela fonte; a tabela não fixa um valor único para esta infração."
        return _as_sent(sent, f"{note} {_OF_NIC}" if infraction.is_nic else note)
    base_article = infraction.article.split(",")[0]
    doubled = stands_for(sent, expected * 2)
    if doubled is not None and base_article in _DOUBLED_ARTICLES:
        note = f"{_cents(sent, doubled)} É o dobro da tabela, como na reincidência em 12 meses."
        return Amount(doubled, "table", note, matches=True)
    if sent < expected:
        return _too_low(sent, expected)
    note = (
        f"A fonte enviou {money(sent)}, que não corresponde à tabela "
        f"({money(expected)}); mantido o valor enviado."
    )
    if infraction.article == _OVERWEIGHT:
        for steps, amount in _overweight_amounts(expected):
            if stands_for(sent, amount) is not None:
                each = money((amount - expected) / steps)
                told = (
                    f"{_cents(sent, amount)} É a multa de {money(expected)} mais {steps} × {each}, "
                    "um por 200 kg de excesso ou fração (art. 231, V, do CTB)."
                )
                return Amount(amount, "table", told, matches=True)
        note += " No excesso de peso, soma-se um valor a cada 200 kg (art. 231, V, do CTB)."
    return _as_sent(sent, note, matches=False)


def _nic_amounts() -> list[Decimal]:
    return [2 * amount for amount in _SINGLE]


def nic_multiple(asked: Decimal) -> tuple[Decimal, int] | None:
    """Return the fine of which a NIC asks a multiple, in full or with a discount, and how often.

    Twice a fine comes first. Returns None for an amount that is no multiple.
    """
    for count in range(2, _MOST_REPEATED + 1):
        for single in _SINGLE:
            full = Amount(single * count, "table", "")
            if asked in (full.at_80, full.at_60) or stands_for(asked, full.value) is not None:
                return single, count
    return None


def sne_amounts() -> list[Decimal | None]:
    """Return the table's amounts with the discount of SNE."""
    return [Amount(each, "table", "").at_60 for each in _SINGLE]


def overweight_steps(infraction: Infraction, base: Decimal, asked: Decimal) -> int:
    """Return the fractions of 200 kg of excess that an amount is for, or 0."""
    if infraction.article != _OVERWEIGHT:
        return 0
    return next((steps for steps, amount in _overweight_amounts(base) if amount == asked), 0)


def _overweight_amounts(base: Decimal) -> Iterator[tuple[int, Decimal]]:
    """Yield numbers of fractions of 200 kg of excess, and the amount of the fine for each."""
    first = 1
    for last, rate in _OVERWEIGHT_RATES:
        yield from ((steps, base + steps * rate) for steps in range(first, last + 1))
        first = last + 1


def _too_low(sent: Decimal, expected: Decimal) -> Amount:
    """Return the table's amount for a lower one, which may be a discounted amount or cut."""
    table = Amount(expected, "table", "", matches=False)
    note = f"A fonte enviou {money(sent)}, menos que a tabela; vale aqui o da tabela: confirme."
    for share, amount in (("80%", table.at_80), ("60%", table.at_60)):
        if discounted(sent, amount) is not None:
            note = f"O valor enviado ({sent:f}) é o de {share}; o cheio é {money(expected)}."
            break
    return replace(table, note=note)


def discounted(sent: Decimal, *amounts: Decimal | None) -> Decimal | None:
    """Return the first discounted amount that fits ``sent``, which may be cut below the cent."""
    for amount in amounts:
        if amount is not None and (stands_for(sent, amount) or sent == amount - _CENT):
            return amount
    return None


def _as_sent(sent: Decimal, note: str, *, matches: bool | None = None) -> Amount:
    if is_whole(sent):
        note += " A fonte costuma cortar os centavos."
    return Amount(sent, "sent", note, matches)


def is_whole(sent: Decimal) -> bool:
    """Return whether an amount came without decimals ("234", but not "234.00")."""
    return "." not in f"{sent:f}"


def _cents(sent: Decimal, exact: Decimal) -> str:
    if sent == exact:
        return "Valor enviado pela fonte, igual ao da tabela."
    return f"O valor enviado ({sent:f}) veio sem os centavos; pela tabela, são {money(exact)}."


def plausible(sent: Decimal | None) -> Decimal | None:
    """Return an amount rounded to the cent, or None if the amount is implausible.

    An infinite, huge, zero or negative amount is implausible.
    """
    if sent is None or not sent.is_finite() or sent <= 0 or sent.adjusted() >= _MOST_DIGITS:
        return None
    return sent if sent == int(sent) else sent.quantize(_CENT, ROUND_HALF_UP)
