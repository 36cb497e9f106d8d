"""What people ask of a page by its forms: a report, a fresh answer, forgetting."""

from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import PORTAL_TOKEN, pass_through
from tests.web.page_client import PageClient, every_reference
from tests.web.signed_in import visitor

PLATE = "ABC1D23"


def test_a_report_is_written_on_request_from_what_the_panels_hold(
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


def test_asking_again_is_a_form_that_asks_all_three_once(
    buyer: PageClient, upstream: FaultUpstream
) -> None:
    page = buyer.get(f"/placa/{PLATE}?completo=1")
    where = buyer.post(f"/placa/{PLATE}/atualizar", data={"csrf_token": page.csrf_token()})
    assert str(where).endswith(f"/placa/{PLATE}")
    assert upstream.count() == 6


def test_asking_again_in_vain_says_so_once_and_keeps_what_is_stored(
    buyer: PageClient, upstream: FaultUpstream
) -> None:
    page = buyer.get(f"/placa/{PLATE}?completo=1")
    upstream.script("/detran/v1/restrictions/renainf", faults.status(500))
    buyer.post(f"/placa/{PLATE}/atualizar", data={"csrf_token": page.csrf_token()})
    after = buyer.get(f"/placa/{PLATE}")
    assert "Nem tudo foi atualizado" in after.text
    assert after.by_id("multas").get("data-panel") == "ready"
    assert "Nem tudo foi atualizado" not in buyer.get(f"/placa/{PLATE}").text


def test_a_form_that_is_not_ours_changes_nothing(
    buyer: PageClient, upstream: FaultUpstream
) -> None:
    for path in (f"/placa/{PLATE}/atualizar", f"/placa/{PLATE}/laudo", "/sair", "/entrar"):
        for form in ({}, {"csrf_token": "x"}, {"csrf_token": ""}):
            assert buyer.client.post(path, data=form).status_code == 400
    assert upstream.count() == 0


def test_in_pass_through_mode_the_visitors_own_credential_goes_upstream(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    pages = PageClient(portal(pass_through(upstream.url)).client)
    form = pages.get("/entrar")
    pages.post("/entrar", data={"token": "my-own-credential", "csrf_token": form.csrf_token()})
    pages.get(f"/placa/{PLATE}?completo=1")
    assert {call.header("Authorization") for call in upstream.calls} == {"my-own-credential"}
    for cookie in pages.client._cookies.values():
        assert "my-own-credential" not in cookie.value


def test_recent_lookups_are_the_visitors_own_and_can_be_erased(portal: PortalFactory) -> None:
    built = portal({})
    mine = PageClient(built.client)
    mine.get(f"/placa/{PLATE}?completo=1")
    front = mine.get("/")
    recent = [link for link in every_reference(front) if link == f"/placa/{PLATE}"]
    stranger = PageClient(built.app.test_client())
    theirs = [link for link in every_reference(stranger.get("/")) if link == f"/placa/{PLATE}"]
    assert len(recent) == len(theirs) + 1  # the demonstration lists the plate for everybody
    assert mine.post("/historico/apagar", data={"csrf_token": front.csrf_token()}) == "/"
    after = [link for link in every_reference(mine.get("/")) if link == f"/placa/{PLATE}"]
    assert len(after) == len(theirs)


def test_a_report_on_a_callers_own_data_is_shown_to_nobody_else(
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


def test_a_rejected_report_says_so(buyer: PageClient, upstream: FaultUpstream) -> None:
    page = buyer.get(f"/placa/{PLATE}?completo=1")
    upstream.script("/detran/v1/analytical-reports", faults.status(400))
    form = {"csrf_token": page.csrf_token()}
    failed = buyer.post(f"/placa/{PLATE}/laudo", 502, data=form)
    assert "O laudo não pôde ser escrito" in failed.text


def test_a_paid_report_is_shown_even_where_nothing_is_kept(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    pages = visitor(portal(FRESH_REPORT="0"))
    page = pages.get(f"/placa/{PLATE}?completo=1")
    shown = pages.post(f"/placa/{PLATE}/laudo", 200, data={"csrf_token": page.csrf_token()})
    assert "Documentação" in shown.text
    assert upstream.count("/detran/v1/analytical-reports") == 1


def test_the_demonstrations_token_gives_nobody_anothers_history(portal: PortalFactory) -> None:
    built = portal({})
    for plate in ("XYZ9Z99", ""):
        pages = PageClient(built.app.test_client())
        form = {"token": "demo", "csrf_token": pages.get("/entrar").csrf_token()}
        pages.post("/entrar", data=form)
        if plate:
            pages.get(f"/placa/{plate}?completo=1")
        else:
            assert "XYZ9Z99" not in pages.get("/").text


def test_a_wish_that_is_no_address_leads_to_the_front_page(portal: PortalFactory) -> None:
    pages = PageClient(portal().client)
    for wish in ("//[", "http://["):
        pages.get("/entrar", query_string={"next": wish})
