"""What one compares at the vehicle itself: the rows, and what follows on every face."""

import json
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from portal.dossier.answers import Panels
from portal.dossier.car_rows import car_rows
from portal.dossier.dossier import Dossier
from portal.law.at_the_car import CAR_ROWS, Seen
from portal.phrasebook.at_the_car import seen_by, seen_words
from portal.presentation.exports.explained import explained
from portal.presentation.paper.dossier import dossier_page
from portal.presentation.vehicle.page import vehicle_page
from portal.vehicle.chassis import year_sign
from tests.factories import decoded, renainf_body, renajud_body
from tests.presentation.rendering import CONTEXT, NOW, PLATE, UNASKED, answered, render
from tests.web.html_checker import check_html, text_of

ON = date(2026, 11, 19)


def answers(**members: Any) -> Panels:
    result = decoded(str(PLATE), **members)
    body = json.dumps({"status": "DONE", "result": result}).encode()
    return Panels(answered(body), answered(renainf_body()), answered(renajud_body()), UNASKED)


def dossier(*seen: Seen, **members: Any) -> Dossier:
    return replace(CONTEXT.dossier(PLATE, answers(**members)), declarations=seen)


def page_text(of: Dossier) -> str:
    page = vehicle_page(
        of, CONTEXT.of_page, may_refresh=True, left_today=None, may_write=False, follow=False
    )
    return text_of(check_html(render(page)))


def test_rows_come_from_the_record_alone() -> None:
    rows = {row.key: row for row in car_rows(dossier(caixaCambio="AUTOMATICA"))}
    assert rows["placa"].recorded == PLATE.display
    assert (rows["ano-modelo"].recorded, rows["ano-modelo"].where) == (
        "2014 / 2015",
        "10º caractere do chassi: F",
    )
    assert rows["cambio"].recorded == "Automática"
    assert all(row.recorded and row.seen is None for row in rows.values())
    bare = car_rows(dossier(anoModelo="", anoFabricacao=""))
    assert not {"cambio", "ano-modelo"} & {row.key for row in bare}


def test_unknown_record_has_the_row_that_was_seen() -> None:
    (row,) = [
        one
        for one in car_rows(dossier(Seen("cambio", "differs", "loja", ON)))
        if one.key == "cambio"
    ]
    assert row.differs and row.recorded == ""


@pytest.mark.parametrize(
    ("year", "sign"),
    [
        (1979, ""),
        (1980, "A"),
        (2000, "Y"),
        (2001, "1"),
        (2009, "9"),
        (2010, "A"),
        (2015, "F"),
        (2026, "T"),
    ],
)
def test_tenth_sign_of_the_chassis_is_the_model_year(year: int, sign: str) -> None:
    assert year_sign(year) == sign


def test_divergence_stands_on_page_paper_and_in_json() -> None:
    seen = Seen("cambio", "differs", "loja", ON, "manual")
    found = dossier(seen)
    assert found.verdict.level == "caution" and found.verdict.ends_ceiling is not None
    text = page_text(found)
    assert "1 divergência" in text and "Não pague antes de explicada" in text
    assert "Visto no carro por loja: câmbio difere do registro (manual)" in text
    paper = render(dossier_page(found, NOW, address="https://p.example"))
    assert "Visto no carro, não é registro" in paper and "manual no carro, por loja" in paper
    told = explained(found, NOW)
    assert told["declared"]["seen"] == [
        {"row": "cambio", "state": "differs", "what": "manual", "on": ON, "who": "loja"}
    ]
    assert told["verdict"]["reasons"][0]["code"] == "seen_cambio"
    assert (seen_words(seen), seen_by(seen)) == (
        "no carro: manual",
        "visto no carro por loja em 19/11/2026",
    )


def test_agreement_betters_no_verdict() -> None:
    ticks = [Seen(row, "match", "loja", ON) for row in CAR_ROWS]
    plain, ticked = dossier(), dossier(*ticks)
    assert ticked.verdict == plain.verdict and ticked.open_lines == plain.open_lines
    assert "8 de 8" in page_text(ticked)
    paper = render(dossier_page(ticked, NOW, address="https://p.example"))
    assert "Conferem: Placa" in paper and "Divergência" not in paper
