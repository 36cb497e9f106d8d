"""Issued dossiers: issue, share, revoke, list, and the pages behind a dossier's link."""

import hashlib
import json
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import render_template

from portal.dossier.status_style import Tone
from portal.issued.identifiers import new_identifiers
from portal.pdf.process import PdfProcess, RenderingInterrupted
from portal.pdf.signing import SignedPdf
from portal.presentation.issued.pages import IssuedDossierPage
from portal.web import papers
from portal.web.http import rate_limits
from portal.web.pages.issued import TOOLBAR
from tests.commands.test_ledger_and_purge import run_command
from tests.conftest import PortalFactory
from tests.factories import decode_body, renainf_body
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import path_of
from tests.fakes.in_process import InProcessPortal, pass_through
from tests.fakes.purges import log_purge
from tests.presentation.specimens import ISSUED, stored_dossier
from tests.web.html_checker import HTML, text_of
from tests.web.json_paths import issue as issue_token
from tests.web.json_paths import no_upstream_call
from tests.web.page_client import Page, PageClient
from tests.web.pages.test_names_masked import NAMES, with_a_report
from tests.web.person import Person

PLATE = "ABC1D23"
PARTS = ("", ".pdf", "/papel")
NAME = "Maria"
PARTS = ("", ".pdf", "/papel")
ISSUER = {
    "ISSUER_NAME": "Loja Central Veículos",
    "ISSUER_DOCUMENT": "11222333000181",
    "ISSUER_CONTACT": "(11) 5555-0100",
}


def issue(person: Person, plate: str = PLATE) -> str:
    """Look a plate up, issue its dossier and return its path."""
    person.pages.get(f"/placa/{plate}?completo=1")
    done = person.post(f"/placa/{plate}/dossie/emitir")
    assert done.status_code == 303, done.get_data(as_text=True)
    return str(done.headers["Location"])


def link_of(person: Person, path: str) -> str:
    """Return the path of the public link to a dossier."""
    address = str(person.pages.get(path).by_id("link").get("value"))
    return re.sub(r"^https?://[^/]+", "", address)


def stranger(portal: InProcessPortal) -> PageClient:
    return PageClient(portal.app.test_client())


def stored(portal: InProcessPortal, query: str) -> list[Any]:
    with closing(sqlite3.connect(portal.settings.data_dir / "portal.sqlite")) as db:
        return db.execute(query).fetchall()


def rows(portal: InProcessPortal) -> list[Any]:
    """Return every dossier's columns with content."""
    return stored(portal, "SELECT head, html, pdf FROM dossiers")


def without_request_id(answer: Any) -> bytes:
    return re.sub(rb"<code>[0-9a-f]{16}</code>", b"", answer.data)


def change_rows(portal: InProcessPortal, change: str) -> None:
    """Set columns of every stored dossier, for example its time of expiry."""
    with closing(sqlite3.connect(portal.settings.data_dir / "portal.sqlite")) as db, db:
        db.execute(f"UPDATE dossiers SET {change}")


