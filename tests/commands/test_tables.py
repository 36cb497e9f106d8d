"""Aligned tables and JSON arrays of the commands."""

import itertools
import json

import pytest

from portal.commands.tables import json_array_lines, table_lines


def lines(*rows: tuple[str, ...], header: bool = True) -> list[str]:
    return list(table_lines(("name", "price", "state"), rows, {"price"}, header=header))


def test_columns_are_aligned_under_their_names() -> None:
    assert lines(("a", "0.30", "valid"), ("longer name", "17.00", "")) == [
        "name         price  state",
        "a             0.30  valid",
        "longer name  17.00  -",
    ]


def test_table_without_rows_is_its_header() -> None:
    assert lines() == ["name  price  state"]
    assert lines(header=False) == []


@pytest.mark.parametrize("character", ["\n", "\r", "\t", "\x1b", "\x9b", "\u2028"])
def test_cell_stays_on_its_line_and_commands_no_terminal(character: str) -> None:
    (line,) = lines((f"a{character}b", "1", "c"), header=False)
    assert line == "a b  1  c"


def test_long_table_is_not_read_ahead_of_its_lines() -> None:
    read = itertools.count()
    rows = ((str(next(read)), "1", "x") for _ in range(100_000))
    shown = table_lines(("name", "price", "state"), rows)
    for _ in range(5):
        next(shown)
    assert next(read) < 2000


def test_json_is_one_array_with_an_object_a_line() -> None:
    rows: list[dict[str, str | None]] = [{"nome": "São"}, {"nome": None}]
    assert json.loads("\n".join(json_array_lines(rows))) == rows
    assert len(list(json_array_lines(rows))) == 3
    assert list(json_array_lines([])) == ["[]"]
