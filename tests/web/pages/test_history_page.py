"""The history page: the visitor's own lookups, from stored answers only."""

import re
import time
from pathlib import Path

import pytest

from portal import formats
from portal.presentation.site.history_page import PAGE_SIZE
from portal.storage.backup import back_up, restore
from portal.system.local_time import local_date, utc_time
from tests.conftest import PortalFactory
from tests.factories import renainf_body, renajud_body
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal, built, managed, pass_through
from tests.web.html_checker import text_of
from tests.web.json_paths import issue, no_upstream_call
from tests.web.page_client import Page
from tests.web.person import Person

PRICES = {"PRICE_DECODE": "0.85", "PRICE_RENAINF": "0.95", "PRICE_RENAJUD": "0.65"}


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal(**PRICES)


@pytest.fixture
def ana(here: InProcessPortal) -> Person:
    return Person.at(here).signed_in(PORTAL_TOKEN)


def listed(page: Page) -> list[str]:
    return [str(cell[0].get("href")) for cell in page.all("th", class_="vehicles__plate")]


def answers(page: Page) -> list[str]:
    cells = map(text_of, page.all("td", class_="vehicles__finding"))
    timed = (re.sub(r"\b\d\d:\d\d\b", "(hora)", text) for text in cells)
    told = (re.sub(r"^.*?(?=sem resposta:|dados do|\(hora\))", "", text) for text in timed)
    return [text.partition(" Apagar")[0] for text in told]


def test_own_lookups_are_listed_with_answers_and_payments(
    here: InProcessPortal, ana: Person, upstream: FaultUpstream
) -> None:
    ana.pages.get("/placa/ABC1D23?completo=1")
    ana.pages.get("/renavam/79831854647")
    bia = Person.at(here).signed_in(issue(here, "bia"))
    bia.pages.get("/placa/ABC1D23?completo=1")
    with no_upstream_call(upstream):
        mine, theirs = ana.pages.get("/historico"), bia.pages.get("/historico")
    assert listed(mine) == ["/renavam/79831854647", "/placa/ABC1D23"]
    assert listed(theirs) == ["/placa/ABC1D23"]
    paid = "(hora) · pago R$ {}"
    assert answers(mine) == [paid.format("1,60"), paid.format("2,45")]
    assert answers(theirs) == [paid.replace("pago R$ {}", "nada pago")]
    assert mine.headers["X-Robots-Tag"] == "noindex"


