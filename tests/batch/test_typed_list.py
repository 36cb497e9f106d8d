"""Input of a batch: pasted text, CSV files in several formats, lists of strings."""

import json
import time

import pytest

from portal.batch.typed_list import MOST_WRONG, TypedList, WrongEntry, read_list, read_strings
from portal.batch.uploads import BinaryFile, decode_upload
from tests.batch.engine import plates
from tests.effort import long

MOCKUP = """ABC1D23, MUL0A45, LMP0A01, FIP0A06
placa: qtz-4f71 (Onix branco)
JUD0A04 CIR0A01 TRA0A01 PEN0A01
RHK 2B18 / RHK2B18 / GBX7C40 / PWD 9341
ABC12
79831854647
"""


VERSIONS = (
    "UNO 1.0/8V 4P;12.345,00\nGOL 1.0 16;23.456,00",
    "SED.1.8/1.8 AMBIT.16V TB FSI S-TRONIC;2015;Gasolina;89325,00",
    "FOX 1.6/16\nCLA 2.0 45\nFIT 1.5 16",
)


def texts(found: TypedList) -> list[str]:
    return [subject.text for subject in found.subjects]


def wrong(found: TypedList) -> list[tuple[int, str, str]]:
    return [(each.index, each.value, each.suggestion) for each in found.wrong]


def test_text_of_the_mockup_is_understood() -> None:
    found = read_list(MOCKUP)
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
    found = read_list(text)
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
    found = read_list(text)
    assert texts(found) == ["ABC1D23", "79831854647"]
    assert wrong(found) == [(3, "ABC12", "")]


@pytest.mark.parametrize(
    ("text", "subjects", "errors"),
    [
        ("ABC1D23,LMP0A01,MUL0A45", ["ABC1D23", "LMP0A01", "MUL0A45"], []),
        ("ABC1D23;LMP0A01\nMUL0A45", ["ABC1D23", "LMP0A01", "MUL0A45"], []),
        ("ABC1D23, ABCID23, ABC 12, LMP0A01", ["ABC1D23", "LMP0A01"], ["ABCID23", "ABC 12"]),
        ("ABCID23;LMPOA01", [], ["ABCID23", "LMPOA01"]),
        # A Renavam beside a plate is the same vehicle in a table, but another one in a list.
        ("ABC1D23, 79831854647", ["ABC1D23", "79831854647"], []),
        ("ABC1D23 79831854647", ["ABC1D23", "79831854647"], []),
        ("ABC1D23;79831854647", ["ABC1D23"], []),
        ("ABC1D23;894638273", ["ABC1D23"], []),
        ("ABC1D23, LMP0A01, 79831854647", ["ABC1D23", "LMP0A01", "79831854647"], []),
        ("João;ABC1D23;12345678901;11987654321", ["ABC1D23"], []),
        # A row without a vehicle gives one error.
        ("ABC1D23\tGol 1.6\t45.000\nLMPOA01\tGol 1.6\t45.000", ["ABC1D23"], ["LMPOA01"]),
        ("Gol 1.6\tABC1D2\t2019", [], ["ABC1D2"]),
        ("Ana;Gol;-", [], ["Ana"]),
        # "Gol 2019" is a model and its year, not the plate GOL2019.
        ("ABC1D23;Gol 2019;45.000", ["ABC1D23"], []),
        ("ABCID23;GOL 2019;45.000", [], ["ABCID23"]),
        # A date or a time in a vehicle's row is no mistyped Renavam.
        ("0012345678-9;done;25/11/2026 12:34:56", ["00123456789"], []),
        ("79831854647;2026-11-25;12:34:56.789;25.11.2026.", ["79831854647"], []),
        ("ABC1D23, LMP0A01, 25/11/2026", ["ABC1D23", "LMP0A01"], []),
        ("79831854647;25/11/2026;894638273", ["79831854647"], ["894638273"]),
        ("Ana;25/11/2026", [], ["25/11/2026"]),
        # Two notations that keep a cell as text in Excel.
        ('="00894638270"\n\'79831854647', ["00894638270", "79831854647"], []),
        ("placa;ABC1D23;renavam;00894638273", ["ABC1D23"], []),
        # The CSV of a batch's results has a hyphen before a Renavam's check digit.
        ("0089463827-0, 7983185464-7", ["00894638270", "79831854647"], []),
        ("ABC1D23;0089463827-3", ["ABC1D23"], []),
        ("0000000000-0;008946382-73", [], ["0000000000-0", "008946382-73"]),
    ],
)
def test_rows_without_a_header(text: str, subjects: list[str], errors: list[str]) -> None:
    found = read_list(text)
    assert (texts(found), [each.value for each in found.wrong]) == (subjects, errors)


