"""A fine's own description is its headline, and is compared with its code."""

from datetime import date

import pytest

from portal.law.assessment import AssessedFine
from portal.law.infractions import find, rows
from portal.law.source_wording import WordingConflict, narrowed_to_wording, wording_of
from portal.sandbox.offences import OFFENCES
from tests.law.records import fine, infraction_of

TODAY = date(2026, 11, 20)


def test_every_official_wording_names_its_own_row() -> None:
    for row in rows():
        infraction = infraction_of(row.code)
        if row.current:
            narrowed = narrowed_to_wording(infraction, row.official.upper())
            assert narrowed.rows == (row,), row
            assert narrowed.split == (row.split if len(infraction.rows) > 1 else ""), row
        assert wording_of(infraction, row.official.upper()).text == row.description


def test_no_official_wording_conflicts_with_its_code_even_when_cut() -> None:
    for row in rows():
        for length in (200, 60, 40):
            assert wording_of(find(row.code), row.official.upper()[:length]).conflict is None, row


def test_no_wording_of_the_sandbox_conflicts_with_its_code() -> None:
    for code, offence in OFFENCES.items():
        assert wording_of(find(code), offence.description).conflict is None, code


@pytest.mark.parametrize(
    ("code", "sent", "splits"),
    [
        ("6050", "AVANCAR O SINAL VERMELHO DO SEMAFORO", ["1", "3"]),
        ("6050", "AVANCAR O SINAL DE PARADA OBRIGATORIA", ["2"]),
        ("5185", "DEIXAR O CONDUTOR OU PASSAGEIRO DE USAR O CINTO", ["1", "2"]),
        ("5843", "DEIXAR DE INDICAR COM ANTECEDENCIA A MANOBRA", ["1", "2", "3", "4"]),
        ("5452", "ESTACIONAR NO PASSEIO", ["1"]),
        # Three letters are the least of an abbreviation.
        ("5452", "ESTACIONAR NO PAS", ["1"]),
    ],
)
def test_description_picks_the_splits_that_it_names(
    code: str, sent: str, splits: list[str]
) -> None:
    narrowed = narrowed_to_wording(infraction_of(code), sent)
    assert [row.split for row in narrowed.rows] == splits


def test_headline_is_the_sources_own_wording_with_the_tables_accents() -> None:
    sent = "AVANCAR O SINAL VERMELHO DO SEMAFORO"
    law = AssessedFine(fine(code="6050", description=sent), TODAY)
    assert law.description == "Avançar o sinal vermelho do semáforo"
    assert law.wording.table_text.startswith("Avançar o sinal vermelho do … semáforo, exceto")
    assert law.wording.conflict is None
    law = AssessedFine(fine(code="6050"), TODAY)
    assert (law.description, law.wording.table_text) == (infraction_of("6050").description, "")


def test_description_of_another_code_is_flagged_with_that_code() -> None:
    wording = wording_of(find("6050"), "ESTACIONAR NO PASSEIO")
    assert wording.text == "Estacionar no passeio"
    assert wording.conflict == WordingConflict(("5452",))
    assert wording_of(find("6050"), "DIRIGIR SEM CINTO").conflict == WordingConflict()


def test_unknown_code_keeps_the_sources_wording_readable() -> None:
    assert wording_of(None, "TRANSPORTAR PRODUTO PERIGOSO SEM LICENCA").text == (
        "Transportar produto perigoso sem licença"
    )
