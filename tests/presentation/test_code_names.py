"""The names behind the codes of a fine, and the places of all fines, on page, paper and exports."""

import re
from typing import Any

from portal.presentation.exports.explained import explained
from portal.presentation.exports.vehicle_tables import vehicle_table
from tests.factories import Record, fine, payment, renainf_body
from tests.presentation.pages import dossier_page, vehicle_page
from tests.presentation.rendering import CONTEXT, NOW, PLATE, UNASKED, panels, render
from tests.presentation.test_every_field import words

BETIM = fine(
    codigoOrgaoAutuador="241330",
    codigoMunicipioInfracao="",
    orgaoAutuador="PREFEITURA MUNICIPAL DE BETIM",
)
APPEAL = "JARI do órgão; depois, Cetran/MG (art. 289, II, do CTB)"
UNKNOWN = fine(codigoOrgaoAutuador="999990", codigoMunicipioInfracao="9999", dataInfracao="")


def faces(*fines: Record) -> dict[str, str]:
    found = panels(renainf=renainf_body(*fines))
    paper = dossier_page(PLATE, found, UNASKED, CONTEXT, address="https://portal.example")
    page = vehicle_page(PLATE, found, UNASKED, CONTEXT)
    return {"page": words(render(page)), "paper": words(render(paper))}