@pytest.mark.parametrize(
    "title", ["Placa", "PLACA VEIC.", "Placa do veículo", "Nº da placa", "Placa Atual", "placa_1"]
)
@pytest.mark.parametrize("before", ["", "sep=;\n", "Estoque de novembro;;\n"])
def test_column_of_plates_is_found_by_a_word_of_its_title(title: str, before: str) -> None:
    rows = ["00894638273;abc1d23;SP", "79831854647;ABC12;SP", "894638273;;SP", "x;LMPOA01;RJ"]
    header = f"Renavam;{title};UF da placa"
    found = read_list("\n".join([f"{before}{header}", *rows, header]))
    assert texts(found) == ["ABC1D23", "79831854647"]
    first = 1 + before.count("\n")
    assert wrong(found) == [
        (first + 1, "ABC12", ""),
        (first + 2, "894638273", "00894638273"),
        (first + 3, "LMPOA01", "LMP0A01"),
    ]


@pytest.mark.parametrize(
    ("text", "subjects"),
    [
        ("Placa Veículo\nABC1D23", ["ABC1D23"]),
        ("placa, por favor\nABC1D23, LMP0A01", ["ABC1D23", "LMP0A01"]),
        ("Seguem as placas:\nABC1D23", ["ABC1D23"]),
    ],
)
def test_title_or_sentence_above_a_list_is_no_wrong_entry(text: str, subjects: list[str]) -> None:
    found = read_list(text)
    assert (texts(found), found.wrong) == (subjects, ())


def test_csv_without_header_reads_the_column_of_plates() -> None:
    found = read_list("1;ABC1D23;Onix\n2;LMP0A01;Gol\n3;XYZ12;Uno\n")
    assert texts(found) == ["ABC1D23", "LMP0A01"]
    assert wrong(found) == [(2, "XYZ12", "")]


def test_csv_with_quoted_separators_and_line_breaks() -> None:
    found = read_list('placa;nota\nABC1D23;"a;b\nc"\nLMP0A01;x\n')
    assert texts(found) == ["ABC1D23", "LMP0A01"]
    assert found.wrong == ()
    found = read_list('nota;placa\n"a;b\nc";ABC1D23\nx;LMP0A01\n')
    assert texts(found) == ["ABC1D23", "LMP0A01"]
    assert found.wrong == ()


# Cells with quotation marks in a file of 400 entries, by line.
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
    found = read_list(end.join(map(";".join, pairs)))
    assert texts(found) == plates(399)
    assert wrong(found) == [(400, "ABC12", "")]


def test_a_quoted_separator_beside_a_lone_quote_shifts_no_column() -> None:
    found = read_list('nota;placa\n"a;b";ABC1D23\n"c;LMP0A01\n"LMP0A02;"d"\n')
    assert texts(found) == ["ABC1D23", "LMP0A01"]


@pytest.mark.parametrize("before", ['"', *long("", '""', "x;")])
def test_a_cell_of_any_length_is_read(before: str) -> None:
    cell = before + "x" * 140_000
    assert texts(read_list(f"placa;nota\nABC1D23;y\nLMP0A01;{cell}\n")) == ["ABC1D23", "LMP0A01"]
    assert texts(read_list('placa;nota\nABC1D23;"' + "y\n" * 70_000)) == ["ABC1D23"]
    (each,) = read_list(cell.replace(";", "")).wrong
    assert len(each.value) == 40


def test_many_wrong_lines_are_counted_and_the_first_kept() -> None:
    found = read_list("ABC1D23\n" + "a\n" * 20_000 + "LMP0A01\n")
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


@pytest.mark.parametrize(
    ("value", "subject"),
    [
        ("'00987654322", "00987654322"),
        ("'0098765432-2", "00987654322"),
        ("0098765432–2", "00987654322"),
        ("0098765432\u20112", "00987654322"),
        ("'ABC1D23", "ABC1D23"),
        ("ABC\u20111234", "ABC1234"),
    ],
)
def test_apostrophe_and_dashes_of_spreadsheets_are_accepted(value: str, subject: str) -> None:
    for found in (read_strings([value]), read_list(value)):
        assert (texts(found), found.wrong) == ([subject], ())


def test_a_long_wrong_value_is_cut() -> None:
    (each,) = read_list("x" * 10_000).wrong
    assert len(each.value) == 40


