"""What stands beside a record: notes on a fine's days, toll and meter, and unknown members."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from portal.dossier.details import explanations, fine_notes, fine_rows, further_details
from portal.law.assessment import AssessedFine
from portal.law.record_findings import fine_findings
from portal.phrasebook.findings import consequence
from portal.vehicle.decode import read_decode
from tests.factories import HIDDEN as MARKER
from tests.factories import decoded
from tests.law.records import CHARGED, TODAY, fine


def assessed(today: date = TODAY, **given: Any) -> AssessedFine:
    fields = {name: value for name, value in {**CHARGED, **given}.items() if value != ""}
    return AssessedFine(fine(**fields), today)


def told(found: AssessedFine) -> str:
    return " ".join((*explanations(found), *fine_notes(found)))


@pytest.mark.parametrize(
    ("registered_on", "words"),
    [
        (date(2024, 9, 9), "(09/09/2024) é anterior à da infração"),
        (date(2026, 12, 9), "(09/12/2026) está no futuro"),
    ],
)
def test_odd_day_of_the_register_is_noted(registered_on: date, words: str) -> None:
    assert words in told(assessed(registered_on=registered_on))
    assert fine_notes(assessed(registered_on=date(2026, 3, 10))) == ()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"penalty_on": date(2026, 4, 4)}, "em princípio, é nula"),
        ({"penalty_on": date(2026, 4, 23)}, "29 dias depois da notificação"),
        ({"limit": "60", "measured": "66", "considered": "63"}, "seria 59 km/h, dentro do limite"),
        ({"limit": "80", "measured": "86", "considered": "93"}, "passa da medida"),
    ],
)
def test_doubt_stands_beside_the_fine(given: dict[str, Any], words: str) -> None:
    assert words in told(assessed(**given))


@pytest.mark.parametrize(
    ("description", "doubt"),
    [
        ("", ""),
        ("EVADIR-SE DA COBRANCA PELO USO DE RODOVIAS E VIAS URBANAS", ""),
        ("DEIXAR O CONDUTOR DE USAR O CINTO SEGURANCA", "Pelo código, é multa de pedágio"),
    ],
)
def test_advice_on_free_flow_says_so_if_only_the_code_names_it(
    description: str, doubt: str
) -> None:
    text = told(assessed(code="7730", amount=Decimal(195), description=description))
    assert "quitar só o pedágio" in text
    assert doubt in text and ("Pelo código" in text) == bool(doubt)


@pytest.mark.parametrize(
    ("sent", "code", "shown"),
    [
        ("0,38", "5169", "0,38 (a fonte não diz a unidade)"),
        ("60.0", "7455", "60 km/h"),
        ("080", "7455", "80 km/h"),
        ("60.5", "7455", "60,5 km/h"),
        ("16000 KG", "6831", "16.000 kg"),
        ("80 km/h", "7455", "80 km/h"),
        ("16.000", "6831", "16.000"),
        ("ilegivel", "7455", "ilegivel"),
    ],
)
def test_measure_is_shown_as_a_number_with_its_unit(sent: str, code: str, shown: str) -> None:
    found = assessed(measured=sent, code=code, amount=None)
    rows = {row.label: str(row.field) for row in fine_rows(found, "screen")}
    assert rows["Medido"] == shown


def test_reason_quotes_what_casts_doubt_on_a_payment() -> None:
    paid: dict[str, Any] = {"paid_on": date(2026, 7, 1), "paid_amount": Decimal("130.16")}
    (finding,) = fine_findings([assessed(kind="PAGAMENTO ESTORNADO", **paid)])
    said = "a fonte registra “PAGAMENTO ESTORNADO”; pode impedir a transferência"
    assert consequence(finding) == said


@pytest.mark.parametrize(
    ("members", "shown"),
    [
        ({"situacao": "EM CIRCULACAO"}, (("situacao", "EM CIRCULACAO"),)),
        (
            {"restricao1": "ALIENACAO FIDUCIARIA"},
            (("restricao1", "ALIENACAO FIDUCIARIA"),),
        ),
        ({"registro": {"observacao": "EM USO"}}, (("observacao", "EM USO"),)),
        ({"nomeProprietario": "JOSE DA SILVA", "cpfCnpj": "123"}, ()),
        ({"mensagem": "Consulta realizada com sucesso", "cor": ""}, ()),
        ({"quantidade": 3, "ativo": True}, (("quantidade", "3"), ("ativo", "SIM"))),
        ({"situacao": "NADA CONSTA", "ativo": False}, ()),
    ],
)
def test_unknown_member_is_shown(
    members: dict[str, object], shown: tuple[tuple[str, str], ...]
) -> None:
    others = further_details(read_decode({**decoded("ABC1D23"), **members}, MARKER).further)
    assert [(each.label, str(each.field)) for each in others] == [
        (f"Outros dados ({name})", text) for name, text in shown
    ]


def test_unknown_members_are_bounded() -> None:
    many = {f"membro{number}": "X" for number in range(100)}
    read = read_decode({**decoded("ABC1D23"), **many}, MARKER)
    assert len(list(further_details(read.further))) == 20
