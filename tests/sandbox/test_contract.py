"""Every valid plate gets the same records each time, in the contract's shape."""

import json
import re
from datetime import date
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from portal.sandbox.example_plates import EXAMPLE_PLATES
from portal.sandbox.exchange import Request
from portal.vehicle.plate import STATES, Plate
from tests.sandbox.requests import DEMO, TODAY, get, message, result, sandbox_on
from tests.sandbox.shape import DECODE, ENTRY, FINE, LICENCE, MONTH, PAYMENT, RESTRICTION

PLATE_MESSAGE = "Por favor, informe uma placa válida."
MARKER = "INFORMACAO OCULTADA"

plates = st.from_regex(r"[A-Za-z]{3}[0-9][A-Za-z0-9][0-9]{2}", fullmatch=True).filter(
    lambda text: text.isascii()
)
days = st.dates(date(2024, 1, 1), date(2031, 12, 31))
# The sandbox may answer only the documented plates with an error.
ordinary = plates.filter(
    lambda text: not any(Plate.parse(text).names_same_vehicle(s.plate) for s in EXAMPLE_PLATES)
)


def all_strings(record: dict[str, object], *others: str) -> bool:
    return all(isinstance(value, str) for name, value in record.items() if name not in others)


def as_day(text: str) -> date:
    day, month, year = text.split("/")
    assert (len(day), len(month), len(year)) == (2, 2, 4)
    return date(int(year), int(month), int(day))


@settings(max_examples=150, deadline=None)
@given(ordinary, days)
def test_decoded_vehicle_has_the_contracts_fields_in_order(plate: str, today: date) -> None:
    decoded = result(f"decode/{plate}", sandbox_on(today))
    assert list(decoded) == DECODE.split()
    assert all_strings(decoded, "informacoesFipe")
    assert decoded["placa"] == plate.upper()
    assert decoded["chassi"] == MARKER
    assert re.fullmatch(r"\d{4}", decoded["anoModelo"])
    assert 0 <= int(decoded["anoModelo"]) - int(decoded["anoFabricacao"]) <= 1
    assert 1 <= len(decoded["informacoesFipe"]) <= 3
    for entry in decoded["informacoesFipe"]:
        assert list(entry) == ENTRY.split()
        assert all_strings(entry, "historicoPreco")
        code = entry["fipeId"].zfill(7)
        total = sum(w * int(d) for w, d in zip((7, 6, 5, 4, 3, 2), code[:6], strict=True))
        assert int(code[6]) == -total % 11 % 10


@settings(max_examples=150, deadline=None)
@given(ordinary, days)
def test_price_history_is_consecutive_and_predicted_at_its_end(plate: str, today: date) -> None:
    now = today.year * 12 + today.month
    for entry in result(f"decode/{plate}", sandbox_on(today))["informacoesFipe"]:
        history = entry["historicoPreco"]
        assert 24 <= len(history) <= 108
        assert all(list(point) == MONTH.split() for point in history)
        assert all(all_strings(point, "predicao") for point in history)
        months = [int(point["ano"]) * 12 + int(point["mes"]) for point in history]
        assert months == list(range(months[0], months[0] + len(months)))
        assert not any(point["mes"].startswith("0") for point in history)
        predicted = [
            month for month, point in zip(months, history, strict=True) if point["predicao"]
        ]
        assert predicted == list(range(now + 1, months[-1] + 1))
        assert 2 <= len(predicted) <= 4
        values = [int(point["valor"]) for point in history]
        assert all(abs(b - a) <= 0.05 * a + 1 for a, b in pairwise(values))
        assert entry["valorAtual"] == f"{values[-len(predicted) - 1]}.00"


