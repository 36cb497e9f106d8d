"""The pages to measure, and the states to measure them in."""

import re
import time
from dataclasses import dataclass
from typing import Any, Final, Literal

import requests
from playwright.sync_api import ViewportSize

from tests.browser.waiting import wait_in

OPERATOR: Final = "operator-token-of-the-visits"
# With these settings the demo portal accepts the token OPERATOR.
SETTINGS: Final = {"PORTAL_ACCESS_TOKENS": OPERATOR, "PORTAL_PRICE_DECODE": "0.85"}
# Panel requests never complete, so the panels stay in their waiting state.
_NO_ANSWER: Final = "window.fetch = () => new Promise(() => {})"


@dataclass(frozen=True, slots=True)
class Visit:
    """A page to open.

    ``waits``: keep its panels in the waiting state. ``follows``: wait until all panels have loaded.
    ``first``: a path to open first, so that the answers are already stored. ``signs_in``: sign in
    with OPERATOR, a token of scope ``admin``. ``batch``: instead of ``path``, open a batch of 40
    plates in this state, or the page of this batch whose path ends with ``below``. ``issues``:
    instead of ``path``, open the issued dossier of that vehicle.
    """

    name: str
    path: str
    status: int = 200
    waits: bool = False
    follows: bool = False
    first: str = ""
    batch: Literal["", "draft", "paused", "done"] = ""
    below: str = ""
    signs_in: bool = False
    issues: bool = False


VISITS: Final = (
    Visit("search", "/", first="/placa/ABC1D23?completo=1"),
    Visit("search, refused", "/buscar?q=%3Cb%3E", status=400),
    Visit("vehicle", "/placa/ABC1D23", first="/placa/ABC1D23?completo=1"),
    Visit("vehicle, arriving", "/placa/TRA0A01", follows=True),
    Visit("vehicle, waiting", "/placa/CIR0A01", waits=True),
    Visit("vehicle, unavailable", "/placa/FOR0A02?completo=1"),
    Visit("vehicle, 45 fines", "/placa/MUL0A45?completo=1"),
    Visit("vehicle, 6 versions", "/placa/FIP0A06?completo=1"),
    Visit("renavam", "/renavam/79831854647"),
    Visit("negotiation", "/placa/ABC1D23/negociacao"),
    Visit("search, suggestion", "/buscar?q=AB01D23", status=400),
    Visit("comparison", "/comparar?placas=ABC1D23,LMP0A01&completo=1"),
    Visit("comparison, three", "/comparar?placas=ABC1D23,FIP0A03,FOR0A02&completo=1"),
    Visit("comparison, empty", "/comparar"),
    Visit("batch form", "/lote", first="/placa/ABC1D23?completo=1"),
    Visit("batch, refused", "/lote?corrigir=x"),
    Visit("batch, draft", "/lote", batch="draft"),
    Visit("batch, paused", "/lote", batch="paused"),
    Visit("batch, done", "/lote", batch="done"),
    Visit("deciding", "/lote", batch="done", below="/mesa"),
    Visit("deciding, end", "/lote", batch="done", below="/mesa?fim=1"),
    Visit(
        "vehicle in a list",
        "/placa/ABC1D23?lista=/historico&n=2&de=3",
        first="/placa/ABC1D23?completo=1",
    ),
    Visit("history", "/historico", first="/placa/ABC1D23?completo=1"),
    Visit("history, empty", "/historico"),
    Visit("sign-in for a plate", "/entrar?next=/placa/ABC1D23"),
    Visit("dossier", "/placa/ABC1D23/dossie"),
    Visit("dossier, 45 fines", "/placa/MUL0A45/dossie"),
    Visit("dossier, unavailable", "/placa/FOR0A02/dossie"),
    Visit("dossier, issued", "/placa/ABC1D23?completo=1", issues=True),
    Visit("sheet", "/placa/ABC1D23/folha?linha=gravame", first="/placa/ABC1D23?completo=1"),
    Visit("sheet, unasked", "/placa/LMP0A01/folha"),
    Visit("declare many", "/declarar?placas=ABC1D23&placas=LMP0A01"),
    Visit("glossary", "/glossario"),
    Visit("api", "/api"),
    Visit("privacy", "/privacidade"),
    Visit("status", "/situacao"),
    Visit("sign-in", "/entrar"),
    Visit("notice", "/conferir-multa?orgao=000100&auto=X1&codigo=7455&valor=250"),
    Visit("notice, refused", "/conferir-multa?orgao=abc", status=400),
    Visit("verify", "/verificar"),
    Visit("verify, forged", "/verificar?codigo=abc"),
    Visit("verify, unknown file", f"/verificar?sha256={'0' * 64}"),
    Visit("operations", "/operacao", first="/placa/ABC1D23?completo=1", signs_in=True),
    Visit("trail", "/operacao/trilha", first="/placa/ABC1D23?completo=1", signs_in=True),
    Visit("token, new", "/operacao/tokens/emitir", signs_in=True),
    Visit("token, revoked", "/operacao/tokens/loja-central/revogar", signs_in=True),
    Visit("error", "/nada", status=404),
)
# The pages with most texts and controls, one of each template and state that people use daily.
DAILY: Final = frozenset(
    {
        "search",
        "vehicle",
        "vehicle, 45 fines",
        "negotiation",
        "comparison, three",
        "batch, draft",
        "deciding",
        "history",
        "dossier",
        "sheet",
        "declare many",
        "notice",
        "api",
        "operations",
    }
)