def exported(*fines: Record) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the member ``fines`` of the JSON, and the rows of the table."""
    dossier = CONTEXT.dossier(PLATE, panels(renainf=renainf_body(*fines)))
    table = vehicle_table("fines", dossier)
    assert table is not None
    names = [column.name for column in table.columns]
    return explained(dossier, NOW)["fines"], [
        dict(zip(names, row, strict=True)) for row in table.rows
    ]


def test_code_of_a_town_hall_gives_name_level_town_and_appeal() -> None:
    for face, text in faces(BETIM).items():
        for part in ("241330, Prefeitura de Betim/MG, municipal", "Betim/MG", APPEAL):
            assert part in text, (face, part)
    record, (row,) = exported(BETIM)[0]["records"][0], exported(BETIM)[1]
    expected = {
        "authority_code": "241330",
        "authority_name": "Prefeitura de Betim/MG",
        "authority_level": "municipal",
        "town": "Betim",
        "town_state": "MG",
        "appeal_body": APPEAL,
        "code_conflict": None,
    }
    assert expected.items() <= record.items()
    assert expected.items() <= row.items()


def test_unknown_code_is_named_as_unknown() -> None:
    for text in faces(UNKNOWN).values():
        assert "999990, fora da tabela do portal" in text
        assert "9999, fora da tabela do portal" in text
    record = exported(UNKNOWN)[0]["records"][0]
    assert record["authority_code"] == "999990"
    names = ("authority_name", "authority_level", "town", "town_state", "appeal_body")
    assert [record[name] for name in names] == [None] * 5


def test_contradiction_is_on_every_face() -> None:
    wrong = fine(codigoOrgaoAutuador="126100")
    sentence = "O código do órgão (126100) corresponde a Detran/SP, e o registro traz"
    for text in faces(wrong).values():
        assert sentence in text
    record = exported(wrong)[0]["records"][0]
    assert record["code_conflict"].startswith(sentence)
    assert record["code_conflict"] in record["conflict"]


def test_code_beside_the_description_of_another_tells_no_gravity_as_a_fact() -> None:
    belt = fine(
        codigoInfracao="7455",
        descricao="DEIXAR O CONDUTOR DE USAR O CINTO DE SEGURANCA",
        valor="195",
        dataInfracao="01/10/2026",
        dataEmissaoNotificacao="20/10/2026",
    )
    for face, text in (faces(belt) | {"annex": faces(*[belt] * 11)["paper"]}).items():
        assert "é a do código 518-5, e o registro traz o código 745-5" in text, face
        for by_code in (r"média[ ,]+4", "4 (?:pontos|pt)", r"art\. 218, I"):
            for said in re.finditer(rf"{by_code}\b", text):
                before = text[max(0, said.start() - 40) : said.end()]
                assert "pelo código" in before, (face, before)
        assert "Pode não custar nada" not in text
        assert "por gravidade: 1 não identificada" in text or "11 não identificadas" in text, face
    record, (row,) = exported(belt)[0]["records"][0], exported(belt)[1]
    for found in (record, row):
        assert found["gravity"] == "não identificada"
        for name in ("article", "points", "points_counted"):
            assert found[name] is None, name


def test_places_of_fines_are_listed_by_year_with_whom_to_ask() -> None:
    earlier = fine(
        codigoOrgaoAutuador="126100",
        codigoMunicipioInfracao="",
        orgaoAutuador="DETRAN SP",
        ufOrgaoAutuador="SP",
        dataInfracao="03/02/2024",
    )
    fines = (earlier, BETIM, BETIM, UNKNOWN)
    said = (
        "2025: Betim/MG (2); 2024: SP; sem data: MG. Multas do estado e do município podem faltar "
        "nesta consulta: pergunte também ao Detran/MG, ao Detran/SP e à Prefeitura de Betim/MG."
    )
    shown, annex = faces(*fines), faces(*fines, *[BETIM] * 9)["paper"]
    assert said in shown["page"]
    assert said.split(". ")[1] in shown["paper"]  # few fines name their places themselves
    assert said.split(". ")[1] in annex
    assert "Onde foi multado: 2025: Betim/MG (11); 2024: SP; sem data: MG." in annex
    member = exported(*fines)[0]
    assert member["places"] == [
        {"year": 2025, "state": "MG", "town": "Betim", "count": 2},
        {"year": 2024, "state": "SP", "town": "", "count": 1},
        {"year": None, "state": "MG", "town": "", "count": 1},
    ]
    assert member["whom_to_ask"] in said


def test_record_of_each_open_fine_of_an_annex_names_who_hears_its_appeal() -> None:
    paid = payment(dataPagamento="01/11/2025", valorPago="104")
    paper = faces(*[BETIM] * 9, fine(), BETIM | {"pagamento": paid}, fine())["paper"]
    records = re.split(r"\bMulta \d+ ", paper.partition("Registro integral")[2])[1:]
    of_state, of_union = f"Quem julga o recurso {APPEAL}", "(art. 289, I, do CTB)"
    assert [record.count(of_state) for record in records] == [1] * 9 + [0] * 3
    assert [record.count(of_union) for record in records] == [0] * 9 + [1, 0, 1]


def test_advice_names_the_states_of_the_most_fines() -> None:
    states = ("SP", "SP", "RJ", "RJ", "MG", "MG", "BA", "PR")
    blank = {"codigoOrgaoAutuador": "", "codigoMunicipioInfracao": "", "orgaoAutuador": ""}
    member = exported(*(fine(**blank, ufOrgaoAutuador=state) for state in states))[0]
    assert member["whom_to_ask"].endswith("ao Detran/SP, ao Detran/RJ e ao Detran/MG.")
    assert len(member["places"]) == 5


def test_exports_have_paid_sum_condition_of_discount_and_other_vehicle() -> None:
    paid = payment(dataPagamento="01/11/2025", valorPago="104")
    other = fine(marcaModelo="VW/GOL 1.0", pagamento=paid, limitePermitido="95")
    record, (row,) = exported(other)[0]["records"][0], exported(other)[1]
    for found in (record, row):
        assert str(found["amount_paid"]) == "104.13"
        assert found["other_vehicle"] is True
        assert "VW/GOL 1.0" in found["conflict"]
        assert "velocidade" in found["conflict"]
    fresh = exported(fine(dataEmissaoPenalidade="10/11/2026"))[0]["records"][0]
    assert fresh["amount_at_60"] is not None
    assert "SNE" in fresh["discount_note"]
    assert fresh["other_vehicle"] is False


def test_points_of_a_fine_that_may_be_appealed_do_not_count_in_exports() -> None:
    """The members of the records sum to those of the totals."""
    dates = {"dataInfracao": "10/03/2026", "dataEmissaoNotificacao": "25/03/2026"}
    dates["dataCadastroInfracao"] = "12/03/2026"
    fresh, final = (
        fine(**dates, dataEmissaoPenalidade=day) for day in ("10/11/2026", "10/06/2026")
    )
    member, rows = exported(fresh, final)
    assert [one["points_counted"] for one in member["records"]] == [0, 4]
    assert [row["points_counted"] for row in rows] == [0, 4]
    assert (member["totals"]["points"], member["totals"]["points_to_come"]) == (4, 4)
