"""The words of a verdict, of its acts and of its reasons."""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal

import pytest

from portal.law.act_answers import Act
from portal.law.act_matrix import VerdictPart
from portal.law.findings import Finding, OtherVehicle, Tampered, TamperedWith
from portal.law.verdict import Verdict
from portal.phrasebook import acts
from portal.phrasebook.findings import clause, consequence, sentence
from portal.phrasebook.verdict import headline, notices
from tests.law.judged import ENFORCEABLE, NOTICE, TJMG, assessed
from tests.law.records import judge, restriction

BEFORE = datetime.fromisoformat("2026-11-20T14:05:00")
LATER = datetime.fromisoformat("2026-11-20T18:00:00")
AS_OF = "conforme resposta guardada de 20/11/2026 às 14:05; sem resposta mais nova da fonte"
STALE: Mapping[VerdictPart, datetime] = {"restrictions": BEFORE, "fines": LATER}
OBSERVED = assessed(committed_on=date(2024, 8, 18), notified_on=date(2024, 9, 9))
CHASSIS = assessed(code="65562", amount=Decimal(293), paid_on=date(2026, 7, 5))

# A verdict, and its headline.
HEADLINES = [
    (judge(True, [], [TJMG]), "Não pode ser transferido agora"),
    (judge(True, [], [restriction("CIRCULAÇÃO")]), "Não pode circular nem ser transferido"),
    (
        judge(True, [], [restriction("ALGO NOVO")]),
        "Em regra, não pode ser transferido agora",
    ),
    (
        judge(True, [], []),
        "Nenhuma multa em aberto nem restrição judicial encontrada; falta verificar IPVA, "
        "financiamento, roubo e furto",
    ),
    (judge(True, [ENFORCEABLE], []), "Em regra, só transfere depois de paga a multa"),
    (
        judge(True, [], [restriction("PENHORA BAIXADA")]),
        "Há restrição judicial de situação incerta; confirme com o juízo",
    ),
    (
        judge(True, [CHASSIS], []),
        "Já foi autuado por chassi violado ou falsificado; faça a perícia de identificação antes "
        "de qualquer pagamento",
    ),
    (
        judge(True, [], [], stale=STALE),
        f"Nenhuma multa em aberto nem restrição judicial encontrada; {AS_OF}",
    ),
    (
        judge(True, [], [], check_digit_holds=False),
        "Verificação incompleta; o dígito verificador do Renavam não confere",
    ),
    (
        judge(True, [], [], is_described=False),
        "Verificação incompleta; a fonte não descreveu o veículo",
    ),
    (
        judge(True, None, [], is_described=False),
        "Falta consultar as multas; a fonte não descreveu o veículo",
    ),
]


@pytest.mark.parametrize(("verdict", "words"), HEADLINES, ids=[words for _, words in HEADLINES])
def test_headline_is_said(verdict: Verdict, words: str) -> None:
    assert headline(verdict) == words


# Each kind as sent, of those whose orders leave driving alone.
SENT = [
    *("TRANSFERENCIA", "PENHORA", "LICENCIAMENTO", "BUSCA E APREENSAO", "ARRESTO", "SEQUESTRO"),
    *("INDISPONIBILIDADE", "PERDIMENTO", "ADJUDICACAO", "ARREMATACAO", "LEILAO JUDICIAL"),
    *("REINTEGRACAO DE POSSE", "ALIENACAO FIDUCIARIA", "BLOQUEIO DETRAN", "ALGO NOVO"),
]


@pytest.mark.parametrize("kinds", SENT)
def test_headline_and_reason_of_a_prohibition_have_one_voice(kinds: str) -> None:
    verdict = judge(True, [], [restriction(kinds)])
    said = (headline(verdict).lower(), sentence(verdict.reasons[0]).partition(": ")[2])
    for hedge in ("na prática", "em regra não pode transferir"):
        found = [hedge.partition(" não")[0] in each.partition(";")[0] for each in said]
        assert found[0] == found[1], (hedge, said)


