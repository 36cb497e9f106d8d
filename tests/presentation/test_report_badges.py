"""Tests of the report's badges: no badge is green without records on its topic."""

import json

import pytest

from portal.presentation.vehicle.report import ReportSection, WrittenReport, report_section
from portal.vehicle import LookupName, result_of
from tests.factories import report_body
from tests.presentation.rendering import CONTEXT, PLATE, panels, render, vehicle_page
from tests.web.html_checker import check_html, text_of

ALL: tuple[LookupName, ...] = ("decode", "renainf", "renajud")


def section_of(made_of: tuple[LookupName, ...] | None = ALL, /, **topics: str) -> ReportSection:
    result = {"resumo": "Texto.", "topicos": topics, "laudoFinal": "Fim."}
    body = json.dumps({"status": "DONE", "result": result}).encode()
    panel = WrittenReport("fresh", body, result_of(body), CONTEXT.now, made_of=made_of)
    return report_section(panel, CONTEXT, action="/x", outdated=False, price="")


def badges(section: ReportSection) -> dict[str, str]:
    assert section.report is not None
    return {topic.key: section.badge(topic) for topic in section.report.topics if topic.text}


def test_topic_without_data_has_no_green_badge() -> None:
    keys = ("documentacao", "rouboFurto", "leilao", "chassiMotor", "proprietarios", "outro")
    found = badges(section_of(**dict.fromkeys(keys, "✅ Nada consta.")))
    assert found == dict.fromkeys(keys, "unverified")


def test_topic_with_its_records_keeps_the_sources_badge() -> None:
    topics = {"fipe": "✅ R$ 10.", "restricoes": "✅ Nenhuma.", "multas": "⚠️ Uma."}
    assert badges(section_of(**topics)) == {"fipe": "ok", "restricoes": "ok", "multas": "warning"}


@pytest.mark.parametrize("made_of", [("decode",), None])
def test_topic_without_its_lookup_has_no_green_badge(
    made_of: tuple[LookupName, ...] | None,
) -> None:
    found = badges(section_of(made_of, restricoes="✅ Nenhuma.", leilao="❌ Passou."))
    assert found == {"restricoes": "unverified", "leilao": "warning"}


def test_report_says_that_it_is_no_inspection() -> None:
    body = report_body()
    report = WrittenReport("fresh", body, result_of(body), CONTEXT.now)
    text = text_of(check_html(render(vehicle_page(PLATE, panels(), report, CONTEXT))))
    assert "não é laudo de vistoria" in text
    assert "Roubo e furto não verificado" in text
    assert "sem alerta no texto" in text
