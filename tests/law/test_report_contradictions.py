"""What a report's text denies, affirms or leaves open, beside an order and an open fine."""

from datetime import date
from decimal import Decimal

import pytest

from portal.law.adverse import Subject
from portal.law.assessment import AssessedFine, totals
from portal.law.findings import OtherRenavam
from portal.law.report_check import (
    DoubtOmitted,
    FinesDiffer,
    FinesOmitted,
    OrdersOmitted,
    alerts_of,
    contradictions,
)
from portal.vehicle.report import Report, read_report
from tests.law.records import TODAY, fine, judge, restriction

FINE = AssessedFine(
    fine(
        code="7455",
        amount=Decimal(130),
        committed_on=date(2025, 3, 10),
        penalty_on=date(2025, 6, 10),
    ),
    TODAY,
)
VERDICT = judge(True, [FINE], [restriction("TRANSFERENCIA")])

# A part of the report, its text, and whether it denies the order and the fine.
TEXTS: list[tuple[str, str, bool, bool]] = [
    # A denial of a list is one of each of its items.
    ("restricoes", "Livre de alienação fiduciária, arrendamento e penhora.", True, False),
    ("restricoes", "Não está alienado, bloqueado, penhorado ou arrendado.", True, False),
    ("restricoes", "Não recai sobre o bem qualquer gravame, penhora ou arresto.", True, False),
    ("restricoes", "Restrições:\n- Judicial: não\n- Financeira: não", True, False),
    ("restricoes", "| Restrição | Status |\n| Judicial | Não |", True, False),
    ("laudoFinal", "Sem débitos pendentes, multas vencidas ou restrições ativas.", True, True),
    ("laudoFinal", "IPVA quitado, licenciamento em dia e s/ autuações em aberto.", False, True),
    # It is none of what it excepts, and of no other subject.
    ("restricoes", "PENHORA SEM BLOQUEIO DE CIRCULACAO", False, False),
    ("multas", "Nenhuma multa, exceto uma a ser paga.", False, False),
    ("multas", "Sem multas, exceto as ainda não pagas.", False, False),
    ("laudoFinal", "Nada consta de roubo ou furto", False, False),
    ("laudoFinal", "ROUBO/FURTO: NADA CONSTA", False, False),
    ("laudoFinal", "RENAJUD: nada consta", True, False),
    ("laudoFinal", "Embora livre de multas, o veículo tem gravame.", False, True),
    # A general denial is of both, but for what it excepts.
    ("laudoFinal", "Não há ocorrências", True, True),
    ("laudoFinal", "Nada consta, exceto alienação ao Banco Itaú S.A.", True, True),
    ("laudoFinal", "Não consta a baixa da penhora.", False, False),
    # What is still to end has not ended.
    ("laudoFinal", "Somente negocie se a restrição for baixada.", False, False),
    ("restricoes", "Em regra, só transfere depois de paga a multa", False, False),
    ("restricoes", "Pode haver restrição não registrada; consulte o Detran.", False, False),
    # What is past is not in force.
    ("restricoes", "Houve restrição judicial em 2020.", True, False),
    ("restricoes", "Houve restrição judicial em 2020, ainda ativa.", False, False),
    ("multas", "Multa prescrita", False, True),
    # A topic names an order in other words, too.
    ("restricoes", "APREENDIDO", False, False),
    ("restricoes", "CIRCULACAO NAO AUTORIZADA", False, False),
    ("restricoes", "TRANSFERENCIA, PENHORA BAIXADA", False, False),
    ("restricoes", "Consta 1 registro", False, False),
    ("restricoes", "Consta furto.", True, False),
    ("multas", "Há valores em aberto.", False, False),
    ("multas", "Nenhum valor em aberto.", False, True),
    ("multas", "IPVA 2025 em atraso; multas: nenhuma.", False, False),
    ("multas", "IPVA pago.", False, True),
]


