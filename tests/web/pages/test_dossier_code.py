"""/verificar shows the values that a dossier's code signs, as in the dossier."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.dossier.answers import Panels
from portal.presentation.issued.verification import VerificationPage
from portal.presentation.paper.dossier import DossierPage, dossier_page
from portal.presentation.site.public_pages import DossierSummary, NoPrice
from portal.web.services.dossier_code import DossierCodes
from tests.conftest import PortalFactory
from tests.factories import decode_body, renainf_body, renajud_body
from tests.fakes import FaultUpstream
from tests.presentation.rendering import (
    CONTEXT,
    DOWN,
    NOW,
    PLATE,
    UNASKED,
    answered,
    panels,
    render,
)
from tests.web.html_checker import check_html, text_of
from tests.web.json_paths import PLATE as ASKED
from tests.web.json_paths import no_upstream_call
from tests.web.pages.test_spend_guard import NON_USER_HEADERS
from tests.web.person import Person

SECRET = b"s" * 32
CODES = DossierCodes(SECRET, "upstream")
NO_PRICES: Sequence[NoPrice] = ("empty", "unavailable")
MOMENTS = st.none() | st.integers(0, 4_000_000_000).map(lambda s: datetime.fromtimestamp(s, UTC))
PRICELESS = decode_body(str(PLATE), informacoesFipe=[])


def stamped(shown: Panels) -> DossierPage:
    page = dossier_page(PLATE, shown, UNASKED, CONTEXT, address="https://portal.example")
    return CODES.stamp(page, shown)


def verified(code: str) -> str:
    """The text of /verificar for a code."""
    if signed := CODES.read(code):
        page = VerificationPage(code, "signed", signed=signed)
    else:
        page = VerificationPage(code, "unknown")
    return text_of(check_html(render(page)))


@given(
    counts=st.tuples(*[st.none() | st.integers(0, 999)] * 2),
    price=st.sampled_from(NO_PRICES) | st.decimals(0, 10**9, places=2),
    kept=st.tuples(MOMENTS, MOMENTS, MOMENTS),
)
def test_code_round_trips_its_summary(
    counts: tuple[int | None, int | None], price: Any, kept: Sequence[datetime | None]
) -> None:
    issued_at = NOW.replace(microsecond=0)
    summary = DossierSummary("ABC1D23", issued_at, *counts, price, "ab" * 8, *kept)
    assert CODES.read(CODES.issue(summary)) == summary


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (panels(), "Preço FIPER$ 89.325"),
        (panels(decode=PRICELESS), "Preço FIPEnão informado"),
        (Panels(DOWN, *panels().all[1:]), "Preço FIPEindisponível na emissão"),
        (panels(decode=b"{}"), "Preço FIPEindisponível na emissão"),
        (panels(), "Multas em aberto1"),
        (panels(renainf=renainf_body()), "Multas em abertonenhuma"),
        (Panels(panels().decode, DOWN, DOWN), "Multas em abertoindisponíveis na emissão"),
        (panels(), "Restrições judiciais1"),
        (panels(renajud=renajud_body()), "Restrições judiciaisnenhuma"),
        (Panels(panels().decode, DOWN, DOWN), "Restrições judiciaisindisponíveis na emissão"),
    ],
)
def test_present_missing_and_unavailable_values_differ(shown: Panels, expected: str) -> None:
    assert expected in verified(stamped(shown).code)


def test_stale_answer_is_shown_with_its_date() -> None:
    def kept(body: bytes | None, days: int) -> Any:
        assert body is not None
        return answered(body, "stale", age=timedelta(days=days))

    now = panels()
    old = Panels(kept(now.decode.body, 40), now.renainf, kept(now.renajud.body, 3))
    verify_text = verified(stamped(old).code)
    assert verify_text.count("conforme resposta guardada de") == 2
    assert "conforme resposta guardada de 11/10/2026 às 21:15, já fora do prazo" in verify_text
    assert "conforme resposta guardada de 17/11/2026 às 21:15, já fora do prazo" in verify_text
    assert "resposta guardada" not in verified(stamped(now).code)
    unread = Panels(kept(b"{}", 40), now.renainf, now.renajud)
    assert "resposta guardada" not in verified(stamped(unread).code)


def test_stale_answer_on_paper_does_not_claim_a_source_failure() -> None:
    body = panels().decode.body
    assert body is not None
    old = Panels(answered(body, "stale"), panels().renainf, panels().renajud)
    verify_text = text_of(check_html(render(stamped(old))))
    assert "não respondeu" not in verify_text
    assert "era a última resposta guardada na emissão, já fora do prazo" in verify_text


def test_paper_and_verification_show_the_same_digest() -> None:
    page = stamped(panels())
    assert re.fullmatch(r"[0-9a-f]{4}( [0-9a-f]{4}){3}", page.digest)
    on_paper = text_of(check_html(render(page)))
    assert f"Resumo criptográfico dos registros: {page.digest}" in on_paper
    assert page.digest in verified(page.code)
    assert stamped(panels(renainf=renainf_body())).digest != page.digest


def test_code_is_valid_only_in_its_namespace() -> None:
    code = stamped(panels()).code
    demo = DossierCodes(SECRET, "demo")
    assert demo.read(code) is None


@pytest.mark.parametrize("visitor_kind", ["other site", "prefetch", "WhatsApp/2.23.20.0"])
@pytest.mark.parametrize("file", ["dossie", "dossie.pdf"])
def test_idle_dossier_has_no_code_and_no_claims(
    portal: PortalFactory, upstream: FaultUpstream, visitor_kind: str, file: str
) -> None:
    ana = Person.at(portal()).signed_in()
    with no_upstream_call(upstream):
        page = ana.pages.get(f"/placa/{ASKED}/{file}", headers=NON_USER_HEADERS[visitor_kind])
    assert "Ainda não consultado" in page.text
    assert "não significa “nada consta”" in page.text
    assert "não respondeu" not in page.text and "indisponível" not in page.text
    assert "codigo=" not in page.html and "data:image" not in page.html
    assert "Este dossiê é autêntico" not in page.text and "Emitido em" not in page.text
    (ask,) = [a for a in page.all("a") if "Consultar" in (a.text or "")]
    asked = ana.pages.get(str(ask.get("href")))
    assert upstream.count() == 3
    assert "Este dossiê é autêntico" in asked.text


def test_dossier_without_an_answer_has_no_code() -> None:
    page = stamped(Panels(DOWN, DOWN, DOWN))
    assert (page.state, page.code, page.digest, page.qr) == ("empty", "", "", "")


def test_dossier_with_an_unasked_panel_is_idle() -> None:
    partly = Panels(panels().decode, UNASKED, panels().renajud)
    page = stamped(partly)
    assert (page.state, page.code, page.digest, page.qr) == ("idle", "", "", "")


def test_dossier_without_any_record_has_no_code() -> None:
    """A code on an empty dossier would have nothing to verify."""
    page = stamped(Panels(DOWN, DOWN, DOWN))
    assert (page.state, page.code, page.qr) == ("empty", "", "")
    html = render(page)
    assert "codigo=" not in html
    assert "dossie/emitir" not in html
    assert "dossie/emitir" in render(stamped(panels()))
