"""Tests of the panels' states and contents, also with malformed answers."""

import json
from dataclasses import fields, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from portal.dossier.answers import Panels, answer_panel, is_readable
from portal.gateway.lookup import Served
from portal.presentation.paths import subject_path
from portal.presentation.site.public_pages import ErrorPage
from portal.presentation.site.search_page import LONGEST_QUERY, SearchPage
from portal.presentation.vehicle.panel_frame import PANEL_NAMES, panel_needs
from portal.vehicle.operation_name import LOOKUPS
from portal.vehicle.plate import Plate, Renavam
from tests.factories import (
    HIDDEN,
    decoded,
    fine,
    fipe_entry,
    payment,
    price_history,
    renainf_body,
    renajud_body,
    report_body,
    restriction,
)
from tests.presentation.odd_records import JSON, odd
from tests.presentation.pages import (
    Context,
    dossier_page,
    panel_fragment,
    renavam_page,
    vehicle_page,
)
from tests.presentation.rendering import (
    CONTEXT,
    DOWN,
    NOW,
    PLATE,
    ROOT,
    UNASKED,
    UNASKED_PANELS,
    answered,
    panels,
    render,
)
from tests.web.html_checker import check_html


def states(page: Any) -> dict[str, str]:
    return {panel.name: panel.state for panel in page.records.all}


def test_panels_are_the_lookups_in_their_order() -> None:
    """Several callers build Panels from a sequence in the order of LOOKUPS."""
    assert [each.name for each in fields(Panels)] == ["vehicle", "fines", "orders", "report"]
    assert LOOKUPS == ("decode", "renainf", "renajud")


def test_panel_waits_for_all_its_lookups() -> None:
    known = panels()
    partly = Panels(known.vehicle, UNASKED, known.orders)
    assert states(vehicle_page(PLATE, partly, UNASKED, CONTEXT)) == {
        "resumo": "waiting",
        "veiculo": "ready",
        "multas": "waiting",
        "restricoes": "ready",
    }
    assert states(vehicle_page(PLATE, partly, UNASKED, CONTEXT, follow=False))["multas"] == "idle"


def test_summary_is_ready_with_one_lookup_missing() -> None:
    partly = Panels(panels().vehicle, DOWN, panels().orders)
    page = vehicle_page(PLATE, partly, UNASKED, CONTEXT)
    summary = page.records.summary
    assert summary.state == "ready"
    assert [gap.what for gap in summary.missing] == ["multas"]
    assert [source.what for source in summary.provenance] == [
        "dados do veículo",
        "restrições judiciais",
    ]
    assert states(page)["multas"] == "unavailable"


def test_summary_without_answers_is_ready_and_incomplete() -> None:
    page = vehicle_page(PLATE, Panels(DOWN, DOWN, DOWN), UNASKED, CONTEXT)
    assert states(page) == {
        "resumo": "ready",
        "veiculo": "unavailable",
        "multas": "unavailable",
        "restricoes": "unavailable",
    }
    assert page.records.summary.content is not None
    assert page.records.summary.content.verdict.level == "incomplete"


def test_page_waits_only_with_unasked_panels() -> None:
    assert vehicle_page(PLATE, UNASKED_PANELS, UNASKED, CONTEXT).waits
    assert not vehicle_page(PLATE, UNASKED_PANELS, UNASKED, CONTEXT, follow=False).waits
    assert not vehicle_page(PLATE, panels(), UNASKED, CONTEXT).waits


@pytest.mark.parametrize(
    "body",
    [b"", b"null", b"[]", b'{"result": null}', b'{"result": "x"}', b'{"result": 3}', b"\xff"],
)
def test_body_without_contract_envelope_is_unavailable(body: bytes) -> None:
    odd = answered(body)
    for lookup in ("decode", "renainf", "renajud"):
        assert not is_readable(odd.result, lookup)
    page = vehicle_page(PLATE, Panels(odd, odd, odd), UNASKED, CONTEXT)
    assert set(states(page).values()) == {"ready", "unavailable"}
    assert page.records.summary.content is not None
    assert page.records.summary.content.verdict.level == "incomplete"


def test_fragment_needs_only_its_named_lookups() -> None:
    assert panel_needs("resumo") == ("decode", "renainf", "renajud")
    for name in PANEL_NAMES[1:]:
        (lookup,) = panel_needs(name)
        alone = UNASKED_PANELS.with_answers({lookup: panels().of(lookup)})
        fragment = panel_fragment(name, PLATE, alone, CONTEXT)
        assert fragment.panel.state == "ready"
        assert (ROOT / "templates" / fragment.template).is_file()


