"""Tests that render every template and check its HTML."""

import gzip
import re
from datetime import timedelta
from functools import cache
from pathlib import Path, PurePosixPath

import pytest
from jinja2 import meta, nodes
from markupsafe import Markup, escape

from portal.dossier.answers import Panels, WrittenReport
from portal.law.standing import Standing
from portal.presentation.vehicle.panel_frame import PANEL_NAMES, PanelName
from portal.vehicle.field import Field
from portal.vehicle.plate import Renavam
from portal.web.http.assets import BUNDLES
from tests.factories import (
    HIDDEN,
    decode_body,
    fine,
    fipe_entry,
    payment,
    price_history,
    renainf_body,
    renajud_body,
    report_body,
    restriction,
)
from tests.presentation.checked_pages import checked, html_of
from tests.presentation.pages import dossier_page, panel_fragment, renavam_page, vehicle_page
from tests.presentation.rendering import (
    ASSETS,
    CONTEXT,
    DOWN,
    ENVIRONMENT,
    PLATE,
    ROOT,
    UNASKED,
    UNASKED_PANELS,
    answered,
    panels,
    render,
    site,
)
from tests.presentation.specimens import PAGES
from tests.web.html_checker import HTML, check_html, text_of


def test_words_of_the_portal_are_drawn_once_for_each() -> None:
    drawn: list[object] = []

    def noted(word: object) -> object:
        drawn.append(word)
        return word

    source = "{% macro mark(word) %}<b>{{ word | noted }}</b>{% endmacro %}{{ mark | once(word) }}"
    environment = ENVIRONMENT.overlay()
    environment.filters = {**ENVIRONMENT.filters, "noted": noted}
    template = environment.from_string(source + "{{ mark | once(word) }}{{ mark | once(1) }}")
    assert template.render(word="<i>") == "<b>&lt;i&gt;</b>" * 2 + "<b>1</b>"
    assert drawn == ["<i>", 1]


@pytest.mark.parametrize(
    "value", ["<a b='c'>&amp; \"d\"</a>", Markup("<b>&amp;</b>"), Field("<i>"), Standing.PAID, -1.5]
)
def test_template_writes_what_markupsafe_escapes(value: object) -> None:
    assert ENVIRONMENT.from_string("{{ value }}").render(value=value) == str(escape(value))


@pytest.mark.parametrize("name", PAGES)
def test_phones_make_no_telephone_link_of_a_renavam(name: str) -> None:
    html = html_of(name)
    assert '<meta name="format-detection" content="telephone=no">' in html


def whole_page(**bodies: bytes) -> str:
    return render(vehicle_page(PLATE, panels(**bodies), UNASKED, CONTEXT))


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_valid_html_for_guests_and_users(name: str) -> None:
    checked(name)
    page = PAGES[name]()
    for around in (
        site(demo=False),
        site(demo=False, signed_in="revenda <silva>", is_operator=True),
    ):
        check_html(render(page, around))


CLASS = re.compile(r"\.([a-z][a-z0-9_-]*)")
SHEETS = {PurePosixPath(bundle).stem for bundle in BUNDLES}


@cache
def classes_of(sheet: str) -> frozenset[str]:
    return frozenset(CLASS.findall(ASSETS.read(f"css/{sheet}.css").body.decode()))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_links_the_sheets_that_its_classes_need(name: str) -> None:
    html = html_of(name)
    used = {each for names in re.findall(r'class="([^"]*)"', html) for each in names.split()}
    linked = [sheet for sheet in SHEETS if ASSETS.url(f"css/{sheet}.css") in html]
    given = set().union(*map(classes_of, linked))
    missing = {sheet: used & classes_of(sheet) - given for sheet in SHEETS}
    assert not linked or not any(missing.values()), missing


@pytest.mark.parametrize("sheet", sorted(SHEETS - {"portal"}))
def test_no_template_links_a_sheet_in_vain(sheet: str) -> None:
    alone = classes_of(sheet).difference(*(classes_of(other) for other in SHEETS - {sheet}))
    linking, needing = set(), set()
    for name, build in PAGES.items():
        html = html_of(name)
        if ASSETS.url(f"css/{sheet}.css") in html:
            linking.add(build().template)
            if any(each in html for each in alone):
                needing.add(build().template)
    assert linking == needing


def test_every_page_template_is_rendered() -> None:
    rendered = {build().template for build in PAGES.values()}
    assert rendered == {f"pages/{path.name}" for path in (ROOT / "templates/pages").iterdir()}


@cache
def parsed(path: Path) -> nodes.Template:
    return ENVIRONMENT.parse(path.read_text())


def imported_by(tree: nodes.Template) -> set[str]:
    return {
        name if isinstance(name, str) else name[1]
        for node in tree.find_all(nodes.FromImport)
        for name in node.names
    }


