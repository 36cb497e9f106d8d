"""The pages' forms: report, refresh, history and sign-in."""

from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import PORTAL_TOKEN, pass_through
from tests.web.page_client import Page, PageClient, every_reference
from tests.web.signed_in import visitor

PLATE = "ABC1D23"


def test_report_is_requested_with_the_panels_records(
    buyer: PageClient, upstream: FaultUpstream
) -> None:
    upstream.script("/detran/v1/restrictions/renajud", faults.status(500))
    page = buyer.get(f"/placa/{PLATE}?completo=1")
    assert upstream.count("/detran/v1/analytical-reports") == 0
    where = buyer.post(f"/placa/{PLATE}/laudo", data={"csrf_token": page.csrf_token()})
    assert str(where).endswith(f"/placa/{PLATE}#laudo")
    (call,) = [call for call in upstream.calls if call.method == "POST"]
    assert b'"indisponiveis":["renajud"]' in call.body
    assert b'"decode"' in call.body and b'"renajud":' not in call.body
    after = buyer.get(f"/placa/{PLATE}?completo=1")
    assert "Documentação" in after.text
    assert "mudaram desde então" not in after.text


def test_refresh_form_runs_each_lookup_once(buyer: PageClient, upstream: FaultUpstream) -> None:
    page = buyer.get(f"/placa/{PLATE}?completo=1")
    where = buyer.post(f"/placa/{PLATE}/atualizar", data={"csrf_token": page.csrf_token()})
    assert str(where).endswith(f"/placa/{PLATE}")
    assert upstream.count() == 6


def test_failed_refresh_is_flashed_once_and_keeps_stored_answers(
    buyer: PageClient, upstream: FaultUpstream
) -> None:
    page = buyer.get(f"/placa/{PLATE}?completo=1")
    upstream.script("/detran/v1/restrictions/renainf", faults.status(500))
    buyer.post(f"/placa/{PLATE}/atualizar", data={"csrf_token": page.csrf_token()})
    after = buyer.get(f"/placa/{PLATE}")
    assert "Nem tudo foi atualizado" in after.text
    assert after.by_id("multas").get("data-panel") == "ready"
    assert "Nem tudo foi atualizado" not in buyer.get(f"/placa/{PLATE}").text


def test_post_without_csrf_token_is_400(buyer: PageClient, upstream: FaultUpstream) -> None:
    for path in (f"/placa/{PLATE}/atualizar", f"/placa/{PLATE}/laudo", "/sair", "/entrar"):
        for form in ({}, {"csrf_token": "x"}, {"csrf_token": ""}):
            assert buyer.client.post(path, data=form).status_code == 400
    assert upstream.count() == 0


def test_pass_through_pages_send_the_visitors_credential_upstream(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    pages = PageClient(portal(pass_through(upstream.url)).client)
    form = pages.get("/entrar")
    pages.post("/entrar", data={"token": "my-own-credential", "csrf_token": form.csrf_token()})
    pages.get(f"/placa/{PLATE}?completo=1")
    assert {call.header("Authorization") for call in upstream.calls} == {"my-own-credential"}
    for cookie in pages.client._cookies.values():
        assert "my-own-credential" not in cookie.value


def test_history_is_per_visitor_and_can_be_erased(portal: PortalFactory) -> None:
    built = portal({})
    mine = PageClient(built.client)
    mine.get(f"/placa/{PLATE}?completo=1")
    front = mine.get("/")
    recent = [link for link in every_reference(front) if link == f"/placa/{PLATE}"]
    stranger = PageClient(built.app.test_client())
    theirs = [link for link in every_reference(stranger.get("/")) if link == f"/placa/{PLATE}"]
    assert len(recent) == len(theirs) + 1  # demo mode offers the plate to all visitors as a sample
    assert mine.post("/historico/apagar", data={"csrf_token": front.csrf_token()}) == "/"
    after = [link for link in every_reference(mine.get("/")) if link == f"/placa/{PLATE}"]
    assert len(after) == len(theirs)


def test_report_on_api_data_is_not_shown_on_pages(
    buyer: PageClient, upstream: FaultUpstream
) -> None:
    answer = buyer.client.post(
        "/detran/v1/analytical-reports",
        json={"plate": PLATE, "data": {"nota": "privada"}},
        headers={"Authorization": PORTAL_TOKEN},
    )
    assert answer.status_code == 200
    for path in (f"/placa/{PLATE}?completo=1", f"/placa/{PLATE}/dossie"):
        assert "Documentação" not in buyer.get(path).text


def test_rejected_report_shows_an_error_page(buyer: PageClient, upstream: FaultUpstream) -> None:
    page = buyer.get(f"/placa/{PLATE}?completo=1")
    upstream.script("/detran/v1/analytical-reports", faults.status(400))
    form = {"csrf_token": page.csrf_token()}
    failed = buyer.post(f"/placa/{PLATE}/laudo", 502, data=form)
    assert isinstance(failed, Page)
    assert "A análise não pôde ser escrita" in failed.text


def test_paid_report_is_shown_even_if_not_stored(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    pages = visitor(portal(FRESH_REPORT="0"))
    page = pages.get(f"/placa/{PLATE}?completo=1")
    shown = pages.post(f"/placa/{PLATE}/laudo", 200, data={"csrf_token": page.csrf_token()})
    assert isinstance(shown, Page)
    assert "Documentação" in shown.text
    assert upstream.count("/detran/v1/analytical-reports") == 1


def test_demo_token_does_not_share_history(portal: PortalFactory) -> None:
    built = portal({})
    for plate in ("XYZ9Z99", ""):
        pages = PageClient(built.app.test_client())
        form = {"token": "demo", "csrf_token": pages.get("/entrar").csrf_token()}
        pages.post("/entrar", data=form)
        if plate:
            pages.get(f"/placa/{plate}?completo=1")
        else:
            assert "XYZ9Z99" not in pages.get("/").text


def test_unparsable_next_url_leads_to_the_front_page(portal: PortalFactory) -> None:
    pages = PageClient(portal().client)
    for target in ("//[", "http://["):
        pages.get("/entrar", query_string={"next": target})
