"""A court's restriction stops what its kind stops, and an unknown word never reads as "ok"."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.law import ACTS, effect_of, union
from portal.law.restriction_kinds import read_kinds
from portal.vehicle import HIDDEN
from tests.law.records import restriction
from tests.law.strategies import RESTRICTIONS


def marks(effect):
    return tuple(effect.answer(act).mark for act in ACTS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("TRANSFERENCIA", ("no", "careful", "yes", "yes")),
        ("PENHORA", ("no", "careful", "yes", "yes")),
        ("LICENCIAMENTO", ("no", "no", "careful", "careful")),
        ("CIRCULACAO", ("no", "no", "no", "no")),
        ("RESTRICAO TOTAL", ("no", "no", "no", "no")),
        ("TRANSFERENCIA E LICENCIAMENTO", ("no", "no", "careful", "careful")),
        ("TRANSFERENCIA, PENHORA", ("no", "careful", "yes", "yes")),
        ("Averbação de registro de penhora", ("no", "careful", "yes", "yes")),
    ],
)
def test_each_kind_stops_its_acts(text, expected):
    effect = effect_of(restriction(text))
    assert marks(effect) == expected
    assert effect.unrecognised == ""


@pytest.mark.parametrize(
    "text", ["Transferência", "transferencia", "  TRANSFERENCIA ", "RESTRIÇÃO DE TRANSFERÊNCIA"]
)
def test_spelling_does_not_matter(text):
    effect = effect_of(restriction(text))
    assert effect.kinds == ("transferencia",)
    assert effect.sentence == "não pode transferir; em regra pode licenciar; pode circular"


@pytest.mark.parametrize("text", ["ALGO NOVO", "NADA CONSTA", "SEM RESTRICAO", "BAIXADA", "0", "E"])
def test_an_unknown_word_is_shown_and_never_means_ok(text):
    effect = effect_of(restriction(text))
    assert effect.unrecognised == text
    assert set(marks(effect)) == {"unknown"}


def test_an_unknown_word_beside_a_known_kind_keeps_both():
    effect = effect_of(restriction("TRANSFERENCIA, XYZ"))
    assert effect.kinds == ("transferencia",)
    assert effect.unrecognised == "TRANSFERENCIA, XYZ"
    assert marks(effect) == ("no", "unknown", "unknown", "unknown")


def test_a_hidden_or_missing_kind_is_unknown():
    assert set(marks(effect_of(restriction()))) == {"unknown"}
    assert set(marks(effect_of(restriction(kinds_text=HIDDEN)))) == {"unknown"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("XYZ", "não é possível dizer se pode transferir, licenciar ou circular"),
        (
            "TRANSFERENCIA, XYZ",
            "não pode transferir; não é possível dizer se pode licenciar ou circular",
        ),
    ],
)
def test_what_cannot_be_told_is_said_once(text, sentence):
    assert effect_of(restriction(text)).sentence == sentence


def test_the_block_type_speaks_beside_the_kind():
    assert effect_of(restriction(block_type="CIRCULAÇÃO")).kinds == ("circulacao",)
    both = effect_of(restriction("TRANSFERENCIA", block_type="CIRCULACAO"))
    assert set(marks(both)) == {"no"}


@pytest.mark.parametrize(
    "said",
    [
        {"kinds_text": HIDDEN, "block_type": "TRANSFERENCIA"},
        {"kinds_text": "TRANSFERENCIA", "block_type": HIDDEN},
        {"kinds_text": "TRANSFERENCIA; oculto pela fonte"},
        {"kinds_text": "TRANSFERENCIA 流通"},
        {"kinds_text": "TRANSFERENCIA DE…"},
    ],
)
def test_what_is_hidden_or_unread_beside_a_kind_may_stop_more(said):
    assert marks(effect_of(restriction(**said))) == ("no", "unknown", "unknown", "unknown")


def test_a_record_that_says_nothing_is_recorded_stops_nothing():
    effect = effect_of(restriction(recorded=False, court="TJMG"))
    assert not effect.in_force
    assert set(marks(effect)) == {"yes"}
    assert not effect_of(restriction(recorded=False, detail="NADA CONSTA")).in_force
    assert effect_of(restriction("CIRCULACAO", recorded=None)).in_force


@pytest.mark.parametrize(
    "said",
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
def test_a_record_that_contradicts_itself_stops_nothing_for_sure_and_frees_nothing(said):
    effect = effect_of(restriction(**said | {"recorded": False}))
    assert effect.in_force
    assert set(marks(effect)) == {"unknown"}
    assert effect.doubt == "a fonte se contradiz"
    assert "se contradiz" in effect.transfer.reason


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("TRANSFERENCIA - BAIXADA", "BAIXADA"),
        ("Transferência (retirada)", "retirada"),
        ("SEM RESTRICAO DE TRANSFERENCIA", "SEM"),
        ("NÃO CONSTA TRANSFERENCIA", "NÃO"),
        ("TRANSFERENCIA; BAIXADA", "BAIXADA"),
    ],
)
def test_a_word_that_takes_a_restriction_back_leaves_it_open(text, word):
    effect = effect_of(restriction(text))
    assert set(marks(effect)) == {"unknown"}
    assert effect.doubt == f"a fonte registra “{word}”"
    assert f"A fonte registra “{word}”: confirme com o juízo." in effect.transfer.reason
    assert effect.unrecognised == text


def test_a_restriction_that_is_taken_back_takes_none_beside_it_along():
    effect = effect_of(restriction("PENHORA, LICENCIAMENTO BAIXADO"))
    assert effect.kinds == ("licenciamento", "penhora")
    assert marks(effect) == ("no", "unknown", "unknown", "unknown")


def test_several_restrictions_stop_what_any_of_them_stops():
    effects = [
        effect_of(restriction("TRANSFERENCIA")),
        effect_of(restriction("LICENCIAMENTO")),
        effect_of(restriction(recorded=False)),
    ]
    together = union(effects)
    assert together.kinds == ("transferencia", "licenciamento")
    assert marks(together) == ("no", "no", "careful", "careful")
    assert together.transfer.confidence == "verified"
    assert not union([]).in_force
    assert set(marks(union([]))) == {"yes"}


def test_every_answer_that_is_not_yes_names_its_source_and_reason():
    for text in ("TRANSFERENCIA", "PENHORA", "LICENCIAMENTO", "CIRCULACAO"):
        effect = effect_of(restriction(text))
        for act in ACTS:
            answer = effect.answer(act)
            assert answer.reason.endswith(".")
            assert answer.source


@given(st.lists(RESTRICTIONS, max_size=4))
def test_no_restriction_in_force_ever_leaves_transfer_free(given_restrictions):
    effects = [effect_of(r) for r in given_restrictions]
    together = union(effects)
    if not all(r.is_lifted for r in given_restrictions):
        assert together.transfer.mark in ("no", "unknown")
    else:
        assert marks(together) == ("yes",) * 4


@given(RESTRICTIONS)
def test_an_act_is_free_only_where_all_of_the_record_is_understood(record):
    effect = effect_of(record)
    if effect.in_force and "yes" in marks(effect):
        assert not (effect.unrecognised or effect.doubt)
        assert not (record.kinds_text.is_hidden or record.block_type.is_hidden)
        assert record.recorded is not False


@given(st.text(max_size=40))
def test_a_text_without_a_kind_is_given_back(text):
    reading = read_kinds(text)
    assert reading.kinds or reading.unrecognised == text
    assert set(reading.stated) <= set(reading.kinds)
