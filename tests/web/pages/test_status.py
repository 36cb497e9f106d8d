"""``/situacao``: how well each source answered, from the portal's own calls."""

from datetime import date, timedelta

import pytest

from portal.gateway.usage import OriginCalls
from portal.presentation.site.status_page import DAYS, status_page
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import path_of

TODAY = date(2026, 11, 28)


def test_page_is_open_and_counts_answers_and_failures(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    here = portal()
    assert here.get(path_of("decode")).status_code == 200
    upstream.default(faults.status(500))
    assert here.get(path_of("renainf")).status_code == 502
    upstream.default(faults.status(404))
    assert here.get(path_of("renajud")).status_code == 404
    page = here.client.get("/situacao").get_data(as_text=True)
    assert page.count("100,0% de 1 chamada respondida") == 2
    assert "0,0% de 1 chamada respondida" in page
    assert page.count("Nenhuma consulta nos últimos 90 dias.") == 1
    assert "ABC1D23" not in page
    assert upstream.count() == 3


@pytest.mark.parametrize(
    ("calls", "failed", "level"),
    [(0, 0, "none"), (1, 0, "good"), (200, 2, "good"), (100, 10, "fair"), (10, 2, "poor")],
)
def test_level_of_a_day(calls: int, failed: int, level: str) -> None:
    page = status_page({(TODAY, "decode"): OriginCalls(calls, failed)}, TODAY)
    assert page.sources[0].days[-1].level == level


def test_page_has_ninety_days_of_each_source() -> None:
    page = status_page({}, TODAY)
    assert [each.name for each in page.sources] == ["decode", "renainf", "renajud", "report"]
    assert {len(each.days) for each in page.sources} == {DAYS}
    assert page.first_day == TODAY - timedelta(days=89)