def test_payments_under_an_old_secret_key_are_counted(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    settings = {**managed(upstream.url), **{f"PORTAL_{name}": PRICES[name] for name in PRICES}}
    with built(tmp_path, {**settings, "PORTAL_SECRET_KEY": "the former key"}) as former:
        Person.at(former).signed_in().pages.get("/renavam/79831854647")
    keys = {"PORTAL_SECRET_KEY": "the new key", "PORTAL_SECRET_KEYS_OLD": "the former key"}
    with built(tmp_path, {**settings, **keys}) as here:
        ana = Person.at(here).signed_in()
        with no_upstream_call(upstream):
            ana.pages.get("/renavam/79831854647")
        assert "pago R$ 1,60" in answers(ana.pages.get("/historico"))[0]


def test_missing_answers_are_named_and_priced(ana: Person, upstream: FaultUpstream) -> None:
    upstream.script("/detran/v1/restrictions/renainf/LMP0A01", faults.status(500))
    ana.pages.get("/placa/LMP0A01?completo=1")
    with no_upstream_call(upstream):
        page = ana.pages.get("/historico")
    assert answers(page) == [
        "sem resposta: multas · (hora) · pago R$ 2,45 · abrir custa até R$ 0,95"
    ]


def lasting(fresh_s: int, stale_s: int) -> dict[str, str]:
    names = ("DECODE", "RENAINF", "RENAJUD")
    return {
        **{f"FRESH_{name}": str(fresh_s) for name in names},
        **{f"STALE_{name}": str(stale_s) for name in names},
    }


def test_stale_answers_are_named_and_priced(portal: PortalFactory, upstream: FaultUpstream) -> None:
    ana = Person.at(portal(**PRICES, **lasting(1, 3600))).signed_in(PORTAL_TOKEN)
    ana.pages.get("/placa/ABC1D23?completo=1")
    time.sleep(1.1)
    with no_upstream_call(upstream):
        assert answers(ana.pages.get("/historico")) == [
            "(hora) · fora do prazo: dados do veículo, multas e restrições judiciais · "
            "pago R$ 2,45 · abrir custa até R$ 2,45"
        ]


def test_expired_answers_are_said_to_be_gone(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    ana = Person.at(portal(**PRICES, **lasting(1, 0))).signed_in(PORTAL_TOKEN)
    assert "Audi" in ana.pages.get("/placa/ABC1D23?completo=1").text
    time.sleep(1.1)
    with no_upstream_call(upstream):
        page = ana.pages.get("/historico")
    assert listed(page) == ["/placa/ABC1D23"]
    assert answers(page) == [
        "dados do veículo, multas, restrições judiciais · (hora) · "
        "pago R$ 2,45 · abrir custa até R$ 2,45"
    ]
    assert "Sem resposta guardada" in page.text
    assert "Audi" not in page.text


def test_purged_vehicle_leaves_the_list(here: InProcessPortal, ana: Person) -> None:
    ana.pages.get("/placa/ABC1D23?completo=1")
    ana.pages.get("/placa/LMP0A01?completo=1")
    result = here.app.test_cli_runner().invoke(args=["purge", "ABC1D23"])
    assert result.exit_code == 0, result.output
    assert listed(ana.pages.get("/historico")) == ["/placa/LMP0A01"]


def test_one_or_all_are_erased(here: InProcessPortal, ana: Person) -> None:
    bia = Person.at(here).signed_in(issue(here, "bia"))
    for person in (ana, bia):
        person.pages.get("/placa/ABC1D23")
        person.pages.get("/placa/LMP0A01")
    done = ana.post("/historico/apagar", consulta="ABC1D23", next="/historico")
    assert done.headers["Location"] == "/historico"
    assert listed(ana.pages.get("/historico")) == ["/placa/LMP0A01"]
    ana.post("/historico/apagar", consulta="<b>", next="//evil.example")
    assert listed(ana.pages.get("/historico")) == ["/placa/LMP0A01"]
    ana.post("/historico/apagar", next="/historico")
    empty = ana.pages.get("/historico")
    assert listed(empty) == []
    assert "Nenhuma consulta ainda" in empty.text
    assert len(listed(bia.pages.get("/historico"))) == 2


def test_long_history_has_pages(ana: Person) -> None:
    plates = [f"AAA{number // 10}A{number % 10:02}" for number in range(PAGE_SIZE + 3)]
    for plate in plates:
        ana.pages.get(f"/placa/{plate}")
    first = ana.pages.get("/historico")
    second = ana.pages.get("/historico?pagina=2")
    assert len(listed(first)) == PAGE_SIZE
    assert sorted([*listed(first), *listed(second)]) == sorted(f"/placa/{one}" for one in plates)
    assert first.all("a", href="/historico?pagina=2")
    assert second.all("a", href="/historico")
    assert "Não há consultas mais antigas." in ana.pages.get("/historico?pagina=9").text
    assert listed(ana.pages.get("/historico?pagina=-1")) == listed(first)


def test_vehicles_stand_under_their_days_until_another_order_is_chosen(
    ana: Person, monkeypatch: pytest.MonkeyPatch, here: InProcessPortal
) -> None:
    now_s = time.time()
    for plate, ago in (("MUL0A45", 9), ("LMP0A01", 1), ("FIP0A03", 0), ("ABC1D23", 0)):
        moment = now_s - 86_400 * ago
        monkeypatch.setattr(here.parts.history, "_clock", lambda moment=moment: moment)
        ana.pages.get(f"/placa/{plate}")

    def days(path: str) -> list[str]:
        page = ana.pages.get(path)
        assert len(listed(page)) == len(page.all("td", class_="vehicles__finding"))
        return [text_of(row) for row in page.all("tr", class_="vehicles__day")]

    oldest = formats.long_date(local_date(utc_time(now_s - 9 * 86_400)))
    assert days("/historico") == ["Hoje", "Ontem", oldest]
    assert days("/historico?busca=lmp") == ["Ontem"]
    assert days("/historico?ordem=preco") == []


def test_strangers_are_led_to_sign_in(portal: PortalFactory, upstream: FaultUpstream) -> None:
    for here in (portal(**PRICES), portal(pass_through(upstream.url))):
        response = here.client.get("/historico")
        assert response.status_code == 303
        assert response.headers["Location"] == "/entrar?next=/historico"


def test_recent_plates_are_suggested_in_the_forms(ana: Person, upstream: FaultUpstream) -> None:
    ana.pages.get("/placa/ABC1D23?completo=1")
    ana.pages.get("/renavam/79831854647")
    with no_upstream_call(upstream):
        search, comparison, batch = map(ana.pages.get, ("/", "/comparar", "/lote"))
    for page in (search, comparison):
        assert page.by_id("placas-recentes").findall(".//*[@value='ABC1D23']")
        assert page.all("input", list="placas-recentes")
    assert not comparison.by_id("placas-recentes").findall(".//*[@value='79831854647']")
    assert [one.get("value") for one in batch.all("input", name="recente")] == [
        "79831854647",
        "ABC1D23",
    ]


def test_chosen_recent_plates_join_a_batch_once(ana: Person) -> None:
    ana.pages.get("/placa/ABC1D23?completo=1")
    ana.pages.get("/placa/LMP0A01?completo=1")
    form = ana.pages.get("/lote")
    data = {
        "csrf_token": form.csrf_token(),
        "placas": "cliente;placa\nJoão;ABC1D23",
        "recente": ["LMP0A01", "ABC1D23", "ABC1323"],
        "consulta": ["decode"],
    }
    path = str(ana.pages.post("/lote", data=data, content_type="multipart/form-data"))
    assert "Lote de 2 placas" in ana.pages.get(path).text
    wrong = ana.pages.post(
        "/lote", 400, data={**data, "consulta": []}, content_type="multipart/form-data"
    )
    assert isinstance(wrong, Page)
    assert len(wrong.all("input", name="recente", checked="")) == 2


def test_notes_and_tags_follow_a_vehicle_into_every_list_of_its_visitor(
    here: InProcessPortal, ana: Person
) -> None:
    bia = Person.at(here).signed_in(issue(here, "bia"))
    for person in (ana, bia):
        person.pages.get("/placa/ABC1D23?completo=1")
    ana.pages.get("/placa/LMP0A01?completo=1")
    opened = ana.pages.get("/historico?nota=ABC1D23")
    assert [one.get("value") for one in opened.all("input", name="consulta")] == ["ABC1D23"]
    done = ana.post(
        "/historico/nota",
        consulta="ABC1D23",
        nota=" Esperar <b>a baixa ",
        etiqueta="negociar",
        next="/historico?so=blocked",
    )
    assert done.headers["Location"] == "/historico?so=blocked"
    for path in ("/historico", "/comparar?placas=ABC1D23,LMP0A01", "/historico?etiqueta=negociar"):
        row = text_of(ana.pages.get(path).by_id("veiculo-ABC1D23"))
        assert "Esperar <b>a baixa negociar" in row, path
    tagged = ana.pages.get("/historico?etiqueta=negociar")
    assert listed(tagged) == ["/placa/ABC1D23"]
    assert "Esperar" not in bia.pages.get("/historico").text
    ana.pages.get("/placa/ABC1D23")  # another look keeps the note
    assert "Esperar" in ana.pages.get("/historico").text
    ana.post("/historico/nota", consulta="<b>", nota="x", next="//evil.example")
    ana.post("/historico/nota", consulta="ABC1D23", nota="", etiqueta="bom")
    assert "negociar" not in ana.pages.get("/historico").text


def test_notes_and_names_of_lists_survive_a_restore(
    portal: PortalFactory, upstream: FaultUpstream, tmp_path: Path
) -> None:
    """They are encrypted with a key in the backup, and stay their visitor's alone."""
    before = portal()
    bia_token = issue(before, "bia")
    ana = Person.at(before).signed_in()
    ana.post("/historico/nota", consulta="ABC1D23", nota="esperar a baixa", etiqueta="negociar")
    sent = ana.post("/lote", placas="ABC1D23, LMP0A01", consulta="decode")
    batch = str(sent.headers["Location"])
    ana.post(f"{batch}/nome", nome="Leilão de terça")
    files = before.parts.files.files
    back_up(tmp_path / "backup", files, demo=False)
    targets = {name: tmp_path / "after" / path.name for name, path in files.items()}
    restore(tmp_path / "backup", targets, False, lambda *_: None)
    with built(tmp_path / "after", managed(upstream.url)) as after:
        ana, bia = Person.at(after).signed_in(), Person.at(after).signed_in(bia_token)
        assert "esperar a baixa negociar" in ana.pages.get("/historico").text
        assert ana.pages.get(batch).text.count("Leilão de terça")
        assert "esperar" not in bia.pages.get("/historico").text
        bia.pages.get(batch, 404)


def test_purge_deletes_notes_that_name_the_vehicle(here: InProcessPortal, ana: Person) -> None:
    for plate, note in (("ABC1D23", "trocar por lmp-0a01"), ("LMP0A01", "do cliente")):
        ana.post("/historico/nota", consulta=plate, nota=note, etiqueta="fora")
    result = here.app.test_cli_runner().invoke(args=["purge", "LMP0A01"])
    assert result.exit_code == 0, result.output
    page = ana.pages.get("/historico")
    assert listed(page) == ["/placa/ABC1D23"]
    assert "trocar" not in page.text


def test_list_is_filtered_searched_and_sorted(ana: Person, upstream: FaultUpstream) -> None:
    clean = {"restrictions/renainf": renainf_body(), "restrictions/renajud": renajud_body()}
    for path, body in clean.items():
        upstream.script(f"/detran/v1/{path}/LMP0A01", faults.answer("clean", body))
    for plate in ("ABC1D23", "LMP0A01"):
        ana.pages.get(f"/placa/{plate}?completo=1")
    assert listed(ana.pages.get("/historico?so=clear")) == ["/placa/LMP0A01"]
    assert listed(ana.pages.get("/historico?busca=abc-1d23")) == ["/placa/ABC1D23"]
    assert listed(ana.pages.get("/historico?ordem=conclusao"))[0] == "/placa/ABC1D23"
    assert "Nenhuma placa com esta escolha" in ana.pages.get("/historico?so=failed").text
