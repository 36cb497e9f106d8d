"""The batch pages without JavaScript: paste, check, start, refresh, results, downloads."""

import csv
import io
import re
import threading
import time
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from typing import get_args

import pytest

from portal.batch.batches import Batches
from portal.batch.model import MOST_DRAFTS, Item, Reason
from portal.gateway.gateway import Gateway
from portal.presentation.list_refusals import TOO_MANY_DRAFTS
from portal.storage.purge_log import PurgeLog
from tests import factories
from tests.batch.engine import plates
from tests.conftest import PortalFactory
from tests.effort import calls
from tests.fakes import FaultUpstream, faults
from tests.fakes.databases import kept_open
from tests.fakes.forgetting import forget
from tests.fakes.in_process import InProcessPortal
from tests.fakes.ports import wait_until
from tests.fakes.purges import log_purge
from tests.presentation.batch_views import batch_page
from tests.presentation.rendering import NOW, render
from tests.presentation.specimens import BATCH_PRICES, NO_LIMIT, batch_in
from tests.web.html_checker import HTML, check_html, text_of
from tests.web.json_paths import issue, no_upstream_call
from tests.web.page_client import Page, PageClient
from tests.web.person import Person
from tests.web.signed_in import visitor

LOOKUPS = ["decode", "renainf", "renajud"]
PRICES = {"PRICE_DECODE": "0.85", "PRICE_RENAINF": "0.95", "PRICE_RENAJUD": "0.65"}


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal(**PRICES)


@pytest.fixture
def dealer(here: InProcessPortal) -> PageClient:
    return visitor(here)


def send(dealer: PageClient, text: str = "", status: int = 303, **fields: object) -> Page | str:
    form = dealer.get("/lote")
    data = {"csrf_token": form.csrf_token(), "placas": text, "consulta": LOOKUPS, **fields}
    return dealer.post("/lote", status, data=data, content_type="multipart/form-data")


def act(dealer: PageClient, path: str, action: str, leads_to: str = "") -> None:
    page = dealer.get(path)
    where = dealer.post(f"{path}/{action}", data={"csrf_token": page.csrf_token()})
    assert str(where).endswith(leads_to or path)


def ended(here: InProcessPortal, dealer: PageClient, path: str) -> Page:
    for _ in range(500):
        here.parts.batch_runner.tick()
        page = dealer.get(path)
        if "Custou" in page.text or "Sem custo." in page.text:
            return page
        time.sleep(0.02)
    raise AssertionError("the batch did not end")


def run_once(here: InProcessPortal, dealer: PageClient) -> Page:
    """Let the runner start threads if there is work, and return the list of batches."""
    here.parts.batch_runner.tick()
    return dealer.get("/lote")


def test_pasted_plates_to_results(
    here: InProcessPortal, dealer: PageClient, upstream: FaultUpstream
) -> None:
    text = "ABC1D23, lmp-0a01\nMUL 0A45 (S10)\nABC12\nLMPOA01\n79831854647"
    path = str(send(dealer, text))
    assert re.fullmatch(r"/lote/[0-9a-f]{24}", path)
    draft = dealer.get(path)
    assert "Consultar 4 placas por até R$ 8,95" in draft.text
    assert "5 dos 7 caracteres" in draft.text
    assert "Quis dizer LMP0A01?" in draft.text
    (listed,) = dealer.get("/lote").all("ul", class_="batch-list")
    assert "até R$ 8,95" in "".join(listed.itertext()).replace("\u00a0", " ")
    assert "R$ 0,00" not in "".join(listed.itertext()).replace("\u00a0", " ")
    assert upstream.count() == 0

    upstream.script("/detran/v1/decode/LMP0A01", faults.status(500))
    act(dealer, path, "iniciar")
    done = ended(here, dealer, path)
    assert upstream.count() == 11
    assert "Custou R$ 8,95." in done.text
    assert "3 prontas · 1 falhou, pode ter sido cobrada. Custou" in done.text
    assert "LMP0A01 falha desde" in done.text
    assert "e já pode ter custado R$ 2,45. O lote terminou sem ela." in done.text
    assert "Tentar LMP0A01 por até R$ 0,85" in done.text
    assert "Continuar" not in done.text
    assert "2 linhas ficaram de fora" in done.text
    assert "Quis dizer LMP0A01?" in done.text
    for ending in ("csv", "xlsx", "jsonl"):
        address = f"/api/v1/batches/{path.removeprefix('/lote/')}/results.{ending}"
        assert address in done.html
        assert here.client.get(address).status_code == 200
    assert path in dealer.get("/lote").html

    here.wait_out_failures()
    upstream.clear()
    act(dealer, path, "iniciar")
    assert upstream.count() == 11
    (button,) = done.all("button", form="tentar")
    chosen = {"placa": button.get("value"), "csrf_token": done.csrf_token()}
    assert str(dealer.post(str(button.get("formaction")), data=chosen)).endswith(path)
    assert "4 prontas. Custou R$ 9,80." in ended(here, dealer, path).text
    assert upstream.count() == 12
    dealer.post(f"{path}/tentar", 404, data={**chosen, "placa": "ABC1D29"})


