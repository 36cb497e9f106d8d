"""Each status word, with and without a penalty, with and without a payment."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from portal.law.assessment import AssessedFine, totals
from portal.law.standing import Standing
from tests.law.records import TODAY, fine

NOTIFIED = {
    "code": "7455",
    "amount": Decimal(130),
    "committed_on": date(2026, 3, 10),
    "notified_on": date(2026, 3, 25),
    "notified_on_text": "25/03/2026",
}
PENALTY = {"penalty_on": date(2026, 6, 10), "penalty_on_text": "10/06/2026"}
PAYMENT = {"paid_on": date(2026, 7, 1), "paid_on_text": "01/07/2026", "paid_amount": Decimal(130)}
N, E, U, S, C, P = (
    Standing.NOTICE,
    Standing.ENFORCEABLE,
    Standing.UNKNOWN,
    Standing.SUSPENDED,
    Standing.CALLED_OFF,
    Standing.PAID,
)
# The words; the standing with a notice alone, with a penalty, with a notice and a payment, and with
# a penalty and a payment. A paid fine needs words that agree with a payment.
WORDS: list[tuple[str, Standing, Standing, Standing, Standing]] = [
    ("", N, E, P, P),
    # Of the kind of record.
    ("AUTUACAO", N, E, P, P),
    ("MULTA COM NOTIFICACAO DE AUTUACAO", N, E, P, P),
    ("NOTIFICACAO DE AUTUACAO EXPEDIDA", N, E, U, U),
    ("PENALIDADE", U, E, P, P),
    ("NOTIFICACAO DE PENALIDADE", U, E, P, P),
    ("IMPOSICAO DE PENALIDADE", U, E, P, P),
    ("NIP", U, E, U, U),
    ("EM ABERTO", N, E, U, U),
    ("NAO PAGA", U, E, U, U),
    # Charged.
    ("EXIGIVEL", E, E, U, U),
    ("VENCIDA", E, E, U, U),
    ("A VENCER", U, U, U, U),
    ("NAO VENCIDA", U, U, U, U),
    ("NO PRAZO", N, U, U, U),
    ("EM PRAZO DE PAGAMENTO", U, U, U, U),
    ("DIVIDA ATIVA", E, E, U, U),
    ("INSCRITA EM DIVIDA ATIVA", E, E, U, U),
    ("DIVIDA ATIVA PARCELADA", U, U, U, U),
    ("PROTESTADA", U, E, U, U),
    ("EM COBRANCA", U, E, U, U),
    ("INADIMPLENTE", U, E, U, U),
    ("NAO EXIGIVEL", U, U, P, P),
    ("INEXIGIVEL", U, U, P, P),
    # Paid, or not quite.
    ("PAGA", U, U, P, P),
    ("QUITADA", U, U, P, P),
    ("PAGAMENTO EFETUADO", U, U, P, P),
    ("PAGAMENTO ESTORNADO", U, U, U, U),
    ("PAGAMENTO CANCELADO", U, E, U, U),
    ("PAGAMENTO PARCIAL", U, U, U, U),
    ("PAGO A MENOR", U, U, U, U),
    ("DEVOLVIDO", U, U, U, U),
    ("PARCELADA", U, U, U, U),
    ("DEFERIDO PARCELAMENTO", U, U, U, U),
    ("SALDO REMANESCENTE", U, U, U, U),
    # Under an appeal.
    ("SUSPENSA", S, S, U, U),
    ("EFEITO SUSPENSIVO", S, S, U, U),
    ("EM RECURSO", S, S, U, U),
    ("EM RECURSO JARI", S, S, U, U),
    ("RECURSO EM ANALISE", S, S, U, U),
    ("RECURSO CETRAN EM JULGAMENTO", S, S, U, U),
    ("RECURSO INTERPOSTO", S, S, U, U),
    ("RECURSO PENDENTE", S, S, U, U),
    ("EM DEFESA", S, E, U, U),
    ("DEFESA PREVIA APRESENTADA", N, E, U, U),
    ("DEFESA INDEFERIDA", N, E, U, U),
    ("RECURSO INDEFERIDO", U, E, U, U),
    ("RECURSO NAO PROVIDO", U, E, U, U),
    ("RECURSO IMPROVIDO", U, E, U, U),
    ("RECURSO INTEMPESTIVO", U, E, U, U),
    ("RECURSO ARQUIVADO", U, E, U, U),
    ("RECURSO DO ORGAO PROVIDO", U, E, U, U),
    ("EFEITO SUSPENSIVO NEGADO", U, E, U, U),
    ("SUSPENSAO CANCELADA", U, E, U, U),
    ("SUSPENSAO EXPIRADA", U, E, U, U),
    ("NAO SUSPENSA", U, E, U, U),
    ("SUB JUDICE", U, U, U, U),
    ("LIMINAR", U, U, U, U),
    ("CNH SUSPENSA", U, E, U, U),
    ("SUSPENSA ATE 10/10/2027", U, U, U, U),
    # Ended.
    ("CANCELADA", C, C, U, U),
    ("MULTA CANCELADA POR DUPLICIDADE", C, C, U, U),
    ("INSUBSISTENTE", C, C, U, U),
    ("AUTO INSUBSISTENTE", C, C, U, U),
    ("NULA", C, C, U, U),
    ("NULO", C, C, U, U),
    ("ANULADA POR DECISAO JUDICIAL", C, C, U, U),
    ("DESCONSTITUIDA", C, C, U, U),
    ("DUPLICADA", C, C, U, U),
    ("ANISTIADA", C, C, U, U),
    ("ANISTIA", C, C, U, U),
    ("REMIDA", C, C, U, U),
    ("REMISSAO", C, C, U, U),
    ("ISENTA", C, C, U, U),
    ("PRESCRITA", C, C, U, U),
    ("ARQUIVADA", C, C, U, U),
    ("EXCLUIDA", C, C, U, U),
    ("EXTINTA", C, C, U, U),
    ("PROVIDO", C, C, U, U),
    ("RECURSO PROVIDO", C, C, U, U),
    ("RECURSO DEFERIDO", C, C, U, U),
    ("DEFESA PREVIA DEFERIDA", C, C, U, U),
    ("ADVERTENCIA", C, C, U, U),
    ("PENALIDADE DE ADVERTENCIA POR ESCRITO", C, C, U, U),
    ("CONVERTIDA EM ADVERTENCIA", C, C, U, U),
    ("BAIXADA", C, C, P, P),
    # Not ended after all, or something else.
    ("NAO CANCELADA", U, E, U, U),
    ("CANCELAMENTO SOLICITADO", U, E, U, U),
    ("CANCELADA E REATIVADA", U, E, U, U),
    ("CANCELADA PARCIALMENTE", U, E, U, U),
    ("PONTUACAO CANCELADA", U, E, U, U),
    ("ISENTA DE PONTOS", U, E, U, U),
    ("PEDIDO DE ADVERTENCIA", U, E, U, U),
    ("SUBSISTENTE", U, E, U, U),
    ("EXCLUIDA DO SNE", U, E, U, U),
    ("BAIXADA PARA DIVIDA ATIVA", E, E, U, U),
    # Unread words never count as none.
    ("EXPIRADA", U, U, U, U),
    ("EM AVALIACAO", U, U, U, U),
    ("SITUACAO 9", U, U, U, U),
    ("XYZ", U, U, U, U),
    ("BLOQUEADA", U, U, U, U),
    # Against the dates: nothing is owed, no penalty stands, or the time to appeal still runs.
    ("SEM DEBITO", U, U, U, U),
    ("SEM COBRANCA", U, U, U, U),
    ("SEM PENALIDADE", U, U, U, U),
    ("MULTA NAO DEVIDA", U, U, U, U),
    ("DEBITO CANCELADO", U, U, U, U),
    ("DEBITO BAIXADO", U, U, U, U),
    ("COBRANCA ENCERRADA", U, U, U, U),
    ("DIVIDA EXCLUIDA", U, U, U, U),
    ("DIVIDA ATIVA BAIXADA", U, U, U, U),
    ("DIVIDA ATIVA CANCELADA", U, U, U, U),
    ("PENALIDADE NAO APLICADA", U, U, U, U),
    ("PENALIDADE REVOGADA", U, U, U, U),
    ("NIP NAO EMITIDA", U, U, U, U),
    ("NAO MANTIDA", U, U, U, U),
    ("AUTO NAO SUBSISTENTE", U, U, U, U),
    ("NAO NOTIFICADO", U, U, U, U),
    ("SEM NOTIFICACAO", U, U, U, U),
    ("RECURSO PARCIALMENTE PROVIDO", U, U, U, U),
    ("RECURSO DEFERIDO PARCIALMENTE", U, U, U, U),
    ("AGUARDANDO RECURSO", U, U, U, U),
    ("EM PRAZO DE RECURSO", U, U, U, U),
    # Of something else than the fine, which is still owed.
    ("NAO QUITADA", U, E, U, U),
    ("NAO INSCRITA EM DIVIDA ATIVA", U, E, U, U),
    ("SUSPENSAO NAO MANTIDA", U, E, U, U),
    ("SUSPENSAO REVOGADA", U, E, U, U),
    ("EFEITO SUSPENSIVO NAO APLICADO", U, E, U, U),
    ("AGUARDANDO PAGAMENTO", U, E, U, U),
]
CASES = [
    (word, {**penalty, **payment}, row[at])
    for word, *row in WORDS
    for at, (penalty, payment) in enumerate(
        [({}, {}), (PENALTY, {}), ({}, PAYMENT), (PENALTY, PAYMENT)]
    )
]


def test_table_has_each_standing_and_no_word_twice() -> None:
    words = [word for word, *_ in WORDS]
    assert len(words) == len(set(words))
    assert len(CASES) > 350
    assert {standing for _, _, standing in CASES} == {N, E, U, S, C, P}


@pytest.mark.parametrize(("word", "given", "standing"), CASES)
def test_standing_of_a_status_word(word: str, given: dict[str, Any], standing: Standing) -> None:
    kind = {"kind": word} if word else {}
    found = AssessedFine(fine(**{**NOTIFIED, **given, **kind}), TODAY)
    assert found.standing is standing
    if word and standing is U:
        assert word == found.status.text or "word" in found.status.remarks
    sums = totals([found])
    owed = Decimal(0) if standing in (C, P) else Decimal("130.16")
    assert sums.amount == owed
    assert sums.called_off_amount == (Decimal("130.16") if standing is C else 0)
    assert found.is_open == bool(owed)
    # Points enter the register only when no appeal is possible any more.
    assert bool(sums.points) == (standing in (E, P))
    assert not (found.has_discount and standing in (C, P, E))