@settings(max_examples=150, deadline=None)
@given(ordinary, days)
def test_fines_have_the_contracts_fields_and_ordered_dates(plate: str, today: date) -> None:
    for fine in result(f"restrictions/renainf/{plate}", sandbox_on(today)):
        assert list(fine) == FINE.split()
        assert all_strings(fine, "cnhCondutor", "cnhInfrator", "pagamento")
        for licence in (fine["cnhCondutor"], fine["cnhInfrator"]):
            assert list(licence) == LICENCE.split()
            assert licence["pontos"] == 0
            assert licence["registro"] == MARKER
        assert list(fine["pagamento"]) == PAYMENT.split()
        assert all_strings(fine["pagamento"])
        assert re.fullmatch(r"\d{4}", fine["codigoInfracao"])
        assert re.fullmatch(r"|\d{4}", fine["codigoMunicipioInfracao"])
        assert re.fullmatch(r" \d\d:\d\d", fine["horaInfracao"])
        assert fine["valor"].isdecimal()
        assert fine["descricao"].isascii()
        assert fine["descricao"].isupper()
        assert fine["ufOrgaoAutuador"] in STATES
        penalty = fine["dataEmissaoPenalidade"]
        happened = [
            as_day(fine["dataInfracao"]),
            as_day(fine["dataCadastroInfracao"]),
            as_day(fine["dataEmissaoNotificacao"]),
            *([as_day(penalty)] if penalty else []),
            *([as_day(paid)] if (paid := fine["pagamento"]["dataPagamento"]) else []),
            today,
        ]
        assert happened == sorted(happened)


