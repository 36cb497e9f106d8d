"""The pages, read through a client that validates their HTML."""

import gzip
import threading
from typing import Any

import pytest

from tests.conftest import PortalFactory
from tests.factories import decode_body, fine, renainf_body, renajud_body, restriction
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import PORTAL_TOKEN
from tests.fakes.wire import Fault
from tests.web.json_paths import no_upstream_call
from tests.web.page_client import Page, PageClient, every_reference
from tests.web.pages.test_spend_guard import NON_USER_HEADERS

PLATE = "ABC1D23"
OPEN_PAGES = (
    "/",
    "/entrar",
    "/verificar",
    "/glossario",
    "/privacidade",
    "/situacao",
    "/api",
    "/api/ensaio",
)
UNAVAILABLE = "não significa “nada consta”"


def panels_that_wait(page: Page) -> list[Any]:
    return [element for element in page.tree.iter() if element.get("data-panel") == "waiting"]


@pytest.fixture
def demo(portal: PortalFactory) -> PageClient:
    return PageClient(portal({}).client)


@pytest.mark.parametrize("path", OPEN_PAGES)
def test_public_pages_are_open_and_have_no_broken_links(demo: PageClient, path: str) -> None:
    page = demo.get(path)
    for reference in set(every_reference(page)) - {"/openapi.yaml", "/openapi.json"}:
        answer = demo.client.get(reference)
        assert answer.status_code < 400, reference


@pytest.mark.parametrize("path", OPEN_PAGES)
def test_public_pages_need_no_sign_in_in_managed_mode(portal: PortalFactory, path: str) -> None:
    PageClient(portal().client).get(path)


def test_sample_plates_are_offered_in_demo_mode_only(
    portal: PortalFactory, demo: PageClient
) -> None:
    managed = PageClient(portal().client)
    for path in ("/", "/api/ensaio"):
        assert 'href="/placa/ABC' in demo.get(path).html, path
        assert 'href="/placa/' not in managed.get(path).html, path
    assert "cobradas como qualquer outra" in managed.get("/api/ensaio").text
    assert "<code>ABC" in managed.get("/api/ensaio").html


def test_demo_pages_say_that_the_data_is_fictitious(demo: PageClient) -> None:
    for path in (*OPEN_PAGES, f"/placa/{PLATE}?completo=1", f"/placa/{PLATE}/dossie"):
        assert "dados fictícios" in demo.get(path).text.lower(), path


@pytest.mark.parametrize(
    ("typed", "page"),
    [
        ("abc1d23", "/placa/ABC1D23"),
        ("ABC-1234", "/placa/ABC1234"),
        (" abc 1d23 ", "/placa/ABC1D23"),
        ("abc–1234", "/placa/ABC1234"),
        ("123.456.789-10", None),
        ("7983.185464-7", "/renavam/79831854647"),
        ("7983185464–7", "/renavam/79831854647"),
        ("'79831854647", "/renavam/79831854647"),
        ("'abc1d23", "/placa/ABC1D23"),
        ("ABC·1D23", "/placa/ABC1D23"),
        ("1234-567", None),
        ("79831854647", "/renavam/79831854647"),
        ("12345678910", None),
        ("ABCD123", None),
        ("", None),
        ("ßBC1234", None),
        ("ABC1234\n", "/placa/ABC1234"),
    ],
)
def test_search_redirects_to_canonical_page_or_explains_error(
    demo: PageClient, typed: str, page: str | None
) -> None:
    if page is None:
        problem = demo.get("/buscar", 400, query_string={"q": typed})
        assert "Por favor, informe uma placa válida." in problem.text
        assert problem.all("input", name="q")[0].get("value") == typed.strip()
    else:
        answer = demo.client.get("/buscar", query_string={"q": typed})
        assert (answer.status_code, answer.headers["Location"]) == (303, page)


def test_other_spelling_redirects_to_the_canonical_page(demo: PageClient) -> None:
    for spelling in ("abc1d23", "abc-1d23", "ABC-1D23"):
        answer = demo.client.get(f"/placa/{spelling}?completo=1")
        assert answer.status_code == 308
        assert answer.headers["Location"] == "/placa/ABC1D23?completo=1"
    answer = demo.client.get("/renavam/0012345678-9?completo=1")
    assert answer.status_code == 308
    assert answer.headers["Location"] == "/renavam/00123456789?completo=1"


def test_invalid_plate_returns_the_form_with_the_contracts_message(demo: PageClient) -> None:
    for path in ("/placa/ABCD123", "/placa/ABC1D23%0A", "/renavam/123", "/placa/x/dossie"):
        assert "Por favor, informe uma placa válida." in demo.get(path, 400).text