@pytest.mark.parametrize("value", ["", "ABCDEFG", "ÁB01D23", "OOOOOOOOOOO", "000000000"])
def test_no_suggestion(value: str) -> None:
    assert [each.suggestion for each in read_strings([value]).wrong] == [""]


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("A8C1D23", "ABC1D23"),
        ("ABC1DS3", "ABC1D53"),
        ("7983I8S4647", "79831854647"),
        ("798318546", "00798318546"),
    ],
)
def test_look_alike_signs_and_missing_zeros_are_only_suggested(value: str, meant: str) -> None:
    for found in (read_strings([value]), read_list(value)):
        assert (texts(found), wrong(found)) == ([], [(0, value, meant)])


def test_label_before_a_short_renavam_is_ignored_by_the_suggestion() -> None:
    assert wrong(read_strings(["Renavam 798318546"])) == [(0, "Renavam 798318546", "00798318546")]


def test_renavam_with_a_letter_beside_another_vehicle_is_wrong() -> None:
    found = read_list("ABC1D23, LMP0A01, 7983I854647")
    assert (texts(found), wrong(found)) == (
        ["ABC1D23", "LMP0A01"],
        [(0, "7983I854647", "79831854647")],
    )


def test_renavam_with_a_letter_belongs_to_the_plate_of_its_row() -> None:
    found = read_list("ABC1D23;7983I854647")
    assert (texts(found), found.wrong) == (["ABC1D23"], ())


def doubts(found: TypedList) -> list[tuple[str, str, str]]:
    return [(each.value, each.suggestion, each.doubt) for each in found.wrong]


@pytest.mark.parametrize(
    ("text", "subjects", "expected"),
    [
        # A sentence above a list names no column.
        ("Placas dos carros\nABC1D23, XYZ1A11, gol", ["ABC1D23", "XYZ1A11"], []),
        (
            "Placa;Nota\nABC1D23;trocado por XYZ1A11",
            ["ABC1D23"],
            [("XYZ1A11", "XYZ1A11", "column")],
        ),
        (
            "ABC1D23 XYZ1A11\u200bDEF2B34",
            ["ABC1D23"],
            [("XYZ1A11DEF2B34", each, "glued") for each in ("XYZ1A11", "DEF2B34")],
        ),
        ("ABC1D23 XYZ1A11DEF2B34", ["ABC1D23"], [("XYZ1A11DEF2B34", "XYZ1A11", "glued")]),
        ("ABC1D23;Gol;KZZ9999x", ["ABC1D23"], [("KZZ9999x", "KZZ9999", "glued")]),
        ("ABC1D23;Gol;9BWZZZ377VT004251", ["ABC1D23"], []),
    ],
)
def test_no_plate_is_dropped_without_a_word(
    text: str, subjects: list[str], expected: list[tuple[str, str, str]]
) -> None:
    found = read_list(text)
    assert texts(found) == subjects
    assert set(expected) <= set(doubts(found))
    assert bool(expected) == bool(found.wrong)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PED 5678", ("PED 5678", "PED5678", "word")),
        ("Rua 1234, ABC1D23", ("Rua 1234", "RUA1234", "word")),
        ("ABC1D23, apt 1204", ("apt 1204", "APT1204", "word")),
        ("Honda Civic LXR 2014", ("LXR 2014", "LXR2014", "word")),
        ("MAR2023", ("MAR2023", "MAR2023", "month")),
        ("ABC1D23 ABR-2019", ("ABR-2019", "ABR2019", "month")),
        ("Placa\nmar/23", ("mar/23", "MAR2023", "month")),
        ("12345678910", ("12345678910", "12345678910", "check_digit")),
        ("ligar 11987654321", ("11987654321", "11987654321", "phone")),
        ("(11) 98765-4321", ("(11) 98765-4321", "", "phone")),
        ("529.982.247-25", ("529.982.247-25", "", "cpf")),
        ("52998224725", ("52998224725", "", "cpf")),
        ("Renavam\n79831854647.0", ("79831854647.0", "79831854647", "number")),
        ("79.831.854.647", ("79.831.854.647", "79831854647", "number")),
        ("79831854647,00", ("79831854647,00", "79831854647", "number")),
        ("7,98318546E+10", ("7,98318546E+10", "", "rounded")),
        ("ABC1234\nXYZ9K99\nABC1C34", ("ABC1C34", "ABC1C34", "twin")),
    ],
)
def test_doubtful_entry_is_left_out_with_its_reason(
    text: str, expected: tuple[str, str, str]
) -> None:
    found = read_list(text)
    assert doubts(found) == [expected]
    assert expected[1] not in texts(found)