def test_today_is_the_date_in_sao_paulo() -> None:
    assert CONTEXT.today == date(2026, 11, 20)
    assert Context(datetime(2026, 11, 21, 3, tzinfo=UTC), HIDDEN, True).today == date(2026, 11, 21)


def test_provenance_has_age_source_and_price() -> None:
    panel = replace(
        answered(renainf_body(), "stale", age=timedelta(hours=5), price="2"), origin="secondary"
    )
    page = vehicle_page(PLATE, Panels(UNASKED, panel, UNASKED), UNASKED, CONTEXT)
    (source,) = page.records.panels["multas"].provenance
    assert (source.age, source.source) == ("há 5\u00a0h", "fonte secundária")
    assert source.is_stale
    assert source.price == Decimal(2)
    assert page.refresh_price == Decimal(2)


def test_paid_fines_are_not_summed() -> None:
    body = renainf_body(fine(), fine(pagamento=payment(dataPagamento="01/09/2025")))
    contents = CONTEXT.dossier(PLATE, panels(renainf=body))
    assert contents.fines and contents.totals
    assert contents.totals.amount == Decimal("130.16")
    assert contents.totals.paid_count == 1
    # The first fine's notice is over 360 days old, so the source may have omitted later events.
    assert [found.standing.tone for found in contents.fines] == ["unknown", "ok"]


def test_lifted_restriction_is_shown_but_not_counted() -> None:
    lifted = restriction(constaRenajud=False, restricoes="", detalheRenajud="")
    contents = CONTEXT.dossier(PLATE, panels(renajud=renajud_body(lifted, restriction())))
    assert [order.in_force for order in contents.orders or ()] == [False, True]
    assert contents.orders_in_force == 1


def test_renavam_with_wrong_check_digit_is_accepted() -> None:
    """A Renavam's page has no vehicle panel, because decode needs a plate."""
    page = renavam_page(Renavam.parse("12345678910"), answered(renainf_body()), DOWN, CONTEXT)
    assert "O dígito verificador deste Renavam não confere" in render(page)
    assert states(page) == {"resumo": "ready", "multas": "ready", "restricoes": "unavailable"}
    assert subject_path(page.renavam) == "/renavam/12345678910"


def test_dossier_shows_no_refresh_price() -> None:
    report = answered(report_body(), price="4")
    page = dossier_page(PLATE, panels(), report, CONTEXT, address="https://portal.example/")
    assert "custa" not in render(page)
    assert page.address == "https://portal.example"


def test_long_query_is_cut_before_echo() -> None:
    assert len(SearchPage(query="A" * 10_000).echo) == LONGEST_QUERY


def test_error_page_renders_without_other_data() -> None:
    html = render(ErrorPage(500, "Algo deu errado", "Tente de novo.", "01JD77", query="ABC"))
    assert "01JD77" in html
    assert 'action="/buscar"' in html
    assert "<script" not in html


@given(
    vehicle=JSON | odd(decoded("ABC1D23")),
    entry=JSON | odd(fipe_entry(historicoPreco=price_history(3, 1))),
    fines=JSON | st.lists(JSON | odd(fine()), max_size=3),
    restrictions=JSON | st.lists(JSON | odd(restriction()), max_size=3),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_arbitrary_answers_render_valid_pages(
    vehicle: Any, entry: Any, fines: Any, restrictions: Any
) -> None:
    if isinstance(vehicle, dict) and "informacoesFipe" in vehicle:
        vehicle = {**vehicle, "informacoesFipe": [entry]}
    strange = panels(
        decode=json.dumps({"status": "DONE", "result": vehicle}).encode(),
        renainf=json.dumps({"status": "SUCCESS", "result": fines}).encode(),
        renajud=json.dumps({"status": "SUCCESS", "result": restrictions}).encode(),
    )
    for page in (
        vehicle_page(PLATE, strange, UNASKED, CONTEXT),
        dossier_page(
            Plate.parse("ABC1234"), strange, UNASKED, CONTEXT, address="https://p.example"
        ),
    ):
        html = render(page)
        check_html(html)
        assert HIDDEN not in html
        assert "R$\u00a00,00" not in html


def test_panel_decodes_an_answer_with_records_once(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded_bodies = []

    def decode(body: bytes, *options: Any, **named: Any) -> Any:
        decoded_bodies.append(body)
        return decode_json(body, *options, **named)

    decode_json = msgspec.json.decode
    monkeypatch.setattr(msgspec.json, "decode", decode)
    now = NOW.timestamp()
    served = Served(200, renainf_body(fine()), "miss", True, now, 0, 60, "primary", now + 60)
    assert answer_panel(served).state == "fresh"
    assert decoded_bodies == [served.body]