def test_page_shell_does_not_wait_for_the_upstream(
    buyer: PageClient, upstream: FaultUpstream
) -> None:
    """The page shell starts no lookup. The requests for its panels do."""
    page = buyer.get(f"/placa/{PLATE}")
    assert upstream.count() == 0
    waiting = panels_that_wait(page)
    assert len(waiting) == 4
    assert page.all("noscript") or "completo=1" in page.html
    for element in waiting:
        fragment = buyer.client.get(element.get("data-panel-url"))
        assert fragment.status_code == 200
        assert "<html" not in fragment.get_data(as_text=True)
    assert upstream.count() == 3
    again = buyer.get(f"/placa/{PLATE}")
    assert not panels_that_wait(again)
    assert upstream.count() == 3


def test_full_page_shows_all_panels_and_second_visit_is_cached(
    buyer: PageClient, upstream: FaultUpstream
) -> None:
    upstream.script("/detran/v1/decode", faults.answer("given", decode_body(PLATE)))
    restrictions = "/detran/v1/restrictions"
    upstream.script(f"{restrictions}/renainf", faults.answer("given", renainf_body(fine())))
    upstream.script(f"{restrictions}/renajud", faults.answer("given", renajud_body(restriction())))
    page = buyer.get(f"/placa/{PLATE}?completo=1")
    assert "R$\u00a0130,16" in page.html  # the page adds the cents that the source truncates
    assert "art. 218, I" in page.text
    assert "Tribunal de Justiça" in page.text
    assert "008190-6" in page.text
    assert "oculto pela fonte" in page.text
    assert "INFORMACAO OCULTADA" not in page.html
    assert page.all("svg") or "<svg" in page.html
    buyer.get(f"/placa/{PLATE}?completo=1")
    assert upstream.count() == 3


def test_lookups_of_a_page_run_in_parallel(buyer: PageClient, upstream: FaultUpstream) -> None:
    """All three lookups start before any answer arrives."""
    gate = threading.Event()
    upstream.default(faults.held(gate))
    pages: list[Page] = []
    asking = threading.Thread(
        target=lambda: pages.append(buyer.get(f"/placa/{PLATE}?completo=1")), daemon=True
    )
    asking.start()
    try:
        upstream.wait_for_calls(3)
    finally:
        gate.set()
    asking.join(timeout=20)
    assert pages and upstream.count() == 3


@pytest.mark.parametrize("operation", ["decode", "restrictions/renainf", "restrictions/renajud"])
@pytest.mark.parametrize(
    "fault",
    [faults.status(500), faults.html_error(200), faults.reset_before_a_byte(), faults.status(402)],
)
def test_failed_lookup_is_unavailable_and_affects_no_other_panel(
    buyer: PageClient, upstream: FaultUpstream, operation: str, fault: Fault
) -> None:
    upstream.script(f"/detran/v1/{operation}", fault)
    page = buyer.get(f"/placa/{PLATE}?completo=1")
    assert UNAVAILABLE in page.text
    assert "Falta consultar" in page.text or "Não pode" in page.text
    assert "R$\u00a00,00" not in page.html
    if operation != "decode":
        assert "008190-6" in page.text
    for whole in (f"/placa/{PLATE}/dossie",):
        assert UNAVAILABLE in buyer.get(whole).text


def test_page_renders_while_the_upstream_is_down(
    buyer: PageClient, upstream: FaultUpstream
) -> None:
    upstream.stop()
    page = buyer.get(f"/placa/{PLATE}?completo=1")
    assert page.text.count("A fonte de dados não respondeu") == 1
    # One occurrence is in the script's template for a panel that cannot be fetched.
    assert page.text.count("não significa “nada consta”") == 2
    assert "Enviar dossiê" not in page.text
    assert "nada impede" not in page.text.lower()
    pdf = buyer.get(f"/placa/{PLATE}/dossie.pdf", status=503)
    assert "Sem nenhum registro não há dossiê" in pdf.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Purpose": "prefetch"},
        {"Sec-Fetch-Site": "cross-site"},
        {"User-Agent": "WhatsApp/2.23"},
        {"User-Agent": "Mozilla/5.0 (compatible; Googlebot/2.1)"},
    ],
)
def test_visit_not_initiated_by_a_user_starts_no_lookup(
    buyer: PageClient, upstream: FaultUpstream, headers: dict[str, str]
) -> None:
    for path in (
        f"/placa/{PLATE}",
        f"/placa/{PLATE}?completo=1",
        f"/placa/{PLATE}/dossie",
        f"/placa/{PLATE}/painel/multas",
        "/renavam/12345678910",
    ):
        assert buyer.client.get(path, headers=headers).status_code == 200
        assert buyer.client.head(path).status_code == 200
    assert upstream.count() == 0