@pytest.fixture(autouse=True)
def quick_pdf(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the PDF by a digest of its HTML; ``test_issued_pdf.py`` renders PDFs."""

    def digest(_: PdfProcess, html: str, *__: object) -> SignedPdf:
        return SignedPdf(b"%PDF-1.7 " + hashlib.sha256(html.encode()).digest(), None)

    monkeypatch.setattr(PdfProcess, "render_signed", digest)


def test_issuing_gives_a_number_a_link_and_the_same_pdf_for_both(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    running = portal(**ISSUER)
    ana = Person.at(running).signed_in()
    ana.pages.get(f"/placa/{PLATE}?completo=1")
    with no_upstream_call(upstream):
        path = issue(ana)
    assert re.fullmatch(r"/dossie/[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){2}", path)
    page = ana.pages.get(path)
    assert path.rpartition("/")[2] in page.text
    link = link_of(ana, path)
    assert re.fullmatch(r"/d/[A-Za-z0-9_-]{22}", link)
    shared = stranger(running).get(link)
    assert "Dossiê autêntico, emitido por Loja Central Veículos em" in shared.text
    assert "CNPJ 11.222.333/0001-81" in shared.text
    assert path.rpartition("/")[2] in shared.text
    mine = ana.client.get(f"{path}.pdf")
    assert mine.content_type == "application/pdf"
    assert mine.data.startswith(b"%PDF")
    assert running.app.test_client().get(f"{link}.pdf").data == mine.data


def test_snapshot_outlives_the_answers_and_a_restart(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    settings = {"FRESH_DECODE": "1", "STALE_DECODE": "0"}
    first = portal(**settings)
    ana = Person.at(first).signed_in()
    path = issue(ana)
    link = link_of(ana, path)
    before = [stranger(first).client.get(f"{link}{part}") for part in PARTS]
    upstream.default(faults.answer("other", decode_body(PLATE, marca="FIAT")))
    ana.post(f"/placa/{PLATE}/atualizar")
    restarted = stranger(portal(**settings))
    with no_upstream_call(upstream):
        after = [restarted.client.get(f"{link}{part}") for part in PARTS]
    assert [each.status_code for each in after] == [each.status_code for each in before]
    for then, now in zip(before, after, strict=True):
        assert without_request_id(then) == without_request_id(now)


def test_link_needs_no_session_and_leaves_none(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    running = portal()
    ana = Person.at(running).signed_in()
    link = link_of(ana, issue(ana))
    visitor, lookups = Person.at(running), stored(running, "SELECT * FROM history")
    with no_upstream_call(upstream):
        for part in PARTS:
            answer = visitor.client.get(f"{link}{part}")
            assert "Set-Cookie" not in answer.headers
            assert answer.headers["X-Robots-Tag"] == "noindex, nofollow"
            assert answer.headers["Cache-Control"] == "no-store, private"
            assert answer.headers["Referrer-Policy"] == "no-referrer"
    page = visitor.pages.get(link)
    assert page.all("meta", name="robots", content="noindex, nofollow")
    assert not page.all("form") and not page.all("script")
    assert "Retrato de" in page.text and "pode ter mudado" in page.text
    signed_in = ana.client.get(link)  # the page neither reads nor renews the session
    assert "Set-Cookie" not in signed_in.headers
    assert "Sair" not in signed_in.get_data(as_text=True)
    assert stored(running, "SELECT * FROM history") == lookups


def test_stored_paper_has_no_form_token_and_a_toolbar_of_its_visitor(
    portal: PortalFactory,
) -> None:
    running = portal()
    ana = Person.at(running).signed_in()
    path = issue(ana)
    link = link_of(ana, path)
    mine, theirs = ana.pages.get(f"{path}/papel"), stranger(running).get(f"{link}/papel")
    number = path.rpartition("/")[2]
    for paper, back in ((mine, path), (theirs, link)):
        assert "csrf_token" not in paper.html
        assert TOOLBAR not in paper.html
        assert paper.all("a", href=back)
        assert number in paper.text
    assert path not in theirs.html


def test_paper_names_the_lookups_that_were_not_made(portal: PortalFactory) -> None:
    running = portal()
    ana = Person.at(running).signed_in()
    ana.client.get(f"/placa/{PLATE}/painel/multas")
    path = str(ana.post(f"/placa/{PLATE}/dossie/emitir").headers["Location"])
    assert "Não havia resposta guardada desta consulta" in ana.pages.get(f"{path}/papel").text
    assert "indisponíveis — não significa “nada consta”" in ana.pages.get(path).text


@pytest.mark.parametrize("setting", ["on", "off"])
def test_names_are_masked_whatever_the_setting(
    portal: PortalFactory, upstream: FaultUpstream, setting: str
) -> None:
    ana = with_a_report(portal(MASK_NAMES=setting), upstream)
    paper = ana.pages.get(f"{issue(ana)}/papel").text
    assert "M. A. D. S." in paper
    assert not [name for name in NAMES if name in paper]
    assert (NAMES[0] in ana.pages.get(f"/placa/{PLATE}/dossie").text) == (setting == "off")


def test_dossier_without_an_answer_is_refused(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    running = portal()
    ana = Person.at(running).signed_in()
    with no_upstream_call(upstream):
        refused = ana.post(f"/placa/{PLATE}/dossie/emitir")
    assert refused.status_code == 409
    assert "Não há o que emitir" in refused.get_data(as_text=True)
    assert rows(running) == []


def test_issuing_needs_a_sign_in_and_the_forms_token(portal: PortalFactory) -> None:
    running = portal()
    nobody, ana = Person.at(running), Person.at(running).signed_in()
    ana.pages.get(f"/placa/{PLATE}?completo=1")
    assert nobody.post(f"/placa/{PLATE}/dossie/emitir").status_code == 401
    assert ana.client.post(f"/placa/{PLATE}/dossie/emitir").status_code == 400
    assert nobody.client.get("/dossies").status_code == 303
    assert rows(running) == []


def test_dossier_exists_only_for_whoever_issued_it(portal: PortalFactory) -> None:
    running = portal()
    ana = Person.at(running).signed_in()
    path = issue(ana)
    bia = Person.at(running).signed_in(issue_token(running, "bia"))
    for part in ("", ".pdf", "/papel"):
        assert bia.client.get(f"{path}{part}").status_code == 404
    assert bia.post(f"{path}/revogar").status_code == 404
    assert "Nenhum ainda" in bia.pages.get("/dossies").text
    assert PLATE in ana.pages.get("/dossies").text
    other_session = Person.at(running).signed_in()  # the same token in another browser
    assert other_session.client.get(path).status_code == 200


def test_demo_dossier_belongs_to_its_session(portal: PortalFactory) -> None:
    running = portal({})
    ana, bia = Person.at(running), Person.at(running)
    path = issue(ana)
    bia.pages.get(f"/placa/{PLATE}?completo=1")
    assert ana.client.get(path).status_code == 200
    assert bia.client.get(path).status_code == 404
    assert "dados fictícios" in stranger(running).get(link_of(ana, path)).text


def test_pass_through_dossier_belongs_to_its_credential(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    running = portal(pass_through(upstream.url))
    ana, bia = (Person.at(running).signed_in(name) for name in ("cred-ana", "cred-bia"))
    path = issue(ana)
    assert bia.client.get(path).status_code == 404
    assert Person.at(running).signed_in("cred-ana").client.get(path).status_code == 200
    assert stranger(running).get(link_of(ana, path)).status == 200


@pytest.mark.parametrize("spelling", [str.lower, lambda number: number.replace("-", "")])
def test_other_spelling_of_a_number_leads_to_the_canonical_one(
    portal: PortalFactory, spelling: Callable[[str], str]
) -> None:
    ana = Person.at(portal()).signed_in()
    path = issue(ana)
    number = path.rpartition("/")[2]
    answer = ana.client.get(f"/dossie/{spelling(number)}.pdf")
    assert (answer.status_code, answer.headers["Location"]) == (308, f"{path}.pdf")


def test_link_quotes_the_paper_word_for_word(portal: PortalFactory) -> None:
    running = portal()
    ana = Person.at(running).signed_in()
    link = link_of(ana, issue(ana))
    paper, page = (stranger(running).get(f"{link}{part}") for part in ("/papel", ""))
    (verdict,) = paper.all("p", class_="verdict__sentence")
    assert f"“{text_of(verdict).partition(': ')[2]}”" in page.text
    (reasons,) = page.all("ul", class_="hero__reasons")
    told = [text_of(one) for one in reasons]
    told += [text_of(one) for act in page.all("li", class_="act") for one in act.iter(HTML + "p")]
    assert len(told) > 5 and not [one for one in told if one not in paper.text]
    assert not page.all("a", href="/dossies")


def test_sending_comes_first_and_the_message_quotes_the_paper(portal: PortalFactory) -> None:
    running = portal()
    ana = Person.at(running).signed_in()
    path = issue(ana)
    page = ana.pages.get(path)
    assert page.html.index("Dossiê emitido") < page.html.index('id="link"')
    assert page.html.index('id="link"') < page.html.index("wa.me") < page.html.index(f"{path}.pdf")
    (send,) = [str(a.get("href")) for a in page.all("a") if "wa.me" in str(a.get("href"))]
    message = parse_qs(urlsplit(send).query)["text"][0]
    assert message.startswith(f"{PLATE}, ") and link_of(ana, path) in message
    assert re.search("“([^”]+)”", message)[1] in ana.pages.get(f"{path}/papel").text  # type: ignore[index]


@pytest.mark.parametrize("allowed", [True, False])
def test_link_says_what_has_changed_since_if_the_issuer_allows_it(
    portal: PortalFactory, upstream: FaultUpstream, allowed: bool
) -> None:
    running = portal()
    ana = Person.at(running).signed_in(issue_token(running, "ana"))
    ana.pages.get(f"/placa/{PLATE}?completo=1")
    fields = {"mudancas": "1"} if allowed else {}
    path = ana.post(f"/placa/{PLATE}/dossie/emitir", **fields).headers["Location"]
    link = link_of(ana, path)

    def told() -> str:
        with no_upstream_call(upstream):
            text = stranger(running).get(link).text
        return text.partition("Desde então")[2].partition("Confira")[0]

    assert ("não guarda consulta mais nova" in told()) == allowed
    upstream.script(path_of("renainf", PLATE), faults.answer("none", renainf_body()))
    ana.post(f"/placa/{PLATE}/atualizar")
    if allowed:
        assert "Pela consulta guardada de" in told()
        assert re.search(r"Multas em aberto\s*era R\$.*nenhuma nos registros", told())
    else:
        assert told() == ""
    assert run_command(running, "token", "revoke", "ana").exit_code == 0
    assert told() == ""


def test_revoking_is_confirmed_and_dossiers_are_found_from_every_page(
    portal: PortalFactory,
) -> None:
    ana = Person.at(portal()).signed_in()
    path = issue(ana)
    (fold,) = ana.pages.get(path).all("details", class_="revoke")
    assert fold.get("open") is None
    assert ana.pages.get("/").all("a", href="/dossies")
    assert 'class="plate plate--small"' in ana.pages.get("/dossies").html


def test_revoked_dossier_is_gone_and_says_so(portal: PortalFactory) -> None:
    running = portal()
    ana = Person.at(running).signed_in()
    path = issue(ana)
    link, number = link_of(ana, path), path.rpartition("/")[2]
    assert ana.post(f"{path}/revogar").status_code == 303
    for address in (link, path):
        for part in PARTS:
            answer = ana.client.get(f"{address}{part}")
            assert answer.status_code == 410
            assert "foi revogado" in answer.get_data(as_text=True)
    assert rows(running) == [(None, None, None)]
    issue(ana)
    shown = ana.pages.get("/dossies").all("span", class_="issued-list__state")
    assert [text_of(one).split()[0] for one in shown] == ["Vale", "Revogado"]
    assert "foi revogado" in stranger(running).get(f"/verificar?codigo={number}").text
    assert PLATE not in stranger(running).get(f"/verificar?codigo={number}").text


def test_expired_dossier_is_gone_before_its_row_is(portal: PortalFactory, tmp_path: Path) -> None:
    running = portal(DOSSIER_DAYS="1")
    ana = Person.at(running).signed_in()
    path = issue(ana)
    link, number = link_of(ana, path), path.rpartition("/")[2]
    change_rows(running, f"expires_at = {time.time() - 1}")
    for address in (link, path):
        for part in PARTS:
            answer = ana.client.get(f"{address}{part}")
            assert answer.status_code == 410
            assert "venceu" in answer.get_data(as_text=True)
    assert "venceu" in stranger(running).get(f"/verificar?codigo={number}").text
    scheduler = running.parts.scheduler
    scheduler.run_all()
    times = next(tmp_path.rglob("housekeeping"))
    times.write_text(json.dumps([0.0] * len(json.loads(times.read_text()))))  # all are due
    scheduler.run_all()
    assert rows(running) == [(None, None, None)]
    assert stranger(running).client.get(link).status_code == 410


def test_verification_of_a_number_hides_most_of_the_plate(portal: PortalFactory) -> None:
    running = portal(**ISSUER)
    ana = Person.at(running).signed_in()
    path = issue(ana)
    number = path.rpartition("/")[2]
    for typed in (
        *(number, number.replace("-", "").lower(), f"http://x/dossie/{number}"),
        *(f"nº {number}", f"Dossiê {number}.", f"Dossiê nº\u00a0{number} ", f"\u200b{number},"),
    ):
        page = stranger(running).get(f"/verificar?codigo={typed}")
        assert "Dossiê autêntico" in page.text
        assert "ABC••••" in page.text and PLATE not in page.text
        assert "Loja Central Veículos" in page.text
        assert not [a for a in page.all("a") if str(a.get("href")).startswith("/d/")]


def test_program_verifies_as_the_page_does(portal: PortalFactory) -> None:
    running = portal(**ISSUER)
    ana = Person.at(running).signed_in()
    path = issue(ana)
    number, key = path.rpartition("/")[2], link_of(ana, path).rpartition("/")[2]

    def checked(code: str) -> Any:
        return running.get(f"/api/v1/dossiers/{code}").get_json()

    by_number, by_key = checked(number.lower().replace("-", "")), checked(key)
    assert (by_number["number"], by_number["state"]) == (number, "valid")
    assert (by_number["plate"], by_number["finding"]) == ("ABC••••", None)
    assert by_number["issuer"] == "Loja Central Veículos"
    assert by_key["plate"] == PLATE and by_key["finding"]
    assert running.get(f"/api/v1/dossiers/{number}", token=None).status_code == 401
    ana.post(f"{path}/revogar")
    assert checked(number) | {"ended_at": ""} == by_number | {
        "state": "revoked",
        "ended_at": "",
        "plate": None,
        "issuer": None,
    }


def test_verification_by_the_qr_code_shows_the_dossier(portal: PortalFactory) -> None:
    running = portal()
    ana = Person.at(running).signed_in()
    link = link_of(ana, issue(ana))
    key = link.rpartition("/")[2]
    for typed in (key, f"http://x{link}", f"http://x/verificar%3Fcodigo={key}"):
        page = stranger(running).get(f"/verificar?codigo={typed}")
        assert PLATE in page.text
        assert page.all("a", href=link)


@pytest.mark.long
def test_ten_thousand_guesses_find_nothing_and_are_slowed(portal: PortalFactory) -> None:
    running = portal()
    ana = Person.at(running).signed_in()
    issue(ana)
    guesser = running.app.test_client()
    found: Counter[int] = Counter()
    started = time.time()
    for _ in range(5_000):
        number, key = new_identifiers()
        found[guesser.get(f"/d/{key}").status_code] += 1
        guess = guesser.get(f"/verificar?codigo={number}")
        found[guess.status_code] += 1
        assert "Dossiê autêntico" not in guess.get_data(as_text=True)
    assert found.keys() == {200, 404, 429}  # 200: /verificar with an unknown number
    begun_minutes = int(time.time() // 60 - started // 60) + 1
    assert found[200] + found[404] <= 20 * begun_minutes
    slowed = guesser.get(f"/d/{new_identifiers().key}")
    assert slowed.status_code == 429
    assert int(slowed.headers["Retry-After"]) > 0
    elsewhere = {"REMOTE_ADDR": "192.0.2.7"}
    unknown = f"/d/{new_identifiers().key}"
    assert guesser.get(unknown, environ_base=elsewhere).status_code == 404


def test_guesses_of_one_visitor_keep_no_valid_link_from_an_address(portal: PortalFactory) -> None:
    """An office shares one address, so one guesser must not block its other visitors."""
    running = portal()
    ana = Person.at(running).signed_in()
    link = link_of(ana, issue(ana))
    client = running.app.test_client()
    for _ in range(30):
        client.get(f"/d/{new_identifiers().key}")
    assert client.get(f"/d/{new_identifiers().key}").status_code == 429
    assert client.get(link).status_code == 200
    key = link.rpartition("/")[2]
    assert "Dossiê autêntico" in client.get(f"/verificar?codigo={key}").get_data(as_text=True)


def test_a_valid_link_does_not_free_its_holder_to_guess(portal: PortalFactory) -> None:
    running = portal()
    ana = Person.at(running).signed_in()
    link = link_of(ana, issue(ana))
    client = running.app.test_client()
    statuses = []
    for _ in range(25):
        client.get(link)
        statuses.append(client.get(f"/d/{new_identifiers().key}").status_code)
    assert statuses[-1] == 429


def test_issuing_is_limited_by_address(portal: PortalFactory) -> None:
    running = portal()
    ana = Person.at(running).signed_in()
    ana.pages.get(f"/placa/{PLATE}?completo=1")
    token = ana.csrf_token()
    statuses = [
        ana.client.post(f"/placa/{PLATE}/dossie/emitir", data={"csrf_token": token}).status_code
        for _ in range(31)
    ]
    assert statuses == [303] * 30 + [429]


def test_repeated_key_counts_once_against_the_limit(portal: PortalFactory) -> None:
    running = portal()
    ana = Person.at(running).signed_in()
    ana.pages.get(f"/placa/{PLATE}?completo=1")
    path = f"/placa/{PLATE}/dossie/emitir"
    answers = [ana.post(path, idempotency_key="one") for _ in range(33)]
    assert {each.status_code for each in answers} == {303}
    lists = [ana.post("/dossies/emitir", placas=PLATE, idempotency_key="two") for _ in range(33)]
    assert {each.status_code for each in lists} == {303}
    assert len({each.headers["Location"] for each in answers}) == 1
    assert len(rows(running)) == 2


def test_purged_answer_in_memory_gives_no_dossier(portal: PortalFactory) -> None:
    """A process learns of another one's purge up to a second later, and has the answers until then.

    A purge that is killed after its first pass deletes no dossier that was issued since.
    """
    running = portal()
    ana = Person.at(running).signed_in()
    ana.pages.get(f"/placa/{PLATE}?completo=1")
    running.parts.scheduler.stop()
    log_purge(running.parts.database, running.parts.store.tag(PLATE))
    assert ana.post(f"/placa/{PLATE}/dossie/emitir").status_code == 409
    assert rows(running) == []


def test_vehicle_purged_while_its_dossier_is_issued_is_not_stored(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = portal()
    ana = Person.at(running).signed_in()
    ana.pages.get(f"/placa/{PLATE}?completo=1")

    def purge_and_render(*given: Any, **named: Any) -> str:
        monkeypatch.setattr(papers, "render_template", render_template)
        assert run_command(running, "purge", PLATE).exit_code == 0
        return render_template(*given, **named)

    monkeypatch.setattr(papers, "render_template", purge_and_render)
    assert ana.post(f"/placa/{PLATE}/dossie/emitir").status_code == 409
    assert rows(running) == []


def test_two_clicks_on_issue_give_one_dossier(portal: PortalFactory) -> None:
    running = portal()
    ana = Person.at(running).signed_in()
    pages = [ana.client.get(f"/placa/{PLATE}?completo=1").text for _ in range(2)]
    keys = [re.findall(r'name="idempotency_key" value="([^"]+)"', page) for page in pages]
    assert len({*keys[0], *keys[1]}) == 2  # each page view has a key
    path = f"/placa/{PLATE}/dossie/emitir"
    (one,), (other,) = map(set, keys)
    first, second = (ana.post(path, idempotency_key=one) for _ in range(2))
    assert (first.status_code, second.status_code) == (303, 303)
    assert first.headers["Location"] == second.headers["Location"]
    assert ana.post(path, idempotency_key=other).headers["Location"] != first.headers["Location"]
    assert len(rows(running)) == 2
    ana.pages.get("/placa/LMP0A01?completo=1")
    refused = ana.post("/placa/LMP0A01/dossie/emitir", idempotency_key=one)
    assert refused.status_code == 422
    assert ana.post(path, idempotency_key="a b").status_code == 400


def test_second_click_while_the_first_is_rendered_gives_one_dossier(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = portal()
    ana = Person.at(running).signed_in()
    ana.pages.get(f"/placa/{PLATE}?completo=1")
    path = f"/placa/{PLATE}/dossie/emitir"
    second: list[Any] = []

    def render(_: PdfProcess, html: str, *__: object) -> SignedPdf:
        if not second:
            second.append(None)
            second[0] = ana.post(path, idempotency_key="click")
        return SignedPdf(b"%PDF-1.7 " + hashlib.sha256(html.encode()).digest(), None)

    monkeypatch.setattr(PdfProcess, "render_signed", render)
    first = ana.post(path, idempotency_key="click")
    assert (first.status_code, second[0].status_code) == (303, 303)
    assert first.headers["Location"] == second[0].headers["Location"]
    assert len(rows(running)) == 1
    assert ana.client.get(first.headers["Location"]).status_code == 200


def test_ticked_vehicles_are_issued_at_once_from_stored_answers(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    running = portal(**ISSUER)
    ana = Person.at(running).signed_in()
    for plate in (PLATE, "LMP0A01"):
        ana.pages.get(f"/placa/{plate}?completo=1")
    ticked = {
        "csrf_token": ana.csrf_token(),
        "placas": [PLATE, "LMP0A01", "VAZ0A00", "79831854647"],
    }
    assert ana.client.post("/dossies/emitir", data={"placas": PLATE}).status_code == 400
    with no_upstream_call(upstream):
        done = ana.client.post("/dossies/emitir", data=ticked)
    assert (done.status_code, done.headers["Location"]) == (303, "/dossies")
    page = ana.pages.get("/dossies")
    assert "2 dossiês emitidos" in page.text
    assert "Ficaram de fora, sem resposta guardada ou além de doze: VAZ0A00" in page.text
    assert len(rows(running)) == 2
    ana.client.post("/dossies/emitir", data={"csrf_token": ana.csrf_token()})
    assert "0 dossiês emitidos" in ana.pages.get("/dossies").text
    assert running.app.test_client().post("/dossies/emitir", data=ticked).status_code in (303, 400)
    assert len(rows(running)) == 2


def form_of_list(here: InProcessPortal, ana: Person, *plates: str) -> tuple[str, dict[str, Any]]:
    """Look vehicles up. Return the path of the list's "Enviar", and its form with all ticked."""
    page = ana.client.get(f"/comparar?placas={','.join(plates)}&completo=1").text
    path = re.search(r'formaction="(/dossies/emitir[^"]*)"', page)
    assert path
    return path[1], {"csrf_token": ana.csrf_token(), "placas": list(plates)}


def test_two_clicks_on_a_lists_button_issue_each_dossier_once(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = portal(**ISSUER)
    ana = Person.at(here).signed_in()
    path, ticked = form_of_list(here, ana, PLATE, "LMP0A01")
    second: list[Any] = []

    def render(_: PdfProcess, html: str, *__: object) -> SignedPdf:
        if not second:  # the second click arrives while the first dossier is rendered
            second.append(None)
            second[0] = ana.client.post(path, data=ticked)
        return SignedPdf(b"%PDF-1.7 " + hashlib.sha256(html.encode()).digest(), None)

    monkeypatch.setattr(PdfProcess, "render_signed", render)
    assert ana.client.post(path, data=ticked).status_code == 303
    assert second[0].status_code == 303
    assert len(rows(here)) == 2
    other_form = form_of_list(here, ana, PLATE)
    assert other_form[0] != path
    assert ana.client.post(other_form[0], data=other_form[1]).status_code == 303
    assert len(rows(here)) == 3


def test_limit_is_counted_for_the_list_and_only_for_vehicles_with_answers(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rate_limits, "ISSUED_DOSSIERS", "3/minute")
    here = portal(**ISSUER)
    ana = Person.at(here).signed_in()
    path, ticked = form_of_list(here, ana, PLATE, "LMP0A01")
    ticked["placas"] += ["VAZ0A00", "VAZ0A01", "VAZ0A02"]
    assert ana.client.post(path, data=ticked).status_code == 303
    assert len(rows(here)) == 2
    path, ticked = form_of_list(here, ana, PLATE, "LMP0A01")
    assert ana.client.post(path, data=ticked).status_code == 429
    assert len(rows(here)) == 2  # the refused list has issued nothing, and used nothing up
    path, ticked = form_of_list(here, ana, PLATE)
    assert ana.client.post(path, data=ticked).status_code == 303
    assert len(rows(here)) == 3


def test_refused_dossier_uses_nothing_of_the_limit_up(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred dossiers, tried again as the refusals say, used up the limit of an hour."""
    monkeypatch.setattr(rate_limits, "ISSUED_DOSSIERS", "2/minute")
    here = portal(**ISSUER)
    ana = Person.at(here).signed_in()
    ana.pages.get(f"/placa/{PLATE}?completo=1")

    def too_slow(*_: object) -> SignedPdf:
        raise RenderingInterrupted("too many wait")

    with monkeypatch.context() as patched:
        patched.setattr(PdfProcess, "render_signed", too_slow)
        statuses = [ana.post(f"/placa/{PLATE}/dossie/emitir").status_code for _ in range(5)]
    assert statuses == [503] * 5
    statuses = [ana.post(f"/placa/{PLATE}/dossie/emitir").status_code for _ in range(3)]
    assert statuses == [303, 303, 429]


def test_list_says_what_was_issued_before_a_failure(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = portal(**ISSUER)
    ana = Person.at(here).signed_in()
    path, ticked = form_of_list(here, ana, PLATE, "LMP0A01", "MUL0A45")
    rendered: list[str] = []

    def render(_: PdfProcess, html: str, *__: object) -> SignedPdf:
        rendered.append(html)
        if len(rendered) == 2:
            raise RenderingInterrupted("another PDF takes too long")
        return SignedPdf(b"%PDF-1.7 " + hashlib.sha256(html.encode()).digest(), None)

    monkeypatch.setattr(PdfProcess, "render_signed", render)
    assert ana.client.post(path, data=ticked).status_code == 303
    page = ana.pages.get("/dossies").text
    assert "1 dossiê emitido" in page
    assert "Ficaram por emitir: LMP0A01 e MUL0A45" in page
    assert ana.client.post(path, data=ticked).status_code == 303  # Back, and once more
    assert "3 dossiês emitidos" in ana.pages.get("/dossies").text
    assert len(rows(here)) == 3


def test_notice_of_a_long_list_is_short(portal: PortalFactory) -> None:
    here = portal(**ISSUER)
    ana = Person.at(here).signed_in()
    path, ticked = form_of_list(here, ana, PLATE)
    ticked["placas"] += [f"VAZ{number:04}" for number in range(487)]
    done = ana.client.post(path, data=ticked)
    assert done.status_code == 303
    assert len(done.headers["Set-Cookie"]) < 1500
    assert "e mais 475" in ana.pages.get("/dossies").text


def test_second_dossier_of_unchanged_answers_is_offered_and_not_issued(
    portal: PortalFactory,
) -> None:
    ana = Person.at(portal()).signed_in()
    page = ana.pages.get("/placa/ABC1D23?completo=1")
    fields = {"csrf_token": page.csrf_token(), "existente": "1"}
    path = "/placa/ABC1D23/dossie/emitir"
    first = ana.pages.post(path, data=fields)
    again = str(ana.pages.post(path, data=fields))
    assert again == f"{first}?existente=1"
    shown = ana.pages.get(again)
    assert re.search(r"Já emitido às \d\d:\d\d\. As respostas não mudaram\.", shown.text)
    assert "Já emitido" not in ana.pages.get(str(first)).text
    # Without the field, and after another answer, a dossier is issued.
    assert ana.pages.post(path, data={"csrf_token": page.csrf_token()}) != first
    ana.pages.post("/placa/ABC1D23/atualizar", data={"csrf_token": page.csrf_token()})
    assert "existente" not in str(ana.pages.post(path, data=fields))
    # So it is after a declaration.
    declared = {"line": "gravame", "state": "nothing", "source": "CRLV-e"}
    ana.pages.post("/placa/ABC1D23/declarar", data={"csrf_token": page.csrf_token(), **declared})
    assert "existente" not in str(ana.pages.post(path, data=fields))


def cards(page: Page) -> dict[str, str]:
    """The properties of a link's preview."""
    metas = ((str(one.get("property", "")), str(one.get("content"))) for one in page.all("meta"))
    return {name.removeprefix("og:"): text for name, text in metas if name.startswith("og:")}


def test_shared_link_arrives_with_number_time_and_the_papers_words(portal: PortalFactory) -> None:
    ana = Person.at(portal()).signed_in()
    page = ana.pages.get("/placa/ABC1D23?completo=1")
    data = {"csrf_token": page.csrf_token()}
    own = ana.pages.get(str(ana.pages.post("/placa/ABC1D23/dossie/emitir", data=data)))
    assert cards(own)["title"] == "Dossiê Veicular"
    link = str(own.all("input", id="link")[0].get("value"))
    shared = ana.pages.get(urlsplit(link).path)
    told = cards(shared)
    number = text_of(own.all("dd", class_="dossier-number")[0])
    assert re.fullmatch(rf"Dossiê {number} · \d\d/\d\d/\d{{4}}, \d\d:\d\d", told["title"])
    finding = text_of(shared.by_id("resumo-titulo")).partition("“")[2]
    assert told["description"].startswith(f"“{finding}")
    assert re.search(r" · \d+ de 15 verificados$", told["description"])
    assert re.fullmatch(r".*/static/icons/card-no\.[0-9a-f]{8}\.png", told["image"])
    assert "ABC1D23" not in "".join(told.values())
    # The same three numbers as on the vehicle's page.
    assert [text_of(one) for one in shared.all("dt")[:3]] == ["Transfere?", "Deve", "Vale"]


def test_each_verdict_has_a_card_that_exists() -> None:
    for tone in get_args(Tone):
        summary = replace(ISSUED, look=replace(ISSUED.look, tone=tone))
        card = IssuedDossierPage(stored_dossier("valid"), summary, "/d/key").card
        assert (Path("static/icons") / f"card-{card}.png").is_file(), tone
