"""Tests of the filters of the fines panel."""

import re
from typing import Any

import pytest

from portal.presentation import vehicle_page
from portal.presentation.vehicle.fines import FEWEST_TO_FILTER, MOST_STATES, FineList, fine_list
from tests.factories import fine, payment, renainf_body
from tests.presentation.rendering import CONTEXT, ROOT, UNASKED, answered, panels, render
from tests.presentation.specimens import PLATE
from tests.web.html_checker import check_html


def listed(*states: str, paid: int = 0) -> FineList:
    records: list[dict[str, Any]] = [
        fine(
            ufOrgaoAutuador=state,
            pagamento=payment(dataPagamento="01/09/2025" if number < paid else ""),
        )
        for number, state in enumerate(states)
    ]
    found = fine_list(answered(renainf_body(*records)), CONTEXT)
    assert found is not None
    return found


def offered(fines: FineList) -> dict[str, int]:
    return {choice.label: choice.count for choice in fines.filters}


def test_few_fines_have_no_filter() -> None:
    assert offered(listed("MG", "SP", "RJ", "BA", paid=2)) == {}


def test_uniform_fines_have_no_filter() -> None:
    assert offered(listed(*["MG"] * FEWEST_TO_FILTER)) == {}


def test_filter_counts_match_rows() -> None:
    assert offered(listed("MG", "SP", "SP", "mg ", "SP", paid=2)) == {
        "Todas": 5,
        "Em aberto": 3,
        "Pagas": 2,
        "SP": 3,
        "MG": 2,
    }
    assert offered(listed(*["MG"] * 5, paid=1)) == {"Todas": 5, "Em aberto": 4, "Pagas": 1}


def test_rare_and_invalid_states_share_one_filter() -> None:
    states = ["AC", "AL", "AM", "AP", "BA", "CE", "DF", "<b>", ""]
    fines = listed(*states)
    assert len(fines.filters) == 1 + MOST_STATES + 1
    assert offered(fines)["Outros ou não informado"] == 3
    assert offered(listed(*states[:7]))["Outros estados"] == 1
    assert offered(listed(*["MG"] * 5, ""))["Estado não informado"] == 1


@pytest.mark.parametrize("count", [5, 45])
def test_style_sheet_has_rule_for_each_filter(count: int) -> None:
    body = renainf_body(*(fine(ufOrgaoAutuador=("MG", "SP")[n % 2]) for n in range(count)))
    html = render(vehicle_page(PLATE, panels(renainf=body), UNASKED, CONTEXT))
    check_html(html)
    style = (ROOT / "static/css/components/fine_filter.css").read_text()
    keys = set(re.findall(r'name="multas-mostradas" value="([a-z0-9-]+)"', html))
    assert keys == {"all", "uf-1", "uf-2"}
    for key in keys - {"all"}:
        assert f'[value="{key}"]:checked' in style
        assert f"fine--{key}" in html
    for number in range(1, MOST_STATES + 1):
        assert f'[value="uf-{number}"]:checked' in style
