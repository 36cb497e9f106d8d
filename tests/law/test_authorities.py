"""Codes of authorities and towns get their names; what contradicts them is found."""

from collections import Counter
from csv import DictReader
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.law.assessment import AssessedFine
from portal.law.authorities import Authority, CodeConflict, Town, authority_of, town_of
from tests.law.records import TODAY, fine


def rows(table: str) -> list[dict[str, str]]:
    text = resources.files("portal.law").joinpath(table).read_text("utf-8")
    return list(DictReader(text.splitlines()))


def found(code: str) -> Authority:
    authority = authority_of(code)
    assert authority is not None, code
    return authority


def conflict(
    code: str = "", town: str = "", name: str = "", state: str = ""
) -> CodeConflict | None:
    names = {
        "authority_code": code,
        "municipality_code": town,
        "authority": name,
        "authority_state": state,
    }
    return AssessedFine(
        fine(**{key: text for key, text in names.items() if text}), TODAY
    ).code_conflict


@pytest.mark.parametrize(
    ("code", "name", "level", "state"),
    [
        ("000100", "Polícia Rodoviária Federal (PRF)", "federal", ""),
        ("100", "Polícia Rodoviária Federal (PRF)", "federal", ""),
        ("000300", "DNIT – Departamento Nacional de Infraestrutura de Transportes", "federal", ""),
        ("113100", "Detran/MG", "state", "MG"),
        ("126200", "DER/SP", "state", "SP"),
        ("105300", "Seinfra/BA", "state", "BA"),
        ("125100", "Detran/SC", "state", "SC"),
        ("271070", "Prefeitura de São Paulo/SP", "municipal", "SP"),
        ("200030", "Prefeitura de Porto Velho/RO", "municipal", "RO"),
        ("211820", "Prefeitura de Boa Esperança do Norte/MT", "municipal", "MT"),
    ],
)
def test_code_names_the_authority_and_its_level(
    code: str, name: str, level: str, state: str
) -> None:
    authority = found(code)
    assert (authority.name, authority.level, authority.state) == (name, level, state)


@pytest.mark.parametrize(
    ("code", "body"),
    [
        ("000100", "special_panel"),
        ("000400", "special_panel"),
        ("113100", "cetran"),
        ("107200", "contrandife"),
        ("241230", "cetran"),
    ],
)
def test_level_decides_who_hears_the_appeal(code: str, body: str) -> None:
    assert found(code).appeal_body == body


def test_every_code_of_the_tables_is_resolved() -> None:
    towns, others = rows("towns.csv"), rows("authorities.csv")
    assert (len(towns), len(others)) == (5571, 60)
    for row in towns:
        town = Town(row["town"], row["state"])
        authority = found(f"2{row['code']}0")
        assert (authority.town, authority.level) == (town, "municipal")
        assert town_of(row["code"]) == town
    for row in others:
        authority = found(row["code"])
        assert (authority.name, authority.state) == (row["name"], row["state"])
    levels = Counter(found(row["code"]).level for row in others)
    assert levels == {"federal": 4, "state": 56}


def test_towns_have_the_codes_of_the_revenue_service() -> None:
    capitals = "7107 6001 9701 4123 3849 8801 7535 2531 1389 0427 0255 9373"
    names = [str(town_of(code)) for code in capitals.split()]
    assert names == [
        *("São Paulo/SP", "Rio de Janeiro/RJ", "Brasília/DF", "Belo Horizonte/MG", "Salvador/BA"),
        *("Porto Alegre/RS", "Curitiba/PR", "Recife/PE", "Fortaleza/CE", "Belém/PA", "Manaus/AM"),
        "Goiânia/GO",
    ]


@pytest.mark.parametrize(
    "code", ["", "000500", "124100", "299990", "271071", "371070", "2710700", "27107", "PRF", "²"]
)
def test_unknown_code_names_nothing(code: str) -> None:
    assert authority_of(code) is None
    assert conflict(code, name="DETRAN MG", state="SP") is None


@pytest.mark.parametrize(
    ("record", "authority", "town", "name", "state"),
    [
        (("113100", "", "DETRAN SP"), "Detran/MG", None, "DETRAN SP", ""),
        (("113100", "", "DETRAN/MG", "SP"), "Detran/MG", None, "", "SP"),
        (("113100", "7107", "DETRAN", "MG"), "Detran/MG", "São Paulo/SP", "", ""),
        (("126200", "", "DETRAN-SP"), "DER/SP", None, "DETRAN-SP", ""),
        (
            ("000100", "", "PREFEITURA MUNICIPAL DE BETIM"),
            *("Polícia Rodoviária Federal (PRF)", None, "PREFEITURA MUNICIPAL DE BETIM", ""),
        ),
        (
            ("241230", "", "POLICIA RODOVIARIA FEDERAL", "MG"),
            *("Prefeitura de Belo Horizonte/MG", None, "POLICIA RODOVIARIA FEDERAL", ""),
        ),
        (
            ("241230", "", "PREFEITURA MUNICIPAL DE BETIM", "MG"),
            *("Prefeitura de Belo Horizonte/MG", None, "PREFEITURA MUNICIPAL DE BETIM", ""),
        ),
        (("241230", "4133", "", ""), "Prefeitura de Belo Horizonte/MG", "Betim/MG", "", ""),
        (
            ("000100", "7107", "POLICIA RODOVIARIA FEDERAL", "MG"),
            *(None, "São Paulo/SP", "", "MG"),
        ),
        (("113100", "7107", "DETRAN SP", "sp"), "Detran/MG", "São Paulo/SP", "DETRAN SP", "SP"),
    ],
)
def test_contradiction_is_found(
    record: tuple[str, ...], authority: str | None, town: str | None, name: str, state: str
) -> None:
    found = conflict(*record)
    assert found is not None
    assert (found.authority and found.authority.name) == authority
    assert (str(found.town) if found.town else None) == town
    assert (found.name, found.state) == (name, state)


@pytest.mark.parametrize(
    "record",
    [
        ("000100", "4123", "POLICIA RODOVIARIA FEDERAL", "MG"),
        ("000100", "", "DPRF", ""),
        ("000200", "", "DNIT", "SP"),
        ("113100", "4123", "DETRAN MG", "MG"),
        ("126200", "7107", "DEPARTAMENTO DE ESTRADAS DE RODAGEM", "SP"),
        ("121200", "", "DAER", "RS"),
        ("271070", "7107", "PREFEITURA MUNICIPAL DE SAO PAULO - DSV", "SP"),
        ("271070", "7107", "CET", "SP"),
        ("281790", "", "DETRANS JOINVILLE", "SC"),
        # A town's former name, which a town of other states has today.
        ("217130", "", "PREFEITURA DE PRESIDENTE JUSCELINO", "RN"),
        ("241230", "", "DEPARTAMENTO DE TRANSITO", "MG"),
        ("241230", "", "", "EXTERIOR"),
    ],
)
def test_nothing_is_found_where_nothing_contradicts(record: tuple[str, ...]) -> None:
    assert authority_of(record[0]) is not None
    assert conflict(*record) is None


@given(st.tuples(*[st.text(max_size=12)] * 4))
def test_no_text_fails(record: tuple[str, str, str, str]) -> None:
    assert isinstance(conflict(*record), CodeConflict | None)
