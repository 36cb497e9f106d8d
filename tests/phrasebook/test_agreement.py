"""What buyer and seller may put in writing: costs, clauses, the message, orders' checklists."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any, get_args

import pytest

from portal.law.adverse import Subject
from portal.law.assessment import AssessedFine
from portal.law.findings import AdverseData, DeclarationsUnread, OtherVehicle, ReportAlert
from portal.law.orders import AssessedOrder
from portal.law.restriction_kinds import NOT_OF_A_JUDGE, Kind
from portal.law.standing import Standing
from portal.phrasebook.agreement import Terms, order_checklist, terms_of
from portal.phrasebook.findings import alert_words, clause
from tests.law.records import fine, known, restriction

TODAY = date(2026, 11, 21)
COURT = "TJMG-TRIBUNAL DE JUSTICA DE MINAS GERAIS"
NBSP = "\u00a0"


def owed(**given: Any) -> AssessedFine:
    values: dict[str, Any] = {
        "code": "7455",
        "amount": Decimal(130),
        "committed_on": date(2026, 5, 1),
        "notified_on": date(2026, 5, 20),
        "authority": known("POLICIA RODOVIARIA FEDERAL"),
    }
    return AssessedFine(fine(**values | given), TODAY)


def order(kinds: str, **given: Any) -> AssessedOrder:
    included_at = datetime.fromisoformat("2025-10-23T10:00:00")
    values: dict[str, Any] = {"court": COURT, "included_at": included_at}
    return AssessedOrder(restriction(kinds, **values | given), TODAY)


ENFORCEABLE = owed(penalty_on=date(2026, 8, 1))
PROBABLY_DUE = owed(penalty_on=date(2026, 10, 5))
DUE = owed(penalty_on=date(2026, 11, 10))
NOTICE = owed(committed_on=date(2026, 10, 12), notified_on=date(2026, 10, 20), code="7463")
LATE_NOTICE = owed(committed_on=date(2026, 3, 1), notified_on=date(2026, 3, 20))
UNDATED = owed(committed_on=None, kind="EM AUTUACAO")
UNKNOWN = owed(penalty_on=date(2026, 8, 1), kind="LIMINAR")
SUSPENDED = owed(penalty_on=date(2026, 8, 1), kind="SUSPENSA")
CALLED_OFF = owed(penalty_on=date(2026, 8, 1), kind="CANCELADA")
UNPRICED = owed(penalty_on=date(2026, 8, 1), code="0000", amount=None)
PAID = owed(paid_on=date(2026, 6, 1), paid_amount=Decimal(130))
EACH = (ENFORCEABLE, PROBABLY_DUE, DUE, NOTICE, UNKNOWN, SUSPENDED, CALLED_OFF, PAID)


def terms(*fines: AssessedFine, orders: tuple[AssessedOrder, ...] = ()) -> Terms:
    return terms_of("ABC1D23", fines, orders, (), TODAY)


def test_each_standing_has_a_specimen() -> None:
    assert {each.standing for each in EACH} == set(Standing)


def test_costs_are_told_by_certainty_and_never_summed() -> None:
    found = terms(*EACH)
    assert [(cost.name, cost.why, cost.amount) for cost in found.costs] == [
        ("Certo", "1 multa já pode ser cobrada; juros à parte", f"R${NBSP}130,16"),
        ("Provável", "2 multas aplicadas, salvo recurso", f"R${NBSP}260,32"),
        (
            "Pode vir",
            "1 autuação, 1 multa de situação incerta e 1 multa suspensa",
            f"R${NBSP}455,55",
        ),
        ("Cancelada, segundo a fonte", "1 multa; confirme", f"R${NBSP}130,16"),
    ]
    everything = f"R${NBSP}976,19"
    assert everything not in "".join((*found.clauses, found.message))
    # What is certain and what is probable have a clause each, with a sum of its own.
    assert len(terms(ENFORCEABLE, PROBABLY_DUE).clauses) == 3
    assert terms(PAID).costs == terms().costs == ()
    assert terms(ENFORCEABLE, UNPRICED).costs[0].amount == f"ao menos R${NBSP}130,16"


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (ENFORCEABLE, ("paga antes da transferência", f"desconta R${NBSP}130,16", "juros")),
        (PROBABLY_DUE, (f"retém R${NBSP}130,16 (multa de 01/05/2026", "Vencido o prazo")),
        (DUE, (f"retém R${NBSP}130,16 (multa de 01/05/2026", "comprovante de pagamento")),
        # 180 days of the infraction of 12/10/2026, or 360 with a prior defence.
        (NOTICE, (f"retém R${NBSP}195,23", "até 10/04/2027, ou até 07/10/2027", "6º-A")),
        (LATE_NOTICE, ("até 24/02/2027", "acabou em 28/08/2026")),
        (UNDATED, ("até o órgão confirmar por escrito se é devido",)),
        (UNKNOWN, ("até o órgão confirmar por escrito se é devido",)),
        (SUSPENDED, ("até a decisão final",)),
        (CALLED_OFF, ("entrega a decisão que cancelou: multa de 01/05/2026",)),
        (UNPRICED, (f"desconta R${NBSP}________".replace(NBSP, " "),)),
    ],
)
def test_fine_has_a_clause_of_its_standing(of: AssessedFine, said: tuple[str, ...]) -> None:
    clause, unseen = terms(of).clauses
    assert [text for text in said if text not in clause] == []
    assert "se o carro for entregue hoje, até 21/12/2026" in unseen


def test_fines_of_one_end_share_a_clause_that_names_at_most_six() -> None:
    clause, _ = terms(*[ENFORCEABLE] * 9).clauses
    assert clause.count("multa de 01/05/2026") == 6
    assert "mais 3 multas" in clause and f"R${NBSP}1.171,44" in clause
    assert len(terms(NOTICE, LATE_NOTICE).clauses) == 3


def test_orders_come_first_and_only_those_in_force() -> None:
    lifted = order("NADA CONSTA", recorded=False)
    both = terms(DUE, orders=(order("TRANSFERENCIA"), lifted, order("PENHORA", case="123")))
    assert both.clauses[0].startswith(
        "Ordem judicial: Restrição de transferência (TJMG, de 23/10/2025); Penhora registrada "
        "(TJMG, processo 123, de 23/10/2025)."
    )
    assert not any("Ordem judicial" in clause for clause in terms(orders=(lifted,)).clauses)


def test_message_asks_for_what_the_records_leave_open() -> None:
    doubt = OtherVehicle(("GOL",), 1, "renainf", "multa-1")
    message = terms_of(
        "ABC1D23", [NOTICE, ENFORCEABLE, CALLED_OFF, PAID], [order("PENHORA")], [doubt], TODAY
    ).message
    assert message.replace(NBSP, " ").splitlines() == [
        "Oi! Consultei a placa ABC1D23 em 21/11/2026. Antes de fechar, me manda:",
        "1. Um registro descreve outro veículo (GOL): explique, e aceite uma perícia.",
        "2. Penhora registrada (TJMG, de 23/10/2025): o número do processo, a certidão de objeto e "
        "pé e a prova da baixa.",
        "3. Autuação de 12/10/2026, Polícia Rodoviária Federal, R$ 195,23: a notificação.",
        "4. Multa de 01/05/2026, Polícia Rodoviária Federal, R$ 130,16: o comprovante de "
        "pagamento.",
        "5. Multa de 01/05/2026, Polícia Rodoviária Federal, R$ 130,16: a decisão que cancelou.",
        "6. CRLV-e de 2026 e, se houver financiamento, a quitação.",
    ]
    assert terms().message.splitlines()[1:] == [
        "1. CRLV-e de 2026 e, se houver financiamento, a quitação."
    ]
    assert "Mais 3 multas" in terms(*[ENFORCEABLE] * 9).message


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        ("TRANSFERENCIA", "pedido de baixa feito pelo credor"),
        ("LICENCIAMENTO", "CRLV-e deste ano"),
        ("CIRCULACAO", "não rode com ele"),
        ("PENHORA", "a venda não vale contra o credor"),
        ("BUSCA E APREENSAO", "carta de quitação"),
        ("ARRESTO", "já virou penhora"),
        ("SEQUESTRO", "entregue a outra pessoa"),
        ("INDISPONIBILIDADE", "todos os bens do dono"),
        ("AVERBACAO PREMONITORIA", "se presume fraude"),
        ("ALGO NOVO", "Pedido de baixa não basta"),
        ("INFORMACAO OCULTADA", "Pedido de baixa não basta"),
    ],
)
def test_order_asks_for_what_its_kind_needs(kinds: str, said: str) -> None:
    texts = order_checklist(order(kinds, case="0000001-02.2024.8.13.0024"))
    assert said in " ".join(texts)
    assert "do processo 0000001-02.2024.8.13.0024" in texts[0]
    assert texts[1].startswith("Em tjmg.jus.br:")
    assert "já comprou, antes de 23/10/2025" in texts[-1]


def test_every_kind_of_order_has_a_checklist() -> None:
    general = len(order_checklist(order("ALGO NOVO")))
    for kind in get_args(Kind):
        text = kind.replace("_", " ").upper()
        # The general advice is for a judge's orders.
        least = 1 if kind in NOT_OF_A_JUDGE else general
        assert len(order_checklist(order(text))) > least, kind


def test_unknown_court_and_day_leave_gaps_and_no_false_address() -> None:
    texts = order_checklist(order("PENHORA", court="", included_at=None))
    assert texts[0].endswith("do processo, com o número dele.")
    assert texts[1].startswith("No site do tribunal:")
    assert not any("já comprou, antes" in text for text in texts)
    section = order_checklist(order("PENHORA", court="JFMG"))
    assert section[1].startswith("No site do tribunal:")
    assert order_checklist(order("PENHORA", court="TRE-MG"))[1].startswith("Em tre-mg.jus.br")


@pytest.mark.parametrize("subject", Subject)
def test_message_asks_for_what_settles_a_warning(subject: Subject) -> None:
    """An expert's report settles no debt, and no lien."""
    of_marks = {Subject.CHASSIS, Subject.DAMAGE, Subject.AUCTION, Subject.ADVICE, Subject.OTHER}
    for finding in (ReportAlert(subject, "resumo", "Resumo"), AdverseData(subject, "X")):
        (line,) = terms_of("ABC1D23", [], [], [finding], TODAY).message.splitlines()[1:2]
        assert line.startswith(f"1. {clause(finding)}: ")
        assert ("perícia" in line or "vistoria" in line) == (subject in of_marks)


def test_message_says_nothing_of_what_the_portal_could_not_read() -> None:
    message = terms_of("ABC1D23", [], [], [DeclarationsUnread()], TODAY).message
    assert "não puderam ser lidas" not in message


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("busca_e_apreensao", "busca e apreensão"),
        ("penhora", "busca e apreensão (penhora)"),
    ],
)
def test_kind_of_a_warning_is_named_once(kind: Kind, words: str) -> None:
    alert = ReportAlert(Subject.SEIZURE, "resumo", "Resumo", kinds=(kind,))
    assert alert_words(alert) == words
