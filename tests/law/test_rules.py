"""Every article and act that a text cites is in the table of rules."""

import re
from pathlib import Path
from typing import get_args

import pytest

from portal.law.rules import RULES, RuleSource

CHECKOUT = Path(__file__).resolve().parents[2]
TEXTS = [
    *(CHECKOUT / "portal/law").glob("*.toml"),
    *(CHECKOUT / f"portal/law/{name}.csv" for name in ("effects", "standings", "standstills")),
    *(CHECKOUT / "portal/law").glob("*.py"),
    *(CHECKOUT / "portal/dossier").glob("*.py"),
    *(CHECKOUT / "portal/phrasebook").glob("*.py"),
    *(CHECKOUT / "portal/phrasebook").glob("*.toml"),
    *(CHECKOUT / "portal/phrasebook").glob("*.csv"),
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
_ACTS = re.compile(
    r"\b(?:Lei|EC|DL|(?:Res\.|Deliberação|Portaria) Contran) \d[\d.]*/\d{4}"
    r"|\bSúmulas? \d+(?: e \d+)? do STJ"
)
ACTS = {rule.act for rule in RULES}
# The data protection law, by the name that people know.
_LGPD = re.compile(r"\bLGPD, arts?\. ((?:\d+(?:, | e | and )?)+)")
# What the sources of the rules were on 28/11/2026: the text was read, others quote it, or none did.
CHECKED = [
    ("CTB, art. 134", "lei"),
    ("CTB, art. 289", "lei"),
    ("CTB, art. 289-A", "lei"),
    ("CPC, art. 828", "lei"),
    ("CPC, art. 674", "lei"),
    ("CTN, art. 185", "lei"),
    ("DL 911/1969, art. 3º", "lei"),
    ("EC 137/2025", "lei"),
    ("Súmula 312 do STJ", "lei"),
    ("Lei 13.111/2015, art. 1º", "lei"),
    ("Lei 13.111/2015, art. 2º", "lei"),
    ("Lei 13.111/2015, art. 3º", "prática"),
    ("Res. Contran 1.026/2026, art. 11", "prática"),
    ("Res. Contran 1.026/2026, art. 20", "prática"),
    ("Lei 13.709/2018, art. 9º", "prática"),
    ("Lei 13.709/2018, art. 18", "lei"),
    ("Lei 13.709/2018, art. 19", "lei"),
    ("Lei 13.709/2018, art. 37", "lei"),
    ("Lei 13.709/2018, art. 41", "lei"),
    ("Lei 12.965/2014, art. 15", "lei"),
    ("Código Penal, art. 311", "memória"),
]
DATED = [
    ("Lei 13.111/2015", "25/03/2015"),
    ("Lei 13.281/2016", "04/05/2016"),
    ("Res. Contran 932/2022", "28/03/2022"),
    ("Res. Contran 1.026/2026", "26/06/2026"),
    ("EC 137/2025", "09/12/2025"),
    ("Lei 13.709/2018", "14/08/2018"),
    ("Lei 12.965/2014", "23/04/2014"),
]


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


@pytest.mark.parametrize(("citation", "source"), CHECKED)
def test_rule_has_the_source_that_was_checked(citation: str, source: str) -> None:
    assert {rule.source for rule in RULES if rule.citation == citation} == {source}


@pytest.mark.parametrize(("act", "day"), DATED)
def test_act_has_its_day_where_a_source_has_it(act: str, day: str) -> None:
    assert {rule.dated for rule in RULES if rule.act == act} == {day}


def test_cited_article_of_the_data_protection_law_is_in_the_table() -> None:
    known = {article.rstrip("º") for article in articles_of("Lei 13.709/2018")}
    others = [*(CHECKOUT / "portal/commands").glob("*.py"), CHECKOUT / "portal/system/checkup.py"]
    cited = {
        number
        for path in (*TEXTS, *others)
        for found in _LGPD.findall(path.read_text("utf-8"))
        for number in re.findall(r"\d+", found)
    }
    assert cited
    assert cited <= known


def test_each_rule_is_there_once_with_its_source() -> None:
    assert len({rule.citation for rule in RULES}) == len(RULES)
    assert {rule.source for rule in RULES} <= {*get_args(RuleSource)}
    assert all(rule.rule.endswith(".") for rule in RULES)


def test_each_act_has_its_date_or_year() -> None:
    dates = [rule.dated for rule in RULES]
    assert all(re.fullmatch(r"(\d{2}/\d{2}/)?(19|20)\d{2}", each) for each in dates)
    for rule in RULES:
        if stated := re.search(r"/(\d{4})$", rule.act):
            assert rule.dated.endswith(stated[1]), rule.act
