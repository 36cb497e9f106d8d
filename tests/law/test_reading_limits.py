"""Where a reading of texts turns: what has ended, what is concluded, what is on record."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from portal.law.adverse import Subject, adverse_in
from portal.law.assessment import AssessedFine, totals
from portal.law.findings import AdverseData
from portal.law.further_findings import beside_findings
from portal.law.orders import AssessedOrder
from portal.law.report_check import Praised, alerts_of, contradictions
from portal.vehicle.further import NO_CONTRACT, further_of
from portal.vehicle.report import Report, read_report
from tests.law.records import TODAY, fine, judge, restriction


@pytest.mark.parametrize(
    ("text", "subjects"),
    [
        ("Gravame com baixa em 2020.", []),
        ("Financiamento com quitação em 2019.", []),
        ("Restrição administrativa com liberação em 10/2020.", []),
        ("Gravame: baixa pendente.", [Subject.LIEN]),
        ("Gravame a ser baixado.", [Subject.LIEN]),
        ("Restrição administrativa: liberação solicitada.", [Subject.BLOCK]),
        # What is not proven advises against nothing.
        ("Financiamento: quitação não comprovada.", [Subject.LIEN]),
        ("Pagamento do IPVA não comprovado.", [Subject.DEBTS]),
        ("Não compre.", [Subject.ADVICE]),
    ],
)
def test_ending_is_one_by_the_words_beside_it(text: str, subjects: list[Subject]) -> None:
    assert [one.subject for one in adverse_in(text)] == subjects


def test_words_are_quoted_as_sent_if_their_places_are_known() -> None:
    assert [one.words for one in adverse_in("Há um furto.")] == ["furto"]
    # In capitals, "ß" is longer.
    assert [one.words for one in adverse_in("Straße: há um furto.")] == ["FURTO"]


OPEN = AssessedFine(
    fine(code="7455", amount=Decimal(130), committed_on=date(2026, 3, 10)), date(2026, 11, 21)
)
PAID = AssessedFine(
    fine(
        code="7455",
        amount=Decimal(130),
        committed_on=date(2026, 3, 10),
        paid_on=date(2026, 7, 1),
        paid_amount=Decimal(130),
    ),
    TODAY,
)


def report_on(**parts: Any) -> Report:
    return read_report({"resumo": "Texto.", "topicos": {}, "laudoFinal": "", **parts}, "")


@pytest.mark.parametrize(
    ("conclusion", "is_praise"),
    [
        ("O veículo se apresenta em bom estado.", True),
        ("Consulte um especialista.", False),
        ("Em bom estado. Consulte um especialista.", True),
    ],
)
def test_conclusion_praises_if_it_concludes(conclusion: str, is_praise: bool) -> None:
    verdict = judge(True, [], [restriction("TRANSFERENCIA")])
    found = contradictions(report_on(laudoFinal=conclusion), verdict, None, None, ())
    assert any(isinstance(one, Praised) for one in found) == is_praise


@pytest.mark.parametrize(
    ("text", "warns"),
    [
        ("Constam 2 multas.", False),
        ("Constam 3 multas.", True),
        ("Constam 2 multas em aberto.", True),
    ],
)
def test_report_may_count_the_paid_fines_too(text: str, warns: bool) -> None:
    found = alerts_of(report_on(topicos={"multas": text}), [], totals([OPEN, PAID]), TODAY)
    assert bool([one for one in found if one.subject is Subject.FINES]) == warns


@pytest.mark.parametrize(
    ("text", "subjects"),
    [
        ("RESTRICAO JUDICIAL DE TRANSFERENCIA", []),
        ("RESTRICAO JUDICIAL DE CIRCULACAO", [Subject.COURT]),
        ("VEICULO COM REGISTRO DE ROUBO", [Subject.THEFT]),
    ],
)
def test_text_beside_orders_warns_of_more_than_they_do(text: str, subjects: list[Subject]) -> None:
    orders = [AssessedOrder(restriction("TRANSFERENCIA"), TODAY)]
    further = further_of({"observacao": text}, NO_CONTRACT, "")
    found = beside_findings(further, "renajud", orders, TODAY)
    assert [one.subject for one in found if isinstance(one, AdverseData)] == subjects