@pytest.mark.parametrize(
    "path", sorted((ROOT / "templates").rglob("*.html")), ids=lambda path: path.stem
)
def test_templates_use_only_known_variables(path: Path) -> None:
    known = {"page", "site", "panel"} if path.parent.name == "panels" else {"page", "site"}
    if path.parent.name == "components":
        known = set()
    if path.stem == "base":
        known |= {"styles", "robots", "scripts"}  # a page's template may set them
    tree = parsed(path)
    # jinja2.meta analyses blocks without the imports above them.
    imported = imported_by(tree)
    macros = {node.name for node in tree.find_all(nodes.Macro)}
    assert meta.find_undeclared_variables(tree) <= known | imported | macros | {"caller"}


@pytest.mark.parametrize(
    "path", sorted((ROOT / "templates").rglob("*.html")), ids=lambda path: path.stem
)
def test_templates_use_all_their_imports(path: Path) -> None:
    tree = parsed(path)
    imported = imported_by(tree)
    used = {node.name for node in tree.find_all(nodes.Name) if node.ctx == "load"}
    assert imported <= used


@pytest.mark.parametrize("name", PANEL_NAMES)
def test_panel_fragment_equals_panel_of_whole_page(name: PanelName) -> None:
    alone = render(panel_fragment(name, PLATE, panels(), CONTEXT))
    sections = re.findall(r"<section.*?</section>", alone, re.DOTALL)
    assert all(section in whole_page() for section in sections)
    assert f'id="{name}"' in alone
    parts = re.findall(r'data-part-of="(\w+)"', alone)
    assert set(parts) <= {name}
    assert len(sections) + alone.count("<nav") == len(parts) + 1


def test_waiting_page_has_panel_urls_and_meta_refresh() -> None:
    html = render(vehicle_page(PLATE, UNASKED_PANELS, UNASKED, CONTEXT))
    for name in PANEL_NAMES:
        assert f'data-panel-url="/placa/ABC1D23/painel/{name}"' in html
    assert html.count('aria-busy="true"') == len(PANEL_NAMES)
    head = html.partition("</head>")[0]
    assert '<meta http-equiv="refresh" content="0; url=/placa/ABC1D23?completo=1">' in head


def test_whole_page_has_no_waiting_panel_or_refresh() -> None:
    html = whole_page()
    assert 'data-panel="waiting"' not in html
    assert "http-equiv" not in html


def test_visit_without_follow_shows_buttons() -> None:
    html = render(vehicle_page(PLATE, UNASKED_PANELS, UNASKED, CONTEXT, follow=False))
    assert 'data-panel="waiting"' not in html
    assert "http-equiv" not in html
    assert html.count("Consultar agora") == len(PANEL_NAMES)


def test_hidden_marker_is_shown_as_badge() -> None:
    for html in (whole_page(), render(PAGES["dossier"]())):
        assert HIDDEN not in html
        assert "oculto pela fonte" in html


def test_missing_price_is_never_shown_as_zero() -> None:
    poor = decode_body(
        str(PLATE),
        marca="",
        potencia="0",
        informacoesFipe=[fipe_entry(valorAtual="", historicoPreco=[])],
    )
    bodies = {"decode": poor, "renainf": renainf_body(fine(valor="", codigoInfracao="0000"))}
    for html in (
        whole_page(**bodies),
        render(
            dossier_page(
                PLATE, panels(**bodies), UNASKED, CONTEXT, address="https://portal.example"
            )
        ),
    ):
        assert "não informado" in html
        assert not re.search(r"R\$\s0,00", html)


def test_unavailable_panel_is_not_a_clean_record() -> None:
    mixed = Panels(panels().vehicle, DOWN, panels().orders)
    page = text_of(check_html(render(vehicle_page(PLATE, mixed, UNASKED, CONTEXT))))
    assert "Multas: indisponíveis — não significa “nada consta”" in page
    assert DOWN.reason in page
    assert "Nenhuma multa" not in page


def test_answer_without_list_is_unreadable() -> None:
    odd = b'{"status": "SUCCESS", "result": "em manutencao"}'
    page = whole_page(renainf=odd, renajud=odd)
    assert "Nenhuma multa" not in page
    assert "Nenhuma restrição" not in page
    assert "não reconhece" in page


def test_renavam_page_omits_price_instead_of_unavailable() -> None:
    html = render(
        renavam_page(Renavam.parse("12345678910"), panels().fines, panels().orders, CONTEXT)
    )
    main = check_html(html).find(f".//{HTML}main")
    assert main is not None
    shown = text_of(main)
    assert "Deve" in shown
    assert "indisponível" not in shown
    assert "Vale" not in shown.partition("Transferir")[0]
    undecoded = Panels(DOWN, panels().fines, panels().orders)
    down = text_of(check_html(render(vehicle_page(PLATE, undecoded, UNASKED, CONTEXT))))
    assert "Valeindisponível" in down


def test_clean_record_names_its_limits() -> None:
    page = whole_page(renainf=renainf_body(), renajud=renajud_body())
    assert "Nenhuma multa nos registros consultados" in page
    assert "Nenhuma restrição judicial nos registros consultados" in page
    assert "Antes de pagar" in page


