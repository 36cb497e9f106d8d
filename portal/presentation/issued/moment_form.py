"""The choices of the form "Vou pagar agora": the lookups that it may make, with their prices."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from portal import formats
from portal.dossier.lookups import LOOKUP_WORDS
from portal.vehicle.operation_name import LookupName


@dataclass(frozen=True, slots=True)
class MomentChoice:
    """A lookup that can be made again. ``price`` is in R$, or None if it is unknown."""

    name: LookupName
    price: Decimal | None

    @property
    def words(self) -> str:
        return LOOKUP_WORDS[self.name]

    @property
    def price_words(self) -> str:
        if self.price is None:
            return "preço não informado"
        return formats.brl(self.price) if self.price else "sem custo"


def moment_choices(prices: Mapping[LookupName, Decimal | None]) -> tuple[MomentChoice, ...]:
    """Return the choices, RENAJUD first, or none if the caller may not look up court orders."""
    if "renajud" not in prices:
        return ()
    names = sorted(prices, key=lambda name: name != "renajud")
    return tuple(MomentChoice(name, prices[name]) for name in names)
