"""Spellings of sources: months, years, fuels, blanks and makes, a row a case."""

from datetime import date, datetime

import pytest

from portal.vehicle.decode import read_decode
from portal.vehicle.field import Field
from portal.vehicle.fines import read_fines
from portal.vehicle.fipe import PriceSeries
from portal.vehicle.identity import identity_of, is_other_model
from portal.vehicle.ranking import is_other_fuel, of_other_vehicle
from portal.vehicle.wire import read_moment, read_year
from tests import factories

MARKER = factories.HIDDEN
TODAY = date(2026, 11, 28)


@pytest.mark.parametrize(
    ("month", "year", "expected"),
    [
        ("3", "2024", date(2024, 3, 1)),
        ("MAR", "2024", date(2024, 3, 1)),
        ("março", "2024", date(2024, 3, 1)),
        ("março de 2024", "", date(2024, 3, 1)),
        ("mar/24", None, date(2024, 3, 1)),
        ("03/2024", "", date(2024, 3, 1)),
        ("2024-03", "", date(2024, 3, 1)),
        ("202403", "", date(2024, 3, 1)),
        ("01/03/2024", "", date(2024, 3, 1)),
        ("2024-03-01", "2024", date(2024, 3, 1)),
        ("3", "24", date(2024, 3, 1)),
        ("03/2024", "2023", None),
        ("MA", "2024", None),
        ("13", "2024", None),
        ("Trimestre 1", "2024", None),
    ],
)
def test_month_of_a_price(month: object, year: object, expected: date | None) -> None:
    sent = [{"mes": month, "ano": year, "valor": "89325", "predicao": False}]
    [entry] = read_decode(
        {"informacoesFipe": [factories.fipe_entry() | {"historicoPreco": sent}]}, MARKER
    ).fipe
    assert [point.month for point in entry.history] == ([expected] if expected else [])
    assert PriceSeries.of(entry, TODAY).is_unread == (expected is None)


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("2015", 2015),
        ("2015 Gasolina", 2015),
        ("2015-1", 2015),
        ("2015/Diesel", 2015),
        ("2015 - Flex", 2015),
        ("15", 2015),
        ("98", 1998),
        ("00", None),
        ("2015/2016", None),
        ("32000-1", None),
        ("5", None),
    ],
)
def test_year(text: str, year: int | None) -> None:
    assert read_year(text) == year


def test_zero_km_with_its_fuel() -> None:
    sent = {"informacoesFipe": [factories.fipe_entry(ano="32000 Gasolina")]}
    assert read_decode(sent, MARKER).fipe[0].is_zero_km


def test_day_with_a_year_of_two_digits() -> None:
    assert read_moment("14/08/25 09:30") == datetime.fromisoformat("2025-08-14T09:30")
    assert read_moment("01/01/70") is None


@pytest.mark.parametrize(
    ("ours", "theirs", "differs"),
    [
        ("G", "Gasolina", False),
        ("1", "Gasolina", False),
        ("03", "Diesel", False),
        ("D", "Gasolina", True),
        ("F", "A", False),
        ("5", "Diesel", True),
    ],
)
def test_fuel_as_letter_or_number(ours: str, theirs: str, differs: bool) -> None:
    entry = factories.fipe_entry(combustivel=theirs)
    car = factories.decoded("ABC1D23", combustivel=ours, informacoesFipe=[entry])
    read = read_decode(car, MARKER)
    assert is_other_fuel(read.fipe[0], read) == differs


@pytest.mark.parametrize(
    "blank", ["NAO INFORMADO", "NÃO INFORMADA", "NC", "SEM INFORMACAO", "N/I", "-"]
)
def test_word_for_a_blank_is_no_attribute(blank: str) -> None:
    names = ("marca", "descricao", "combustivel", "tipoVeiculo", "caixaCambio", "capacidadeCarga")
    car = read_decode(dict.fromkeys(names, blank), MARKER)
    assert {field.state for field in car.texts} == {"empty"}


def test_word_for_a_blank_is_no_status_of_a_fine() -> None:
    [fine] = read_fines([factories.fine(tipo="NAO INFORMADO", localInfracao="N/C")], MARKER)
    assert (fine.kind.state, fine.place.state) == ("empty", "empty")


@pytest.mark.parametrize(
    ("make", "other", "differs"),
    [("RAM", "DODGE", False), ("VOLARE", "MARCOPOLO", False), ("RAM", "FIAT", True)],
)
def test_makes_of_one_maker(make: str, other: str, differs: bool) -> None:
    entry = factories.fipe_entry(marca=other, modelo="2500 Laramie", versao="")
    sent = factories.decoded("ABC1D23", marca=make, descricao="2500 LARAMIE")
    car = read_decode(sent | {"informacoesFipe": [entry]}, MARKER)
    assert is_other_model(identity_of(car), Field(f"{other}/2500 LARAMIE")) == differs
    assert of_other_vehicle(car.fipe[0], car) == differs
