"""The words of what court orders mean: for each act, in doubt, in conflict, and by whom lifted."""

from datetime import UTC, datetime
from typing import Any, get_args

import pytest

from portal.law.act_answers import ACTS, Act
from portal.law.orders import AssessedOrder, Conflict
from portal.law.restriction_kinds import KINDS, Kind
from portal.phrasebook import effects as say
from portal.phrasebook import orders as say_orders
from portal.phrasebook.rules import CONSULTED
from tests.law.records import TODAY, effect_of, restriction

JUDGE = (
    "Só o juiz que deu a ordem (ou um tribunal acima) pode retirá-la; Detran e Senatran não podem. "
    "O interessado pede a baixa no processo, com advogado ou defensor."
)
CREDITOR = "Alienação fiduciária não é ordem de juiz: quem a baixa é o credor, depois da quitação."
BODY = "Bloqueio administrativo não é ordem de juiz: só o Detran ou o órgão que o pôs o retira."
NOT_READ = "O tipo da restrição não foi informado ou reconhecido por inteiro"
CONTRADICTED = (
    "A fonte se contradiz: diz que não há restrição e, no mesmo registro, a descreve. Confirme com "
    "o juízo."
)
CASE = "5001234-46.2025.8.13.0024"


def order_of(kinds: str, **given: Any) -> AssessedOrder:
    return AssessedOrder(restriction(kinds, **given), TODAY)


# The order's text, and its effect in words.
EFFECTS = [
    ("Transferência", "não pode transferir; pode licenciar; pode circular"),
    ("XYZ", "em regra não pode transferir; não é possível dizer se pode licenciar ou circular"),
    ("BAIXADA", "não é possível dizer se pode transferir, licenciar ou circular"),
    (
        "TRANSFERENCIA, XYZ",
        "não pode transferir; não é possível dizer se pode licenciar ou circular",
    ),
    (
        "CIRCULACAO",
        "não pode transferir; não pode licenciar; não pode circular; risco de remoção ao pátio",
    ),
    (
        "PENHORA, CIRCULACAO AUTORIZADA",
        "na prática não pode transferir; em regra pode licenciar; a fonte diz que pode circular",
    ),
]


@pytest.mark.parametrize(("text", "sentence"), EFFECTS)
def test_effect_is_said(text: str, sentence: str) -> None:
    assert say.sentence(effect_of(restriction(text))) == sentence


@pytest.mark.parametrize("kind", ["", *KINDS])
@pytest.mark.parametrize("act", ACTS)
def test_each_kind_has_words_for_each_act(kind: Kind, act: Act) -> None:
    texts = say._OF_KINDS[kind, act]
    assert texts.phrase
    assert texts.reason.endswith(".")
    assert texts.says in ("", "unlicensed")
    assert not texts.short or len(texts.short.split()) <= 8


def test_no_words_are_of_an_unknown_kind() -> None:
    assert {kind for kind, _ in say._OF_KINDS} == {"", *KINDS}
    assert (*say.ACT_TEXTS,) == ACTS


# The record, the act, why the answer is open, and the words of the doubt.
REASONS: list[tuple[dict[str, Any], Act, str, str]] = [
    (
        {"kinds": "XYZ"},
        "transfer",
        f"{NOT_READ}, mas todos os tipos do Renajud impedem, em regra, a transferência.",
        "",
    ),
    ({"kinds": "XYZ"}, "drive", f"{NOT_READ}.", ""),
    (
        {"kinds": "TRANSFERENCIA", "recorded": False},
        "transfer",
        CONTRADICTED,
        "a fonte se contradiz",
    ),
    (
        {"kinds": "TRANSFERENCIA - BAIXADA"},
        "transfer",
        "A fonte registra “BAIXADA”: confirme com o juízo.",
        "a fonte registra “BAIXADA”",
    ),
    (
        {"kinds": "PENHORA, CIRCULACAO AUTORIZADA"},
        "drive",
        "A fonte diz “CIRCULACAO AUTORIZADA”: confirme com o juízo.",
        "",
    ),
    (
        {"kinds": "BUSCA E APREENSAO"},
        "transfer",
        "Na busca e apreensão, o credor pode tomar o veículo do devedor ou de quem estiver com "
        "ele. Feita a apreensão, o juiz deve retirar a restrição (art. 3º, § 9º).",
        "",
    ),
]


