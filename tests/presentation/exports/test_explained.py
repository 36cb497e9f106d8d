"""The explained JSON: golden files, OpenAPI schema and agreement with the page."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from portal.dossier.answers import Panels
from portal.presentation.exports.explained import Record, explained
from portal.presentation.exports.vehicle_tables import TableName, vehicle_table
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.web.json_api.openapi import DOCUMENT
from tests.factories import fine, renainf_body, renajud_body, restriction
from tests.presentation.pages import vehicle_page
from tests.presentation.rendering import CONTEXT, DOWN, PLATE, UNASKED, panels, render

SCHEMAS: dict[str, Any] = msgspec.yaml.decode(DOCUMENT.read_bytes())["components"]["schemas"]
CASES = {
    "full": panels(),
    "no-fines": Panels(panels().vehicle, DOWN, panels().orders),
    "down": Panels(DOWN, DOWN, DOWN),
    "unasked": Panels(UNASKED, UNASKED, UNASKED),
    "decode-only": Panels(panels().vehicle, UNASKED, UNASKED),
    "no-renajud": Panels(panels().vehicle, DOWN, UNASKED),
}
ASKED: dict[str, tuple[LookupName, ...]] = {
    "decode-only": ("decode",),
    "no-renajud": ("decode", "renainf"),
}


class JsonFile(SingleFileSnapshotExtension):
    file_extension = "json"
    _write_mode = WriteMode.TEXT

    @classmethod
    def dirname(cls, *, test_location: Any) -> str:
        return str(Path(test_location.filepath).parents[2] / "golden" / "test_explained")


def document(case: str) -> Record:
    return explained(CONTEXT.dossier(PLATE, CASES[case], ASKED.get(case, LOOKUPS)), CONTEXT.now)


def as_json(found: object) -> Any:
    return json.loads(msgspec.json.Encoder(decimal_format="number").encode(found))


@pytest.mark.parametrize("case", CASES)
def test_document_matches_golden_file(case: str, snapshot: SnapshotAssertion) -> None:
    text = json.dumps(as_json(document(case)), ensure_ascii=False, indent=1) + "\n"
    assert text == snapshot(extension_class=JsonFile)


@pytest.mark.parametrize("case", CASES)
def test_document_matches_its_schema(case: str) -> None:
    whole = {"$ref": "#/components/schemas/Explained", "components": {"schemas": SCHEMAS}}
    jsonschema_rs.Draft202012Validator(whole).validate(as_json(document(case)))


def objects(name: str, found: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the document and each object with its own schema, with schema names."""
    yield name, found
    for member, schema in SCHEMAS[name]["properties"].items():
        yield from referenced(schema, found[member])


def referenced(schema: dict[str, Any], found: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    if "$ref" in schema and found is not None:
        yield from objects(schema["$ref"].rpartition("/")[2], found)
    for each in schema.get("anyOf", ()):
        yield from referenced(each, found)
    for each in found if "items" in schema and found is not None else ():
        yield from referenced(schema["items"], each)
    for member, inner in schema.get("properties", {}).items():
        yield from referenced(inner, found[member])


@pytest.mark.parametrize("case", CASES)
def test_schema_lists_exactly_the_members(case: str) -> None:
    for name, found in objects("Explained", as_json(document(case))):
        assert list(SCHEMAS[name]["properties"]) == list(found), name
        assert SCHEMAS[name]["required"] == list(found), name


def test_full_document_has_an_object_of_every_schema() -> None:
    met = {name for name, _ in objects("Explained", as_json(document("full")))}
    assert met == {"Explained"} | {
        name
        for name in SCHEMAS
        if name.startswith("Explained")
        or name in ("FineTotals", "MonthlyPrice", "NotVerified", "PriceSummary")
        or name in ("DeclaredLines", "DeclaredLine")
    }


@pytest.mark.parametrize(
    ("table", "schema", "nested"),
    [
        ("fines", "ExplainedFine", {"deadlines"}),
        ("restrictions", "ExplainedRestriction", {"transfer", "licence", "drive", "removal"}),
        ("prices", "ExplainedPrice", {"history"}),
    ],
)
def test_table_has_a_column_for_every_member(
    table: TableName, schema: str, nested: set[str]
) -> None:
    found = vehicle_table(table, CONTEXT.dossier(PLATE, CASES["full"]))
    assert found is not None
    members = [name for name in SCHEMAS[schema]["properties"] if name not in nested]
    assert [column.name for column in found.columns][: len(members) + 1] == ["plate", *members]


@pytest.mark.parametrize("case", ["full", "no-fines"])
def test_page_shows_every_sentence_of_the_verdict(case: str) -> None:
    found = document(case)
    page = render(vehicle_page(PLATE, CASES[case], UNASKED, CONTEXT))
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page)).replace("&#39;", "'")
    assert found["verdict"]["headline"] in text
    for act in found["acts"]:
        assert act["answer"] in text


