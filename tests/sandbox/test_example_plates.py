"""Each documented plate behaves as documented in all five operations."""

import json
from http import HTTPStatus

import pytest
from werkzeug.test import Client

from portal.sandbox.example_plates import EXAMPLE_PLATES, SHOWCASE_RENAVAM, ExamplePlate
from portal.sandbox.exchange import Response, Role
from portal.sandbox.sandbox import Sandbox
from portal.sandbox.wsgi import application
from portal.vehicle.plate import Plate
from tests.sandbox.requests import get, message, post, result
from tests.sandbox.shape import DECODE, FINE, RESTRICTION

FAULTS = [example for example in EXAMPLE_PLATES if example.fault is not None]
OPERATIONS = (
    "decode/{}",
    "restrictions/renainf/{}",
    "restrictions/renainf/{}/SP",
    "restrictions/renajud/{}",
    "report",
)


def send(
    operation: str, plate: str, box: Sandbox | None = None, role: Role = "primary"
) -> Response:
    if operation == "report":
        return post({"plate": plate, "data": {}}, box, role)
    return get(operation.format(plate), box, role)


def by_fault(fault: str) -> ExamplePlate:
    return next(example for example in FAULTS if example.fault == fault)


def is_good(response: Response) -> bool:
    return response.status == 200 and "result" in json.loads(response.body)


def status_of(description: str) -> int:
    """Return the status at the start of a description."""
    return int(description[:3])


def test_documented_plates_are_valid_unique_and_described() -> None:
    plates = [Plate.parse(example.plate) for example in EXAMPLE_PLATES]
    spellings = [spelling for plate in plates for spelling in {plate, plate.twin}]
    assert len(spellings) == len(set(spellings))
    for example in EXAMPLE_PLATES:
        assert example.title
        assert {status_of(example.alone), status_of(example.portal)} <= set(HTTPStatus)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("example", EXAMPLE_PLATES, ids=lambda example: example.plate)
def test_documented_plate_answers_its_documented_status(
    operation: str, example: ExamplePlate
) -> None:
    twin = Plate.parse(example.plate).twin
    assert twin is not None
    for plate in (example.plate, example.plate.lower(), twin.text):
        assert send(operation, plate).status == status_of(example.alone)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("fault", ["400", "401", "402", "403", "404", "429", "500"])
def test_upstream_error_has_a_message(operation: str, fault: str) -> None:
    response = send(operation, by_fault(fault).plate)
    text = message(response)
    exact = {
        "400": "Por favor, informe uma placa válida.",
        "401": "Não autorizado.",
        "403": "Acesso negado!",
    }
    assert text == exact.get(fault, text)
    assert response.headers.get("Retry-After") == ("2" if fault == "429" else None)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(("fault", "seconds"), [("slow", 3.0), ("hung", 30.0)])
def test_slow_plate_answers_after_its_delay(operation: str, fault: str, seconds: float) -> None:
    response = send(operation, by_fault(fault).plate)
    assert is_good(response)
    assert response.delay_s == seconds


@pytest.mark.parametrize("operation", ["restrictions/renainf/{}", "restrictions/renajud/{}"])
@pytest.mark.parametrize("fault", ["success-text", "unknown-text"])
def test_text_stands_beside_an_empty_list(operation: str, fault: str) -> None:
    answer = json.loads(send(operation, by_fault(fault).plate).body)
    assert (answer["status"], answer["result"]) == ("SUCCESS", [])
    assert answer["message"]
    assert is_good(send("decode/{}", by_fault(fault).plate))


def test_ordinary_plate_has_no_delay() -> None:
    assert get("decode/ABC1D23").delay_s == 0


def test_wsgi_application_waits_before_a_slow_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    path = f"/detran/v1/decode/{by_fault('slow').plate}"
    response = Client(application).get(path, query_string="at=demo")
    assert (response.status, slept) == ("200 OK", [3.0])
    assert response.data
    assert response.content_length == len(response.data)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_malformed_bodies_have_status_200(operation: str) -> None:
    html = send(operation, by_fault("html").plate)
    assert html.headers["Content-Type"].startswith("text/html")
    assert html.body.startswith(b"<!DOCTYPE html>")
    cut = send(operation, by_fault("truncated").plate)
    with pytest.raises(ValueError):
        json.loads(cut.body)
    assert cut.body.startswith(b'{"status":"')
    assert message(send(operation, by_fault("message-in-200").plate))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_base_addresses_go_down_as_documented(operation: str) -> None:
    first, both = by_fault("primary-down").plate, by_fault("both-down").plate
    assert send(operation, first, role="primary").is_refused
    assert not send(operation, first, role="secondary").is_refused
    assert is_good(send(operation, first, role="secondary"))
    assert send(operation, both, role="primary").is_refused
    assert send(operation, both, role="secondary").is_refused