def test_running_page_refreshes_itself(here: InProcessPortal, dealer: PageClient) -> None:
    path = str(send(dealer, "ABC1D23"))
    assert 'http-equiv="refresh"' not in dealer.get(path).html
    # With a stopped runner the batch stays in the state that the form has set.
    here.parts.batch_runner.stop()
    act(dealer, path, "iniciar")
    page = dealer.get(path)
    assert '<noscript><meta http-equiv="refresh" content="10"></noscript>' in page.html
    assert "0 de 1 placa" in page.text
    act(dealer, path, "pausar")
    paused = dealer.get(path)
    assert "Pausado por você" in paused.text
    assert "Continuar com 1 placa por até R$ 2,45" in paused.text
    assert 'http-equiv="refresh"' not in paused.html
    act(dealer, path, "cancelar")
    cancelled = dealer.get(path)
    assert "Lote cancelado. Sem custo." in cancelled.text
    assert "1 placa não foi consultada" in cancelled.text
    assert "na fila" not in cancelled.text
    assert "ABC1D23" in dealer.get(f"/lote?corrigir={path.removeprefix('/lote/')}").text
    act(dealer, path, "iniciar")
    assert "Lote cancelado." in dealer.get(path).text


def test_pause_for_a_refusal_of_the_source_names_it(
    here: InProcessPortal, dealer: PageClient, upstream: FaultUpstream
) -> None:
    upstream.default(faults.status(401))
    path = str(send(dealer, "ABC1D23 LMP0A01"))
    act(dealer, path, "iniciar")
    here.parts.batch_runner.tick()
    title = "A fonte de dados não aceitou o acesso deste portal"
    wait_until(lambda: title in dealer.get(path).text, "the pause")
    page = dealer.get(path)
    assert "Avise quem opera o portal." in page.text
    assert "não é mais aceito" not in page.text


@pytest.mark.parametrize("reason", [reason for reason in get_args(Reason) if reason])
def test_every_reason_of_a_pause_has_its_words(reason: Reason) -> None:
    paused = replace(batch_in("paused", reason), resume_at=None)
    page = check_html(render(batch_page(paused, (), BATCH_PRICES, NO_LIMIT, NOW)))
    (body,) = page.findall(f".//{HTML}div[@class='notice__body']")
    title, text = map(text_of, body)
    assert title and text.endswith(".")


def test_uploaded_csv_is_read(dealer: PageClient) -> None:
    content = "cliente;placa\nJoão;abc1d23\nAna;lmp0a01\n".encode("cp1252")
    path = str(send(dealer, arquivo=(io.BytesIO(content), "placas.csv")))
    assert "Lote de 2 placas" in dealer.get(path).text


def ticked(page: Page) -> dict[str, bool]:
    boxes = page.all("input", name="linha")
    return {box.get("value", ""): box.get("checked") is not None for box in boxes}


def test_list_is_shown_line_by_line_and_ticks_choose_the_batch(
    here: InProcessPortal, dealer: PageClient, upstream: FaultUpstream
) -> None:
    text = "ABC1D23\nPED 5678\n12345678910\n(11) 98765-4321\n529.982.247-25\nvendo LMP 0A01 azul"
    path = str(send(dealer, text))
    draft = dealer.get(path)
    assert ticked(draft) == {
        "PED5678": False,
        "12345678910": False,
        "LMP0A01": True,
        "ABC1D23": True,
    }
    assert "Linha 2: “PED 5678”: Parece endereço, modelo ou código" in draft.text
    assert "Linha 3: “12345678910”: O dígito verificador deste Renavam não confere." in draft.text
    assert "Linha 4: “(11) 98765-4321”: Parece um telefone." in draft.text
    assert "Linha 5: “529.982.247-25”: Parece um CPF." in draft.text
    assert "vendo LMP 0A01 azul" in draft.text
    assert "Consultar 2 placas por até R$ 4,90" in draft.text

    form = {"csrf_token": draft.csrf_token(), "conferida": "1"}
    chosen = {**form, "linha": ["ABC1D23", "12345678910", "ZZZ9Z99"]}
    changed = str(dealer.post(f"{path}/iniciar", 303, data=chosen))
    page = dealer.get(changed)
    assert "A escolha mudou. Confira o preço de agora; nada foi consultado." in page.text
    assert "Consultar 2 placas por até R$ 4,05" in page.text
    assert ticked(page) == {
        "LMP0A01": False,
        "PED5678": False,
        "ABC1D23": True,
        "12345678910": True,
    }
    dealer.get(path, 404)
    assert upstream.count() == 0

    unchanged = {**form, "csrf_token": page.csrf_token(), "linha": ["12345678910", "ABC1D23"]}
    dealer.post(f"{changed}/iniciar", 303, data={**unchanged, "atualizar": "1"})
    assert "Consultar 2 placas" in dealer.get(changed).text
    dealer.post(f"{changed}/iniciar", 303, data=unchanged)
    ended(here, dealer, changed)
    assert upstream.count() == 5


