"""Every field of the contract reaches the reader, on the page and on paper."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest

from portal.dossier.answers import Panels
from portal.vehicle.plate import Renavam
from tests.factories import (
    HIDDEN,
    Record,
    decode_body,
    decoded,
    fine,
    fipe_entry,
    renainf_body,
    renajud_body,
    report_body,
    restriction,
    topics,
)
from tests.presentation.pages import dossier_page, renavam_page, vehicle_page
from tests.presentation.rendering import CONTEXT, PLATE, UNASKED, answered, panels, render

# Fields that cannot hold a sentinel text, because the contract gives them another type.
NOT_TEXT = {"pontos", "constaRenajud", "predicao", "historicoPreco", "informacoesFipe"}


def sentinels(record: Record, prefix: str) -> Record:
    """Return the record with a unique text in every field and nested field."""
    filled: Record = {}
    for number, (name, value) in enumerate(record.items()):
        if isinstance(value, dict):
            filled[name] = sentinels(value, f"{prefix}-{number}")
        elif name in NOT_TEXT:
            filled[name] = value
        else:
            filled[name] = f"Sentinela-{prefix}-{number}-fim"
    return filled


def texts(record: Any) -> Iterator[str]:
    if isinstance(record, dict):
        for value in record.values():
            yield from texts(value)
    elif isinstance(record, str):
        yield record


def words(html: str) -> str:
    """Return the text of a page, without its markup."""
    joined = re.sub(r"</?[ab]( [^>]*)?>", "", html)  # tags inside sentences
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", joined)).split())


FIPE = sentinels(fipe_entry(), "fipe")
OTHER_FIPE = [sentinels(fipe_entry(), f"fipe{n}") for n in range(7)]
DECODED = sentinels(decoded(str(PLATE)), "decode") | {"informacoesFipe": [FIPE, *OTHER_FIPE]}
FINE = sentinels(fine(), "fine")
FINE["cnhCondutor"]["pontos"], FINE["cnhInfrator"]["pontos"] = 731, 842
RESTRICTION = sentinels(restriction(), "restriction")
TOPICS = sentinels(topics(), "report")


def pages() -> dict[str, str]:
    answers = panels(
        decode=decode_body(str(PLATE), **DECODED),
        renainf=renainf_body(FINE),
        renajud=renajud_body(RESTRICTION),
    )
    report = answered(report_body("Sentinela-resumo", "Sentinela-laudo", **TOPICS))
    return {
        "page": render(vehicle_page(PLATE, answers, report, CONTEXT)),
        "dossier": render(
            dossier_page(PLATE, answers, report, CONTEXT, address="https://portal.example")
        ),
    }


@pytest.mark.parametrize("medium", ["page", "dossier"])
def test_every_text_of_a_record_is_shown(medium: str) -> None:
    shown = words(pages()[medium])
    records = {"decode": DECODED, "fipe": FIPE, "fine": FINE, "restriction": RESTRICTION}
    records |= {f"fipe{n}": entry for n, entry in enumerate(OTHER_FIPE)}
    records |= {"report": TOPICS | {"resumo": "Sentinela-resumo", "laudo": "Sentinela-laudo"}}
    missing = [text for record in records.values() for text in texts(record) if text not in shown]
    assert not missing


@pytest.mark.parametrize("medium", ["page", "dossier"])
def test_licence_points_and_flag_are_shown(medium: str) -> None:
    shown = words(pages()[medium])
    assert re.search(r"Pontos na CNH do condutor, pela fonte:? 731", shown)
    assert re.search(r"Pontos na CNH do infrator, pela fonte:? 842", shown)
    assert re.search(r"Consta no Renajud, pela fonte:? sim", shown)


def shown_on(medium: str, answers: Panels) -> str:
    """The words of a vehicle's page or dossier with these answers and a report."""
    report = answered(report_body())
    if medium == "page":
        return words(render(vehicle_page(PLATE, answers, report, CONTEXT)))
    return words(render(dossier_page(PLATE, answers, report, CONTEXT, address="https://x")))