def test_vehicle_pages_without_session_redirect_to_sign_in(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    stranger = portal().client
    for path in (
        f"/placa/{PLATE}",
        f"/placa/{PLATE}?completo=1",
        f"/placa/{PLATE}/painel/multas",
        f"/placa/{PLATE}/dossie",
        f"/placa/{PLATE}/dossie.pdf",
        "/renavam/12345678910",
        f"/placa/{PLATE}?at={PORTAL_TOKEN}",
    ):
        answer = stranger.get(path)
        assert answer.status_code == 303
        assert answer.headers["Location"].startswith("/entrar?next=")
    assert upstream.count() == 0


def test_renavam_page_shows_only_fines_and_restrictions(
    buyer: PageClient, upstream: FaultUpstream
) -> None:
    page = buyer.get("/renavam/12345678910")
    assert upstream.count("/detran/v1/decode") == 0
    assert upstream.count() == 2
    assert "12345678910" in page.text


def test_vehicle_pages_have_noindex(demo: PageClient) -> None:
    for path in (f"/placa/{PLATE}", f"/placa/{PLATE}/dossie", "/renavam/12345678910"):
        assert demo.get(path).headers["X-Robots-Tag"] == "noindex"


@pytest.mark.parametrize("visitor_kind", ["other site", "prefetch", "WhatsApp/2.23.20.0"])
@pytest.mark.parametrize("file", ["dossie", "dossie.pdf"])
def test_idle_dossier_makes_no_claims(
    buyer: PageClient, upstream: FaultUpstream, visitor_kind: str, file: str
) -> None:
    with no_upstream_call(upstream):
        page = buyer.get(f"/placa/{PLATE}/{file}", headers=NON_USER_HEADERS[visitor_kind])
    assert "Ainda não consultado" in page.text
    assert "não significa “nada consta”" in page.text
    assert "não respondeu" not in page.text and "indisponível" not in page.text
    assert "data:image" not in page.html and "dossie/emitir" not in page.html
    (ask,) = [a for a in page.all("a") if "Consultar" in (a.text or "")]
    asked = buyer.get(str(ask.get("href")))
    assert upstream.count() == 3
    assert "De onde e de quando" in asked.text


def test_preview_proves_nothing(demo: PageClient) -> None:
    """Only an issued dossier has something that can be verified, and issuing costs nothing."""
    page = demo.get(f"/placa/{PLATE}/dossie")
    assert "Prévia sem número" in page.text
    assert "/verificar" not in page.html and "<code>" not in page.html
    assert "Código QR" not in page.html and "autêntico" not in page.text


def test_error_page_has_request_id_and_search_field(demo: PageClient) -> None:
    page = demo.get("/nada", 404)
    assert page.headers["X-Request-Id"] in page.text
    assert page.all("input", name="q")


def test_pages_have_privacy_headers(demo: PageClient) -> None:
    for path in ("/", f"/placa/{PLATE}", "/nada"):
        headers = demo.client.get(path).headers
        assert headers["Cache-Control"] == "no-store, private"
        assert headers["Vary"] == "Authorization, Cookie, Accept-Encoding"
        assert "script-src 'self'" in headers["Content-Security-Policy"]
        assert "unsafe" not in headers["Content-Security-Policy"]


def test_query_cannot_change_the_canonical_redirect(demo: PageClient) -> None:
    for query in (
        "endpoint=x",
        "_method=POST",
        "_external=1&_scheme=https",
        "_anchor=x",
        "x=1&x=2",
    ):
        answer = demo.client.get(f"/placa/abc1d23?{query}")
        assert answer.status_code == 308
        assert answer.headers["Location"] == f"/placa/ABC1D23?{query}"


def test_page_is_gzipped_if_accepted(demo: PageClient) -> None:
    path = f"/placa/{PLATE}?completo=1"
    plain = demo.client.get(path)
    zipped = demo.client.get(path, headers={"Accept-Encoding": "gzip, br"})
    assert zipped.headers["Content-Encoding"] == "gzip"
    assert len(zipped.data) < len(plain.data) / 3 < 60_000
    assert b"</html>" in gzip.decompress(zipped.data)
    for answer in (zipped, plain):
        assert answer.headers["Vary"] == "Authorization, Cookie, Accept-Encoding"
