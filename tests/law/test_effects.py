"""A court restriction stops certain acts. An unknown kind never permits an act."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.law.act_answers import ACTS
from portal.law.effects import Effect
from portal.law.restriction_kinds import read_kinds
from portal.vehicle.field import HIDDEN
from portal.vehicle.judicial import Restriction
from tests.law.records import TODAY, effect_of, restriction
from tests.law.strategies import RESTRICTIONS


def marks(effect: Effect) -> tuple[str, ...]:
    return tuple(effect.answers[act].mark for act in ACTS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("TRANSFERENCIA", ("no", "yes", "yes", "yes")),
        ("PENHORA", ("no", "careful", "yes", "yes")),
        ("LICENCIAMENTO", ("no", "no", "careful", "careful")),
        ("CIRCULACAO", ("no", "no", "no", "no")),
        ("RESTRICAO TOTAL", ("no", "no", "no", "no")),
        ("TRANSFERENCIA E LICENCIAMENTO", ("no", "no", "careful", "careful")),
        ("TRANSFERENCIA, PENHORA", ("no", "careful", "yes", "yes")),
        ("Averbação de registro de penhora", ("no", "careful", "yes", "yes")),
    ],
)
def test_each_kind_stops_its_acts(text: str, expected: tuple[str, ...]) -> None:
    effect = effect_of(restriction(text))
    assert marks(effect) == expected
    assert effect.unrecognised == ""


@pytest.mark.parametrize(
    "text", ["Transferência", "transferencia", "  TRANSFERENCIA ", "RESTRIÇÃO DE TRANSFERÊNCIA"]
)
def test_kinds_are_read_in_any_spelling(text: str) -> None:
    effect = effect_of(restriction(text))
    assert effect.kinds == ("transferencia",)
    assert [effect.answers[act].ground for act in ACTS] == ["transferencia"] * len(ACTS)


@pytest.mark.parametrize("text", ["NADA CONSTA", "SEM RESTRICAO", "BAIXADA"])
def test_denying_word_is_shown_and_makes_the_effect_unknown(text: str) -> None:
    effect = effect_of(restriction(text))
    assert effect.unrecognised == text
    assert set(marks(effect)) == {"unknown"}


@pytest.mark.parametrize("text", ["ALGO NOVO", "0", "E"])
def test_unknown_word_is_shown_and_stops_only_the_transfer(text: str) -> None:
    effect = effect_of(restriction(text))
    assert effect.unrecognised == text
    assert marks(effect) == ("no", "unknown", "unknown", "unknown")


def test_unknown_word_beside_a_known_kind_keeps_both() -> None:
    effect = effect_of(restriction("TRANSFERENCIA, XYZ"))
    assert effect.kinds == ("transferencia",)
    assert effect.unrecognised == "TRANSFERENCIA, XYZ"
    assert marks(effect) == ("no", "unknown", "unknown", "unknown")


def test_hidden_or_missing_kind_stops_the_transfer() -> None:
    for record in (restriction(), restriction(kinds_text=HIDDEN)):
        assert marks(effect_of(record)) == ("no", "unknown", "unknown", "unknown")


@pytest.mark.parametrize(
    ("text", "transfer"), [("XYZ", "any_kind"), ("BAIXADA", "lifted"), ("", "any_kind")]
)
def test_text_without_a_kind_says_why_it_leaves_the_acts_open(text: str, transfer: str) -> None:
    answers = effect_of(restriction(text)).answers
    assert answers["transfer"].ground == transfer
    assert answers["drive"].ground == ("lifted" if transfer == "lifted" else "unread")


def test_block_type_is_read_with_the_kind() -> None:
    assert effect_of(restriction(block_type="CIRCULAÇÃO")).kinds == ("circulacao",)
    both = effect_of(restriction("TRANSFERENCIA", block_type="CIRCULACAO"))
    assert set(marks(both)) == {"no"}


@pytest.mark.parametrize(
    "given",
    [
        {"kinds_text": HIDDEN, "block_type": "TRANSFERENCIA"},
        {"kinds_text": "TRANSFERENCIA", "block_type": HIDDEN},
        {"kinds_text": "TRANSFERENCIA; oculto pela fonte"},
        {"kinds_text": "TRANSFERENCIA 流通"},
        {"kinds_text": "TRANSFERENCIA DE…"},
    ],
)
def test_hidden_or_unread_text_leaves_other_acts_unknown(
    given: dict[str, Any],
) -> None:
    assert marks(effect_of(restriction(**given))) == ("no", "unknown", "unknown", "unknown")


def test_lifted_record_stops_nothing() -> None:
    effect = effect_of(restriction(recorded=False, court="TJMG"))
    assert not effect.in_force
    assert set(marks(effect)) == {"yes"}
    assert not effect_of(restriction(recorded=False, detail="NADA CONSTA")).in_force
    assert effect_of(restriction("CIRCULACAO", recorded=None)).in_force


@pytest.mark.parametrize(
    "given",
    [
        {"kinds_text": "CIRCULACAO"},
        {"kinds_text": HIDDEN},
        {"block_type": "TRANSFERENCIA"},
        {"block_type": HIDDEN},
        {"kinds_text": "?"},
        {"detail": "CONSTA DETALHE RENAJUD"},
        {"detail": HIDDEN},
    ],
)
def test_contradictory_record_makes_every_act_unknown(
    given: dict[str, Any],
) -> None:
    effect = effect_of(restriction(**given | {"recorded": False}))
    assert effect.in_force
    assert set(marks(effect)) == {"unknown"}
    assert (effect.doubt, effect.quoted) == ("contradicted", "")
    assert {answer.ground for answer in effect.answers.values()} == {"contradicted"}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("TRANSFERENCIA - BAIXADA", "BAIXADA"),
        ("Transferência (retirada)", "retirada"),
        ("SEM RESTRICAO DE TRANSFERENCIA", "SEM RESTRICAO"),
        ("NÃO CONSTA TRANSFERENCIA", "NÃO CONSTA"),
        ("PENHORA - BAIXA EFETUADA", "BAIXA EFETUADA"),
        ("TRANSFERENCIA; BAIXADA", "BAIXADA"),
    ],
)
def test_revoking_word_makes_the_restriction_uncertain(text: str, word: str) -> None:
    effect = effect_of(restriction(text))
    assert set(marks(effect)) == {"unknown"}
    assert (effect.doubt, effect.quoted) == ("lifted", word)
    answer = effect.answers["transfer"]
    assert (answer.ground, answer.quoted) == ("lifted", word)
    assert effect.unrecognised == text


def test_revoking_word_affects_only_its_own_list_part() -> None:
    effect = effect_of(restriction("PENHORA, LICENCIAMENTO BAIXADO"))
    assert effect.kinds == ("licenciamento", "penhora")
    assert marks(effect) == ("no", "unknown", "unknown", "unknown")


def test_verified_rule_decides_between_kinds() -> None:
    effect = effect_of(restriction("LICENCIAMENTO, TRANSFERENCIA"))
    assert effect.kinds == ("transferencia", "licenciamento")
    assert effect.answers["transfer"].confidence == "verified"


def test_every_answer_names_its_source() -> None:
    for text in ("TRANSFERENCIA", "PENHORA", "LICENCIAMENTO", "CIRCULACAO"):
        effect = effect_of(restriction(text))
        for act in ACTS:
            assert effect.answers[act].source


@given(RESTRICTIONS)
def test_restriction_in_force_never_allows_transfer(record: Restriction) -> None:
    effect = effect_of(record)
    if record.is_lifted:
        assert marks(effect) == ("yes",) * 4
    else:
        assert effect.answers["transfer"].mark in ("no", "unknown")


@given(RESTRICTIONS)
def test_act_is_free_only_for_a_recognised_record(record: Restriction) -> None:
    effect = effect_of(record)
    if effect.in_force and "yes" in marks(effect):
        assert not (effect.unrecognised or effect.doubt)
        assert not (record.kinds_text.is_hidden or record.block_type.is_hidden)
        assert record.recorded is not False


@given(st.text(max_size=40))
def test_text_without_a_kind_is_unrecognised(text: str) -> None:
    reading = read_kinds(text, TODAY)
    assert reading.kinds or reading.unrecognised == text
    assert set(reading.stated) <= set(reading.kinds)
