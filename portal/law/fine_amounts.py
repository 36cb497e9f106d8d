"""Restore the exact amount of a fine. ``portal.phrasebook.fines`` says why it is that amount.

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

from portal.law.infractions import Infraction, stands_for

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
# Since then a NIC is twice the original fine. Sources differ by a day.
NIC_DOUBLED_SINCE = date(2022, 4, 21)
# A number with more than _MOST_DIGITS digits before the decimal point is too large for a fine. The
# limit also bounds the cost of Decimal arithmetic.
_MOST_DIGITS = 15


# Why an amount is what it is.
Why = Literal[
    # Without a sent amount: nothing is known, the rule has changed, or the table has one.
    "unknown",
    "unknown_since_changed",
    "of_table",
    "of_table_undated",
    # The sent amount agrees with a table.
    "as_sent",
    "in_cents",
    "of_other_period",
    "of_other_period_undated",
    "nic_doubled",
    "repeated",
    "overweight",
    # The table's amount in place of a lower one: of a discount, or of nothing known.
    "sent_at_80",
    "sent_at_60",
    "sent_too_low",
    # The sent amount, which no table confirms.
    "unlisted",
    "changed",
    "no_single",
    "no_single_nic",
    "outside",
    "outside_overweight",
    "diverging",
]


class Amount(Struct, frozen=True):
    """A fine's amount in R$: in full, and with the discounts (80 % or 60 % is owed).

    ``origin`` states whether ``value`` is from the official table, was sent by the source, or is
    unknown ("none"). ``matches`` states whether the sent amount agrees with the table. It is None
    if no comparison is possible. ``why`` is the reason for ``value``, with its facts: ``sent`` is
    the source's amount, ``single`` the table's amount that the sent one was compared with, and
    ``steps`` the number of fractions of 200 kg of excess. ``is_new`` is true if the amount is of
    the table in force since NEW_AMOUNTS_SINCE.
    """

    value: Decimal | None
    origin: Literal["table", "sent", "none"]
    why: Why
    matches: bool | None = None
    sent: Decimal | None = None
    single: Decimal | None = None
    steps: int = 0
    is_new: bool = True

    @property
    def at_80(self) -> Decimal | None:
        return at_80(self.value)

    @property
    def at_60(self) -> Decimal | None:
        return at_60(self.value)

    @property
    def may_lack_cents(self) -> bool:
        """Whether the amount is the source's own, and a whole number."""
        return self.origin == "sent" and self.sent is not None and is_whole(self.sent)


def at_80(full: Decimal | None) -> Decimal | None:
    """Return what is owed until the due date."""
    return _share(full, Decimal("0.8"))


def at_60(full: Decimal | None) -> Decimal | None:
    """Return what is owed through SNE."""
    return _share(full, Decimal("0.6"))


def _share(full: Decimal | None, share: Decimal) -> Decimal | None:
    return None if full is None else (full * share).quantize(_CENT, ROUND_HALF_UP)


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
            return Amount(None, "none", "unknown_since_changed" if has_changed else "unknown")
        return Amount(expected, "table", "of_table" if committed_on else "of_table_undated")
    if infraction is None:
        return as_sent(sent, "unlisted")
    if has_changed:
        return as_sent(sent, "changed")
    stood_for = stands_for(sent, expected)
    if stood_for is not None:
        return Amount(stood_for, "table", "as_sent", matches=True, sent=sent)
    return _against_other_tables(infraction, sent, expected, committed_on)


def _against_other_tables(
    infraction: Infraction, sent: Decimal, expected: Decimal | None, committed_on: date | None
) -> Amount:
    if expected is not None and sent == expected * 100:
        return Amount(expected, "table", "in_cents", matches=True, sent=sent)
    other = stands_for(sent, infraction.amount, infraction.amount_until_2016)
    if other is not None:
        is_undated, is_new = committed_on is None, other == infraction.amount
        why: Why = "of_other_period_undated" if is_undated else "of_other_period"
        return Amount(other, "table", why, matches=is_undated, sent=sent, is_new=is_new)
    if infraction.is_nic and (doubled := stands_for(sent, *_nic_amounts())) is not None:
        return Amount(doubled, "table", "nic_doubled", matches=True, sent=sent, single=doubled / 2)
    if expected is None:
        return as_sent(sent, "no_single_nic" if infraction.is_nic else "no_single")
    base_article = infraction.article.split(",")[0]
    doubled = stands_for(sent, expected * 2)
    if doubled is not None and base_article in _DOUBLED_ARTICLES:
        return Amount(doubled, "table", "repeated", matches=True, sent=sent, single=expected)
    if sent < expected:
        return _too_low(sent, expected)
    is_overweight = infraction.article == _OVERWEIGHT
    for steps, amount in _overweight_amounts(expected) if is_overweight else ():
        if stands_for(sent, amount) is not None:
            return Amount(
                amount, "table", "overweight", True, sent=sent, single=expected, steps=steps
            )
    unfit: Why = "outside_overweight" if is_overweight else "outside"
    return as_sent(sent, unfit, matches=False, single=expected)


def _nic_amounts() -> list[Decimal]:
    return [2 * amount for amount in _SINGLE]


def nic_multiple(asked: Decimal) -> tuple[Decimal, int] | None:
    """Return the fine of which a NIC asks a multiple, in full or with a discount, and how often.

    Twice a fine comes first. Returns None for an amount that is no multiple.
    """
    for count in range(2, _MOST_REPEATED + 1):
        for single in _SINGLE:
            full = single * count
            if asked in (at_80(full), at_60(full)) or stands_for(asked, full) is not None:
                return single, count
    return None


def sne_amounts() -> list[Decimal | None]:
    """Return the table's amounts with the discount of SNE."""
    return [at_60(amount) for amount in _SINGLE]


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
    why: Why = "sent_too_low"
    if discounted(sent, at_80(expected)) is not None:
        why = "sent_at_80"
    elif discounted(sent, at_60(expected)) is not None:
        why = "sent_at_60"
    return Amount(expected, "table", why, matches=False, sent=sent)


def discounted(sent: Decimal, *amounts: Decimal | None) -> Decimal | None:
    """Return the first discounted amount that fits ``sent``, which may be cut below the cent."""
    for amount in amounts:
        if amount is not None and (stands_for(sent, amount) or sent == amount - _CENT):
            return amount
    return None


def as_sent(
    sent: Decimal, why: Why, *, matches: bool | None = None, single: Decimal | None = None
) -> Amount:
    """Return the source's own amount, which no table confirms."""
    return Amount(sent, "sent", why, matches, sent=sent, single=single)


def is_whole(sent: Decimal) -> bool:
    """Return whether an amount came without decimals ("234", but not "234.00")."""
    return "." not in f"{sent:f}"


def plausible(sent: Decimal | None) -> Decimal | None:
    """Return an amount rounded to the cent, or None if the amount is implausible.

    An infinite, huge, zero or negative amount is implausible.
    """
    if sent is None or not sent.is_finite() or sent <= 0 or sent.adjusted() >= _MOST_DIGITS:
        return None
    return sent if sent == int(sent) else sent.quantize(_CENT, ROUND_HALF_UP)