def test_purge_deletes_a_vehicle_from_the_texts_of_a_draft(
    here: InProcessPortal, dealer: PageClient
) -> None:
    path = str(send(dealer, "ABC1D23\nvendo LMP 0A01 azul, era KZZ9999x\nXYZ9K99"))
    draft = dealer.get(path)
    form = {"csrf_token": draft.csrf_token(), "conferida": "1", "linha": ["ABC1D23", "LMP0A01"]}
    path = str(dealer.post(f"{path}/iniciar", 303, data=form))
    database = kept_open(None, here.settings.data_dir)
    for plate in ("LMP0A01", "XYZ9K99", "KZZ9999"):
        assert plate in dealer.get(path).html
        forget(database, here.parts.batches, plate)
        assert plate not in dealer.get(path).html
    assert "vendo" not in dealer.get(path).text


def test_list_of_doubts_alone_is_shown_with_nothing_ticked(dealer: PageClient) -> None:
    path = str(send(dealer, "MAR2023\n12345678910"))
    draft = dealer.get(path)
    assert ticked(draft) == {"MAR2023": False, "12345678910": False}
    assert "Consultar" not in [button.text for button in draft.all("button")]
    form = {"csrf_token": draft.csrf_token(), "conferida": "1", "linha": ["MAR2023"]}
    page = dealer.get(str(dealer.post(f"{path}/iniciar", 303, data=form)))
    assert "Consultar 1 placa por até R$ 2,45" in page.text


def test_ticks_beyond_the_limit_of_a_batch_are_refused(portal: PortalFactory) -> None:
    dealer = visitor(portal(BATCH_LIMIT="1"))
    path = str(send(dealer, "ABC1D23\nMAR2023"))
    form = {"csrf_token": dealer.get(path).csrf_token(), "conferida": "1"}
    dealer.post(f"{path}/iniciar", 303, data={**form, "linha": ["ABC1D23", "MAR2023"]})
    page = dealer.get(path)
    assert "São 2 placas; um lote tem no máximo 1." in page.text
    assert ticked(page)["MAR2023"] is False


def test_work_grows_with_the_length_of_a_refused_list(portal: PortalFactory) -> None:
    """The list stands in the text and in the file, so that every plate is repeated."""
    dealer = visitor(portal(BATCH_LIMIT="1"))

    def work(count: int) -> None:
        content = "\n".join(plates(count))
        send(dealer, content, 400, arquivo=(io.BytesIO(content.encode()), "placas.csv"))

    few, many = (len(calls(partial(work, count), "")) for count in (300, 1200))
    assert many < 6 * few


def test_text_and_file_are_both_read(dealer: PageClient) -> None:
    file = (io.BytesIO(b"Placa: LMP0A01\nABC1D23\nABC12\n"), "conversa.txt")
    draft = dealer.get(str(send(dealer, "ABC1D23\nXYZ12", arquivo=file)))
    assert "Lote de 2 placas" in draft.text
    assert "Linha 2: “XYZ12”" in draft.text
    assert "Linha 3 do arquivo: “ABC12”" in draft.text
    path = str(send(dealer, "ABC1D23", arquivo=(io.BytesIO(b"\r\n"), "vazio.csv")))
    assert "Lote de 1 placa" in dealer.get(path).text


def archive(*names: str, **contents: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for name, content in {**contents, **dict.fromkeys(names, "")}.items():
            made.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            archive("[Content_Types].xml", "xl/workbook.xml"),
            "É uma planilha do Excel (XLSX). Salve como CSV e envie de novo.",
        ),
        (
            archive(mimetype="application/vnd.oasis.opendocument.spreadsheet"),
            "É uma planilha do LibreOffice (ODS). Salve como CSV e envie de novo.",
        ),
        (archive("word/document.xml"), "É um arquivo ZIP ou um documento do Word."),
        (b"\xd0\xcf\x11\xe0...", "É uma planilha do Excel (XLS). Salve como CSV"),
        (b"%PDF-1.7", "É um PDF. Copie dele as placas e cole a lista."),
    ],
)
def test_file_that_is_no_text_is_named(dealer: PageClient, content: bytes, problem: str) -> None:
    page = send(dealer, "ABC1D23", 400, arquivo=(io.BytesIO(content), "placas"))
    assert isinstance(page, Page)
    assert problem in page.text
    assert page.by_id("placas").text == "ABC1D23"


