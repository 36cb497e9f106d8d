"""Fines and orders that put the vehicle's identification in doubt."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

import pytest
from msgspec.structs import replace

from portal.law.assessment import AssessedFine
from portal.law.findings import DataConflict, OfVehicle, OtherVehicle, Tampered, TamperedWith
from portal.law.identification import (
    condition_findings,
    identification_findings,
    tampering_of,
)
from portal.law.orders import AssessedOrder
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
        ("65562", "", Tampered.CHASSIS),
        ("655-6", "", Tampered.MARKS),
        ("655-64", "", Tampered.PLATE),
        ("6556-1", "", Tampered.SEAL),
        ("65569", "", Tampered.MARKS),
        ("658-0", "", Tampered.NO_PLATE),
        ("65800", "", Tampered.NO_PLATE),
        ("", "COND VEIC C/ CHASSI ADULTERADO", Tampered.CHASSIS),
        ("9999", "Veículo com placa violada/falsificada", Tampered.PLATE),
        ("7455", "", None),
        ("", "TRANSITAR EM VELOCIDADE SUPERIOR", None),
        ("6602", "", None),
        ("x655-6x", "", Tampered.MARKS),
        ("", "CHASSI RASPADO", Tampered.CHASSIS),
        ("", "NIV SUPRIMIDO", Tampered.CHASSIS),
        ("", "NUMERACAO DO MOTOR ADULTERADA", Tampered.ENGINE),
        ("", "MOTOR COM NUMERO RASPADO", Tampered.ENGINE),
        ("", "VEICULO COM PLACA CLONADA", Tampered.PLATE),
        ("", "PLACA FRIA", Tampered.PLATE),
        ("", "PLACA PERTENCENTE A OUTRO VEICULO", Tampered.PLATE),
        ("", "VEICULO DUBLE", Tampered.MARKS),
        ("", "VEICULO CLONADO", Tampered.MARKS),
        ("", "SINAL IDENTIFICADOR REMARCADO", Tampered.MARKS),
        ("", "TRANSITAR SEM PLACAS", Tampered.NO_PLATE),
        ("6939-2", "", Tampered.DOCUMENT),
        ("69394", "", Tampered.DOCUMENT),
        ("", "ADULTERAR DOCUMENTO DE IDENTIFICACAO DO VEICULO", Tampered.DOCUMENT),
        ("69391", "", None),
        ("", "FALSIFICAR DOCUMENTO DE HABILITACAO", None),
        ("", "VEIC C/ CHASSI FALSIF", Tampered.CHASSIS),
        ("", "CHASSI C/ NUMERACAO ALTERADA", Tampered.CHASSIS),
        ("", "CHASSIS ADULT.", Tampered.CHASSIS),
        ("", "CHASSI LIXADO", Tampered.CHASSIS),
        ("", "NUM MOTOR RASURADO", Tampered.ENGINE),
        ("", "CONDUZIR VEICULO COM PLACA FALSA", Tampered.PLATE),
        ("", "PLACA CLONE", Tampered.PLATE),
        ("", "PLACA NAO CORRESPONDE AO VEICULO", Tampered.PLATE),
        ("", "ETIQUETA C/ NUMERACAO SUPRIMIDA", Tampered.MARKS),
        ("", "VEICULO PRODUTO DE FURTO", Tampered.THEFT),
        ("", "VEICULO COM REGISTRO DE ROUBO", Tampered.THEFT),
        ("6610-1", "CONDUZIR O VEICULO COM COR ALTERADA", None),
        ("6408", "PLACAS DE IDENTIFICACAO EM DESACORDO COM AS ESPECIFICACOES", None),
        ("", "CONDUZIR MOTOCICLETA SEM CAPACETE", None),
        ("", "PLACA SEM LEGIBILIDADE", None),
    ],
)
def test_tampering_is_read_from_code_or_description(
    code: str, description: str, what: Tampered | None
) -> None:
    described = known(description) if description else EMPTY
    assert tampering_of(fine(code=code, description=described)) is what


def test_tampered_chassis_is_the_finding_though_the_fine_is_paid() -> None:
    paid = AssessedFine(CHASSIS, TODAY)
    assert paid.is_paid
    verdict = judge(True, [paid], [])
    assert (verdict.level, verdict.cause) == ("caution", "identification")
    assert verdict.decisive == verdict.reasons[0]
    assert verdict.reasons[0] == TamperedWith(Tampered.CHASSIS, False, "multa-1")
    transfer = verdict.row("transfer")
    assert (transfer.mark, transfer.deciding) == ("careful", verdict.reasons)


def test_code_beside_another_description_leaves_the_tampering_in_doubt() -> None:
    diverging = AssessedFine(replace(CHASSIS, description=known("ESTACIONAR NO PASSEIO")), TODAY)
    (reason,) = identification_findings([diverging], [])
    assert isinstance(reason, TamperedWith)
    assert (reason.what, reason.diverges) == (Tampered.CHASSIS, True)


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
) -> tuple[OfVehicle, ...]:
    return identification_findings(
        [AssessedFine(record, TODAY, n, vehicle) for n, record in enumerate(fines, start=1)],
        [AssessedOrder(record, TODAY, n, vehicle) for n, record in enumerate(orders, start=1)],
    )


def test_record_of_another_vehicle_is_a_reason() -> None:
    gol = fine(code="7455", make_model="VW/GOL 1.0")
    order = restriction("TRANSFERENCIA", plate="XYZ9A99", make_model="VW/GOL 1.0")
    (reason,) = reasons([gol], [], AUDI)
    assert reason == OtherVehicle(("VW/GOL 1.0",), 1, "renainf", "multa-1")
    (both,) = reasons([fine(code="7455"), gol], [order], AUDI)
    named = ("VW/GOL 1.0", "XYZ9A99 VW/GOL 1.0")
    assert both == OtherVehicle(named, 2, "renainf", "multa-2")


def test_records_that_name_two_vehicles_differ_without_vehicle_data() -> None:
    gol, strada = (fine(code="7455", make_model=text) for text in ("VW/GOL 1.0", "FIAT/STRADA"))
    (reason,) = reasons([gol, strada], [], None)
    assert reason == OtherVehicle(("FIAT/STRADA",), 1, "renainf", "multa-2")
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


@pytest.mark.parametrize(
    ("built", "model", "code"),
    [
        ("2026", "2027", None),
        ("2026", "2028", "year_in_future"),
        ("2027", "2027", "year_in_future"),
        ("2024", "2026", "years_conflict"),
        ("2024", "2023", "years_conflict"),
        ("2024", "2025", None),
    ],
)
def test_years_that_cannot_be_contradict_each_other(
    built: str, model: str, code: str | None
) -> None:
    body = decode_body("ABC1D23", anoFabricacao=built, anoModelo=model)
    found = condition_findings(read_decode(result_of(body), MARKER), TODAY)
    assert [one.code for one in found if isinstance(one, DataConflict)] == ([code] if code else [])