def test_clean_vehicle_has_no_records() -> None:
    assert result("restrictions/renainf/LMP0A01") == []
    assert result("restrictions/renajud/LMP0A01") == []


def test_plate_of_many_fines_has_more_than_forty() -> None:
    assert len(result("restrictions/renainf/MUL0A45")) == 45


@pytest.mark.parametrize(
    ("plate", "kinds"),
    [
        ("TRA0A01", ["TRANSFERENCIA"]),
        ("LIC0A01", ["LICENCIAMENTO"]),
        ("CIR0A01", ["CIRCULACAO"]),
        ("PEN0A01", ["PENHORA"]),
        (
            "JUD0A04",
            ["CIRCULACAO", "LICENCIAMENTO", "TRANSFERENCIA, LICENCIAMENTO", "PENHORA"],
        ),
    ],
)
def test_each_kind_of_court_restriction_has_a_plate(plate: str, kinds: list[str]) -> None:
    records = result(f"restrictions/renajud/{plate}")
    assert [record["restricoes"] for record in records] == kinds
    assert all(list(record) == RESTRICTION.split() for record in records)


@pytest.mark.parametrize(
    ("plate", "candidates", "months"),
    [("FIP0A03", 3, 84), ("FIP0A06", 6, 120), ("MES0A01", 1, 1), ("FIP0A00", 0, 0)],
)
def test_price_tables_of_each_size_have_a_plate(plate: str, candidates: int, months: int) -> None:
    entries = result(f"decode/{plate}")["informacoesFipe"]
    assert len(entries) == candidates
    assert len({entry["fipeId"] for entry in entries}) == candidates
    assert all(len(entry["historicoPreco"]) == months for entry in entries)


def test_single_month_is_a_real_price() -> None:
    entry = result("decode/MES0A01")["informacoesFipe"][0]
    (point,) = entry["historicoPreco"]
    assert point == {"mes": "11", "ano": "2026", "valor": point["valor"], "predicao": False}
    assert entry["valorAtual"] == f"{point['valor']}.00"


def test_bare_records_have_all_fields_with_empty_optional_ones() -> None:
    decoded = result("decode/VAZ0A00")
    assert list(decoded) == DECODE.split()
    assert decoded["capacidadeCarga"] == decoded["caixaCambio"] == decoded["potencia"] == ""
    fines = result("restrictions/renainf/VAZ0A00")
    assert len(fines) == 2
    for fine in fines:
        assert list(fine) == FINE.split()
        optional = ("localInfracao", "limitePermitido", "marcaModelo", "tipo", "medicaoReal")
        assert not any(fine[name] for name in optional)
    (record,) = result("restrictions/renajud/VAZ0A00")
    assert not any(record[name] for name in RESTRICTION.split()[:5])


def test_showcase_has_prices_fines_and_a_restriction() -> None:
    decoded = result("decode/ABC1D23")
    assert (decoded["marca"], decoded["descricao"]) == ("AUDI", "I/AUDI A3 LM 180CV")
    assert all(decoded.values())
    entries = decoded["informacoesFipe"]
    assert len(entries) == 2
    assert all(len(entry["historicoPreco"]) >= 96 for entry in entries)
    assert entries[0]["fipeId"] == "81906"
    assert entries[0]["valorAtual"] == "89325.00"
    fines = result("restrictions/renainf/ABC1D23")
    assert [bool(fine["pagamento"]["dataPagamento"]) for fine in fines] == [False, False, True]
    assert [fine["dataEmissaoPenalidade"] == "" for fine in fines] == [True, False, False]
    assert ("7455", "130") in [(fine["codigoInfracao"], fine["valor"]) for fine in fines]
    (record,) = result("restrictions/renajud/ABC1D23")
    assert record["tribunal"] == "TJMG-TRIBUNAL DE JUSTICA DE MINAS GERAIS"
    assert record["restricoes"] == "TRANSFERENCIA"


def test_showcase_answers_by_its_renavam() -> None:
    path = "restrictions/renainf/{}"
    assert result(path.format(SHOWCASE_RENAVAM)) == result(path.format("ABC1D23"))