def test_file_over_the_limit_shows_the_form_with_the_limit(dealer: PageClient) -> None:
    file = (io.BytesIO(b"ABC1D23\n" * 40_000), "placas.csv")
    page = send(dealer, "ABC1D23", 413, arquivo=file)
    assert isinstance(page, Page)
    assert "O envio passa de 256 KiB" in page.text
    assert "Cole a lista de novo ou envie um arquivo menor" in page.text
    assert page.by_id("arquivo").get("type") == "file"
    assert len(page.all("input", name="consulta", checked="")) == 3


def test_form_over_the_limit_without_sign_in_is_413(here: InProcessPortal) -> None:
    stranger = PageClient(here.app.test_client())
    data = {"csrf_token": stranger.get("/entrar").csrf_token(), "placas": "x" * 300_000}
    page = stranger.post("/lote", 413, data=data)
    assert isinstance(page, Page)
    assert "Conteúdo grande demais" in page.text


def test_correction_says_how_many_wrong_lines_are_missing(dealer: PageClient) -> None:
    path = str(send(dealer, "ABC1D23\n" + "a\n" * 300))
    form = dealer.get(f"/lote?corrigir={path.removeprefix('/lote/')}")
    assert "Mais 100 outras linhas não estão aqui" in form.text


def test_many_wrong_lines_are_counted(here: InProcessPortal, dealer: PageClient) -> None:
    path = str(send(dealer, "ABC1D23\n" + "a\n" * 5_000))
    draft = dealer.get(path)
    assert "Lote de 1 placa" in draft.text
    assert "5.000" in draft.text
    assert "e mais 4.980 linhas" in draft.text
    assert len(here.client.get("/api/v1/batches").data) < 1000
    one = here.client.get(f"/api/v1/batches/{path.removeprefix('/lote/')}")
    assert len(one.get_json()["wrong"]) == 200


def test_uploaded_csv_with_a_lone_quote_is_read(dealer: PageClient) -> None:
    rows = "".join(f"x;AAA{n // 100}A{n % 100:02}\n" for n in range(400))
    for quote in ('"Onix;ABC1D23\n', f'"{"y" * 140_000};ABC1D23\n'):
        content = f"nota;placa\n{quote}{rows}".encode()
        path = str(send(dealer, arquivo=(io.BytesIO(content), "placas.csv")))
        assert "Lote de 401 placas" in dealer.get(path).text


@pytest.mark.parametrize(
    ("text", "fields", "problem"),
    [
        ("", {}, "Informe ao menos uma placa"),
        ("<b>nada</b>", {}, "Nada disso é placa nem Renavam."),
        ("ABC1D23", {"consulta": []}, "Escolha ao menos uma consulta."),
        (
            "\n".join(f"AAA{n // 1000}A{n // 10 % 10}{n % 10}" for n in range(0, 9000, 1)),
            {"consulta": ["report"]},
            "Escolha ao menos uma consulta.",
        ),
    ],
)
def test_wrong_forms_are_kept_and_explained(
    dealer: PageClient,
    upstream: FaultUpstream,
    text: str,
    fields: dict[str, object],
    problem: str,
) -> None:
    page = send(dealer, text, 400, **fields)
    assert isinstance(page, Page)
    assert problem in page.text
    assert "Erro: Lote de placas" in page.html
    assert upstream.count() == 0


def test_more_plates_than_the_limit_are_refused(portal: PortalFactory) -> None:
    dealer = visitor(portal(BATCH_LIMIT="2"))
    page = send(dealer, "ABC1D23 LMP0A01 MUL0A45", 400)
    assert isinstance(page, Page)
    assert "São 3 placas; um lote tem no máximo 2." in page.text


def test_table_is_filtered_and_sorted(
    here: InProcessPortal, dealer: PageClient, upstream: FaultUpstream
) -> None:
    upstream.script("/detran/v1/restrictions/renajud/LMP0A01", faults.status(500))
    path = str(send(dealer, "ABC1D23 LMP0A01 MUL0A45"))
    act(dealer, path, "iniciar")
    ended(here, dealer, path)
    incomplete = dealer.get(f"{path}?so=failed")
    assert len(incomplete.all("th", scope="row")) == 1
    assert "/placa/LMP0A01" in incomplete.html
    worst = dealer.get(f"{path}?ordem=conclusao").html
    assert worst.index("/placa/MUL0A45") < worst.index("/placa/LMP0A01")
    assert dealer.get(f"{path}?so=x&ordem=x&pagina=99").status == 200


