"""Court restrictions, each with the marks of four acts and the verdict's level."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from portal.law.act_answers import ACTS, Answer
from portal.law.orders import AssessedOrder, conflicts_of
from portal.vehicle.field import HIDDEN, Field
from tests.law.records import effect_of, judge, restriction

TODAY = date(2026, 11, 21)
# Each letter is the mark of one act, in the order transfer, licence, driving, removal.
_LETTERS = {"n": "no", "u": "unknown", "c": "careful", "y": "yes"}

NO_RECORD = "yyyy"
UNCERTAIN = "uuuu"
UNREAD = "nuuu"
TRANSFER, SEIZED, LICENCE, ALL = "nyyy", "ncyy", "nncc", "nnnn"

# Each row: the kind as sent, other fields, the expected marks and the expected level.
NO_ACT = "Não possui restrição de transferência, licenciamento ou circulação"
RECORDS = [
    # The four kinds, in the spellings of courts and resellers.
    ("TRANSFERENCIA", {}, TRANSFER, "blocked"),
    ("transferência", {}, TRANSFER, "blocked"),
    ("  Transferencia ", {}, TRANSFER, "blocked"),
    ("RESTRICAO DE TRANSFERENCIA", {}, TRANSFER, "blocked"),
    ("TRANSFERENCIA DE PROPRIEDADE", {}, TRANSFER, "blocked"),
    ("TRANSFERÊNCIA DA PROPRIEDADE DO VEÍCULO", {}, TRANSFER, "blocked"),
    ("BLOQUEIO JUDICIAL DE TRANSFERENCIA", {}, TRANSFER, "blocked"),
    ("PENHORA", {}, SEIZED, "blocked"),
    ("AVERBACAO DE REGISTRO DE PENHORA", {}, SEIZED, "blocked"),
    ("REGISTRO DE PENHORA RENAJUD", {}, SEIZED, "blocked"),
    ("LICENCIAMENTO", {}, LICENCE, "blocked"),
    ("RESTRIÇÃO DE LICENCIAMENTO", {}, LICENCE, "blocked"),
    ("CIRCULACAO", {}, ALL, "blocked"),
    ("RESTRICAO TOTAL", {}, ALL, "blocked"),
    ("BLOQUEIO TOTAL DO VEICULO", {}, ALL, "blocked"),
    ("TRANSFERENCIA ATIVA", {}, TRANSFER, "blocked"),
    # Several kinds.
    ("TRANSFERENCIA, LICENCIAMENTO", {}, LICENCE, "blocked"),
    ("TRANSFERENCIA E PENHORA", {}, SEIZED, "blocked"),
    ("TRANSFERENCIA;LICENCIAMENTO;CIRCULACAO", {}, ALL, "blocked"),
    ("LICENCIAMENTO/PENHORA", {}, LICENCE, "blocked"),
    # The block type is read with the kind.
    ("", {"block_type": "TRANSFERENCIA"}, TRANSFER, "blocked"),
    ("", {"block_type": "CIRCULAÇÃO"}, ALL, "blocked"),
    ("TRANSFERENCIA", {"block_type": "LICENCIAMENTO"}, LICENCE, "blocked"),
    ("TRANSFERENCIA", {"block_type": "JUDICIAL"}, TRANSFER, "blocked"),
    (HIDDEN, {"block_type": "CIRCULACAO"}, ALL, "blocked"),
    (HIDDEN, {"block_type": "PENHORA"}, UNREAD, "blocked"),
    ("TRANSFERENCIA", {"block_type": HIDDEN}, UNREAD, "blocked"),
    ("PENHORA", {"block_type": HIDDEN}, UNREAD, "blocked"),
    # The flag ``recorded`` is absent.
    ("TRANSFERENCIA", {"recorded": None}, TRANSFER, "blocked"),
    ("CIRCULACAO", {"recorded": None}, ALL, "blocked"),
    ("", {"recorded": None}, UNREAD, "blocked"),
    # A recorded restriction whose kind is unknown, hidden or empty stops a transfer.
    ("", {}, UNREAD, "blocked"),
    (HIDDEN, {}, UNREAD, "blocked"),
    (HIDDEN, {"block_type": HIDDEN}, UNREAD, "blocked"),
    (HIDDEN, {"detail": "CONSTA DETALHE RENAJUD"}, UNREAD, "blocked"),
    # Orders by their own names.
    ("INDISPONIBILIDADE", {}, "ncyy", "blocked"),
    ("INDISPONIBILIDADE DE BENS", {}, "ncyy", "blocked"),
    ("BUSCA E APREENSAO", {}, "nucn", "blocked"),
    ("Busca e apreensão", {}, "nucn", "blocked"),
    ("BUSCA E APREENSAO DO VEICULO", {}, "nucn", "blocked"),
    ("MANDADO DE APREENSAO", {}, "nucn", "blocked"),
    ("MANDADO DE BUSCA E APREENSAO", {}, "nucn", "blocked"),
    ("DETERMINACAO DE ARRESTO", {}, "ncyy", "blocked"),
    ("LIMINAR DE SEQUESTRO", {}, "ncyy", "blocked"),
    ("DETERMINACAO JUDICIAL DE INDISPONIBILIDADE", {}, "ncyy", "blocked"),
    ("LIMINAR SUSPENDENDO A PENHORA", {}, UNREAD, "blocked"),
    ("SEQUESTRO", {}, "ncyy", "blocked"),
    ("ARRESTO", {}, "ncyy", "blocked"),
    ("AVERBACAO PREMONITORIA", {}, "ccyy", "caution"),
    ("ARRESTO E TRANSFERENCIA", {}, "ncyy", "blocked"),
    ("AVERBACAO PREMONITORIA, CIRCULACAO", {}, "nnnn", "blocked"),
    ("ARRESTO BAIXADO", {}, "uuuu", "caution"),
    ("ALGO NOVO", {}, UNREAD, "blocked"),
    ("RESTRICAO JUDICIAL", {}, UNREAD, "blocked"),
    ("0", {}, UNREAD, "blocked"),
    ("?", {}, UNREAD, "blocked"),
    ("TRANSFERENCIA, XYZ", {}, UNREAD, "blocked"),
    ("CIRCULACAO, ARRESTO", {}, ALL, "blocked"),
    ("TRANSFERENCIA DE…", {}, UNREAD, "blocked"),
    # One part of a list is revoked.
    ("PENHORA, TRANSFERENCIA INATIVA", {}, UNREAD, "blocked"),
    ("PENHORA, LICENCIAMENTO BAIXADO", {}, UNREAD, "blocked"),
    # A denied act is a restriction.
    ("NAO TRANSFERIR", {}, TRANSFER, "blocked"),
    ("NÃO CIRCULAR", {}, ALL, "blocked"),
    ("CIRCULACAO SUSPENSA", {}, ALL, "blocked"),
    ("TRANSFERENCIA NAO PERMITIDA", {}, TRANSFER, "blocked"),
    ("TRANSFERENCIA SUSPENSA", {}, TRANSFER, "blocked"),
    ("LICENCIAMENTO SUSPENSO", {}, LICENCE, "blocked"),
    ("CIRCULACAO NAO AUTORIZADA", {}, ALL, "blocked"),
    ("PROIBIDA A TRANSFERENCIA", {}, TRANSFER, "blocked"),
    ("VEDADO LICENCIAMENTO", {}, LICENCE, "blocked"),
    ("RETIRADA DE CIRCULACAO", {}, ALL, "blocked"),
    ("SEM CIRCULACAO", {}, ALL, "blocked"),
    ("VEICULO REMOVIDO AO PATIO, CIRCULACAO", {}, ALL, "blocked"),
    ("RESTRICAO SUSPENSA", {}, UNREAD, "blocked"),
    # A lifting that was requested, is pending or partial is none.
    ("TRANSFERENCIA, BAIXA SOLICITADA", {}, UNREAD, "blocked"),
    ("TRANSFERENCIA - AGUARDANDO BAIXA", {}, UNREAD, "blocked"),
    ("CIRCULACAO ATE BAIXA", {}, ALL, "blocked"),
    ("PENHORA NAO BAIXADA", {}, UNREAD, "blocked"),
    ("PENHORA A SER LEVANTADA", {}, UNREAD, "blocked"),
    ("TRANSFERENCIA; SERA BAIXADA", {}, UNREAD, "blocked"),
    ("CIRCULACAO PARCIALMENTE LIBERADA", {}, ALL, "blocked"),
    ("TRANSFERENCIA, CANCELAMENTO REQUERIDO", {}, UNREAD, "blocked"),
    ("PENHORA BAIXADA TRANSFERENCIA ATIVA", {}, UNREAD, "blocked"),
    ("LEVANTAMENTO PENDENTE DA PENHORA", {}, UNREAD, "blocked"),
    ("TRANSFERENCIA; NADA CONSTA", {}, UNREAD, "blocked"),
    # What was lifted or cancelled is not the order, or not all of it, or not for ever.
    ("TRANSFERENCIA BAIXA CANCELADA", {}, UNREAD, "blocked"),
    ("CANCELADA A BAIXA DA TRANSFERENCIA", {}, UNREAD, "blocked"),
    ("PENHORA, LEVANTAMENTO REVOGADO", {}, UNREAD, "blocked"),
    ("REVOGADA A LIBERACAO DA TRANSFERENCIA", {}, UNREAD, "blocked"),
    ("NAO HA BAIXA DA PENHORA", {}, UNREAD, "blocked"),
    ("NAO CONSTA LEVANTAMENTO DA PENHORA", {}, UNREAD, "blocked"),
    ("TRANSFERENCIA BAIXADA E REINCLUIDA", {}, UNREAD, "blocked"),
    ("TRANSFERENCIA - PROCESSO BAIXADO", {}, UNREAD, "blocked"),
    ("PENHORA - AUTOS BAIXADOS A VARA", {}, UNREAD, "blocked"),
    ("PENHORA - LEILAO CANCELADO", {}, UNREAD, "blocked"),
    ("PENHORA - EXECUCAO EXTINTA", {}, UNREAD, "blocked"),
    ("CIRCULACAO - VEICULO RETIRADO PELO OFICIAL", {}, ALL, "blocked"),
    ("TRANSFERENCIA LIBERADA PARA LEILAO", {}, UNREAD, "blocked"),
    ("TRANSFERENCIA LIBERADA MEDIANTE CAUCAO", {}, UNREAD, "blocked"),
    ("TRANSFERENCIA (LIBERADO LICENCIAMENTO)", {}, UNREAD, "blocked"),
    ("CIRCULACAO LIBERADA COM TRANSFERENCIA BLOQUEADA", {}, ALL, "blocked"),
    # Abbreviated and misspelt kinds.
    ("TRANFERENCIA", {}, TRANSFER, "blocked"),
    ("TRANSF.", {}, TRANSFER, "blocked"),
    ("LICENC.", {}, LICENCE, "blocked"),
    # What follows "sem" is denied, and what precedes it is not.
    ("PENHORA SEM BLOQUEIO DE CIRCULACAO", {}, UNREAD, "blocked"),
    ("PENHORA SEM RESTRICAO", {}, UNREAD, "blocked"),
    # The record lifts, denies or contradicts all that it states.
    ("TRANSFERENCIA - BAIXA EFETUADA", {}, UNCERTAIN, "caution"),
    ("RETIRADA DA RESTRICAO DE CIRCULACAO", {}, UNCERTAIN, "caution"),
    ("PENHORA LEVANTADA EM 10/10/2025", {}, UNCERTAIN, "caution"),
    ("TRANSFERENCIA BAIXADA", {}, UNCERTAIN, "caution"),
    ("TRANSFERENCIA - BAIXA REALIZADA EM 10/10/2025", {}, UNCERTAIN, "caution"),
    ("PENHORA LEVANTADA POR DECISAO JUDICIAL", {}, UNCERTAIN, "caution"),
    ("TRANSFERENCIA BAIXADA E LICENCIAMENTO BAIXADO", {}, UNCERTAIN, "caution"),
    ("TRANSFERENCIA; RETIRADA", {}, UNCERTAIN, "caution"),
    ("CIRCULACAO CANCELADA", {}, UNCERTAIN, "caution"),
    ("SEM RESTRICAO DE TRANSFERENCIA", {}, UNCERTAIN, "caution"),
    ("BAIXADA", {}, UNCERTAIN, "caution"),
    ("NADA CONSTA", {}, UNCERTAIN, "caution"),
    ("NADA CONSTA", {"recorded": None}, UNCERTAIN, "caution"),
    ("NEGATIVO", {"recorded": None}, UNCERTAIN, "caution"),
    (HIDDEN, {"block_type": "BAIXADA"}, UNREAD, "blocked"),
    # Only one kind is revoked, and another may be hidden.
    (HIDDEN, {"block_type": "TRANSFERENCIA BAIXADA"}, UNREAD, "blocked"),
    ("TRANSFERENCIA BAIXADA", {"block_type": HIDDEN}, UNREAD, "blocked"),
    ("TRANSFERENCIA", {"recorded": False}, UNCERTAIN, "caution"),
    ("ALGO NOVO", {"recorded": False}, UNCERTAIN, "caution"),
    ("SEM RESTRICAO DE TRANSFERENCIA", {"recorded": False}, UNCERTAIN, "caution"),
    (HIDDEN, {"recorded": False}, UNCERTAIN, "caution"),
    ("", {"recorded": False, "detail": "CONSTA DETALHE RENAJUD"}, UNCERTAIN, "caution"),
    ("", {"recorded": False, "detail": HIDDEN}, UNCERTAIN, "caution"),
    ("", {"recorded": False, "detail": "NAO CONSTA BAIXA DA RESTRICAO"}, UNCERTAIN, "caution"),
    ("", {"recorded": False, "detail": "SEM BAIXA ATE O MOMENTO"}, UNCERTAIN, "caution"),
    ("", {"recorded": False, "detail": "NAO FOI LEVANTADA A PENHORA"}, UNCERTAIN, "caution"),
    ("", {"recorded": False, "detail": "NAO TRANSFERIR"}, UNCERTAIN, "caution"),
    ("NADA CONSTA", {"recorded": False, "block_type": "PENHORA"}, UNCERTAIN, "caution"),
    ("NADA CONSTA", {"recorded": False, "block_type": HIDDEN}, UNCERTAIN, "caution"),
    # The source says that there is no restriction.
    ("", {"recorded": False}, NO_RECORD, "clear"),
    ("", {"recorded": False, "court": "TJMG"}, NO_RECORD, "clear"),
    ("", {"recorded": False, "detail": "NADA CONSTA"}, NO_RECORD, "clear"),
    ("", {"recorded": False, "detail": "NEGATIVO"}, NO_RECORD, "clear"),
    ("", {"recorded": False, "detail": "NAO CONSTA DETALHE RENAJUD"}, NO_RECORD, "clear"),
    ("", {"recorded": False, "detail": "NENHUMA RESTRICAO ENCONTRADA"}, NO_RECORD, "clear"),
    ("", {"recorded": False, "detail": "Não há restrição."}, NO_RECORD, "clear"),
    ("NADA CONSTA", {"recorded": False}, NO_RECORD, "clear"),
    ("Nada consta no Renajud", {"recorded": False}, NO_RECORD, "clear"),
    ("SEM RESTRICAO", {"recorded": False}, NO_RECORD, "clear"),
    ("SEM RESTRIÇÕES JUDICIAIS", {"recorded": False}, NO_RECORD, "clear"),
    ("NEGATIVO", {"recorded": False}, NO_RECORD, "clear"),
    ("NAO CONSTA", {"recorded": False}, NO_RECORD, "clear"),
    ("NENHUMA", {"recorded": False, "block_type": "NADA CONSTA"}, NO_RECORD, "clear"),
    # What is denied in a list, or in the detail alone, blocks nothing.
    ("SEM PENHORA, ARRESTO OU SEQUESTRO", {"recorded": None}, UNCERTAIN, "caution"),
    ("SEM PENHORA", {"recorded": None}, UNCERTAIN, "caution"),
    ("", {"recorded": None, "detail": "SEM BLOQUEIO DE TRANSFERÊNCIA"}, UNCERTAIN, "caution"),
    ("", {"recorded": None, "detail": "Não existem registros de penhora"}, UNCERTAIN, "caution"),
    ("", {"recorded": None, "detail": NO_ACT}, UNCERTAIN, "caution"),
    ("", {"detail": NO_ACT}, UNCERTAIN, "caution"),
    ("", {"recorded": False, "detail": NO_ACT}, NO_RECORD, "clear"),
    ("", {"recorded": False, "detail": NO_ACT, "block_type": "PENHORA"}, UNCERTAIN, "caution"),
    ("NÃO TRANSFERIR, CIRCULAR OU LICENCIAR", {}, ALL, "blocked"),
    # Dates and courts do not change an effect.
    ("TRANSFERENCIA", {"court": "TRT3", "case": HIDDEN}, TRANSFER, "blocked"),
    (
        "CIRCULACAO",
        {"included_at": datetime.fromisoformat("2030-01-01T00:00")},
        ALL,
        "blocked",
    ),
]


@pytest.mark.parametrize(("kinds", "members", "letters", "level"), RECORDS)
def test_restriction_record_has_its_marks_and_level(
    kinds: Field | str, members: dict[str, Any], letters: str, level: str
) -> None:
    members = members | ({"kinds_text": kinds} if kinds != "" else {})
    record = restriction(**members)
    marks = tuple(_LETTERS[letter] for letter in letters)
    assert tuple(effect_of(record).answers[act].mark for act in ACTS) == marks
    verdict = judge(True, [], [record])
    assert tuple(row.mark for row in verdict.matrix) == marks
    assert verdict.level == level


def test_table_has_at_least_sixty_records() -> None:
    assert len({(str(kinds), str(members)) for kinds, members, *_ in RECORDS}) >= 60


@pytest.mark.parametrize("kinds", [HIDDEN, "ORDEM NOVA XYZ", ""])
def test_restriction_of_unknown_kind_stops_transfer_as_a_rule(kinds: Field | str) -> None:
    members: dict[str, Any] = {"kinds_text": kinds} if kinds != "" else {}
    verdict = judge(True, [], [restriction(**members)])
    assert (verdict.cause, verdict.forbidden) == ("blocked", "rule")
    (answer,) = verdict.row("transfer").deciding
    assert isinstance(answer, Answer)
    assert (answer.ground, answer.hedge) == ("any_kind", "rule")


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"included_at": datetime(2026, 12, 25, 13, tzinfo=UTC)}, "included_in_future"),
        ({"included_at": datetime(2026, 11, 21, 13, tzinfo=UTC)}, None),
        ({"included_at_text": "10/10/1990"}, "included_too_early"),
        ({"detail": "RESTRICAO BAIXADA EM 10/10/2025"}, "detail_lifts"),
        ({"court": "TJSP", "case": "5001234-46.2025.8.13.0024"}, "other_court"),
        ({"court": "TRT2", "court_body": "3A VARA CIVEL"}, "no_civil_court"),
        ({"court": "TJMG", "case": "5001234-46.2025.8.13.0024"}, None),
        ({"court": "TRT2", "court_body": "3A VARA DO TRABALHO"}, None),
    ],
)
def test_order_that_contradicts_itself_is_found(given: dict[str, Any], code: str | None) -> None:
    order = AssessedOrder(restriction("TRANSFERENCIA", **given), TODAY)
    assert [each.code for each in conflicts_of(order)] == ([code] if code else [])