@pytest.mark.parametrize(("given", "act", "reason", "doubt"), REASONS)
def test_reason_is_said(given: dict[str, Any], act: Act, reason: str, doubt: str) -> None:
    effect = effect_of(restriction(**given))
    assert say.reason(effect.answers[act]) == reason
    assert say.doubt(effect) == doubt


def test_permission_has_a_short_form() -> None:
    answers = effect_of(restriction("PENHORA, CIRCULACAO AUTORIZADA")).answers
    assert say.short(answers["drive"]) == "Autorizado, segundo a fonte"
    assert say.short(answers["transfer"]) == ""


@pytest.mark.parametrize(
    ("order", "title"),
    [
        (order_of("TRANSFERENCIA", detail="CIRCULACAO"), "Restrição de transferência e circulação"),
        (order_of("PENHORA"), "Penhora registrada"),
        (order_of("ARRESTO"), "Arresto"),
        (order_of("ALIENACAO FIDUCIARIA, BLOQUEIO DETRAN"), None),
        (order_of("XYZ"), "Restrição “XYZ”"),
        (order_of(""), "Restrição judicial"),
        (order_of("", recorded=False), "Registro sem restrição em vigor"),
    ],
)
def test_order_has_a_title(order: AssessedOrder, title: str | None) -> None:
    both = "Alienação fiduciária e bloqueio administrativo"
    assert say_orders.title(order) == (title or both)


# A conflict's code, the record, and what is said of it.
CONFLICTS: list[tuple[Conflict, dict[str, Any], str]] = [
    (
        "included_in_future",
        {"included_at": datetime(2026, 12, 25, 13, tzinfo=UTC)},
        "A data de inclusão (25/12/2026) está no futuro: confirme com o juízo.",
    ),
    (
        "included_too_early",
        {"included_at_text": "10/10/1990"},
        "A data de inclusão (10/10/1990) não serve: o Renajud existe desde 2008. Confirme com o "
        "juízo.",
    ),
    (
        "detail_lifts",
        {"detail": "RESTRICAO BAIXADA EM 10/10/2025"},
        "O detalhe diz “RESTRICAO BAIXADA EM 10/10/2025”, e o registro segue como restrição: "
        "confirme a baixa no processo.",
    ),
    (
        "check_digits",
        {"case": "0000001-00.2024.8.26.0100"},
        "Os dígitos verificadores do processo 0000001-00.2024.8.26.0100 não conferem: confira o "
        "número antes de consultar.",
    ),
    (
        "other_court",
        {"court": "TJSP", "case": CASE},
        "O número do processo é do TJMG, e o registro traz TJSP: confirme qual é o juízo.",
    ),
    (
        "no_civil_court",
        {"court": "TRT2", "court_body": "3A VARA CIVEL"},
        "O TRT2 não tem vara cível: confirme qual é o juízo.",
    ),
]


@pytest.mark.parametrize(("code", "given", "sentence"), CONFLICTS)
def test_conflict_is_said(code: Conflict, given: dict[str, Any], sentence: str) -> None:
    assert list(say_orders.conflicts(order_of("TRANSFERENCIA", **given))) == [sentence]


def test_every_conflict_is_in_the_table() -> None:
    assert [code for code, *_ in CONFLICTS] == [*get_args(Conflict)]


@pytest.mark.parametrize(
    ("texts", "sentences"),
    [
        (("TRANSFERENCIA",), (JUDGE,)),
        (("ALIENACAO FIDUCIARIA",), (CREDITOR,)),
        (("PENHORA, BLOQUEIO DETRAN",), (JUDGE, BODY)),
    ],
)
def test_lifters_are_named(texts: tuple[str, ...], sentences: tuple[str, ...]) -> None:
    said = say_orders.who_lifts([order_of(text) for text in texts])
    assert said == " ".join((*sentences, f"Lei consultada em {CONSULTED}."))


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ((), ""),
        (("TRANSFERENCIA",), "1 em vigor"),
        (("TRANSFERENCIA", "PENHORA", "BAIXADA"), "2 em vigor e 1 de situação incerta"),
        (("BAIXADA", "BAIXADA"), "2 de situação incerta"),
    ],
)
def test_orders_are_counted(texts: tuple[str, ...], words: str) -> None:
    assert say_orders.count_words([order_of(text) for text in texts]) == words
