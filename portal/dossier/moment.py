"""What was found when lookups were made again at the moment of payment, and its words."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from portal import formats
from portal.dossier.lookups import LOOKUP_WORDS
from portal.vehicle.operation_name import LookupName
from portal.wording import listed


@dataclass(frozen=True, slots=True)
class Moment:
    """What was found at the moment.

    ``former`` is the number of the dossier that was compared, "" if stored answers were, whose
    newest is of ``since`` (None without any). ``nothing_changed`` is None if a lookup had no answer
    to compare. ``spent`` is the R$ that the lookups have cost, or None if a price is unknown.
    """

    at: datetime
    asked: tuple[LookupName, ...]
    former: str
    since: datetime | None
    changes: tuple[str, ...]
    nothing_changed: bool | None
    spent: Decimal | None

    @property
    def heading(self) -> str:
        """What was asked, and when."""
        words = listed([LOOKUP_WORDS[name] for name in self.asked])
        return f"No ato: {words}, em consulta de {formats.moment(self.at)}"

    @property
    def finding(self) -> str:
        """Whether something has changed, without the changes."""
        if self.nothing_changed is None:
            return "Não há resposta anterior para comparar."
        since = f"desde a consulta guardada de {formats.moment(self.since)}"
        if self.former:
            since = f"desde o dossiê nº {self.former}, de {formats.moment(self.since)}"
        return f"Nada mudou {since}." if self.nothing_changed else f"Mudou {since}:"
