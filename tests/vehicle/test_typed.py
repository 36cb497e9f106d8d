"""What a typed or pasted plate or Renavam means, and which texts leave a doubt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.vehicle.plate import Plate, Renavam
from portal.vehicle.typed import Typed, parse_typed, read_part, read_typed

CPF = "529.982.247-25"  # a valid tax number that nobody has


def read(text: str) -> tuple[str, str]:
    typed = read_typed(text)
    return (typed.subject.text if typed.subject else "", typed.doubt)


@pytest.mark.parametrize(
    "typed",
    [
        *("ABC1D23", "abc-1d23", "ABC 1D23", "ABC\u00a01D23", "ABC\u202f1D23", "ABC_1D23"),
        *("ABC/1D23", "ABC.1D23", "ABC\u20221D23", "ABC \u2022 1D23", "ABC \u2013 1D23"),
        *("A.B.C 1 D 2 3", "\u200bABC\u20601D23", "Placa: ABC1D23.", "'ABC1D23", "(ABC1D23)"),
    ],
)
def test_every_spelling_of_a_plate(typed: str) -> None:
    assert read_typed(typed) == Typed(Plate("ABC1D23"))


@pytest.mark.parametrize(
    ("typed", "doubt"),
    [
        ("Placa: ITE 4606", ""),
        ("Placa AND 1234", ""),
        ("ITE 4606", "word"),
        # A model in the column of plates is still a question.
        ("Placa: GOL 2015", "word"),
    ],
)
def test_label_says_that_an_abbreviation_is_a_plate(typed: str, doubt: str) -> None:
    assert read_typed(typed).doubt == doubt


@pytest.mark.parametrize(
    "typed",
    [
        *("79831854647", "7983185464-7", "7983185464\u20137", "7983.185464-7", "'79831854647"),
        *("798 318 546 47", "798\u00a0318\u00a0546\u00a047", '="79831854647"'),
        *("Renavam n\u00ba 798.318.546-47", "RENAVAM: 7983.1854-647", "Renavam\u200b 79831854647"),
    ],
)
def test_every_spelling_of_a_renavam(typed: str) -> None:
    assert read_typed(typed) == Typed(Renavam("79831854647"))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        *(("AB01D23", "ABO1D23"), ("a8c-1d23", "ABC1D23"), ("5BCID2O", "SBC1D20")),
        *(("2BC1D23", "ZBC1D23"), ("6BC1D23", "GBC1D23"), ("7BC1D23", "TBC1D23")),
        *(("4BC1D23", "ABC1D23"), ("ABCZD23", "ABC2D23"), ("ABCGD23", "ABC6D23")),
        *(("ABCTD23", "ABC7D23"), ("ABCAD23", "ABC4D23"), ("ABCQD23", "ABC0D23")),
        *(("ABCDD23", "ABC0D23"), ("ABC1DLB", "ABC1D18")),
        *(("7983I854647", "79831854647"), ("79831854O4\u200b7", "79831854047")),
        *(("79B31854647", "79831854647"), ("7983185A6Q7", "79831854607")),
    ],
)
def test_signs_that_look_alike_are_only_suggested(typed: str, meant: str) -> None:
    assert read(typed) == (meant, "letters")


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        # A spreadsheet's number in place of a Renavam.
        ("79831854647.0", ("79831854647", "number")),
        ("79831854647,00", ("79831854647", "number")),
        ("79.831.854.647", ("79831854647", "number")),
        ("79.831.854.647,00", ("79831854647", "number")),
        ("79,831,854,647.00", ("79831854647", "number")),
        ("798318546.0", ("00798318546", "number")),
        ("7,9831854647E+10", ("79831854647", "number")),
        ("7.9831854647e10", ("79831854647", "number")),
        ("7,98318546E+10", ("", "rounded")),
        ("798318546", ("00798318546", "zeros")),
        ("798.318.546", ("00798318546", "zeros")),
        ("Renavam n\u00ba 798.318.546", ("00798318546", "zeros")),
        ("008946382-73", ("00894638273", "number")),
        # Persons.
        (CPF, ("", "cpf")),
        ("529 982 247 25", ("", "cpf")),
        ("529.982.247/25", ("", "cpf")),
        ("52998224725", ("", "cpf")),
        ("52998224725,00", ("", "cpf")),
        (f"CPF: {CPF}", ("", "cpf")),
        ("123.456.789-01", ("", "cpf")),
        ("798.318.546-47", ("79831854647", "number")),
        *((text, ("", "phone")) for text in ("11 98765-4321", "(11) 98765-4321", "98765-4321")),
        *(
            (text, ("", "phone"))
            for text in ("+55 11 98765-4321", "(11) 3456-7890", "11-98765-4321")
        ),
        ("11987654321", ("11987654321", "phone")),
        ("12345678910", ("12345678910", "check_digit")),
        ("Renavam 12345678910", ("12345678910", "check_digit")),
        # Words.
        *((text, ("RUA1234", "word")) for text in ("Rua 1234", "rua. 1234")),
        ("PED 5678", ("PED5678", "word")),
        ("Gol 2019", ("GOL2019", "word")),
        ("mar 2023", ("MAR2023", "word")),
        ("mar/23", ("MAR2023", "month")),
        ("ABC#1D23", ("ABC1D23", "signs")),
        ("ABC 1 D 23", ("ABC1D23", "")),
        ("ABC 1D 23", ("ABC1D23", "")),
        ("ABCO123", ("ABC0123", "letters")),
    ],
)
def test_doubts(typed: str, expected: tuple[str, str]) -> None:
    assert read(typed) == expected


@pytest.mark.parametrize(
    "typed",
    [
        *("", "ABC12", "ABCK123", "ABCDEFG", "12345678", "123456789012", "000000000"),
        *("OOOOOOOOOOO", "00000000000", "\u00c1B01D23", "\u0130B01D23", "ABC\uff11D23"),
        *("\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669", "ABC1D23 KZZ9999", "renavam"),
    ],
)
def test_texts_without_a_meaning(typed: str) -> None:
    assert read_typed(typed) == Typed()


def test_plate_of_a_month_is_a_plate_if_written_as_one() -> None:
    assert read_typed("MAR2023") == Typed(Plate("MAR2023"))


@pytest.mark.parametrize(
    ("typed", "meant", "signs"),
    [
        ("Placa ABCID23", "ABC1D23", "ABCID23"),
        ("placa: ABC1DZ3", "ABC1D23", "ABC1DZ3"),
        ('{"plate":"abcid23"}', "ABC1D23", "abcid23"),
        ("Placa n\u00ba ABCID23", "ABC1D23", "ABCID23"),
        ("Placa do ve\u00edculo: abc-id23", "ABC1D23", "abcid23"),
        ("Renavam n\u00ba 7983I854647", "79831854647", "7983I854647"),
        ("Renavam I9831854647", "19831854647", "I9831854647"),
    ],
)
def test_a_label_changes_neither_meaning_nor_signs(typed: str, meant: str, signs: str) -> None:
    found = read_typed(typed)
    assert (read(typed), found.signs) == ((meant, "letters"), signs)


@pytest.mark.parametrize(
    "typed",
    [
        # Separators stand between the parts of a plate, never within its digits.
        *("UNO 1.0 16", "SED.1.8/1.8", "GOL 1.0/16", "CLA 2.0 45", "ABC 12.34", "ABC 1.234"),
        *("AB C1234", "A BC1234", "ABC1 234", "multa-10", "CG 125 TI", "POP 110I", "UNO 1.0/8V"),
        # Plates of Argentina, Paraguay, Bolivia and Chile.
        *(
            "AA123BB",
            "AA 123 BB",
            "AABB123",
            "AABB 123",
            "1234BCD",
            "1586 SIL",
            "BB\u00b7CC\u00b712",
        ),
        "A\u00df1D23",
    ],
)
def test_names_of_versions_and_foreign_plates_are_no_plates(typed: str) -> None:
    assert read_typed(typed) == Typed()


@pytest.mark.parametrize(
    "typed", ["9BWZZZ377VT004251", "chassi: 9BWZZZ377VT004251", "9BW ZZZ 377 VT 004251"]
)
def test_a_vin_is_told_as_such(typed: str) -> None:
    found = read_typed(typed)
    assert (found, found.signs) == (Typed(None, "vin"), "9BWZZZ377VT004251")


@pytest.mark.parametrize("text", ["GOL 1000", "CBR 1000", "hrv 2019", "por 5000"])
def test_a_model_or_word_before_a_number_asks_first(text: str) -> None:
    assert read(text)[1] == "word"


@pytest.mark.parametrize(
    ("text", "has_words", "doubt"),
    [
        ("KZZ 1999", True, "word"),
        ("SRV 3000", True, "word"),
        ("GOL2019", True, "word"),
        ("KZZ1999", True, ""),
        ("KZZ 1999", False, ""),
        ("MAR2023", False, "month"),
    ],
)
def test_a_plate_beside_words_may_describe_a_car(text: str, has_words: bool, doubt: str) -> None:
    assert read_part(text, has_words=has_words).doubt == doubt


@pytest.mark.parametrize("digits", ["12345678910", "52998224725", "00894638273"])
def test_check_digit_is_no_reason_to_refuse_plain_digits(digits: str) -> None:
    assert parse_typed(digits) == Renavam(digits)


@given(st.text(max_size=60) | st.from_regex(r"[0-9A-Za-z.,+\-/ ()]{5,45}", fullmatch=True))
def test_any_text_is_read(text: str) -> None:
    typed = read_typed(text)
    if typed.is_certain and typed.subject:
        signs = "".join(c for c in text.upper() if c.isalnum())
        assert signs.endswith(typed.subject.text)


@pytest.mark.parametrize("text", ["FAZ/7179", "por.5000", "MIL/2020", "dia-1204"])
def test_word_of_a_sentence_is_a_plate_without_a_space(text: str) -> None:
    assert read_typed(text).is_certain
    assert read_typed(text.replace("/", " ").replace(".", " ").replace("-", " ")).doubt == "word"