@pytest.mark.parametrize(
    "plate",
    [
        *("ABC 1D23", "ABC\u00a01D23", "ABC\u202f1D23", "ABC_1D23", "ABC/1D23", "ABC.1D23"),
        *("ABC\u20221D23", "A.B.C 1 D 2 3"),
    ],
)
@pytest.mark.parametrize("frame", ["{}", "Placa;Cor\n{};azul", "x;Placa\n;{}"])
def test_list_reads_the_spellings_of_the_search(plate: str, frame: str) -> None:
    found = read_list(frame.format(plate))
    assert (texts(found), found.wrong) == (["ABC1D23"], ())
    assert texts(read_strings([plate])) == ["ABC1D23"]


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("Placa antiga;Placa Mercosul\nABC1234;ABC1C34", {"ABC1C34": "= ABC1234"}),
        ("ABC1234 / ABC1C34", {"ABC1C34": "= ABC1234"}),
        ("Placa;Renavam\nABC1C34;79831854647", {"ABC1C34": "= Renavam 79831854647"}),
        (
            '[{"placa": "ABC1C34", "renavam": "79831854647", "cor": "azul"}]',
            {"ABC1C34": "= Renavam 79831854647"},
        ),
        (
            "<table><tr><th>Placa</th><th>Renavam</th></tr>\n<tr><td>ABC1C34</td>\n"
            "<td>79831854647</td></tr></table>",
            {"ABC1C34": "= Renavam 79831854647"},
        ),
    ],
)
def test_two_names_of_one_vehicle_in_a_row_are_one_vehicle(
    text: str, typed: dict[str, str]
) -> None:
    found = read_list(text)
    assert (texts(found), found.wrong, found.typed) == (["ABC1C34"], (), typed)


@pytest.mark.parametrize(
    "text",
    [
        "Placa: ABC1D23\nRenavam: 79831854647",
        "RENAVAM 79831854647\nPLACA ABC 1D23",
        "C\u00d3DIGO RENAVAM\n79831854647\nPLACA EXERC\u00cdCIO\nABC1D23 2024",
        "Placa\nABC1D23\nRenavam\n7983185464-7",
    ],
)
def test_plate_and_renavam_of_a_document_are_one_vehicle(text: str) -> None:
    for found in (read_list(text), read_list("", text.encode())):
        assert (texts(found), found.typed) == (["ABC1D23"], {"ABC1D23": "= Renavam 79831854647"})


@pytest.mark.parametrize(
    "text",
    [
        "Placa: ABC1D23\nPlaca: KZZ9999\nRenavam: 79831854647",
        "Renavam: 79831854647\nABC1D23",
        "Placa: ABC1D23\nPlaca: KZZ9999\nRenavam: 79831854647\nRenavam: 86769597308",
    ],
)
def test_a_renavam_without_a_plate_of_its_own_stays_a_vehicle(text: str) -> None:
    assert "79831854647" in texts(read_list(text))


@pytest.mark.parametrize("text", VERSIONS)
def test_a_table_of_versions_and_prices_has_no_plate(text: str) -> None:
    found = read_list(text)
    assert (texts(found), [each.suggestion for each in found.wrong if each.suggestion]) == ([], [])


@pytest.mark.parametrize("space", ["", " "])
def test_amounts_of_json_lines_are_no_plates(space: str) -> None:
    separators = (f",{space}", f":{space}")
    fine = {"plate": "ABC1D23", "amount": 1195.23, "amount_at_80": 156.18, "model_year": 2015}
    fine |= {"code": "008190-6", "price_2024": 89325.0, "value": 115431, "renavam": 79831854647}
    lines = "\n".join([json.dumps(fine, separators=separators)] * 2)
    found = read_list(lines)
    assert (texts(found), found.wrong) == (["ABC1D23"], ())
    found = read_list(json.dumps(fine | {"plate": None}, separators=separators))
    assert (texts(found), found.wrong) == (["79831854647"], ())


def test_each_vin_of_a_list_is_told_as_such() -> None:
    found = read_list("Nome;Chassi\nJo\u00e3o;9BWZZZ377VT004251\nAna;9BWZZZ377VT004252")
    assert doubts(found)[1:] == [(f"9BWZZZ377VT00425{last}", "", "vin") for last in "12"]


