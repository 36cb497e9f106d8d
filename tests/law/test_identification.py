"""Fines and orders that put the vehicle's identification in doubt."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from portal.law.assessment import AssessedFine
from portal.law.identification import identification_reasons, tampering_of
from portal.law.orders import AssessedOrder
from portal.law.reasons import Reason
from portal.vehicle.decode import read_decode
from portal.vehicle.field import EMPTY
from portal.vehicle.fines import Fine
from portal.vehicle.identity import VehicleIdentity, identity_of
from portal.vehicle.judicial import Restriction
from portal.vehicle.wire import result_of
from tests.factories import HIDDEN as MARKER
from tests.factories import decode_body
from tests.law.records import fine, judge, known, restriction

TODAY = date(2026, 11, 21)
AUDI: VehicleIdentity = identity_of(read_decode(result_of(decode_body("ABC1D23")), MARKER))
CHASSIS = fine(
    code="65562",
    amount=Decimal(293),
    committed_on=date(2026, 3, 10),
    paid_on=date(2026, 7, 5),
    paid_amount=Decimal(293),
)


@pytest.mark.parametrize(
    ("code", "description", "what"),
    [
        ("65562", "", "chassi violado ou falsificado"),
        ("655-6", "", "identificação violada ou falsificada"),
        ("655-64", "", "placa violada ou falsificada"),
        ("6556-1", "", "lacre de identificação violado ou falsificado"),
        ("65569", "", "identificação violada ou falsificada"),
        ("658-0", "", "falta de placa de identificação"),
        ("65800", "", "falta de placa de identificação"),
        ("", "COND VEIC C/ CHASSI ADULTERADO", "chassi violado ou falsificado"),
        ("9999", "Veículo com placa violada/falsificada", "placa violada ou falsificada"),
        ("7455", "", ""),
        ("", "TRANSITAR EM VELOCIDADE SUPERIOR", ""),
        ("6602", "", ""),
        ("x655-6x", "", "identificação violada ou falsificada"),
        ("", "CHASSI RASPADO", "chassi violado ou falsificado"),
        ("", "NIV SUPRIMIDO", "chassi violado ou falsificado"),
        ("", "NUMERACAO DO MOTOR ADULTERADA", "motor com numeração violada ou falsificada"),
        ("", "MOTOR COM NUMERO RASPADO", "motor com numeração violada ou falsificada"),
        ("", "VEICULO COM PLACA CLONADA", "placa violada ou falsificada"),
        ("", "PLACA FRIA", "placa violada ou falsificada"),
        ("", "PLACA PERTENCENTE A OUTRO VEICULO", "placa violada ou falsificada"),
        ("", "VEICULO DUBLE", "identificação violada ou falsificada"),
        ("", "VEICULO CLONADO", "identificação violada ou falsificada"),
        ("", "SINAL IDENTIFICADOR REMARCADO", "identificação violada ou falsificada"),
        ("", "TRANSITAR SEM PLACAS", "falta de placa de identificação"),
        ("6939-2", "", "documento do veículo falsificado ou adulterado"),
        ("69394", "", "documento do veículo falsificado ou adulterado"),
        ("", "ADULTERAR DOCUMENTO DE IDENTIFICACAO DO VEICULO", "documento do veículo falsificado"),
        ("69391", "", ""),
        ("", "FALSIFICAR DOCUMENTO DE HABILITACAO", ""),
        ("", "VEIC C/ CHASSI FALSIF", "chassi violado ou falsificado"),
        ("", "CHASSI C/ NUMERACAO ALTERADA", "chassi violado ou falsificado"),
        ("", "CHASSIS ADULT.", "chassi violado ou falsificado"),
        ("", "CHASSI LIXADO", "chassi violado ou falsificado"),
        ("", "NUM MOTOR RASURADO", "motor com numeração violada ou falsificada"),
        ("", "CONDUZIR VEICULO COM PLACA FALSA", "placa violada ou falsificada"),
        ("", "PLACA CLONE", "placa violada ou falsificada"),
        ("", "PLACA NAO CORRESPONDE AO VEICULO", "placa violada ou falsificada"),
        ("", "ETIQUETA C/ NUMERACAO SUPRIMIDA", "identificação violada ou falsificada"),
        ("", "VEICULO PRODUTO DE FURTO", "roubo ou furto do veículo"),
        ("", "VEICULO COM REGISTRO DE ROUBO", "roubo ou furto do veículo"),
        ("6610-1", "CONDUZIR O VEICULO COM COR ALTERADA", ""),
        ("6408", "PLACAS DE IDENTIFICACAO EM DESACORDO COM AS ESPECIFICACOES", ""),
        ("", "CONDUZIR MOTOCICLETA SEM CAPACETE", ""),
        ("", "PLACA SEM LEGIBILIDADE", ""),
    ],
)
def test_tampering_is_read_from_code_or_description(code: str, description: str, what: str) -> None:
    described = known(description) if description else EMPTY
    found = tampering_of(fine(code=code, description=described))
    assert found.startswith(what) and bool(found) == bool(what)


def test_tampered_chassis_is_the_finding_though_the_fine_is_paid() -> None:
    paid = AssessedFine(CHASSIS, TODAY)
    assert paid.is_paid
    verdict = judge(True, [paid], [])
    assert (verdict.level, verdict.cause) == ("caution", "identification")
    assert verdict.finding == "Já foi autuado por chassi violado ou falsificado"
    assert "perícia de identificação antes de qualquer pagamento" in verdict.headline
    assert verdict.reasons[0].anchor == "multa-1"
    assert verdict.row("transfer").mark == "careful"
    assert "perícia" in verdict.row("transfer").why


def test_code_beside_another_description_leaves_the_tampering_in_doubt() -> None:
    diverging = AssessedFine(replace(CHASSIS, description=known("ESTACIONAR NO PASSEIO")), TODAY)
    (reason,) = identification_reasons([diverging], [])
    assert reason.finding.endswith("violado ou falsificado (código e descrição divergem)")


def test_doubt_comes_before_money_and_after_a_court_order() -> None:
    unpaid = replace(CHASSIS, paid_on=None, paid_amount=None, penalty_on=date(2026, 4, 1))
    due = AssessedFine(unpaid, TODAY)
    assert due.standing == "enforceable"
    doubtful = judge(True, [due], [])
    assert doubtful.cause == "identification"
    barred = judge(True, [due], [restriction("TRANSFERENCIA")])
    assert barred.level == "blocked"
    assert barred.reasons[0] == doubtful.reasons[0]
    assert judge(True, [due], None).level == "incomplete"


def reasons(
    fines: Sequence[Fine], orders: Sequence[Restriction], vehicle: VehicleIdentity | None
) -> tuple[Reason, ...]:
    return identification_reasons(
        [AssessedFine(record, TODAY, n, vehicle) for n, record in enumerate(fines, start=1)],
        [AssessedOrder(record, TODAY, n, vehicle) for n, record in enumerate(orders, start=1)],
    )


def test_record_of_another_vehicle_is_a_reason() -> None:
    gol = fine(code="7455", make_model="VW/GOL 1.0")
    order = restriction("TRANSFERENCIA", plate="XYZ9A99", make_model="VW/GOL 1.0")
    (reason,) = reasons([gol], [], AUDI)
    assert reason.finding == "Um registro descreve outro veículo (VW/GOL 1.0)"
    (both,) = reasons([fine(code="7455"), gol], [order], AUDI)
    assert both.finding == ("2 registros descrevem outro veículo (VW/GOL 1.0 e XYZ9A99 VW/GOL 1.0)")
    assert both.anchor == "multa-2"


def test_records_that_name_two_vehicles_differ_without_vehicle_data() -> None:
    gol, strada = (fine(code="7455", make_model=text) for text in ("VW/GOL 1.0", "FIAT/STRADA"))
    (reason,) = reasons([gol, strada], [], None)
    assert reason.finding == "Um registro descreve outro veículo (FIAT/STRADA)"
    assert reason.anchor == "multa-2"
    same = [replace(gol, make_model=known(text)) for text in ("VW/GOL 1.0", "VW/NOVO GOL", "?", "")]
    assert reasons(same, [restriction("PENHORA", make_model="GOL")], None) == ()


@pytest.mark.parametrize("vehicle", [AUDI, None])
def test_orders_of_two_renavams_are_a_reason(vehicle: VehicleIdentity | None) -> None:
    def found(*renavams: str) -> list[str]:
        orders = [restriction("NADA CONSTA", renavam=each, recorded=False) for each in renavams]
        return [reason.anchor for reason in reasons([], orders, vehicle)]

    assert found("79831854647", "", "86769597308", "86769597308") == ["restricao-3"]
    assert found("79831854647", "7983185464-7", "00000000000", "*********47", "0") == []
    assert found("983185464", "00983185464") == []


def test_own_vehicle_and_unknown_vehicle_give_no_reason() -> None:
    own = fine(code="7455", make_model="I/AUDI A3")
    assert reasons([own], [restriction("PENHORA", plate="ABC1323")], AUDI) == ()
    assert reasons([fine(make_model="VW/GOL 1.0")], [], None) == ()
