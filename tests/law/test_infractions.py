"""The infraction table is consistent; every spelling of a code finds its row."""

import re
from datetime import date
from decimal import Decimal
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.law.infractions import Gravity, _one_description, check_digit, find, rows, stands_for
from tests.law.records import infraction_of

POINTS = {"leve": 3, "media": 4, "grave": 5, "gravissima": 7, "especial": 0}
BASE = {"leve": "88.38", "media": "130.16", "grave": "195.23", "gravissima": "293.47"}
OLD_BASES = {Decimal(text) for text in ("53.20", "85.13", "127.69", "191.54")}
FACTORS = {
    Decimal(text) for text in ("0.5", "1", "2", "3", "4", "5", "10", "20", "30", "60", "100")
}


def test_points_follow_the_gravity() -> None:
    for row in rows():
        assert row.points == POINTS[row.gravity], row
        assert row.points_counted in (None, 0, row.points), row


def test_amount_is_the_base_times_the_multiplier() -> None:
    for row in rows():
        special = row.gravity == "especial"
        expected = None if special else Decimal(BASE[row.gravity]) * row.multiplier
        assert row.amount == expected, row


def test_only_gravissima_multiplies_only_pedestrians_pay_half() -> None:
    for row in rows():
        if row.multiplier == Decimal("0.5"):
            assert (row.gravity, row.offender) == ("leve", "pedestre"), row
        elif row.multiplier != 1:
            assert row.gravity == "gravissima", row


def test_old_amount_is_an_old_base_times_a_factor() -> None:
    products = {base * factor for base in OLD_BASES for factor in FACTORS}
    assert {row.amount_until_2016 for row in rows()} - {None} <= products


def test_check_digits_are_valid_except_7670() -> None:
    for row in rows():
        assert (row.code[3] == check_digit(row.code[:3])) == (row.code != "7670"), row
    assert [check_digit(root) for root in ("745", "501", "518")] == ["5", "0", "5"]


def test_every_row_is_found_in_all_spellings() -> None:
    for row in rows():
        found = find(row.code + row.split)
        assert found is not None, row
        assert found.rows == (row,)
        assert found.description == row.description
        assert find(found.printed) == found
        assert found.citation.startswith(f"art. {row.article.split(' c/c ')[0]}"), row


def test_every_row_has_description_and_article() -> None:
    for row in rows():
        assert row.description == row.description.strip() != "", row
        assert row.article[0].isdigit(), row
        assert row.offender, row
        assert row.gravity in get_args(Gravity), row


# The manual's abbreviations, as whole words; "ñ" stands for "não", "qq" for "qualquer".
ABBREVIATIONS = re.compile(
    r"\b(?:[cps]/|ñ|qq|qdo|qquer|exc|etc|acid|advert|agrupam|antec|ativid|autoriz|clin|ciclom|"
    r"compet|cond|confec|conec|conv|demonst|desac|desp|determ|devid|dist|efet|elem|emb|emerg|"
    r"equip|escorreg|esp|espec|especif|est|estab|estac|estacion|exerc|exib|fisc|fís|frenag|"
    r"front|hab|identif|identific|ident|ilum|imed|inf|infl|inscr|inst|instan|inalt|lat|lubrif|"
    r"manob|med|mot|moton|motoc|mov|munic|necess|par|pass|passag|passag|perm|polic|port|prát|"
    r"pref|prefer|proc|profic|proib|proj|prot|provid|proxim|públ|públic|púb|realiz|reg|regul|"
    r"regulam|remun|reserv|resid|salv|seg|segur|serv|sinaliz|sist|solicit|sub|super|susp|tox|"
    r"toxic|trab|trans|transf|transp|transport|trâns|ultrap|urb|utiliz|veic|veíc|veloc|venc)\b"
)


def test_descriptions_hold_no_abbreviation() -> None:
    for row in rows():
        plain = row.description.replace("art.", "").casefold()
        assert not ABBREVIATIONS.search(plain), row
        assert not re.search(r"[^0-9]/|\w\.(?! |$)", re.sub(r"[0-9]\.[0-9]{3}", "", plain)), row


def test_descriptions_separate_numbers_from_units() -> None:
    for row in rows():
        assert not re.search(r"[0-9](?:cm|m|kg|h|x)\b", row.description, re.IGNORECASE), row


def test_official_wording_is_kept_beside_the_plain_one() -> None:
    [row] = infraction_of("60501").rows
    assert row.official.startswith("Avançar o sinal vermelho do semáforo, exc onde houver")
    assert "exceto onde houver sinalização" in row.description
    assert sum(row.official != row.description for row in rows() if row.current) > 200


