"""Another make, model, year or plate in a record is recognised; unclear texts are not."""

import time
from typing import Any

import pytest

from portal.vehicle.decode import read_decode
from portal.vehicle.field import EMPTY, HIDDEN, Field
from portal.vehicle.identity import (
    VehicleIdentity,
    identity_of,
    is_other_model,
    is_other_plate,
    is_other_year,
)
from portal.vehicle.wire import result_of
from tests.factories import HIDDEN as MARKER
from tests.factories import decode_body, fipe_entry


def known(text: str) -> Field:
    return Field(text, "known")


def identity(**fields: Any) -> VehicleIdentity:
    return identity_of(read_decode(result_of(decode_body("ABC1D23", **fields)), MARKER))


@pytest.mark.parametrize(
    ("text", "is_other"),
    [
        ("I/AUDI A3", False),
        ("AUDI/A3 SEDAN 1.8", False),
        ("VW/GOL 1.0", True),
        ("I/AUDI Q7", True),
        ("AUDI", False),
        ("I/AUDI A4 SEDAN 1.8", True),  # a shared body or engine does not make one model
        ("NAO CADASTRADO", False),
        ("", False),
    ],
)
def test_make_and_model(text: str, is_other: bool) -> None:
    assert is_other_model(identity(), known(text) if text else EMPTY) is is_other


def test_hidden_model_and_unknown_make_decide_nothing() -> None:
    assert not is_other_model(identity(), HIDDEN)
    unknown = identity(marca="", descricao="", informacoesFipe=[])
    assert not is_other_model(unknown, known("VW/GOL"))


def test_models_of_the_price_table_count() -> None:
    gol = identity(
        marca="VW", descricao="VW/NOVO 1.0", informacoesFipe=[fipe_entry(modelo="Gol City")]
    )
    assert not is_other_model(gol, known("VW/GOL 1.0 16V"))
    assert is_other_model(gol, known("VW/POLO 1.0 16V"))
    assert is_other_model(gol, known("VW/GOLF 2.0"))


def test_years_and_plates() -> None:
    assert is_other_year(2015, known("2003"))
    assert not any(is_other_year(2015, known(text)) for text in ("2015", "0", "x"))
    assert not is_other_year(None, known("2003"))
    assert is_other_plate(identity(), known("XYZ9A99"))
    assert not is_other_plate(identity(), known("ABC-1323"))  # the same plate in its old form
    assert not is_other_plate(identity(), known("?"))


@pytest.mark.parametrize("unit", [".", "0", "A-", "0A"])
def test_time_to_read_a_model_grows_with_its_length(unit: str) -> None:
    def seconds(length: int) -> float:
        before = time.process_time()
        is_other_model(identity(), known("AUDI/" + unit * (length // len(unit))))
        return time.process_time() - before

    assert seconds(16_000) < 8 * seconds(4_000) + 0.05
