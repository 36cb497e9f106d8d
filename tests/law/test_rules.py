"""Every article and act that a text cites is in the table of rules."""

import re
from pathlib import Path

import pytest

from portal.law.rules import RULES, SOURCE_WORDS

CHECKOUT = Path(__file__).resolve().parents[2]
TEXTS = [
    *(CHECKOUT / "portal/law").glob("*.toml"),
    *(CHECKOUT / f"portal/law/{name}.csv" for name in ("acts", "effects", "standings")),
    *(CHECKOUT / "portal/law").glob("*.py"),
    *(CHECKOUT / "portal/dossier").glob("*.py"),
    *(CHECKOUT / "portal/phrasebook").glob("*.py"),
    *(CHECKOUT / "portal/phrasebook").glob("*.toml"),
    *(CHECKOUT / "portal/presentation").rglob("*.py"),
    *(CHECKOUT / "portal/presentation").rglob("*.csv"),
    *(CHECKOUT / "templates").rglob("*.html"),
]
# A list of articles with paragraphs and items, and the act that it ends with.
_CITED = re.compile(
    r"\barts?\. ((?:\d+(?:-[A-D])?º?|§§? ?|[ºª]|[IVX]+\b|[ ,]|-A\b|\be\b|\ba\b|\bc/c\b)+)"
    r"(?:d[oa] (CTB|CPC|CTN|Código Penal|Código Civil))?"
)
_NUMBER = re.compile(r"(?<!§ )(?<!§§ )\b(\d{2,3}(?:-[A-D])?)\b(?!º)")
_ACTS = re.compile(r"\b(?:Lei|EC|DL|Res\. Contran) \d[\d.]*/\d{4}|\bSúmulas? \d+(?: e \d+)? do STJ")
ACTS = {rule.act for rule in RULES}


def portuguese(text: str) -> str:
    """Join the strings of the code, and drop comments and docstrings, which are in English."""
    text = re.sub(r'"""(?:.|\n)*?"""' if "import " in text else r"(?!)", "", text)
    text = re.sub(r"(?m)^\s*#.*$", "", text)
    return re.sub(r"\s+", " ", re.sub(r'"\s*\n\s*f?"|\\\n', "", text))


def articles_of(act: str) -> set[str]:
    return {rule.article for rule in RULES if rule.act == act}


@pytest.mark.parametrize("path", TEXTS, ids=[str(path.relative_to(CHECKOUT)) for path in TEXTS])
def test_cited_article_is_in_the_table(path: Path) -> None:
    text = portuguese(path.read_text("utf-8"))
    for match in _CITED.finditer(text):
        known = articles_of(match[2]) if match[2] else {rule.article for rule in RULES}
        for number in _NUMBER.findall(match[1]):
            base = number.partition("-")[0]
            assert number in known or base in known, (match[0], number)
    for act in _ACTS.findall(text):
        numbers = re.findall(r"\d[\d.]*", act) if act.startswith("Súmula") else []
        for one in [f"Súmula {number} do STJ" for number in numbers] or [act]:
            assert one in ACTS, act


def test_the_check_finds_an_article_that_the_table_lacks() -> None:
    found = [m[1] for m in _CITED.finditer("(art. 999, § 2º, do CTB) e arts. 281-A e 998 do CTB")]
    assert [_NUMBER.findall(each) for each in found] == [["999"], ["281-A", "998"]]
    assert not {"999", "998"} & articles_of("CTB")


def test_each_rule_is_there_once_with_its_source() -> None:
    assert len({rule.citation for rule in RULES}) == len(RULES)
    assert {rule.source for rule in RULES} <= SOURCE_WORDS.keys()
    assert all(rule.rule.endswith(".") for rule in RULES)


def test_each_act_has_its_date_or_year() -> None:
    dates = [rule.dated for rule in RULES]
    assert all(re.fullmatch(r"(\d{2}/\d{2}/)?(19|20)\d{2}", each) for each in dates)
    for rule in RULES:
        if stated := re.search(r"/(\d{4})$", rule.act):
            assert rule.dated.endswith(stated[1]), rule.act
