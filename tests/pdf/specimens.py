"""The PDFs that the tests of structure and metadata read: dossiers, signed ones, shop's sheets."""

import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from portal.dossier.answers import Panels
from portal.pdf.archival import Embedded
from portal.pdf.signing import Signer, read_key
from tests.effort import long
from tests.fakes.signing import PASSWORD, chain
from tests.pdf.rendering import can_render_pdf, rendered
from tests.presentation import dossiers
from tests.presentation.rendering import DOWN

MADE_AT: Final = datetime(2026, 11, 27, 17, 2, tzinfo=UTC)
DATA: Final = b'{"version": 1, "plate": "ABC1D23"}'
# In each dossier that tests read, so that they lay out one page once.
EMBEDDED: Final = Embedded(DATA, MADE_AT)


class Specimen(NamedTuple):
    """A PDF. A dossier has its data embedded, and an issued one is signed."""

    html: Callable[[], str]
    is_dossier: bool = True
    is_signed: bool = False


_DOSSIERS: Final[dict[str, Callable[[], str]]] = {
    "clean car": lambda: dossiers.of_sandbox("LMP0A01"),
    "45 fines": lambda: dossiers.of_sandbox("MUL0A45"),
    "300 fines": lambda: dossiers.varied(300, 2),
    "everything unavailable": dossiers.unavailable,
}
_OTHER_DOSSIERS: Final[dict[str, Callable[[], str]]] = {
    "one fine": dossiers.one_fine,
    "court orders": lambda: dossiers.of_sandbox("JUD0A04"),
}
_SHEETS: Final[dict[str, Callable[[], str]]] = {
    "clean car": lambda: dossiers.sheet(dossiers.answers_of_sandbox("LMP0A01")),
    "45 fines": lambda: dossiers.sheet_of_fines(45),
    "300 fines": lambda: dossiers.sheet_of_fines(300),
    "everything unavailable": lambda: dossiers.sheet(Panels(DOWN, DOWN, DOWN)),
}
SPECIMENS: Final[dict[str, Specimen]] = {
    **{f"signed, {name}": Specimen(html, is_signed=True) for name, html in _DOSSIERS.items()},
    # The slow layout of 300 fines is tested as it is issued, signed, alone.
    **{
        name: Specimen(html)
        for name, html in (_DOSSIERS | _OTHER_DOSSIERS).items()
        if name != "300 fines"
    },
    **{f"sheet, {name}": Specimen(html, is_dossier=False) for name, html in _SHEETS.items()},
}
# A signed dossier begins with the bytes of the unsigned one (``test_archival.py``), which is why
# ``make test`` reads those that are signed, and of the unsigned ones those that no signed one has.
# The layout of 300 fines takes longer than that of all others, and 45 have an annex too.
_LONG: Final = [
    name for name in SPECIMENS if f"signed, {name}" in SPECIMENS or name.endswith("300 fines")
]
every_specimen = pytest.mark.parametrize(
    "name", [*(name for name in SPECIMENS if name not in _LONG), *long(*_LONG)]
)
_SIGNED: Final = [name for name, each in SPECIMENS.items() if each.is_signed]
every_signed = pytest.mark.parametrize(
    "name",
    [*(name for name in _SIGNED if name not in _LONG), *long(*(set(_SIGNED) & set(_LONG)))],
)


@cache
def pdf_of(name: str) -> bytes:
    """Return a specimen. Skips the test if WeasyPrint is not usable."""
    if not can_render_pdf():
        pytest.skip("WeasyPrint or a library of it is not installed")
    html, is_dossier, is_signed = SPECIMENS[name]
    content = rendered(html(), EMBEDDED if is_dossier else None)
    return signer().sign(content).content if is_signed else content


@cache
def signer() -> Signer:
    with tempfile.TemporaryDirectory() as folder:
        return Signer(read_key(chain().write(Path(folder)), PASSWORD, None, datetime.now(UTC)))
