"""Tests that ``check_html`` and the page client detect each fault."""

import flask
import pytest

from tests.web.html_checker import PageFault, check_html
from tests.web.page_client import PageClient, every_reference

pytestmark = pytest.mark.long  # tests of what the tests use

GOOD = """<!doctype html>
<html lang="pt-BR">
<head><meta charset="utf-8"><title>Dossiê Veicular</title>
<link rel="stylesheet" href="/static/base.css">
<link rel="canonical" href="https://example.test/">
<script src="/static/page.js" defer></script></head>
<body>
<!-- a comment is nobody's business -->
<a href="#conteudo">Ir para o conteúdo</a>
<a href="https://www.gov.br/">gov.br</a> <a href="/glossario#fipe">FIPE</a>
<main id="conteudo"><h1>Consulta</h1>
<form action="/entrar" method="post">
<input type="hidden" name="csrf_token" value="abc">
<label for="token">Token</label><input id="token" name="token" aria-describedby="dica">
<p id="dica">O seu token.</p><button>Entrar</button></form>
<form action="/buscar"><label>Placa <input name="q"></label></form>
<img src="/static/placa.png" alt="" srcset="/a.png 1x, /b.png 2x">
<svg viewBox="0 0 10 10" role="img" aria-labelledby="desenho"><title id="desenho">Preço</title>
<defs><clipPath id="recorte"><rect width="5" height="5"/></clipPath></defs>
<g clip-path="url(#recorte)"><use href="#recorte"/></g></svg>
</main></body></html>"""

BAD = {
    "no doctype": ("<!doctype html>", "", "doctype"),
    "unclosed element": ("</main>", "", "main"),
    "block in a paragraph": ("O seu token.", "<div>O</div>", "No <p> tag to close"),
    "wrongly nested": ("O seu token.", "<b><i>O</b></i>", "Formatting element"),
    "text in a table": ("<h1>", "<table>a</table><h1>", "table text"),
    "same attribute twice": ('<p id="dica"', '<p id="dica" id="b"', "uplicate"),
    "no character": ("O seu token.", "&foo;", "&foo;"),
    "error without scripts": ("<h1>", "<noscript><p class=a class=b></p></noscript><h1>", "dupl"),
    "style without scripts": ("<h1>", '<noscript><p style="a"></p></noscript><h1>', "style"),
    "other language": ("pt-BR", "pt", "lang"),
    "no title": ("<title>Dossiê Veicular</title>", "", "0 titles"),
    "empty title": ("<title>Dossiê Veicular", "<title> ", "empty"),
    "two headings": ("</h1>", "</h1><h1>Outra</h1>", "2 h1"),
    "no heading": ("<h1>Consulta</h1>", "", "0 h1"),
    "duplicate id": ('id="dica"', 'id="token"', "used 2 times"),
    "id with a blank": ('id="recorte"', 'id="um recorte"', "blank"),
    "label for nobody": ('for="token"', 'for="outro"', "'outro'"),
    "description by nobody": ('describedby="dica"', 'describedby="nada"', "'nada'"),
    "link into nowhere": ('href="#conteudo"', 'href="#fim"', "'fim'"),
    "drawing by nobody": ("url(#recorte)", "url(#nada)", "'nada'"),
    "use of nobody": ('<use href="#recorte"/>', '<use xlink:href="#x"/>', "'x'"),
    "image without alt": ('alt=""', "", "alt"),
    "field without label": ("<label>Placa ", "<label></label>", "has no label"),
    "button without name": ("<button>Entrar", "<button>", "button"),
    "form without token": ('value="abc"', 'value=""', "csrf_token"),
    "token in an address": ('method="post"', 'method="get"', "into the address"),
    "style element": ("</head>", "<style>p{}</style></head>", "style element"),
    "style attribute": ("<h1>", '<h1 style="color:red">', "style attribute"),
    "inline script": (' src="/static/page.js" defer>', ">alert(1)", "inline script"),
    "handler": ("<button>", '<button onclick="x()">', "onclick"),
    "script address": ('href="https://www.gov.br/"', 'href=" JavaScript:x()"', "script"),
    "foreign stylesheet": ("/static/base.css", "https://cdn.test/a.css", "cdn.test"),
    "foreign script": ("/static/page.js", "//cdn.test/a.js", "cdn.test"),
    "foreign candidate": ("/b.png 2x", "https://cdn.test/b.png 2x", "cdn.test"),
    "foreign form": ('action="/buscar"', 'action="https://x.test/"', "x.test"),
    "foreign drawing": ('<use href="#recorte"/>', '<image href="http://x.test/a"/>', "x.test"),
    "base element": ("<title>", '<base href="/a/"><title>', "base"),
}


def test_valid_page_passes() -> None:
    assert check_html(GOOD).get("lang") == "pt-BR"


@pytest.mark.parametrize(("old", "new", "message"), BAD.values(), ids=BAD.keys())
def test_fault_is_reported(old: str, new: str, message: str) -> None:
    assert GOOD.count(old) >= 1
    with pytest.raises(PageFault) as fault:
        check_html(GOOD.replace(old, new, 1))
    assert message in str(fault.value)


def test_all_faults_are_reported_together() -> None:
    with pytest.raises(PageFault) as fault:
        check_html(GOOD.replace("pt-BR", "en").replace("<h1>", '<h1 style="x">'))
    assert len(str(fault.value).splitlines()) == 2


@pytest.fixture
def pages() -> PageClient:
    app = flask.Flask(__name__, static_folder=None)
    app.add_url_rule("/", "good", lambda: GOOD)
    app.add_url_rule("/mau", "bad", lambda: GOOD.replace("pt-BR", "en"))
    app.add_url_rule("/texto", "text", lambda: (GOOD, {"Content-Type": "text/plain"}))
    app.add_url_rule("/sair", "out", lambda: flask.redirect("/", 303), methods=["POST"])
    return PageClient(app.test_client())


def test_page_client_returns_only_checked_pages(pages: PageClient) -> None:
    page = pages.get("/")
    assert (page.title, page.h1, page.csrf_token()) == ("Dossiê Veicular", "Consulta", "abc")
    assert "O seu token." in page.text
    assert page.by_id("dica").tag.endswith("}p")
    assert len(page.all("input", type="hidden")) == 1
    assert list(every_reference(page)) == ["/glossario"]
    for path in ("/mau", "/texto"):
        with pytest.raises(PageFault):
            pages.get(path)
    with pytest.raises(AssertionError, match="404, not 200"):
        pages.get("/nada")


def test_page_client_post_returns_redirect_location(pages: PageClient) -> None:
    assert pages.post("/sair") == "/"
