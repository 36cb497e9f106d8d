"""The explained JSON: golden files, its OpenAPI schema, and that it says what the page says."""

import json
import re
from dataclasses import fields
from typing import Any

import jsonschema_rs
import msgspec
import pytest
import yaml
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from portal.presentation.exports import explained as module
from portal.presentation.exports.explained import Explained, explained
from portal.presentation.exports.vehicle_tables import vehicle_table
from portal.presentation.vehicle.contents import VehicleContents
from portal.presentation.vehicle.page import vehicle_page
from portal.presentation.vehicle.panel import Panels
from portal.web.json_api.openapi import DOCUMENT
from tests.factories import fine, renainf_body, renajud_body, restriction
from tests.presentation.rendering import CONTEXT, DOWN, PLATE, UNASKED, panels, render

SCHEMAS: dict[str, Any] = yaml.safe_load(DOCUMENT.read_text("utf-8"))["components"]["schemas"]
CLASSES = [
    each
    for each in vars(module).values()
    if isinstance(each, type) and hasattr(each, "__dataclass_fields__")
    if each.__module__ == module.__name__
]
CASES = {
    "full": panels(),
    "no-fines": Panels(panels().decode, DOWN, panels().renajud),
    "down": Panels(DOWN, DOWN, DOWN),
    "unasked": Panels(UNASKED, UNASKED, UNASKED),
}


class JsonFile(SingleFileSnapshotExtension):
    file_extension = "json"
    _write_mode = WriteMode.TEXT

    @classmethod
    def dirname(cls, *, test_location: Any) -> str:
        return str(test_location.filepath).split("/tests/")[0] + "/tests/golden/test_explained"


def document(case: str) -> Explained:
    return explained(PLATE, CASES[case], CONTEXT)


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


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_schema_lists_exactly_the_members(cls: type) -> None:
    written = SCHEMAS[cls.__name__]
    names = [each.name for each in fields(cls)]
    assert list(written["properties"]) == names
    assert written["required"] == names


@pytest.mark.parametrize("case", ["full", "no-fines"])
def test_page_shows_every_sentence_of_the_verdict(case: str) -> None:
    found = document(case)
    page = render(vehicle_page(PLATE, CASES[case], UNASKED, CONTEXT))
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page)).replace("&#39;", "'")
    assert found.verdict.headline in text
    for act in found.acts:
        assert act.answer in text


def test_missing_lookup_makes_the_verdict_incomplete_and_is_named() -> None:
    found = document("down")
    assert found.verdict.level == "incomplete"
    assert (found.vehicle, found.prices, found.fines, found.restrictions) == (None,) * 4
    for lookup in found.lookups.values():
        assert lookup.state == "unavailable"
        assert lookup.reason


def test_every_row_of_a_table_has_its_columns() -> None:
    contents = VehicleContents.of(CASES["full"], CONTEXT)
    for name in ("fines", "restrictions", "prices"):
        table = vehicle_table(name, contents)
        assert table is not None
        rows = list(table.rows)
        assert rows
        assert {len(row) for row in rows} == {len(table.columns)}


def test_table_of_a_missing_lookup_is_none_and_of_no_record_is_empty() -> None:
    assert vehicle_table("fines", VehicleContents.of(CASES["down"], CONTEXT)) is None
    none = Panels(DOWN, panels(renainf=b'{"status":"SUCCESS","result":[]}').renainf, DOWN)
    table = vehicle_table("fines", VehicleContents.of(none, CONTEXT))
    assert table is not None
    assert list(table.rows) == []


def test_every_record_is_listed_also_those_that_the_page_omits() -> None:
    fines = panels(renainf=renainf_body(*[fine()] * 350))
    courts = panels(renajud=renajud_body(*[restriction()] * 250))
    answers = Panels(fines.decode, fines.renainf, courts.renajud)
    found = explained(PLATE, answers, CONTEXT)
    assert found.fines is not None
    assert found.restrictions is not None
    assert (len(found.fines.records), len(found.restrictions.records)) == (350, 250)
