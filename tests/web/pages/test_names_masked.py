"""Owners' names in reports: initials on pages and dossier, unchanged in JSON."""

import pytest

from tests.conftest import PortalFactory
from tests.factories import report_body
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
from tests.web.json_paths import PLATE, QUESTIONS, ask
from tests.web.person import Person

NAMES = ("MARIA APARECIDA DA SILVA", "José Carlos Pereira", "ANTONIA SOUZA LIMA")
PLACES = (f"/placa/{PLATE}", f"/placa/{PLATE}?completo=1", f"/placa/{PLATE}/dossie")
BODY = report_body(
    summary=f"Veículo em nome de {NAMES[1]}.",
    conclusion=f"Procure {NAMES[2]} antes da compra.",
    proprietarios=f"⚠️ Proprietário atual: {NAMES[0]}. Anterior: {NAMES[1]}.",
    documentacao=f"✅ Licenciado por {NAMES[0]}.",
)


def with_a_report(here: InProcessPortal, upstream: FaultUpstream) -> Person:
    upstream.script("/detran/v1/analytical-reports", faults.answer("names", BODY))
    ana = Person.at(here).signed_in()
    assert ana.post(f"/placa/{PLATE}/laudo").status_code == 303
    return ana


@pytest.mark.parametrize("path", PLACES)
def test_names_are_masked_on_pages_and_dossier(
    portal: PortalFactory, upstream: FaultUpstream, path: str
) -> None:
    text = with_a_report(portal(), upstream).pages.get(path).text
    for name in NAMES:
        assert name not in text
    assert "M. A. D. S." in text


@pytest.mark.parametrize("path", PLACES)
def test_names_are_shown_with_mask_names_off(
    portal: PortalFactory, upstream: FaultUpstream, path: str
) -> None:
    text = with_a_report(portal(MASK_NAMES="off"), upstream).pages.get(path).text
    for name in NAMES:
        assert name in text


def test_json_report_is_unchanged(portal: PortalFactory, upstream: FaultUpstream) -> None:
    here = portal()
    upstream.script("/detran/v1/analytical-reports", faults.answer("names", BODY))
    (report,) = [question for question in QUESTIONS if question.operation == "report"]
    assert ask(here, report, headers={"Authorization": PORTAL_TOKEN}).data == BODY