def test_batches_are_their_owners_alone(here: InProcessPortal, dealer: PageClient) -> None:
    path = str(send(dealer, "ABC1D23"))
    stranger = here.app.test_client()
    response = stranger.get(path)
    assert response.status_code == 303
    assert "/entrar" in response.headers["Location"]
    dealer.get("/lote/" + "0" * 24, 404)


def test_forms_need_the_csrf_token(here: InProcessPortal, dealer: PageClient) -> None:
    path = str(send(dealer, "ABC1D23"))
    for action in ("iniciar", "pausar", "cancelar"):
        assert here.client.post(f"{path}/{action}").status_code == 400
    assert here.client.post("/lote", data={"placas": "ABC1D23"}).status_code == 400


def test_page_of_a_running_batch_reads_no_answer_and_only_its_own_rows(
    here: InProcessPortal, dealer: PageClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A browser fetches the page of a running batch every two seconds."""
    path = str(send(dealer, "\n".join(plates(120)), consulta=["decode"]))
    here.parts.batch_runner.stop()
    act(dealer, path, "iniciar")
    read: list[Item] = []
    items_of = Batches.items

    def noted(*given: object, **named: object) -> list[Item]:
        found = items_of(*given, **named)  # type: ignore[arg-type]
        read.extend(found)
        return found

    monkeypatch.setattr(Batches, "items", noted)
    monkeypatch.setattr(Gateway, "read", no_answer)
    page = dealer.get(path)
    assert "0 de 120 placas" in page.text
    assert [item.position for item in read] == list(range(50))
    assert f'href="{path}?pagina=3"' in page.html
    read.clear()
    assert plates(120)[-1] in dealer.get(f"{path}?pagina=3").html
    assert [item.position for item in read] == list(range(100, 120))
    assert dealer.get(f"{path}?pagina=99").html.count("<tr") == 21


def no_answer(*_: object) -> None:
    raise AssertionError("a poll reads no answer")


def test_results_read_no_answer(
    here: InProcessPortal, dealer: PageClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(send(dealer, "ABC1D23 LMP0A01 ABC1D23"))
    assert "Repetidas, contadas uma vez" in dealer.get(path).text
    act(dealer, path, "iniciar")
    before = ended(here, dealer, path)
    monkeypatch.setattr(Gateway, "read", no_answer)
    assert len(dealer.get(path).all("th", scope="row")) == 2
    assert "faltam" not in before.text


def test_resumed_and_repeated_lookups_name_their_number_and_price(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    """A paused batch names the plate that has failed, and asks only the others."""
    here = portal(DAILY_CALL_LIMIT="6", BATCH_CONCURRENCY="1", **PRICES)
    dealer = visitor(here)
    for lookup in ("decode", "restrictions/renainf", "restrictions/renajud"):
        upstream.script(f"/detran/v1/{lookup}/LMP0A01", faults.status(500))
    path = str(send(dealer, "LMP0A01 ABC1D23 MUL0A45"))
    assert "O limite de hoje dá para 2 de 3 placas. Ali o lote pausa" in dealer.get(path).text
    act(dealer, path, "iniciar")
    for _ in range(500):
        here.parts.batch_runner.tick()
        paused = dealer.get(path)
        if "O limite diário de consultas deste portal foi atingido" in paused.text:
            break
        time.sleep(0.02)
    one = here.client.get(f"/api/v1/batches/{path.removeprefix('/lote/')}").get_json()
    assert (one["counts"]["failed"], one["counts"]["pending"]) == (1, 1)
    assert "Continuar com 1 placa por até R$ 2,45" in paused.text
    assert "Gasto até agora R$ 4,90; a placa que falta custa no máximo R$ 2,45." in paused.text
    assert "Parou em 2 de 3 placas: LMP0A01 falha desde" in paused.text
    assert "e já pode ter custado R$ 2,45." in paused.text
    assert "“Continuar” não consulta de novo o que falhou" in paused.text
    assert not paused.all("form", id="tentar")
    assert "pode ser cobrada outra vez" in paused.text
    assert one["cost"] == {"spent": 4.9, "at_most": 7.35}
    assert "pago duas vezes" not in paused.text


def test_page_confirms_the_price_on_its_button(
    here: InProcessPortal, dealer: PageClient, upstream: FaultUpstream
) -> None:
    """An answer that expires after the page was shown is not paid without a further question."""
    here.get("/detran/v1/decode/ABC1D23")
    path = str(send(dealer, "ABC1D23 LMP0A01", consulta=["decode"]))
    draft = dealer.get(path)
    assert "Consultar 2 placas por até R$ 0,85" in draft.text
    (confirmed,) = {field.get("value") for field in draft.all("input", name="ate")}
    store, log = here.parts.store, PurgeLog(kept_open(None, here.settings.data_dir))
    tag = store.tag("ABC1D23")
    store.purge({tag: log_purge(log.database, tag)[0]})
    data = {"csrf_token": draft.csrf_token(), "ate": str(confirmed)}
    dealer.post(f"{path}/iniciar", data=data)
    wait_until(lambda: "Pausado" in run_once(here, dealer).text, "the pause")
    page = dealer.get(path)
    assert "A próxima consulta passaria do valor confirmado" in page.text
    assert "Ficou de fora 1 placa: cada uma é comprada inteira" in page.text
    assert "“Continuar” confirma o preço de agora" in page.text
    assert "Continuar com 1 placa por até R$ 0,85" in page.text
    assert upstream.count() == 2


def test_draft_whose_answers_have_expired_is_listed_at_its_present_price(
    here: InProcessPortal, dealer: PageClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.get("/detran/v1/decode/ABC1D23")
    path = str(send(dealer, "ABC1D23", consulta=["decode"]))
    monkeypatch.setattr(Gateway, "get_fresh", lambda *_: None)
    assert "até R$ 0,85" in dealer.get("/lote").text
    assert "Consultar 1 placa por até R$ 0,85" in dealer.get(path).text


def test_spent_calls_of_the_day_are_told_beside_the_price(portal: PortalFactory) -> None:
    here = portal(DAILY_CALL_LIMIT="1", **PRICES)
    dealer = visitor(here)
    here.get("/detran/v1/decode/XYZ9K99")
    draft = dealer.get(str(send(dealer, "ABC1D23")))
    assert "O limite de hoje acabou" in draft.text
    assert "Ainda cabem 0" not in draft.text


def test_draft_is_changed_or_discarded(here: InProcessPortal, dealer: PageClient) -> None:
    path = str(send(dealer, "ABC1D23", consulta=["decode"]))
    number = path.removeprefix("/lote/")
    draft = dealer.get(path)
    assert "Alterar a lista ou as consultas" in draft.text
    assert f'href="/lote?corrigir={number}"' in draft.html
    act(dealer, path, "descartar", leads_to="/lote")
    assert "Lote descartado. Nada foi consultado." in dealer.get("/lote").text
    dealer.get(path, 404)
    assert here.client.get(f"/api/v1/batches/{number}").status_code == 404


def test_started_batch_is_not_discarded(here: InProcessPortal, dealer: PageClient) -> None:
    path = str(send(dealer, "ABC1D23"))
    here.parts.batch_runner.stop()
    act(dealer, path, "iniciar")
    act(dealer, path, "descartar")
    assert "0 de 1 placa" in dealer.get(path).text


def test_cancelled_page_waits_for_the_lookups_that_were_sent(
    here: InProcessPortal, dealer: PageClient, upstream: FaultUpstream
) -> None:
    gate = threading.Event()
    upstream.default(faults.held(gate))
    path = str(send(dealer, "ABC1D23 LMP0A01"))
    runner = here.parts.batch_runner
    try:
        act(dealer, path, "iniciar")
        runner.tick()
        upstream.wait_for_calls(2)
        act(dealer, path, "cancelar")
        page = dealer.get(path)
        assert "Lote cancelado. Gasto até agora" in page.text
        assert "falta o fim de 2 chamadas já enviadas" in page.text
        assert 'http-equiv="refresh"' in page.html
    finally:
        gate.set()
    wait_until(lambda: not runner.active, "the end of the lookups")
    page = dealer.get(path)
    assert "Lote cancelado. Custou" in page.text
    assert 'http-equiv="refresh"' not in page.html
    assert upstream.count() == 2


def test_cancellation_is_confirmed_and_its_open_plates_are_filtered(
    here: InProcessPortal, dealer: PageClient
) -> None:
    path = str(send(dealer, "ABC1D23 LMP0A01 ABC12"))
    here.parts.batch_runner.stop()
    act(dealer, path, "iniciar")
    running = dealer.get(path)
    assert "1 linha ficou de fora" in running.text
    (confirmed,) = running.all("details", id="lote-cancelar")
    assert [button.text for button in confirmed.iter() if str(button.tag).endswith("button")] == [
        "Sim, cancelar o lote"
    ]
    assert "As 2 placas que faltam não são consultadas" in running.text
    act(dealer, path, "cancelar")
    cancelled = dealer.get(f"{path}?so=pending")
    assert "1 linha ficou de fora" in cancelled.text
    assert "Não consultadas 2" in cancelled.text
    assert cancelled.text.count("não consultada") == 2
    assert len(cancelled.all("th", scope="row")) == 2


def test_lookup_that_was_not_chosen_is_told_as_such(
    here: InProcessPortal, dealer: PageClient
) -> None:
    path = str(send(dealer, "ABC1D23 79831854647", consulta=["decode"]))
    draft = dealer.get(path)
    assert "Consultar 1 placa por até R$ 0,85" in draft.text
    assert "Renavam, que não tem dados do veículo: escolha multas ou restrições" in draft.text
    assert "Com resposta guardada" not in draft.text
    act(dealer, path, "iniciar")
    done = ended(here, dealer, path)
    assert "Consultas não pedidas neste lote: Multas (Renainf) e Restrições" in done.text
    assert "Faltam" not in done.text
    assert "sem resposta" not in done.text
    assert "Incompletas" not in done.text
    assert "Nada encontrado " not in done.text.replace("“Nada encontrado”", "")
    assert "Só o que foi pedido 2" in done.text
    assert done.text.count("não pedido: multas, restrições judiciais") == 2
    assert done.text.count("não pedida ") >= 2
    rows = here.client.get(f"/api/v1/batches/{path.removeprefix('/lote/')}/results.csv").data
    for row in csv.DictReader(io.StringIO(rows.decode("utf-8-sig")), delimiter=";"):
        assert (row["state"], row["verdict"], row["missing"]) == ("done", "limited", "")
        assert row["not_asked"] == "multas, restrições judiciais"


@pytest.mark.parametrize("search", ["HR-V", "hrv", "honda hr-v", "hondahrv", "ABC-1D23"])
def test_search_ignores_hyphens(
    here: InProcessPortal, dealer: PageClient, upstream: FaultUpstream, search: str
) -> None:
    body = factories.decode_body("ABC1D23", marca="HONDA", descricao="HR-V EX")
    upstream.script("/detran/v1/decode/ABC1D23", faults.answer("hyphen", body))
    path = str(send(dealer, "ABC1D23 LMP0A01", consulta=["decode"]))
    act(dealer, path, "iniciar")
    ended(here, dealer, path)
    assert "/placa/ABC1D23" in dealer.get(f"{path}?busca={search}").html


def test_demo_visitor_finds_the_batches_after_closing_the_browser(portal: PortalFactory) -> None:
    here = portal({})
    response = here.client.get("/lote")
    (cookie,) = response.headers.getlist("Set-Cookie")
    expires = parsedate_to_datetime(re.search("Expires=([^;]+)", cookie)[1])  # type: ignore[index]
    kept_s = here.parts.batches.longest_kept_s
    assert abs((expires - datetime.now(UTC)).total_seconds() - kept_s) < 60
    assert "até 8 dias depois da última visita" in PageClient(here.client).get("/privacidade").text


def test_cookie_of_a_signed_in_visitor_ends_with_the_browser(
    here: InProcessPortal, dealer: PageClient
) -> None:
    send(dealer, "ABC1D23")
    cookie = here.client.get_cookie("portal")
    assert cookie is not None and cookie.expires is None


def test_ticked_rows_lead_to_a_file_of_them_alone(
    here: InProcessPortal, dealer: PageClient, upstream: FaultUpstream
) -> None:
    path = str(send(dealer, "ABC1D23 LMP0A01 MUL0A45 79831854647"))
    act(dealer, path, "iniciar")
    ended(here, dealer, path)
    ticks = "placas=MUL0A45&placas=79831854647"
    with no_upstream_call(upstream):
        for ending in ("csv", "xlsx", "jsonl", "zip"):
            led = here.client.get(f"{path}/marcadas.{ending}?{ticks}")
            where = f"/api/v1/batches/{path.removeprefix('/lote/')}/results.{ending}?plates="
            assert led.status_code == 303
            assert led.headers["Location"].startswith(where), ending
            assert here.client.get(led.headers["Location"]).status_code == 200
    table = here.client.get(here.client.get(f"{path}/marcadas.csv?{ticks}").headers["Location"])
    rows = list(csv.DictReader(io.StringIO(table.get_data(as_text=True)[1:]), delimiter=";"))
    assert [row["plate"] for row in rows] == ["MUL0A45", "7983185464-7"]
    zipped = here.client.get(f"{path}/marcadas.zip?{ticks}").headers["Location"]
    with zipfile.ZipFile(io.BytesIO(here.client.get(zipped).data)) as files:
        assert sum("ABC1D23" in name or "LMP0A01" in name for name in files.namelist()) == 0
    # A row that the batch does not have gives none, and nothing ticked gives all.
    results = zipped.partition("?")[0].replace(".zip", ".csv")
    assert here.client.get(f"{results}?plates=AAA1A11").get_data(as_text=True).count("\n") == 1
    assert here.client.get(f"{results}?plates=").status_code == 200
    assert here.client.get(f"{results}?plates=A&plates=B").status_code == 400
    dealer.get(f"{path}/marcadas.doc", 404)
    other = here.app.test_client()
    led = other.get(f"{path}/marcadas.csv?{ticks}")
    assert led.headers["Location"].startswith("/entrar?next=")
    assert other.get(f"{results}?plates=MUL0A45").status_code == 401


def test_list_has_the_name_that_its_owner_gives_it(
    here: InProcessPortal, dealer: PageClient
) -> None:
    path = str(send(dealer, "ABC1D23 LMP0A01"))

    def name(text: str, client: PageClient = dealer, status: int = 303) -> None:
        token = client.get("/lote").csrf_token()
        client.post(f"{path}/nome", status, data={"csrf_token": token, "nome": text})

    name("  Leilão <b>de terça ")
    assert text_of(dealer.get(path).all("h1")[0]) == "Leilão <b>de terça"
    for listing in ("/lote", "/historico"):
        assert "Leilão <b>de terça" in dealer.get(listing).text
    stranger = Person.at(here).signed_in(issue(here, "bia")).pages
    name("minha", stranger, 404)
    assert "Leilão" not in stranger.get("/lote").text
    name("x" * 500)
    assert "x" * 60 in dealer.get(path).text and "x" * 61 not in dealer.get(path).text
    name(" ")
    assert text_of(dealer.get(path).all("h1")[0]) == "Lote de 2 placas"
    assert dealer.client.post(f"{path}/nome", data={"nome": "sem"}).status_code in (400, 403)


def test_search_without_room_for_a_draft_says_why_at_once(
    dealer: PageClient, upstream: FaultUpstream
) -> None:
    typed = " ".join(f"ABC1D{number}" for number in range(10, 16))
    search = partial(dealer.client.get, "/buscar", query_string={"q": typed})
    for _ in range(MOST_DRAFTS):
        assert search().headers["Location"].startswith("/lote/")
    where = search().headers["Location"]
    assert where.startswith("/lote?placas=ABC1D10")
    assert TOO_MANY_DRAFTS in dealer.get(where).text
    assert upstream.count() == 0


def test_retry_that_asks_nothing_says_why(
    here: InProcessPortal, dealer: PageClient, upstream: FaultUpstream
) -> None:
    upstream.script("/detran/v1/decode/LMP0A01", faults.status(500))
    path = str(send(dealer, "ABC1D23 LMP0A01"))
    act(dealer, path, "iniciar")
    done = ended(here, dealer, path)
    here.wait_out_failures()
    with no_upstream_call(upstream):
        for plate, price, reason in (
            ("LMP0A01", "0.84", "O preço mudou. Confira o de agora; nada foi consultado."),
            ("ABC1D23", "0.85", "Nada foi consultado: nenhuma destas placas falhou."),
        ):
            sent = {"placa": plate, "ate": price, "csrf_token": done.csrf_token()}
            assert str(dealer.post(f"{path}/tentar", data=sent)).endswith(path)
            assert reason in dealer.get(path).text
            assert reason not in dealer.get(path).text


def test_price_that_is_no_longer_known_is_said(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    dealer = visitor(here)
    path = str(send(dealer, "ABC1D23"))
    draft = dealer.get(path)
    with no_upstream_call(upstream):
        dealer.post(f"{path}/iniciar", data={"ate": "2.45", "csrf_token": draft.csrf_token()})
    assert "O portal deixou de informar o preço de uma das consultas." in dealer.get(path).text


@pytest.mark.parametrize(
    ("calls", "budget", "words"),
    [
        ("0", "60", "O orçamento do mês dá para o lote inteiro."),
        ("9", "60", "O limite de hoje e o orçamento do mês dão para o lote inteiro."),
        ("9", "7.30", "O orçamento do mês dá para 2 de 3 placas. Ali o lote pausa e continua "),
        ("9", "0.80", "O orçamento do mês não dá para nenhuma placa: o lote pausa no começo e "),
        (
            "3",
            "7.30",
            "O limite de hoje dá para 1 de 3 placas. Ali o lote pausa e continua ",
        ),
        ("3", "2.40", "O orçamento do mês não dá para nenhuma placa: o lote pausa no começo e "),
    ],
)
def test_draft_says_for_how_many_the_limits_of_day_and_month_are_enough(
    portal: PortalFactory, calls: str, budget: str, words: str
) -> None:
    """Of three plates, each for three calls and R$ 2,45."""
    prices = {**PRICES, "PRICE_REPORT": "1"}
    here = portal(DAILY_CALL_LIMIT=calls, MONTHLY_BUDGET=budget, **prices)
    dealer = visitor(here)
    assert words in dealer.get(str(send(dealer, "LMP0A01 ABC1D23 MUL0A45"))).text