# A verdict, an act, its row's short answer, and a part of the reasons.
ROWS: list[tuple[Verdict, Act, str, str]] = [
    (judge(True, [], [restriction("CIRCULAÇÃO")]), "removal", "Risco de remoção", "recolhido"),
    (judge(True, [ENFORCEABLE], []), "licence", "Só após pagar", "art. 131, § 2º"),
    (judge(True, [ENFORCEABLE], []), "transfer", "Só após pagar", "arts. 124, VIII, e 128"),
    (
        judge(True, [ENFORCEABLE], []),
        *("drive", "Nada encontrado", "confira no CRLV-e se está em dia"),
    ),
    (
        judge(True, [ENFORCEABLE], [TJMG]),
        *("transfer", "Não", "impede a mudança de propriedade. Com multa exigível em aberto, "),
    ),
    (judge(True, [OBSERVED], []), "transfer", "Com ressalva", "situação incerta, que pode impedir"),
    (
        judge(True, [NOTICE], []),
        *("licence", "Com ressalva", "em regra, não impede (art. 284, § 3º, do CTB)"),
    ),
    (
        judge(True, [assessed(penalty_on=date(2026, 10, 10))], []),
        *("transfer", "Com ressalva", "provavelmente vencida"),
    ),
    (judge(True, [CHASSIS], []), "transfer", "Com ressalva", "perícia"),
    (
        judge(True, [], [restriction("ALGO NOVO")]),
        *("transfer", "Não", "todos os tipos do Renajud impedem"),
    ),
    (judge(True, None, []), "transfer", "Não se sabe", "Não foi possível consultar as multas."),
    (
        judge(True, [], [], check_digit_holds=False),
        *("drive", "Não se sabe", "O dígito verificador do Renavam não confere."),
    ),
]


@pytest.mark.parametrize(("verdict", "act", "short", "part"), ROWS)
def test_row_of_an_act_is_said(verdict: Verdict, act: Act, short: str, part: str) -> None:
    row = verdict.row(act)
    assert acts.short(row) == short
    assert part in acts.why(row)


def test_stale_answers_are_named_with_their_time() -> None:
    verdict = judge(True, [], [], stale=STALE)
    assert notices(verdict) == (
        "Multas: conforme resposta guardada de 20/11/2026 às 18:00; sem resposta mais nova da "
        "fonte.",
        f"Restrições judiciais: {AS_OF}.",
    )
    for row in verdict.matrix:
        assert acts.short(row) not in ("Sim", "Sem risco indicado", "Risco possível")
        assert AS_OF[1:] in acts.why(row)
    assert notices(judge(True, [], None, stale={"restrictions": BEFORE})) == ()


# Records, and the sentences of their findings.
SENTENCES: list[tuple[Verdict, list[str]]] = [
    (
        judge(True, [], [TJMG]),
        [
            "Restrição judicial de transferência (TJMG, incluída em 23/10/2025): não pode "
            "transferir; pode licenciar; pode circular."
        ],
    ),
    (
        judge(True, [ENFORCEABLE], []),
        [
            "Multa exigível de 01/05/2026, R$\u00a0130,16: em regra, licenciamento e transferência "
            "só depois de paga."
        ],
    ),
    (
        judge(True, [ENFORCEABLE, NOTICE, ENFORCEABLE], [TJMG, TJMG]),
        [
            "2 restrições judiciais de transferência (TJMG): não pode transferir; pode licenciar; "
            "pode circular.",
            "2 multas exigíveis, R$\u00a0260,32: em regra, licenciamento e transferência só depois "
            "de pagas.",
            "Autuação de 01/05/2026, R$\u00a0130,16: ainda sem multa aplicada, pode virar multa.",
        ],
    ),
    (
        judge(True, [OBSERVED], []),
        ["Multa de situação incerta de 18/08/2024, R$\u00a0130,16: pode impedir a transferência."],
    ),
    (
        judge(True, [], [restriction("CIRCULACAO", recorded=False)]),
        [
            "Restrição judicial de circulação: a fonte se contradiz; não é possível dizer se pode "
            "transferir, licenciar ou circular."
        ],
    ),
    (
        judge(True, [], [restriction("PENHORA BAIXADA")]),
        [
            "Restrição judicial de penhora “PENHORA BAIXADA”: a fonte registra “BAIXADA”; não é "
            "possível dizer se pode transferir, licenciar ou circular."
        ],
    ),
]


