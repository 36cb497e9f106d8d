"""Echoed user input has no characters that HTML forbids or that mislead readers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.wording import sanitise_echo
from tests.conftest import PortalFactory
from tests.web.page_client import PageClient


@given(st.text(max_size=200), st.integers(1, 64))
def test_echo_is_short_and_printable(text: str, longest: int) -> None:
    shown = sanitise_echo(text, longest)
    assert len(shown) <= longest
    assert shown.isprintable()


@pytest.mark.parametrize("text", ["\x00", "a\x1b[1mb", "\u202egpj.exe", "\ufffe", "x" * 5000])
def test_forms_echo_odd_text_validly(portal: PortalFactory, text: str) -> None:
    pages = PageClient(portal({}).client)
    pages.get("/buscar", 400, query_string={"q": text})
    pages.get("/verificar", query_string={"codigo": text})
    pages.get("/comparar", 400, query_string={"placas": text})
    pages.get("/placa/ABC1D23/negociacao", 400, query_string={"reparos": f"!{text}"})