@pytest.mark.parametrize("medium", ["page", "dossier"])
def test_readable_values_are_shown_in_their_own_form(medium: str) -> None:
    """Dates, amounts and speeds are shown in the portal's format, with their units."""
    record = fine(
        dataInfracao="03/02/2024", dataCadastroInfracao="04/02/2024",
        dataEmissaoNotificacao="05/02/2024", dataEmissaoPenalidade="06/06/2024",
        horaInfracao=" 07:41", limitePermitido="50", medicaoReal="64", medicaoConsiderada="57",
        pagamento={"dataPagamento": "07/07/2024", "dataRegistro": "08/07/2024",
                   "ufPagamento": "RN", "valorPago": "104.13"},
    )  # fmt: skip
    order = restriction(dataInclusao="09/08/2024 10:11:12", numeroProtocolo="4417",
                        anoProtocolo="2023", numeroOficio="5528", anoOficio="2022")  # fmt: skip
    answers = panels(renainf=renainf_body(record), renajud=renajud_body(order))
    shown = shown_on(medium, answers)
    for text in (
        *("03/02/2024", "04/02/2024", "05/02/2024", "06/06/2024", "07:41", "07/07/2024"),
        *("08/07/2024", "R$ 104,13", "09/08/2024 às 10:11", "4417/2023", "5528/2022"),
    ):
        assert text in shown, text
    assert re.search(r"Paga em \(estado\):? RN", shown)
    assert re.search(r"Limite:? 50 km/h", shown)
    assert re.search(r"Medido:? 64 km/h", shown)
    assert re.search(r"Considerado:? 57 km/h", shown)


@pytest.mark.parametrize("medium", ["page", "dossier"])
def test_hidden_protocol_and_letter_numbers_are_shown_as_hidden(medium: str) -> None:
    order = restriction(numeroProtocolo=HIDDEN, numeroOficio=HIDDEN)
    answers = panels(renajud=renajud_body(order))
    shown = shown_on(medium, answers)
    assert "Protocolo oculto pela fonte" in shown
    assert "Ofício oculto pela fonte" in shown


def test_considered_speed_alone_is_shown() -> None:
    record = fine(limitePermitido="", medicaoReal="", medicaoConsiderada="88")
    shown = words(
        render(
            vehicle_page(
                PLATE, panels(renainf=renainf_body(record)), answered(report_body()), CONTEXT
            )
        )
    )
    assert "Considerado 88 km/h" in shown


def test_renavam_page_shows_every_text_of_fines_and_restrictions() -> None:
    page = renavam_page(
        Renavam.parse("12345678910"),
        answered(renainf_body(FINE)),
        answered(renajud_body(RESTRICTION)),
        CONTEXT,
    )
    shown = words(render(page))
    assert not [text for text in (*texts(FINE), *texts(RESTRICTION)) if text not in shown]


def test_fields_without_data_share_one_line() -> None:
    shown = words(render(vehicle_page(PLATE, panels(), answered(report_body()), CONTEXT)))
    assert "Não informado pela fonte: Impedimento da CNH do condutor; Portaria" in shown


def test_fields_that_no_fine_tells_are_named_once() -> None:
    """A field that one fine tells stands with each of the others."""
    fines = [fine(), fine(), fine(marcaModelo="")]
    answers = panels(renainf=renainf_body(*fines), renajud=renajud_body())
    shown = words(render(vehicle_page(PLATE, answers, UNASKED, CONTEXT)))
    assert shown.count("Impedimento da CNH do condutor") == 1
    assert "CNH do condutor oculto pela fonte" not in shown
    assert "Oculto pela fonte em todos os registros: CNH do condutor" in shown
    assert shown.count("Veículo descrito") == len(fines)