def test_stale_panel_shows_date_and_refresh_price() -> None:
    stale = answered(renajud_body(), "stale", age=timedelta(days=2), price="3.5")
    mixed = Panels(panels().vehicle, panels().fines, stale)
    page = text_of(check_html(render(vehicle_page(PLATE, mixed, UNASKED, CONTEXT))))
    assert "resposta guardada de 18/11/2026 às 21:15" in page
    assert "consultar de novo custa R$ 3,50" in page
    assert "resposta guardada no portal" in page


def test_verdict_reasons_link_to_records() -> None:
    html = whole_page()
    for anchor in re.findall(r'href="#((?:multa|restricao)-\d+)"', html):
        assert f'id="{anchor}"' in html
    assert 'href="#restricao-1"' in html


def test_truncated_amount_is_shown_with_cents() -> None:
    seen = fine(
        valor="130",
        dataInfracao="18/08/2024",
        dataEmissaoNotificacao="09/09/2024",
        pagamento=payment(),
    )
    page = text_of(check_html(whole_page(renainf=renainf_body(seen))))
    for part in ("R$ 130,16", "média", "4 pontos", "art. 218, I", "22 de 30 dias"):
        assert part in page


def test_gravity_counts_are_pluralised() -> None:
    one = whole_page(renainf=renainf_body(fine()))
    assert "por gravidade: 1 média." in one
    odd = fine(codigoInfracao="99999")
    several = whole_page(renainf=renainf_body(fine(), fine(), odd, odd))
    assert "por gravidade: 2 médias, 2 não identificadas." in several


def test_hostile_text_is_escaped() -> None:
    attack = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
    html = whole_page(
        decode=decode_body(
            str(PLATE), descricao=attack, informacoesFipe=[fipe_entry(versao=attack)]
        ),
        renainf=renainf_body(fine(descricao=attack, codigoInfracao=attack, localInfracao=attack)),
        renajud=renajud_body(restriction(tribunal=attack, restricoes=attack)),
    )
    check_html(html)
    assert "<script>alert" not in html
    assert "<img src=x" not in html


def test_chart_has_text_alternative_and_table() -> None:
    html = whole_page()
    assert re.search(r"<title id=\"grafico-titulo\">Preço FIPE de SED", html)
    assert "o maior preço foi" in html
    assert "mês a mês</summary>" in html
    assert " style=" not in html


def test_report_owner_names_are_masked() -> None:
    report = answered(report_body())
    assert "MARIA APARECIDA" not in render(vehicle_page(PLATE, panels(), report, CONTEXT))


def test_outdated_report_is_marked() -> None:
    report = answered(report_body())
    outdated = WrittenReport("fresh", report.body, report.result, CONTEXT.now, outdated=True)
    page = vehicle_page(PLATE, panels(), outdated, CONTEXT)
    assert "registros mudaram desde então" in render(page)
    assert "registros mudaram" not in render(vehicle_page(PLATE, panels(), report, CONTEXT))


def test_heaviest_page_is_under_60_kb_compressed() -> None:
    candidates = [
        fipe_entry(
            versao=f"VERSAO {number} 1.8 16V TURBO",
            historicoPreco=price_history(120, 6, (2017, 6), 90_000 + 1_371 * number),
        )
        for number in range(6)
    ]
    html = whole_page(
        decode=decode_body(str(PLATE), informacoesFipe=candidates),
        renainf=renainf_body(*(fine(localInfracao=f"BR-{n} KM {n * 7}") for n in range(40))),
        renajud=renajud_body(*(restriction(processo=f"{n}") for n in range(6))),
    )
    style = gzip.compress(ASSETS.read("css/portal.css").body)
    script = gzip.compress(ASSETS.read("js/panels.js").body)
    assert len(gzip.compress(html.encode())) + len(style) + len(script) < 60_000


def test_dossier_names_unavailable_lookups() -> None:
    page = dossier_page(
        PLATE, Panels(DOWN, DOWN, panels().orders), UNASKED, CONTEXT, address="https://p.example"
    )
    text = text_of(check_html(render(page)))
    assert text.count("não significa “nada consta”") >= 2
    assert "Restrição de transferência" in text


def test_expired_answers_of_a_batch_lead_to_another_batch() -> None:
    """The button of a done batch looks up only the vehicles that failed."""
    page = PAGES["batch, done with expired answers"]()
    html = render(page)
    assert "2 placas têm respostas vencidas, que este lote não consulta de novo." in html
    assert f'<a href="/lote?corrigir={page.batch.id}">faça outro lote com esta lista</a>' in html
    assert "vencidas, que" not in render(PAGES["batch, done"]())


def test_panel_without_price_mentions_no_cost() -> None:
    assert "custa" not in whole_page()


def test_acts_of_one_answer_share_a_line_of_an_order() -> None:
    html = whole_page(renajud=renajud_body(restriction(), restriction(processo="2")))
    for lines in re.findall(r'<ul class="order-acts".*?</ul>', html, re.DOTALL):
        words = re.findall(r"<b>(.*?)</b>", lines)
        assert len(words) == len(set(words)) == lines.count("<li")
        acts = ("transferir", "licenciar", "circular", "recolher ao pátio")
        assert [lines.count(act) for act in acts] == [1, 1, 1, 1]
    assert html.count('<ul class="order-acts"') == 2