@pytest.mark.parametrize(("verdict", "sentences"), SENTENCES)
def test_reasons_are_said(verdict: Verdict, sentences: list[str]) -> None:
    assert [sentence(each) for each in verdict.reasons] == sentences


@pytest.mark.parametrize(
    ("finding", "words"),
    [
        (
            TamperedWith(Tampered.CHASSIS, True, "multa-1"),
            "Já foi autuado por chassi violado ou falsificado (código e descrição divergem)",
        ),
        (
            OtherVehicle(("VW/GOL 1.0",), 1, "renainf", "multa-1"),
            "Um registro descreve outro veículo (VW/GOL 1.0)",
        ),
        (
            OtherVehicle(("VW/GOL 1.0", "XYZ9A99 VW/GOL 1.0"), 2, "renainf", "multa-2"),
            "2 registros descrevem outro veículo (VW/GOL 1.0 e XYZ9A99 VW/GOL 1.0)",
        ),
    ],
)
def test_doubt_about_the_vehicle_is_said(finding: Finding, words: str) -> None:
    assert clause(finding) == words


@pytest.mark.parametrize("kinds", ["LICENCIAMENTO", "TRANSFERENCIA", "CIRCULACAO"])
def test_driving_without_a_licence_is_explained_once(kinds: str) -> None:
    row = judge(True, [ENFORCEABLE], [restriction(kinds)]).row("drive")
    assert acts.why(row).count("circular é infração gravíssima") == 1
    assert "confira no CRLV-e se está em dia" in acts.why(row)


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ("TRANSFERENCIA", "Não pode ser transferido agora"),
        ("PENHORA", "Na prática, não pode ser transferido agora"),
        ("TRANSFERENCIA E LICENCIAMENTO", "Não pode ser transferido nem licenciado agora"),
        # No source confirms that a licensing restriction also stops a transfer.
        ("LICENCIAMENTO", "Não pode ser licenciado e, na prática, também não transfere"),
    ],
)
def test_headline_is_as_certain_as_its_source(kinds: str, expected: str) -> None:
    assert headline(judge(True, [], [restriction(kinds)])) == expected


def test_enforceable_fines_without_amount_have_no_sum() -> None:
    bare = assessed(penalty_on=date(2026, 8, 1), code="9999", amount=None)
    (said,) = [sentence(r) for r in judge(True, [bare], []).reasons[:1]]
    assert ", valor não informado:" in said
    (said,) = [sentence(r) for r in judge(True, [ENFORCEABLE, bare], []).reasons[:1]]
    assert "2 multas exigíveis, ao menos R$\u00a0130,16:" in said


def test_enforceable_fine_that_may_have_lapsed_says_so() -> None:
    old = assessed(committed_on=date(2013, 5, 1), penalty_on=date(2013, 8, 1))
    (reason,) = judge(True, [old], []).reasons
    assert consequence(reason).endswith("só depois de paga; pode ter prescrito")
    (reason,) = judge(True, [old, ENFORCEABLE], []).reasons
    assert consequence(reason).endswith("só depois de pagas; 1 pode ter prescrito")
    (reason,) = judge(True, [ENFORCEABLE], []).reasons
    assert "prescrito" not in consequence(reason)
