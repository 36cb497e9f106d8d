"""The proof of the moment of payment: what it asks, costs, compares and issues."""

import threading
import time
from typing import Any

import pytest
from sqlalchemy import update

from portal.pdf.process import PdfProcess, RenderingInterrupted
from portal.pdf.signing import SignedPdf
from portal.storage.tables import idempotency_keys
from tests.conftest import PortalFactory
from tests.factories import renajud_body, restriction
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import path_of
from tests.fakes.in_process import InProcessPortal
from tests.web.html_checker import text_of
from tests.web.json_paths import issue as issue_token
from tests.web.json_paths import no_upstream_call
from tests.web.page_client import Page, PageClient
from tests.web.pages.test_issued import change_rows, issue, link_of, rows
from tests.web.person import Person

PLATE = "ABC1D23"
PATH = f"/api/v1/vehicles/{PLATE}/moment"
PRICES = {"PRICE_DECODE": "0.31", "PRICE_RENAINF": "4.50", "PRICE_RENAJUD": "0.10"}
RENAJUD = path_of("renajud", PLATE)


@pytest.fixture(autouse=True)
def quick_pdf(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the PDF by its HTML. ``test_verification.py`` renders PDFs."""
    signed = lambda _, html, __: SignedPdf(b"%PDF-1.7 " + html.encode(), None)  # noqa: E731
    monkeypatch.setattr(PdfProcess, "render_signed", signed)


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal(**PRICES)


@pytest.fixture
def ana(here: InProcessPortal) -> Person:
    return Person.at(here).signed_in()


def ask(here: InProcessPortal, body: Any = None, token: str | None = None, **headers: str) -> Any:
    from tests.fakes.in_process import PORTAL_TOKEN

    options = {} if body is None else {"json": body}
    sent = {"Authorization": token or PORTAL_TOKEN, **headers}
    return here.app.test_client().post(PATH, headers=sent, **options)


def href_of(page: Page, words: str) -> str:
    (link,) = (each for each in page.all("a") if text_of(each) == words)
    return str(link.get("href"))


def calls(upstream: FaultUpstream) -> list[str]:
    return [call.path.rpartition("/detran/v1/")[2] for call in upstream.calls]


def test_moment_is_one_call_and_supersedes_the_dossier(
    here: InProcessPortal, ana: Person, upstream: FaultUpstream
) -> None:
    former = issue(ana).rpartition("/")[2]
    before = upstream.count()
    answer = ask(here)
    assert answer.status_code == 201, answer.get_data(as_text=True)
    found = answer.get_json()
    assert upstream.count() == before + 1
    assert calls(upstream)[-1] == f"restrictions/renajud/{PLATE}"
    assert found["asked"] == ["renajud"] and found["spent"] == 0.1
    assert (found["supersedes"], found["changes"], found["nothing_changed"]) == (former, [], True)
    assert found["signature"] == {
        "state": "none",
        "signer": None,
        "signed_at": None,
        "timestamp": None,
    }
    assert answer.headers["Location"].endswith(f"/dossie/{found['number']}")
    page = ana.pages.get(f"/dossie/{found['number']}")
    assert "No ato: restrições judiciais, em consulta de" in page.text
    assert f"Nada mudou desde o dossiê nº {former}, de " in page.text
    paper = ana.pages.get(f"/dossie/{found['number']}/papel")
    assert f"Nada mudou desde o dossiê nº {former}, de " in paper.text


def test_superseded_dossier_leads_to_the_newer_one(here: InProcessPortal, ana: Person) -> None:
    """Its owner goes to the dossier, anybody else to what a number says, and to no link."""
    path = issue(ana)
    link, former = link_of(ana, path), path.rpartition("/")[2]
    number = ask(here).get_json()["number"]
    own, check = f"/dossie/{number}", f"/verificar?codigo={number}"
    stranger = PageClient(here.app.test_client())
    said = f"O dossiê {number} tomou o lugar dest"
    for pages, address, newer in (
        (ana.pages, path, own),
        (stranger, link, check),
        (stranger, f"/verificar?codigo={former}", check),
        (stranger, f"/verificar?codigo={link.rpartition('/')[2]}", check),
    ):
        page = pages.get(address)
        assert said in page.text, address
        assert href_of(page, number) == newer, address
    assert "ABC1D23" not in stranger.get(check).text
    change_rows(here, "expires_at = 5, head = NULL, html = NULL, pdf = NULL")
    for pages, address, newer, status in (
        (ana.pages, path, own, 410),
        (stranger, link, check, 410),
        (stranger, f"/verificar?codigo={former}", check, 200),
    ):
        assert href_of(pages.get(address, status), number) == newer, address


def test_changed_order_is_told_everywhere(
    here: InProcessPortal, ana: Person, upstream: FaultUpstream
) -> None:
    former = issue(ana).rpartition("/")[2]
    orders = renajud_body(restriction(), restriction(processo="00012345620268260001"))
    upstream.script(RENAJUD, *[faults.answer("given", orders)] * 2)
    ask(here)  # compares with the newest, which has the former orders
    upstream.script(RENAJUD, faults.answer("given", orders))
    found = ask(here, {"number": former, "ask": ["renajud"]}).get_json()
    assert found["nothing_changed"] is False and found["supersedes"] == former
    changes = [each["what"] for each in found["changes"]]
    assert any("ordem" in each.lower() or "restrição" in each.lower() for each in changes), changes
    path = f"/dossie/{found['number']}"
    for page in (ana.pages.get(path), ana.pages.get(f"{path}/papel")):
        assert f"Mudou desde o dossiê nº {former}" in page.text
        assert all(each in page.text for each in changes)


def test_without_a_dossier_it_compares_with_what_is_stored(
    here: InProcessPortal, ana: Person, upstream: FaultUpstream
) -> None:
    first = ask(here).get_json()
    assert (first["supersedes"], first["nothing_changed"], first["changes"]) == (None, None, [])
    assert upstream.count() == 1


@pytest.mark.parametrize(("fault", "status"), [(500, 502), (429, 503)])
def test_failed_lookup_issues_nothing(
    fault: int, status: int, here: InProcessPortal, ana: Person, upstream: FaultUpstream
) -> None:
    issue(ana)
    count = len(rows(here))
    upstream.script("/detran/v1/restrictions/renajud", faults.status(fault))
    answer = ask(here)
    assert (answer.status_code, len(rows(here))) == (status, count), answer.get_json()
    page = ana.post(f"/placa/{PLATE}/ato")  # a failure is shared for two seconds
    assert page.status_code == status
    text = page.get_data(as_text=True)
    assert "A prova do ato não foi emitida" in text and "nada foi emitido" in text
    assert len(rows(here)) == count


def test_outage_issues_nothing(here: InProcessPortal, ana: Person, upstream: FaultUpstream) -> None:
    issue(ana)
    count = len(rows(here))
    upstream.stop()
    answer = ask(here)
    assert answer.status_code == 503 and answer.get_json()["code"] == "upstream_unreachable"
    assert len(rows(here)) == count
    upstream.start()


def test_page_shows_the_price_and_issues(
    here: InProcessPortal, ana: Person, upstream: FaultUpstream
) -> None:
    path = issue(ana)
    for address in (path, f"/placa/{PLATE}"):
        assert "Vou pagar agora: R$ 0,10" in ana.pages.get(address).text
    before = upstream.count()
    done = ana.post(f"/placa/{PLATE}/ato", number=path.rpartition("/")[2])
    assert done.status_code == 303
    assert upstream.count() == before + 1
    page = ana.pages.get(done.headers["Location"])
    assert "Nada mudou desde o dossiê nº" in page.text
    (notice,) = page.all("div", class_="notice")
    assert "tone-ok" in notice.get("class", "")  # a warning would say that something has
    bia = Person.at(here)
    bia.sign_in(issue_token(here, "bia"))
    assert bia.post(f"/placa/{PLATE}/ato", number=path.rpartition("/")[2]).status_code == 404
    assert ana.post(f"/placa/{PLATE}/ato", number="7F3K-9QMD-2XHA").status_code == 404
    assert ana.post(f"/placa/{PLATE}/ato", ask="fipe").status_code == 400


def test_limits_and_scopes_come_before_the_call(
    here: InProcessPortal, portal: PortalFactory, upstream: FaultUpstream
) -> None:
    with no_upstream_call(upstream):
        answer = ask(here, {"max_cost": 0.09})
        assert (answer.status_code, answer.get_json()["code"]) == (409, "cost_above_limit")
        assert ask(here, {"ask": ["renajud", "renainf"], "max_cost": 4}).status_code == 409
        assert ask(here, {"number": "7F3K-9QMD-2XHA"}).status_code == 404
        wrong: list[dict[str, Any]] = [{"ask": []}, {"ask": ["x"]}, {"number": 7}]
        for body in (*wrong, {"max_cost": "1"}, {"max_cost": -1}):
            assert ask(here, body).status_code == 400, body
        answer = ask(here, {"max": 1})
        assert (answer.status_code, answer.get_json()["code"]) == (400, "parameter_unknown")
        for scopes in ("renajud", "refresh,renainf", "stored"):
            token = issue_token(here, scopes.replace(",", "-"), scopes=frozenset(scopes.split(",")))
            assert ask(here, {"ask": ["renajud"]}, token).status_code == 403, scopes
        unpriced = portal()
        assert ask(unpriced, {"max_cost": 100}).status_code == 409
        assert here.app.test_client().post(PATH).status_code == 401
    assert ask(here, {"max_cost": 0.1}).status_code == 201


def test_key_gives_the_same_answer_again(here: InProcessPortal, upstream: FaultUpstream) -> None:
    first = ask(here, {"ask": ["renajud"]}, **{"Idempotency-Key": "k1"})
    again = ask(here, {"ask": ["renajud"]}, **{"Idempotency-Key": "k1"})
    assert first.get_json() == again.get_json() and upstream.count() == 1
    other = ask(here, {"ask": ["decode"]}, **{"Idempotency-Key": "k1"})
    assert (other.status_code, other.get_json()["code"]) == (422, "idempotency_mismatch")
    assert upstream.count() == 1


def test_two_clicks_are_one_call(here: InProcessPortal, upstream: FaultUpstream) -> None:
    people = [Person.at(here).signed_in() for _ in range(6)]
    start = threading.Barrier(len(people))
    found: list[Any] = []

    def click(person: Person) -> None:
        start.wait()
        found.append(person.post(f"/placa/{PLATE}/ato"))

    threads = [threading.Thread(target=click, args=[person]) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert {each.status_code for each in found} == {303}
    assert len({each.headers["Location"] for each in found}) == 1
    assert upstream.count() == 1 and len(rows(here)) == 1
    (call,) = here.parts.ledger.rows()
    assert (call.operation, call.outcome) == ("renajud", "answered")


def test_clicks_one_after_the_other_are_one_call(
    here: InProcessPortal,
    ana: Person,
    upstream: FaultUpstream,
) -> None:
    """The first click has made a newer dossier, which must not make the second another request."""
    path = issue(ana)
    before = upstream.count()
    clicks = [ana.post(f"/placa/{PLATE}/ato").headers["Location"] for _ in range(3)]
    assert len(set(clicks)) == 1 and upstream.count() == before + 1
    sent = [ask(here).get_json() for _ in range(2)]
    assert sent[0] == sent[1] and f"/dossie/{sent[0]['number']}" == clicks[0]
    assert upstream.count() == before + 1
    former = path.rpartition("/")[2]
    named = [ask(here, {"number": each}).get_json() for each in (former, former.lower())]
    assert named[0] == named[1] and named[0]["supersedes"] == former
    assert upstream.count() == before + 2
    with here.parts.database.writing() as db:
        db.execute(update(idempotency_keys).values(expires_at=time.time()))  # two minutes later
    later = ask(here).get_json()
    assert upstream.count() == before + 3
    assert later["supersedes"] == named[0]["number"]


def test_paper_that_takes_too_long_costs_no_second_call(
    here: InProcessPortal,
    ana: Person,
    upstream: FaultUpstream,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def too_slow(*_: object) -> SignedPdf:
        raise RenderingInterrupted("TimeoutError")

    with monkeypatch.context() as patched:
        patched.setattr(PdfProcess, "render_signed", too_slow)
        page = ana.post(f"/placa/{PLATE}/ato", idempotency_key="page")
    assert (page.status_code, len(rows(here)), upstream.count()) == (503, 0, 1)
    text = page.get_data(as_text=True)
    assert "A fonte foi consultada" in text and "Nada foi consultado" not in text
    assert ana.post(f"/placa/{PLATE}/ato", idempotency_key="page").status_code == 303
    assert upstream.count() == 1


def test_answer_of_others_lookups_is_kept_beside_the_new_one(
    here: InProcessPortal, ana: Person, upstream: FaultUpstream
) -> None:
    ana.pages.get(f"/placa/{PLATE}?completo=1")
    found = ask(here, {"ask": ["renajud", "decode"]}).get_json()
    assert found["asked"] == ["decode", "renajud"] and found["spent"] == 0.41
    paper = ana.pages.get(f"/dossie/{found['number']}/papel")
    assert "Indisponível na emissão" not in paper.text
    assert found["nothing_changed"] is True and "desde a consulta guardada de" in paper.text


def test_refresh_takes_the_lookups_to_ask(
    here: InProcessPortal, ana: Person, upstream: FaultUpstream
) -> None:
    ana.pages.get(f"/placa/{PLATE}?completo=1")
    before = upstream.count()
    assert ana.post(f"/placa/{PLATE}/atualizar", ask="renajud").status_code == 303
    assert calls(upstream)[before:] == [f"restrictions/renajud/{PLATE}"]
    assert "Nem tudo" not in ana.pages.get(f"/placa/{PLATE}").text
    assert ana.post(f"/placa/{PLATE}/atualizar", ask="x").status_code == 400
    assert ana.post(f"/placa/{PLATE}/atualizar").status_code == 303
    assert upstream.count() == before + 4
