"""Restore the exact sum paid for a fine whose ``valorPago`` lacks its cents.

A fine is paid in full, at 80 % until its due date or at 60 % through SNE (CTB, art. 284 and its
§ 1º). "234" for a fine of R$ 293,47 is 80 % of it, R$ 234,78. A whole number that matches none of
the three may have lost its cents and is never presented as exact.
"""

from dataclasses import dataclass
from decimal import Decimal

from portal.law.amounts import Amount, is_whole, plausible
from portal.law.infractions import stands_for
from portal.law.wording import money


@dataclass(frozen=True, slots=True)
class PaidSum:
    """A paid sum in R$; None where the source states none.

    ``is_exact`` means exact to the cent, by the source or the table. ``note`` is a Portuguese
    clause on the origin of the value, "" where none is needed.
    """

    value: Decimal | None
    is_exact: bool
    note: str = ""

    @property
    def words(self) -> str:
        """The sum as text: ``R$ 234,78 (80% do valor da tabela; …)``.

        The cents are omitted if they are not known; "" if there is no sum.
        """
        if self.value is None:
            return ""
        text = money(self.value)
        if not self.is_exact:
            text = text.removesuffix(",00")
        return f"{text} ({self.note})" if self.note else text


def paid_sum(sent: Decimal | None, owed: Amount) -> PaidSum:
    """Return the paid sum.

    ``sent`` is the source's value in reais; ``owed`` is the fine's own amount.
    """
    if sent is not None and sent.is_zero():
        return PaidSum(Decimal(0), is_exact=True)
    sent = plausible(sent)
    if sent is None:
        return PaidSum(None, is_exact=False)
    for share, exact in (("100%", owed.value), ("80%", owed.at_80), ("60%", owed.at_60)):
        if owed.origin == "table" and stands_for(sent, exact) is not None:
            if sent == exact:
                return PaidSum(sent, is_exact=True)
            note = f"{share} do valor da tabela; a fonte enviou {sent:f}, sem os centavos"
            return PaidSum(exact, is_exact=True, note=note)
    if is_whole(sent):
        return PaidSum(sent, is_exact=False, note="como a fonte enviou, talvez sem os centavos")
    return PaidSum(sent, is_exact=True)