DESKTOP: Final = ViewportSize(width=1280, height=900)
SMALL: Final = ViewportSize(width=320, height=640)


# Forty entries, then one plate again and two mistyped plates. FOR0A02 gets no answer.
_PLATES: Final = ["ABC1D23", "FOR0A02", "JUD0A04", "FIP0A06", "MUL0A45", "VAZ0A00", "79831854647"]
_TYPED: Final = " ".join([*_PLATES, *(f"QTZ{n // 10}F{n % 10}1" for n in range(33)), "ABC1D23"])
_MISTAKES: Final = "\nABC12\nLMPOA01"
_NO_PROGRESS_S: Final = 120


def prepared(base: str, visit: Visit) -> tuple[str, str]:
    """Prepare a visit; return its path and the value of its Cookie header."""
    with requests.Session() as session:
        session.trust_env = False

        def send(form: str, path: str, **fields: str | list[str]) -> str:
            """Submit the form of a page; return the path of the page that follows."""
            html = session.get(base + form, timeout=60).text
            found = re.search('name="csrf_token" value="([^"]+)"', html)
            assert found is not None
            data = {"csrf_token": found[1], **fields}
            answer = session.post(base + path, data=data, timeout=60)
            assert answer.status_code == 200, (path, answer.status_code)
            return answer.url.removeprefix(base)

        path = visit.path
        if visit.signs_in:
            send("/entrar", "/entrar", token=OPERATOR)
        if visit.first:
            session.get(base + visit.first, timeout=60)
        if visit.issues:
            path = send(path, f"{path.partition('?')[0]}/dossie/emitir")
        if visit.batch:
            asked = ["decode", "renainf", "renajud"]
            path = send("/lote", "/lote", placas=_TYPED + _MISTAKES, consulta=asked)
        if visit.batch in ("paused", "done"):
            send(path, f"{path}/iniciar")
        if visit.batch == "paused":
            send(path, f"{path}/pausar")
        if visit.batch == "done":
            _wait_for_end(session, base + path)
        return path + visit.below, "; ".join(
            f"{name}={value}" for name, value in session.cookies.items()
        )


def _wait_for_end(session: requests.Session, address: str) -> None:
    """Wait for the end of a batch as long as it makes progress, however slow the machine is."""
    ended, deadline = "", time.monotonic() + _NO_PROGRESS_S
    while "batch-done" not in (html := session.get(address, timeout=60).text):
        bar = re.search(r"<progress [^>]*value=\"(\d+)\"", html)
        if bar and bar[1] != ended:
            ended, deadline = bar[1], time.monotonic() + _NO_PROGRESS_S
        assert time.monotonic() < deadline, f"the batch stopped after {ended or 'no'} vehicles"
        time.sleep(0.5)


def dress(page: Any, medium: str) -> None:
    """Switch an open page to ``light``, ``dark``, ``320px`` or ``print``."""
    page.set_viewport_size(SMALL if medium == "320px" else DESKTOP)
    page.emulate_media(
        media="print" if medium == "print" else "screen",
        color_scheme="dark" if medium == "dark" else "light",
    )


MEDIA: Final = ("light", "dark", "320px", "print")


def open_page(page: Any, base: str, visit: Visit) -> None:
    """Open the page and wait until it is complete."""
    if visit.waits:
        page.add_init_script(_NO_ANSWER)
    path, cookie = prepared(base, visit)
    if cookie:
        name, _, value = cookie.partition("=")
        page.context.add_cookies([{"name": name, "value": value, "url": base}])
    answer = page.goto(base + path, wait_until="load")
    assert answer.status == visit.status, (visit.path, answer.status)
    if visit.follows:
        page.wait_for_selector("main")
        wait_in(page, "!document.querySelector('[data-panel=waiting]')")
