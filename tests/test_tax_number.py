"""Tax numbers (CPF and CNPJ) with check digits; a CNPJ may contain letters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.tax_number import format_tax_number


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("52998224725", "CPF 529.982.247-25"),
        ("529.982.247-25", "CPF 529.982.247-25"),
        ("11222333000181", "CNPJ 11.222.333/0001-81"),
        (" 11.222.333/0001-81 ", "CNPJ 11.222.333/0001-81"),
        ("12.ABC.345/01DE-35", "CNPJ 12.ABC.345/01DE-35"),  # the tax office's example
        ("12abc34501de35", "CNPJ 12.ABC.345/01DE-35"),
    ],
)
def test_valid_number_is_shown_as_printed(text: str, shown: str) -> None:
    assert format_tax_number(text) == shown


@pytest.mark.parametrize(
    "text",
    ["", "5299822472", "529982247250", "11111111111", "0" * 14, "٥٢٩٩٨٢٢٤٧٢٥", "12ABC34501DEA5"],
)
def test_other_text_is_none(text: str) -> None:
    assert format_tax_number(text) is None


@given(st.sampled_from(["52998224725", "11222333000181"]), st.data())
def test_every_changed_check_digit_is_noticed(number: str, data: st.DataObject) -> None:
    at = data.draw(st.sampled_from([-1, -2]))
    digit = data.draw(st.sampled_from("0123456789").filter(lambda each: each != number[at]))
    typed = [*number]
    typed[at] = digit
    assert format_tax_number("".join(typed)) is None