def test_an_entry_carries_the_signs_it_was_read_from() -> None:
    for found in (read_list("Placa ABCID23"), read_strings(["Placa ABCID23"])):
        (entry,) = found.wrong
        assert (entry.signs, entry.suggestion) == ("ABCID23", "ABC1D23")
        # A draft of a former version has no signs.
        former = WrongEntry(0, "Placa ABCID23", "ABC1D23", doubt="letters")
        assert former.typed == entry.typed and former.typed.signs == "ABCID23"


def test_words_around_a_plate_are_kept_to_be_shown() -> None:
    assert read_list("ABC1D23\nvendo DEF 1234 branco").typed == {"DEF1234": "vendo DEF 1234 branco"}


def test_messages_of_a_chat_without_a_plate_are_no_entries() -> None:
    found = read_list(
        "25/11/2026 14:33 - Maria: ok\n"
        "[25/11/2026, 14:33:05] Jo\u00e3o: bom dia, ABC1D23 e ABCID24\n"
        "25/11/2026 14:34 - As mensagens s\u00e3o protegidas\n"
    )
    assert texts(found) == ["ABC1D23"]
    assert wrong(found) == [(1, "ABCID24", "ABC1D24")]


@pytest.mark.parametrize(
    ("content", "file_format"),
    [
        (b"\x1f\x8b\x08\x00ABC1D23", "compressed"),
        (b"7z\xbc\xaf\x27\x1cABC1D23", "compressed"),
        (b"\x89PNG\r\n\x1a\nABC1D23", "image"),
        (bytes(range(32)) * 20 + b" ABC1D23 ", "binary"),
    ],
)
def test_upload_that_is_no_text_is_refused(content: bytes, file_format: str) -> None:
    with pytest.raises(BinaryFile) as raised:
        read_list("", content)
    assert raised.value.format == file_format


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_read_with_and_without_a_mark(encoding: str) -> None:
    content = "Placa;Propriet\u00e1rio\r\nABC1D23;Jo\u00e3o\r\n".encode(encoding)
    assert texts(read_list("", content)) == ["ABC1D23"]


@pytest.mark.parametrize("mark", ["\u200b", "\u2066", "\u2063"])
def test_invisible_characters_are_ignored(mark: str) -> None:
    for found in (read_strings([f"ABC{mark}1D23"]), read_list(f"ABC{mark}1D23")):
        assert (texts(found), found.wrong) == (["ABC1D23"], ())


@pytest.mark.parametrize("opening", ["<table>", '{"placa"'])
def test_time_to_read_markup_grows_with_its_blanks(opening: str) -> None:
    """A pattern that begins with a repetition searches a run again from each character."""
    long = opening + " " * 200_000 + "ABC1D23"
    began = time.process_time()
    read_list(long)
    long_s = time.process_time() - began
    began = time.process_time()
    for _ in range(10):
        read_list(opening + " " * 20_000 + "ABC1D23")
    assert long_s < 5 * (time.process_time() - began) + 0.5


@pytest.mark.parametrize(
    ("line", "listed", "doubts"),
    [
        ("seg 1030", [], ["word"]),
        ("reunião sex 1400", [], ["word"]),
        ("contato: KLM1A27@x.com", [], ["address"]),
        ("https://x.com/KLM1A27", [], ["address"]),
        ("R$ POR1023", [], ["word"]),
        ("não consultar KLM1A33", [], ["negated"]),
        ("ABC1D23 exceto KLM1A33", ["ABC1D23"], ["negated"]),
        ("ABC1D23;GOL;blindado: não", ["ABC1D23"], []),
        ("todas menos a placa KLM1A33", [], ["negated"]),
        ("ABC1D23 e DEF5G67, sem KLM1A33", ["ABC1D23", "DEF5G67"], ["negated"]),
        ("UNO sem ar ABC1D23\nGOL, menos de 90 mil km KLM1A33", ["ABC1D23", "KLM1A33"], []),
        ("não consultar 79831854647", [], ["negated"]),
        ("PLACA\nSEG 1030\nRENAVAM\n79831854647", ["SEG1030"], []),
        ("placa SEG 1030", ["SEG1030"], []),
    ],
)
def test_what_only_looks_like_a_plate_is_not_drafted(
    line: str, listed: list[str], doubts: list[str]
) -> None:
    found = read_list(line)
    assert (texts(found), [each.doubt for each in found.wrong]) == (listed, doubts)


def test_time_to_read_a_long_line_grows_with_its_plates() -> None:
    def seconds(plates: int) -> float:
        began = time.process_time()
        read_list("ABC1D23 " * plates)
        return time.process_time() - began

    assert seconds(8_000) < 8 * seconds(2_000) + 0.5
