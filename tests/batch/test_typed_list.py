"""Input of a batch: pasted text, CSV files in Brazilian and other forms, lists of strings."""

from collections.abc import Callable

import pytest

from portal.batch import TypedList, decode_upload, read_csv, read_strings, read_text
from portal.batch.typed_list import MOST_WRONG, suggest
from tests.batch.engine import plates

MOCKUP = """ABC1D23, MUL0A45, LMP0A01, FIP0A06
placa: qtz-4f71 (Onix branco)
JUD0A04 CIR0A01 TRA0A01 PEN0A01
RHK 2B18 / RHK2B18 / GBX7C40 / PWD 9341
ABC12
79831854647
"""


def texts(found: TypedList) -> list[str]:
    return [subject.text for subject in found.subjects]


def wrong(found: TypedList) -> list[tuple[int, str, str]]:
    return [(each.index, each.value, each.suggestion) for each in found.wrong]


def test_text_of_the_mockup_is_understood() -> None:
    found = read_text(MOCKUP)
    assert texts(found) == [
        *("ABC1D23", "MUL0A45", "LMP0A01", "FIP0A06", "QTZ4F71", "JUD0A04", "CIR0A01"),
        *("TRA0A01", "PEN0A01", "RHK2B18", "GBX7C40", "PWD9341", "79831854647"),
    ]
    assert [each.text for each in found.repeated] == ["RHK2B18"]
    assert wrong(found) == [(4, "ABC12", "")]


@pytest.mark.parametrize(
    ("text", "subjects", "errors"),
    [
        ("ABC1D23 ABC12", ["ABC1D23"], [(0, "ABC12", "")]),
        ("ABCID23", [], [(0, "ABCID23", "ABC1D23")]),
        ("A8C1D2E nada", [], [(0, "A8C1D2E", "")]),
        ("ABO1D2O\nOBC1D23", ["OBC1D23"], [(0, "ABO1D2O", "ABO1D20")]),
        ("Placas:\nABC1D23", ["ABC1D23"], []),
        ("\u200eABC1D23\u200b", ["ABC1D23"], []),
        ("ABC\u20131234", ["ABC1234"], []),
        ("987654321", [], [(0, "987654321", "00987654321")]),
        ("00000000000", [], [(0, "00000000000", "")]),
        ("Onix 1.0 2019 ABC1D23 branco, RHK2B18 HB20S 208GT", ["ABC1D23", "RHK2B18"], []),
        ("só um texto", [], [(0, "só um texto", "")]),
        ("ABC１D23", [], [(0, "ABC１D23", "")]),
        ("", [], []),
        ("\n , ; \n", [], []),
    ],
)
def test_text(text: str, subjects: list[str], errors: list[tuple[int, str, str]]) -> None:
    found = read_text(text)
    assert (texts(found), wrong(found)) == (subjects, errors)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_csv_with_header_reads_the_named_columns(separator: str, end: str) -> None:
    rows = [
        ["Cliente", "Placa", "Renavam", "Valor"],
        ["João", "abc-1d23", "", "1"],
        ["Ana", "", "79831854647", "2"],
        ["Zé", "ABC12", "", "3"],
        ["Bia", "ABC1D23", "79831854647", "4"],
        ["", "", "", ""],
    ]
    text = "".join(separator.join(row) + end for row in rows)
    found = read_csv(text)
    assert texts(found) == ["ABC1D23", "79831854647"]
    assert wrong(found) == [(3, "ABC12", "")]
    assert texts(found) == texts(read_text(text))


def test_csv_without_header_reads_the_column_of_plates() -> None:
    found = read_csv("1;ABC1D23;Onix\n2;LMP0A01;Gol\n3;XYZ12;Uno\n")
    assert texts(found) == ["ABC1D23", "LMP0A01"]
    assert wrong(found) == [(2, "XYZ12", "")]


