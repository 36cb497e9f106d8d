"""The checklist of a buyer on the page and on paper."""

import re
from dataclasses import replace

import pytest

from portal.dossier.answers import Panels
from portal.vehicle.plate import Renavam
from tests.factories import HIDDEN, fine, renainf_body, renajud_body, report_body, restriction
from tests.presentation.pages import dossier_page, renavam_page, vehicle_page
from tests.presentation.rendering import CONTEXT, DOWN, PLATE, answered, panels, render
from tests.presentation.test_every_field import shown_on, words

CASE = "0000001-02.2024.8.13.0024"


@pytest.fixture(params=["page", "dossier"])
def medium(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_court_order_asks_for_its_case_number(medium: str) -> None:
    text = shown_on(medium, panels(renajud=renajud_body(restriction(processo=CASE))))
    assert "Baixa da restrição judicial" in text
    assert f"Processo {CASE}, TJMG" in text
    assert "levado a leilão" not in text
    hidden = shown_on(medium, panels(renajud=renajud_body(restriction(processo=HIDDEN))))
    assert "a fonte oculta o número do processo; peça ao vendedor" in hidden


def test_penhora_warns_the_buyer() -> None:
    text = shown_on("page", panels(renajud=renajud_body(restriction(restricoes="PENHORA"))))
    assert "O veículo pode ser levado a leilão" in text
    assert "a venda não vale contra o credor" in text
    # Embargos are not open to a buyer who knows of the seizure (penhora).
    assert "Só se você já comprou, antes de 23/10/2025, e tem prova" in text


def test_tampered_chassis_asks_for_an_official_inspection(medium: str) -> None:
    tampered = fine(codigoInfracao="65562", descricao="", valor="293")
    title = "Perícia oficial de chassi, motor e placas"
    assert title in shown_on(medium, panels(renainf=renainf_body(tampered)))
    assert title not in shown_on(medium, panels())


def test_transfer_is_not_advised_while_a_court_forbids_it(medium: str) -> None:
    text = shown_on(medium, panels(renajud=renajud_body(restriction())))
    assert "Não assine nem date a transferência antes da baixa" in text
    assert "Transfira em 30 dias" not in text


def test_open_fines_name_their_bodies_and_follow_the_vehicle(medium: str) -> None:
    records = (
        fine(),
        fine(autoInfracao="B1"),
        fine(orgaoAutuador="DETRAN SP", ufOrgaoAutuador="SP"),
    )
    text = shown_on(medium, panels(renainf=renainf_body(*records)))
    assert (
        "Órgãos das multas em aberto: Polícia Rodoviária Federal (MG): 2 e Detran SP (SP)" in text
    )
    assert "Multas quitadas, descontadas ou retidas: R$" in text
    # Paper only names what to verify. The page also has the reasons and legal sources.
    assert medium == "dossier" or "Os débitos seguem o veículo" in text
    assert medium == "dossier" or "arts. 128 e 131, § 2º, do CTB" in text


def test_notice_without_fine_asks_for_a_reserve() -> None:
    recent = fine(dataInfracao="01/10/2026", dataEmissaoNotificacao="10/10/2026",
                  dataCadastroInfracao="05/10/2026")  # fmt: skip
    text = shown_on("page", panels(renainf=renainf_body(recent)))
    assert "retenha o valor" in text


def test_probably_due_fine_asks_for_its_due_date() -> None:
    penalised = fine(dataInfracao="01/06/2026", dataEmissaoNotificacao="10/06/2026",
                     dataEmissaoPenalidade="06/10/2026")  # fmt: skip
    text = shown_on("page", panels(renainf=renainf_body(penalised)))
    assert "Há multa provavelmente vencida" in text
    assert "exija o comprovante ou desconte" not in text


def test_clean_car_gets_the_checks_that_no_record_covers(medium: str) -> None:
    text = shown_on(medium, panels(renainf=renainf_body(), renajud=renajud_body()))
    for title in (
        "Gravame e financiamento",
        "IPVA e multas ambientais",
        "Transfira em 30 dias",
    ):
        assert title in text
    for title in ("Multas quitadas", "Baixa da restrição judicial"):
        assert title not in text


def test_unavailable_lookups_are_lines(medium: str) -> None:
    text = shown_on(medium, Panels(DOWN, DOWN, panels().orders))
    assert "Multas: sem resposta atual" in text
    assert "Documento, chassi, motor e placas" in text
    text = shown_on(medium, Panels(panels().vehicle, DOWN, DOWN))
    assert "Restrições judiciais: sem resposta atual" in text


def test_orders_without_a_case_number_are_said_once_a_court(medium: str) -> None:
    orders = [restriction(restricoes=kind) for kind in ("TRANSFERENCIA", "LICENCIAMENTO")]
    text = shown_on(medium, panels(renajud=renajud_body(*orders)))
    assert text.count("a fonte oculta o número do processo; peça ao vendedor") == 1


def test_record_of_another_vehicle_is_a_line(medium: str) -> None:
    text = shown_on(medium, panels(renainf=renainf_body(fine(marcaModelo="VW/GOL"))))
    assert "Chassi, motor e placas: há registro de outro veículo" in text


def test_renavam_page_has_the_list_without_the_missing_description() -> None:
    page = renavam_page(
        Renavam.parse("12345678910"),
        answered(renainf_body(fine())),
        answered(renajud_body()),
        CONTEXT,
    )
    text = words(render(page))
    assert "Multas quitadas, descontadas ou retidas: R$" in text
    assert "Documento, chassi, motor e placas" not in text


def test_official_links_are_on_page_and_paper() -> None:
    answers, report = panels(), answered(report_body())
    for page in (
        vehicle_page(PLATE, answers, report, CONTEXT),
        dossier_page(PLATE, answers, report, CONTEXT, address="https://x"),
    ):
        assert 'href="https://portalservicos.senatran.serpro.gov.br/"' in render(page)


def test_the_list_has_thirteen_to_fifteen_lines() -> None:
    """One for each subject that no lookup covers, one for the courts and one for the fines."""
    none = panels(renainf=renainf_body(), renajud=renajud_body())
    both = panels(
        renainf=renainf_body(fine(), fine(codigoInfracao="65562", descricao="")),
        renajud=renajud_body(restriction(restricoes="PENHORA"), restriction()),
    )
    for answers, count in ((none, 13), (both, 15), (Panels(DOWN, DOWN, DOWN), 15)):
        lines = CONTEXT.dossier(PLATE, answers).checklist.lines
        assert len(lines) == len({line.key for line in lines}) == count
        assert all(line.title and line.ask and line.texts for line in lines)


def test_open_fines_of_many_bodies_count_the_bodies_left_out(medium: str) -> None:
    names = [f"PREFEITURA MUNICIPAL DE {town}" for town in "ABCDEFGH"]
    fines = [fine(orgaoAutuador=name, codigoOrgaoAutuador="") for name in names]
    text = shown_on(medium, panels(renainf=renainf_body(*fines)))
    assert re.search(r"Municipal de F \(MG\) e mais 2 órgãos\.", text)


@pytest.mark.parametrize(
    "said",
    [
        "pode ser liberado por até 15 dias",
        "multas ambientais",
        "§§ 4º, 5º e 7º, do CTB",
        "Com 20 anos ou mais, em regra, não há IPVA (EC 137/2025)",
        "Com GNV, peça a inspeção do ano",
    ],
)
def test_list_says_what_the_law_says(said: str) -> None:
    assert said in shown_on("page", panels(renajud=renajud_body()))


def test_transfer_is_not_advised_while_the_orders_are_unknown(medium: str) -> None:
    text = shown_on(medium, replace(panels(renajud=renajud_body()), orders=DOWN))
    assert "Transfira em 30 dias" not in text
