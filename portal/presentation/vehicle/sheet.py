"""The shop's sheet of a vehicle, for screen, print and PDF."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import ClassVar, Final

from portal.dossier.dossier import Dossier
from portal.issued.issuer import Issuer
from portal.law.declared import SettledLine
from portal.law.findings import Finding
from portal.phrasebook.checklist import title
from portal.phrasebook.declared import line_source, line_words, warning_words
from portal.phrasebook.rules import CONSULTED
from portal.phrasebook.shop_sheet import TEXTS, Item, SheetTexts
from portal.system.local_time import local_time
from portal.vehicle.plate import Plate
from portal.wording import day, listed

HEDGE: Final = f"Modelo, pela lei consultada em {CONSULTED}: mostre a um advogado antes de usar."


@dataclass(frozen=True)
class Sheet:
    """What the sheet says of one vehicle. ``who`` is the name of the caller that makes it."""

    texts: ClassVar[SheetTexts] = TEXTS
    hedge: ClassVar[str] = HEDGE
    dossier: Dossier
    made_at: datetime
    who: str

    @property
    def plate(self) -> Plate:
        assert isinstance(self.dossier.subject, Plate)
        return self.dossier.subject

    @property
    def today(self) -> date:
        return self.dossier.today

    @cached_property
    def by_law(self) -> Sequence[tuple[Item, str, Sequence[SettledLine]]]:
        """Each item of the law with its lines."""
        return [
            (item, text, [one for one in self.dossier.lines if one.line.law == item])
            for item, text in TEXTS.items.items()
        ]

    @property
    def beside_law(self) -> Sequence[SettledLine]:
        """The lines that the law does not name."""
        return [one for one in self.dossier.lines if not one.line.law]

    @property
    def open_by_law(self) -> int:
        """The number of open lines that the law names."""
        return sum(one.is_open for one in self.dossier.lines if one.line.law)

    @property
    def doubts(self) -> Sequence[Finding]:
        """What the records say of the vehicle itself, such as a tampered chassis."""
        return [one for one in self.dossier.verdict.reasons if one.about == "vehicle"]

    @property
    def unknown_obstacles(self) -> Sequence[SettledLine]:
        """The open lines that may stop a stock entry, without those that a report warns of."""
        return [
            one
            for one in self.dossier.lines
            if one.line.blocks_stock and one.is_open and not one.is_warned
        ]

    @property
    def situation(self) -> str:
        """The clause's sentence that heads its items."""
        return TEXTS.clause.situation.format(
            plate=self.plate.display, day=day(local_time(self.made_at).date())
        )

    def standing(self, lines: Sequence[SettledLine]) -> str:
        """Say in the clause how the lines of an item stand, each with its source."""
        return "; ".join(f"{title(one.line)}: {self._standing_of(one)}" for one in lines)

    def _standing_of(self, one: SettledLine) -> str:
        words, source = line_words(one), line_source(one)
        # Who sells knows of the warning, and may not keep it from the buyer.
        return ", ".join(filter(None, (words, source, warning_words(one))))


@dataclass(frozen=True)
class SheetPage:
    """The page of one vehicle's sheet, with the form that declares its lines.

    ``chosen`` is the key of the line that the visitor opened, or "". ``problem`` says why a
    declaration was refused, or is "". ``is_file`` is true for a PDF, which has no form.
    """

    template: ClassVar[str] = "pages/sheet.html"
    sheet: Sheet
    issuer: Issuer | None
    address: str
    chosen: str = ""
    problem: str = ""
    is_file: bool = False

    @property
    def sheets(self) -> Sequence[Sheet]:
        return [self.sheet]

    @property
    def title(self) -> str:
        return f"Folha do veículo {self.sheet.plate.display}"

    @property
    def host(self) -> str:
        return self.address.partition("://")[2] or self.address


@dataclass(frozen=True)
class SheetsFile:
    """One file with the sheets of several vehicles."""

    template: ClassVar[str] = "pages/sheets.html"
    sheets: Sequence[Sheet]
    issuer: Issuer | None
    address: str

    @property
    def title(self) -> str:
        return f"Folhas de {listed([sheet.plate.display for sheet in self.sheets[:3]])}"

    @property
    def host(self) -> str:
        return self.address.partition("://")[2] or self.address
