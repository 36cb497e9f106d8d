"""Text sizes, weights and widths of the style sheets are steps of one scale each.

The sheets of papers, the dossier's and the shop's, are left out: they are in points.
"""

import re
from pathlib import Path
from typing import Final

import pytest

STYLES: Final = Path("static/css")
PAPERS: Final = {"dossier.css", "shop_sheet.css"}
SHEETS: Final = sorted(path for path in STYLES.rglob("*.css") if path.name not in PAPERS)
SIZES: Final = {
    f"var({name})" for name in re.findall(r"--text-[a-z]+", (STYLES / "tokens.css").read_text())
}
# 0 hides a text whose place a ::before takes.
OTHER_SIZES: Final = {"inherit", "0"}
WEIGHTS: Final = {"400", "550", "650", "700"}
# What a font file covers, in the descriptor of @font-face.
FONT_RANGES: Final = {"400 700", "400 500", "550 700"}
WIDTHS: Final = {"40rem", "64rem", "80rem"}


def without_comments(sheet: Path) -> str:
    return re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.stem)
def test_text_sizes_weights_and_widths_are_steps(sheet: Path) -> None:
    text = without_comments(sheet)
    assert set(re.findall(r"font-size:\s*([^;}]+)", text)) <= SIZES | OTHER_SIZES
    assert set(re.findall(r"font-weight:\s*([^;}]+)", text)) <= WEIGHTS | FONT_RANGES
    for query in re.findall(r"@media([^{]+)", text):
        widths = set(re.findall(r"[\d.]+(?:rem|em|px|mm)", query)) if "width" in query else set()
        assert widths <= WIDTHS, query


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.stem)
def test_only_what_the_reader_has_set_is_important(sheet: Path) -> None:
    text = re.sub(
        r"@media \((?:prefers-reduced-motion: reduce|forced-colors: active)\) \{.*?\}\s*\}",
        "",
        without_comments(sheet),
        flags=re.DOTALL,
    )
    assert "!important" not in text