def test_csv_with_quoted_separators_and_line_breaks() -> None:
    found = read_csv('placa;nota\nABC1D23;"a;b\nc"\nLMP0A01;x\n')
    assert texts(found) == ["ABC1D23", "LMP0A01"]
    assert found.wrong == ()
    found = read_csv('nota;placa\n"a;b\nc";ABC1D23\nx;LMP0A01\n')
    assert texts(found) == ["ABC1D23", "LMP0A01"]
    assert found.wrong == ()


# Where the quotes stand in a file of 400 plates, by line.
QUOTES = {
    "one never closed": {3: '"Onix'},
    "one in the header's row": {0: '"Nota'},
    "one in the last row": {400: '"Gol'},
    "two opened, closed by the second": {3: '"Onix', 390: 'Gol"'},
    "two opened": {3: '"Onix', 390: '"Gol'},
    "inches": {3: 'aro 15"'},
}


@pytest.mark.parametrize("quotes", QUOTES.values(), ids=QUOTES)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("is_plate_first", [True, False])
def test_a_lone_quote_hides_no_row(quotes: dict[int, str], end: str, is_plate_first: bool) -> None:
    column = ["Placa", *plates(399), "ABC12"]
    notes = [quotes.get(line, "x") for line in range(len(column))]
    pairs = zip(*((column, notes) if is_plate_first else (notes, column)), strict=True)
    found = read_csv(end.join(map(";".join, pairs)))
    assert texts(found) == plates(399)
    assert wrong(found) == [(400, "ABC12", "")]


def test_a_quoted_separator_beside_a_lone_quote_shifts_no_column() -> None:
    found = read_csv('nota;placa\n"a;b";ABC1D23\n"c;LMP0A01\n"LMP0A02;"d"\n')
    assert texts(found) == ["ABC1D23", "LMP0A01"]


@pytest.mark.parametrize("before", ["", '"', '""', "x;"])
def test_a_cell_of_any_length_is_read(before: str) -> None:
    long = before + "x" * 140_000
    assert texts(read_csv(f"placa;nota\nABC1D23;y\nLMP0A01;{long}\n")) == ["ABC1D23", "LMP0A01"]
    assert texts(read_csv('placa;nota\nABC1D23;"' + "y\n" * 70_000)) == ["ABC1D23"]
    for read in (read_csv, read_text):
        (each,) = read(long.replace(";", "")).wrong
        assert len(each.value) == 40


@pytest.mark.parametrize("read", [read_text, read_csv])
def test_many_wrong_lines_are_counted_and_the_first_kept(read: Callable[[str], TypedList]) -> None:
    found = read("ABC1D23\n" + "a\n" * 20_000 + "LMP0A01\n")
    assert texts(found) == ["ABC1D23", "LMP0A01"]
    assert wrong(found) == [(line, "a", "") for line in range(1, MOST_WRONG + 1)]
    assert found.more_wrong == 20_000 - MOST_WRONG


def test_every_wrong_string_of_a_list_is_kept() -> None:
    found = read_strings(["a"] * 1000)
    assert (len(found.wrong), found.more_wrong) == (1000, 0)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_upload_is_decoded(encoding: str) -> None:
    text = "placa;proprietário\nABC1D23;João\n"
    assert decode_upload(text.encode(encoding)) == text


def test_upload_of_any_bytes_is_decoded() -> None:
    assert "ABC1D23" in decode_upload(bytes(range(128, 256)) + b"\nABC1D23")


def test_strings_keep_their_index_and_ignore_other_types() -> None:
    found = read_strings(["ABC1D23", 7, None, "abc-1d23", "LMPOA01", {"plate": "X"}, " LMP0A01 "])
    assert texts(found) == ["ABC1D23", "LMP0A01"]
    assert [each.index for each in found.wrong] == [1, 2, 4, 5]
    assert found.wrong[2].suggestion == "LMP0A01"
    assert [each.text for each in found.repeated] == ["ABC1D23"]


def test_a_long_wrong_value_is_cut() -> None:
    (each,) = read_text("x" * 10_000).wrong
    assert len(each.value) == 40


@pytest.mark.parametrize("value", ["ABC1D23", "12345678901", "", "ABCDEFG", "ÁBC1D23"])
def test_no_suggestion(value: str) -> None:
    assert suggest(value) == ""