@pytest.mark.parametrize(("part", "text", "orders", "fines"), TEXTS)
def test_text_denies_what_is_on_record(part: str, text: str, orders: bool, fines: bool) -> None:
    result: dict[str, object] = {"resumo": "Texto.", "topicos": {part: text}, "laudoFinal": "Fim."}
    if part == "laudoFinal":
        result = {"resumo": "Texto.", "topicos": {}, "laudoFinal": text}
    report = read_report(result, "")
    found = list(contradictions(report, VERDICT, 1, totals([FINE]), []))
    assert any(isinstance(each, OrdersOmitted) for each in found) == orders
    assert any(isinstance(each, FinesOmitted) for each in found) == fines


def report_on(text: str) -> Report:
    return read_report({"resumo": "Texto.", "topicos": {"multas": text}, "laudoFinal": "Fim."}, "")


@pytest.mark.parametrize(
    ("text", "differs"),
    [
        ("Multas de R$ 130,16", False),
        ("Multas de R$ 129,17", False),
        ("Multas de R$ 131,15", False),
        # A real or more is another sum.
        ("Multas de R$ 131,16", True),
        ("Multas de R$ 129,16", True),
        # Of several, their sum may be the records'.
        ("Multas de R$ 100,00 e R$ 30,16", False),
    ],
)
def test_sum_of_fines_differs_by_a_real(text: str, differs: bool) -> None:
    found = list(contradictions(report_on(text), VERDICT, 1, totals([FINE]), []))
    assert any(isinstance(each, FinesDiffer) for each in found) == differs


@pytest.mark.parametrize(("mark", "omits"), [("✅", True), ("", False), ("⚠️", False)])
def test_green_mark_denies_what_its_text_affirms(mark: str, omits: bool) -> None:
    result: dict[str, object] = {
        "resumo": "Texto.",
        "topicos": {"restricoes": f"{mark} Há restrição judicial."},
        "laudoFinal": "Fim.",
    }
    found = list(contradictions(read_report(result, ""), VERDICT, 1, totals([FINE]), []))
    assert any(isinstance(each, OrdersOmitted) for each in found) == omits


def test_no_order_in_force_is_omitted() -> None:
    result: dict[str, object] = {
        "resumo": "Texto.",
        "topicos": {"restricoes": "✅ Nada consta"},
        "laudoFinal": "Fim.",
    }
    for orders in (0, None):
        found = contradictions(read_report(result, ""), VERDICT, orders, totals([]), [])
        assert not any(isinstance(each, OrdersOmitted) for each in found)


@pytest.mark.parametrize(
    ("text", "is_doubted", "omits"),
    [
        ("✅ Chassi e motor íntegros.", True, True),
        ("⚠️ Chassi divergente.", True, False),
        ("Não verificado.", True, False),
        ("", True, False),
        ("✅ Chassi e motor íntegros.", False, False),
    ],
)
def test_green_mark_omits_a_doubt_about_the_vehicle(
    text: str, is_doubted: bool, omits: bool
) -> None:
    doubts = [OtherRenavam("restricao-1")] if is_doubted else []
    topics = {"chassiMotor": text} if text else {}
    report = read_report({"resumo": "Texto.", "topicos": topics, "laudoFinal": "Fim."}, "")
    verdict = judge(True, [], [], condition=doubts)
    found = contradictions(report, verdict, 0, totals([]), [])
    assert any(isinstance(each, DoubtOmitted) for each in found) == omits


@pytest.mark.parametrize(
    ("text", "amount"),
    [("2 multas, R$ 130,16", None), ("2 multas, R$ 200,16", Decimal("70.00"))],
)
def test_alert_states_what_the_records_lack(text: str, amount: Decimal | None) -> None:
    found = [
        one.amount
        for one in alerts_of(report_on(text), [], totals([FINE]), TODAY)
        if one.subject is Subject.FINES
    ]
    assert found == [amount]
