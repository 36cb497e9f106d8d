"""What a report's text denies, affirms or leaves open, beside an order and an open fine."""

from datetime import date
from decimal import Decimal

import pytest

from portal.law.assessment import AssessedFine, totals
from portal.law.report_check import FinesOmitted, OrdersOmitted, contradictions
from portal.vehicle.report import read_report
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