def test_missing_lookup_makes_the_verdict_incomplete_and_is_named() -> None:
    found = document("down")
    assert found["verdict"]["level"] == "incomplete"
    assert [found[name] for name in ("vehicle", "prices", "fines", "restrictions")] == [None] * 4
    for lookup in found["lookups"].values():
        assert lookup["state"] == "unavailable"
        assert lookup["reason"]


def test_lookup_that_was_not_asked_for_is_not_missing() -> None:
    found = document("decode-only")
    assert found["verdict"]["level"] == "limited"
    assert found["verdict"]["headline"] == "Consulta só de dados do veículo"
    assert found["verdict"]["missing"] == []
    assert found["verdict"]["not_asked"] == ["fines", "restrictions"]
    assert found["lookups"]["decode"]["reason"] is None
    for name in ("renainf", "renajud"):
        lookup = found["lookups"][name]
        assert (lookup["state"], lookup["cause"]) == ("unasked", None)
        assert lookup["reason"] == "Não pedida."
    answers = {act["act"]: act["explanation"] for act in found["acts"]}
    assert answers["transfer"] == "As multas e as restrições judiciais não foram pedidas."
    assert answers["drive"] == "As restrições judiciais não foram pedidas."
    assert {act["mark"] for act in found["acts"]} == {"unknown"}


def test_failed_lookup_is_missing_beside_one_that_was_not_asked_for() -> None:
    found = document("no-renajud")
    assert found["verdict"]["level"] == "incomplete"
    assert found["verdict"]["missing"] == ["fines"]
    assert found["verdict"]["not_asked"] == ["restrictions"]
    assert found["verdict"]["missing_lookups"] == ["renainf"]
    assert found["verdict"]["not_asked_lookups"] == ["renajud"]
    assert found["acts"][0]["explanation"] == (
        "Não foi possível consultar as multas. As restrições judiciais não foram pedidas."
    )


def test_every_row_of_a_table_has_its_columns() -> None:
    contents = CONTEXT.dossier(PLATE, CASES["full"])
    for name in ("fines", "restrictions", "prices"):
        table = vehicle_table(name, contents)
        assert table is not None
        rows = list(table.rows)
        assert rows
        assert {len(row) for row in rows} == {len(table.columns)}


def test_table_of_a_missing_lookup_is_none_and_of_no_record_is_empty() -> None:
    down = CASES["down"]
    assert vehicle_table("fines", CONTEXT.dossier(PLATE, down)) is None
    none = Panels(DOWN, panels(renainf=b'{"status":"SUCCESS","result":[]}').fines, DOWN)
    table = vehicle_table("fines", CONTEXT.dossier(PLATE, none))
    assert table is not None
    assert list(table.rows) == []


def test_every_record_is_listed_also_those_that_the_page_omits() -> None:
    fines = panels(renainf=renainf_body(*[fine()] * 350))
    courts = panels(renajud=renajud_body(*[restriction()] * 250))
    answers = Panels(fines.vehicle, fines.fines, courts.orders)
    found = explained(CONTEXT.dossier(PLATE, answers), CONTEXT.now)
    listed = (found["fines"]["records"], found["restrictions"]["records"])
    assert tuple(map(len, listed)) == (350, 250)
