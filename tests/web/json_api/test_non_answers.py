"""Proxies' error pages, and outage messages with status 200, count as failures."""

from collections.abc import Callable

import pytest

from tests.conftest import PortalFactory
from tests.factories import decode_body, encode, fine, renainf_body
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import path_of
from tests.fakes.in_process import managed, pass_through
from tests.web.json_paths import INVALID_PLATE, PLATE, expect_message
from tests.web.signed_in import visitor

DECODE = path_of("decode", PLATE)
RENAINF = path_of("renainf", PLATE)
# A proxy or a web firewall sends pages with these statuses. The upstream sends a JSON message.
ERROR_PAGES = (400, 401, 403, 404, 407, 451)


@pytest.mark.parametrize("status", ERROR_PAGES)
def test_html_error_page_fails_over_to_the_other_base_url(
    portal: PortalFactory, upstream: FaultUpstream, secondary: FaultUpstream, status: int
) -> None:
    upstream.default(faults.html_error(status))
    response = portal(managed(upstream.url, secondary.url)).get(DECODE)
    assert (response.status_code, response.data) == (200, decode_body(PLATE))
    assert (upstream.count(), secondary.count()) == (1, 1)


@pytest.mark.parametrize("status", ERROR_PAGES)
def test_html_error_page_is_502_and_not_stored(
    portal: PortalFactory, upstream: FaultUpstream, status: int
) -> None:
    here = portal(STALE_DECODE="0")
    upstream.default(faults.html_error(status))
    assert expect_message(here.get(DECODE), 502) != INVALID_PLATE
    upstream.clear()
    other = here.get(path_of("decode", "ABC1D24"))
    assert other.headers["Cache-Status"] == "portal; fwd=miss; stored"


@pytest.mark.parametrize("status", ERROR_PAGES)
def test_html_error_page_serves_the_stale_answer(
    portal: PortalFactory, upstream: FaultUpstream, status: int
) -> None:
    here = portal(FRESH_DECODE="0")
    assert here.get(DECODE).status_code == 200
    upstream.default(faults.html_error(status))
    response = here.get(DECODE)
    assert (response.status_code, response.headers["Cache-Status"]) == (200, "portal; fwd=stale")


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("settings", [managed, pass_through])
def test_refusal_with_the_contracts_message_is_final(
    portal: PortalFactory,
    upstream: FaultUpstream,
    secondary: FaultUpstream,
    status: int,
    settings: Callable[[str, str], dict[str, str]],
) -> None:
    upstream.default(faults.status(status))
    here = portal(settings(upstream.url, secondary.url))
    expect_message(here.get(DECODE), status if settings is pass_through else 503)
    assert secondary.count() == 0


@pytest.mark.parametrize("status", [401, 403])
def test_firewall_page_is_no_refusal_of_a_callers_credential(
    portal: PortalFactory, upstream: FaultUpstream, secondary: FaultUpstream, status: int
) -> None:
    upstream.default(faults.html_error(status))
    here = portal(pass_through(upstream.url, secondary.url))
    assert here.get(DECODE).status_code == 200
    secondary.default(faults.html_error(status))
    expect_message(here.get(path_of("decode", "ABC1D24")), 502)


@pytest.mark.parametrize(("status", "becomes"), [(402, 502), (429, 503)])
def test_other_upstream_errors_are_mapped_by_status_only(
    portal: PortalFactory,
    upstream: FaultUpstream,
    secondary: FaultUpstream,
    status: int,
    becomes: int,
) -> None:
    upstream.default(faults.html_error(status))
    expect_message(portal(managed(upstream.url, secondary.url)).get(DECODE), becomes)
    assert secondary.count() == 0


def test_upstream_400_relays_only_its_message(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    body = encode({"message": "Placa recusada.", "echo": {"Authorization": "operator"}})
    upstream.default(faults.answer("400 extra", body, 400))
    for _ in range(2):
        expect_message(here.get(DECODE), 400, "Placa recusada.")
    assert upstream.count() == 1


def test_outage_message_with_empty_result_is_a_failure(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    outage = encode({"status": "SUCCESS", "result": [], "message": "Base estadual indisponivel"})
    upstream.script(RENAINF, faults.answer("outage", outage))
    here = portal()
    expect_message(here.get(RENAINF), 502)
    page = visitor(here).get(f"/placa/{PLATE}?completo=1")
    assert page.by_id("multas").get("data-panel") == "unavailable"
    assert "Nenhuma multa" not in page.text


def test_message_beside_records_is_served_and_counts_as_drift(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    body = renainf_body(fine()).replace(b'{"status"', b'{"message": "Aviso.", "status"')
    upstream.default(faults.answer("message beside records", body))
    here = portal()
    assert here.get(RENAINF).data == body
    here.parts.scheduler.run_all()
    metrics = here.client.get("/metrics").get_data(as_text=True)
    assert 'portal_drift_total{field="$.message",operation="renainf"} 1.0' in metrics


def test_404_is_remembered_as_a_rejection(portal: PortalFactory, upstream: FaultUpstream) -> None:
    """A repetition within ten minutes is not paid again, on any face."""
    here = portal(PRICE_RENAINF="2")
    upstream.default(faults.status(404, "Veículo não encontrado."))
    message = expect_message(here.get(RENAINF), 404)
    here.wait_out_failures()
    assert expect_message(here.get(RENAINF), 404) == message
    only_cached = {"Cache-Control": "only-if-cached"}
    assert expect_message(here.get(RENAINF, headers=only_cached), 404) == message
    assert upstream.count() == 1
    page = visitor(here).get(f"/placa/{PLATE}?completo=1")
    assert "não tem registro para esta placa" in page.text
    assert [call.path for call in upstream.calls].count(RENAINF) == 1
    explained = here.get(f"/api/v1/vehicles/{PLATE}?ask=renainf").get_json()
    assert explained["lookups"]["renainf"]["cause"] == "not_found"
    assert explained["verdict"]["level"] == "incomplete"
    assert here.get(RENAINF, headers={"Cache-Control": "no-cache"}).status_code == 404
    assert [call.path for call in upstream.calls].count(RENAINF) == 2