def test_suspending_infraction_counts_no_points() -> None:
    assert [r.code for r in rows() if r.suspends and r.points_counted != 0] == []


def test_code_and_split_are_unique() -> None:
    keys = [(row.code, row.split) for row in rows()]
    assert len(set(keys)) == len(keys) == 473


@pytest.mark.parametrize("text", ["7455", "745-5", "74550", "745-50", " 7455 "])
def test_speeding_is_found_in_every_spelling(text: str) -> None:
    found = infraction_of(text)
    assert found.citation == "art. 218, I do CTB"
    assert found.gravity == "media"
    assert found.amount == Decimal("130.16")
    assert (found.points, found.points_counted) == (4, 4)


def test_767_0_is_found_by_its_computed_check_digit() -> None:
    assert find("7676") == find("7670")
    assert find("767-60") == find("767-00")


@pytest.mark.parametrize(
    "text", ["", "0", "745", "7456", "7454", "745500", "ABCD", "７４５５", "745\n5"]
)
def test_unknown_code_is_not_found(text: str) -> None:
    assert find(text) is None


@pytest.mark.parametrize("text", ["60684", "606-84", "74559"])
def test_unknown_split_gives_the_infraction_of_its_root(text: str) -> None:
    root = text.replace("-", "")[:4]
    assert find(text) == find(root)


@pytest.mark.parametrize("code", ["7056", "7099", "7102"])
def test_motorcycle_and_bicycle_codes_depend_on_the_split(code: str) -> None:
    found = infraction_of(code)
    assert found.gravity == "depende"
    assert found.amount is None
    assert found.points_counted is None


def test_other_current_codes_have_one_gravity_and_amount() -> None:
    codes = {row.code for row in rows() if row.current}
    assert {code for code in codes if infraction_of(code).gravity == "depende"} == {
        "7056",
        "7099",
        "7102",
    }


def test_amount_distinguishes_bicycle_from_motorcycle() -> None:
    assert infraction_of("7056").narrowed_to(Decimal(130)).gravity == "media"
    assert infraction_of("7056").narrowed_to(Decimal("293.47")).gravity == "gravissima"
    assert infraction_of("7056").narrowed_to(Decimal(1)) == find("7056")


def test_amount_finds_the_superseded_rule_of_an_old_record() -> None:
    assert infraction_of("6920").gravity == "media"
    assert infraction_of("6920").narrowed_to(Decimal(195)).gravity == "grave"


def test_several_splits_share_one_description() -> None:
    text = infraction_of("5029").description
    assert text == (
        "Dirigir veículo com CNH, permissão (PPD) ou autorização (ACC) … cassada / durante a "
        "suspensão do direito de dirigir"
    )
    assert infraction_of("6173").article == "215, I, a ou 215, I, b"


def test_amounts_changed_on_1_november_2016() -> None:
    found = infraction_of("7455")
    assert found.amount_at(date(2016, 10, 31)) == Decimal("85.13")
    assert found.amount_at(date(2016, 11, 1)) == Decimal("130.16")
    assert found.amount_at(None) == Decimal("130.16")


def test_citation_of_a_second_law_keeps_its_name() -> None:
    assert (
        infraction_of("60685").citation == "art. 209 do CTB c/c art. 1º, § 5º, da Lei 13.711/2018"
    )


@pytest.mark.parametrize(
    ("sent", "exact"),
    [("130", "130.16"), ("130.16", "130.16"), ("131", None), ("130.00", "130.16"), ("85", "85.13")],
)
def test_amount_without_cents_matches_the_exact_one(sent: str, exact: str | None) -> None:
    found = stands_for(Decimal(sent), Decimal("130.16"), Decimal("85.13"))
    assert found == (Decimal(exact) if exact else None)


@given(st.text(max_size=8) | st.from_regex(r"[0-9]{3}-?[0-9]-?[0-9]?", fullmatch=True))
def test_find_never_raises(text: str) -> None:
    found = find(text)
    assert found is None or found.rows


@pytest.mark.parametrize("text", ["745 50", "745-5/0", "7455/0", "745.5-0", "745 5 0", "745-50"])
def test_code_is_read_with_any_separator(text: str) -> None:
    assert infraction_of(text).printed == "745-50"


def test_descriptions_of_splits_share_an_opening_of_three_words() -> None:
    assert _one_description(["A B C D", "A B C E"]) == "A B C … D / E"
    assert _one_description(["A B D", "A B E"]) == "A B D / A B E"