@settings(max_examples=150, deadline=None)
@given(ordinary, days)
def test_restrictions_have_the_contracts_fields(plate: str, today: date) -> None:
    for record in result(f"restrictions/renajud/{plate}", sandbox_on(today)):
        assert list(record) == RESTRICTION.split()
        assert all_strings(record, "constaRenajud")
        assert record["constaRenajud"] is True
        assert record["processo"] == MARKER
        assert record["placa"] in ("", plate.upper())
        assert re.fullmatch(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d", record["dataInclusao"])
        assert as_day(record["dataInclusao"][:10]) < today


def dated_before_manufacture(plate: str, today: date) -> list[str]:
    """Return the dates of fines and restrictions that precede the year of manufacture."""
    box = sandbox_on(today)
    built = int(result(f"decode/{plate}", box)["anoFabricacao"])
    happened = [fine["dataInfracao"] for fine in result(f"restrictions/renainf/{plate}", box)]
    happened += [one["dataInclusao"] for one in result(f"restrictions/renajud/{plate}", box)]
    return [text for text in happened if as_day(text[:10]).year < built]


@settings(max_examples=150, deadline=None)
@given(st.lists(ordinary, min_size=4, max_size=4), days)
def test_no_record_precedes_the_year_of_manufacture(several: list[str], today: date) -> None:
    for plate in several:
        assert not dated_before_manufacture(plate, today)


@pytest.mark.parametrize("plate", [s.plate for s in EXAMPLE_PLATES if s.fault is None])
def test_no_record_of_a_documented_plate_precedes_its_year(plate: str) -> None:
    for today in (date(2024, 1, 1), TODAY, date(2031, 12, 31)):
        assert not dated_before_manufacture(plate, today)


@settings(max_examples=60, deadline=None)
@given(ordinary)
def test_plate_in_either_case_gives_the_same_bytes(plate: str) -> None:
    for path in ("decode", "restrictions/renainf", "restrictions/renajud"):
        first = get(f"{path}/{plate}").body
        assert get(f"{path}/{plate}").body == first
        assert get(f"{path}/{plate.upper()}").body == first


@settings(max_examples=60, deadline=None)
@given(ordinary)
def test_both_spellings_of_a_plate_are_one_vehicle(plate: str) -> None:
    twin = Plate.parse(plate).twin
    if twin is None:
        return
    mine, other = result(f"decode/{plate}"), result(f"decode/{twin}")
    assert mine.pop("placa") != other.pop("placa")
    assert mine == other
    assert result(f"restrictions/renainf/{plate}") == result(f"restrictions/renainf/{twin}")


def test_different_plates_give_different_vehicles() -> None:
    descriptions = {result(f"decode/QQQ{n // 100}A{n % 100:02d}")["descricao"] for n in range(300)}
    assert len(descriptions) >= 40


def test_most_plates_have_few_fines_and_no_restriction() -> None:
    some = [f"RQT{n // 100}B{n % 100:02d}" for n in range(300)]
    fines = [len(result(f"restrictions/renainf/{plate}")) for plate in some]
    restricted = [bool(result(f"restrictions/renajud/{plate}")) for plate in some]
    assert sum(count <= 3 for count in fines) > 250
    assert 0 < fines.count(0) < 200
    assert 5 < sum(restricted) < 60


def test_past_prices_do_not_change_over_time() -> None:
    def prices(day: date) -> dict[tuple[str, str], str]:
        entry = result("decode/ABC1D23", sandbox_on(day))["informacoesFipe"][0]
        return {(p["ano"], p["mes"]): p["valor"] for p in entry["historicoPreco"]}

    before, after = prices(TODAY), prices(date(2027, 2, 3))
    common = before.keys() & after.keys()
    assert len(common) > 90
    assert all(before[month] == after[month] for month in common)


def test_two_lookups_in_one_month_are_equal() -> None:
    path = "restrictions/renainf/MUL0A45"
    assert result(path, sandbox_on(date(2026, 11, 2))) == result(
        path, sandbox_on(date(2026, 11, 30))
    )


@settings(max_examples=60, deadline=None)
@given(st.from_regex(r"[0-9]{11}", fullmatch=True).filter(str.isascii))
def test_renavam_has_fines_and_restrictions_but_no_decode(renavam: str) -> None:
    assert isinstance(result(f"restrictions/renainf/{renavam}"), list)
    for record in result(f"restrictions/renajud/{renavam}"):
        assert record["renavam"] in ("", renavam)
        assert record["placa"] == ""
    response = get(f"decode/{renavam}")
    assert (response.status, message(response)) == (400, PLATE_MESSAGE)


@pytest.mark.parametrize(
    "text",
    ["A", "ABC12345", "AB11D23", "ABC-1234", "ABC1D2٣", "ABC1D23\n", "ßBC1234", "1234567890"],
)
def test_invalid_subject_gets_the_contracts_message(text: str) -> None:
    for path in ("decode", "restrictions/renainf", "restrictions/renajud"):
        response = get(f"{path}/{text}")
        assert (response.status, message(response)) == (400, PLATE_MESSAGE)


def test_texts_are_utf8_and_unescaped() -> None:
    assert "Automóvel".encode() in get("decode/ABC1D23").body


@pytest.mark.parametrize("state", ["MG", "mg", "Mg"])
def test_state_filters_fines_by_authority(state: str) -> None:
    every = result("restrictions/renainf/MUL0A45")
    narrowed = result(f"restrictions/renainf/MUL0A45/{state}")
    assert narrowed == [fine for fine in every if fine["ufOrgaoAutuador"] == "MG"]
    assert 0 < len(narrowed) < len(every)


def test_all_states_together_give_all_fines() -> None:
    every = result("restrictions/renainf/MUL0A45")
    parts = [result(f"restrictions/renainf/MUL0A45/{state}") for state in STATES]
    assert sum(map(len, parts)) == len(every)


@pytest.mark.parametrize("state", ["XX", "M", "MGG", "ß"])
def test_unknown_state_gets_its_own_message(state: str) -> None:
    response = get(f"restrictions/renainf/ABC1D23/{state}")
    assert response.status == 400
    assert "UF" in message(response)


def test_request_repr_hides_the_secrets() -> None:
    shown = repr(Request("GET", "/p", "at=demo", DEMO, b"body"))
    assert "demo" not in shown
    assert "body" not in shown


def test_answers_are_json_documents() -> None:
    response = get("decode/ABC1D23")
    assert response.headers["Content-Type"] == "application/json; charset=utf-8"
    assert json.loads(response.body)["status"] == "DONE"
    assert json.loads(get("restrictions/renajud/LMP0A01").body) == {
        "status": "SUCCESS",
        "result": [],
    }
