"""The OpenAPI document matches the routes, records, statuses and headers."""

import json
import re
import sqlite3
from collections import defaultdict
from typing import Any, get_args

import jsonschema_rs
import pytest
import yaml

from portal.batch.model import Reason
from portal.dossier.answers import Cause
from portal.gateway.lookup import FailureKind
from portal.phrasebook.api_errors import API_ERRORS
from portal.presentation.exports.batches import COLUMNS
from portal.presentation.exports.tables import json_lines
from portal.presentation.exports.vehicle_tables import NEEDS, batch_table, vehicle_table
from portal.vehicle.plate import STATES, Plate
from portal.web.http.errors import is_json_path
from portal.web.json_api.calls import NOT_ALLOWED
from portal.web.json_api.openapi import as_yaml
from tests import factories
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
from tests.presentation.rendering import CONTEXT, panels
from tests.web.json_paths import PLATE, QUESTIONS, ask

AUTH = {"Authorization": PORTAL_TOKEN}
RECORDS = {
    "Vehicle": factories.decoded(PLATE),
    "FipeEntry": factories.fipe_entry(),
    "Price": factories.price_history()[0],
    "Fine": factories.fine(),
    "Licence": factories.licence(),
    "Payment": factories.payment(),
    "Restriction": factories.restriction(),
    "Topics": factories.topics(),
}


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal()


@pytest.fixture
def document(here: InProcessPortal) -> dict[str, Any]:
    loaded: dict[str, Any] = here.client.get("/openapi.json").get_json()
    return loaded


def test_yaml_and_json_are_the_same_document(
    here: InProcessPortal, document: dict[str, Any]
) -> None:
    response = here.client.get("/openapi.yaml")
    assert response.content_type == "application/yaml"
    assert yaml.safe_load(response.data) == document
    assert document["openapi"].startswith("3.1.")


def test_document_lists_exactly_the_json_paths_and_methods(
    here: InProcessPortal, document: dict[str, Any]
) -> None:
    served = defaultdict[str, set[str]](set)
    for rule in here.app.url_map.iter_rules():
        if is_json_path(rule.rule):
            path = re.sub(r"<(\w+)>", r"{\1}", rule.rule)
            served[path] |= {method.lower() for method in rule.methods or ()}
    written = {path: set(item) - {"parameters"} for path, item in document["paths"].items()}
    assert written == served


@pytest.mark.parametrize("name", RECORDS)
def test_record_schema_matches_the_contracts_fields(document: dict[str, Any], name: str) -> None:
    kinds = {str: "string", bool: "boolean", int: "number", list: "array"}
    written = document["components"]["schemas"][name]["properties"]
    record = RECORDS[name]
    assert list(written) == list(record)
    for field, value in record.items():
        if isinstance(value, dict):
            assert "$ref" in written[field]
        else:
            assert written[field]["type"] == kinds[type(value)]


def test_generators_find_what_they_need(document: dict[str, Any]) -> None:
    """A name for each operation, no alias in YAML, no component that nothing names."""
    operations = [
        operation
        for item in document["paths"].values()
        for method, operation in item.items()
        if method != "parameters"
    ]
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names)
    assert not re.search(rb"[:\-] [&*][A-Za-z0-9]+$", as_yaml(), re.MULTILINE)
    text = json.dumps(document)
    for kind in ("schemas", "responses", "parameters", "headers"):
        for name in document["components"][kind]:
            assert f'#/components/{kind}/{name}"' in text, (kind, name)


def test_every_member_and_error_is_explained(document: dict[str, Any]) -> None:
    """The reference page takes meanings, causes and remedies from this document."""
    schemas = document["components"]["schemas"]
    for name, schema in schemas.items():
        for member, written in schema.get("properties", {}).items():
            referenced = schemas.get(written.get("$ref", "").rpartition("/")[2], {})
            assert written.get("description") or referenced.get("description"), (name, member)
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method in ("get", "post"):
                assert operation.get("description"), (method, path)
    for name, response in document["components"]["responses"].items():
        assert response["description"], name
    for code, error in API_ERRORS.items():
        assert error.message.endswith((".", "!")), code
        assert error.remedy.endswith("."), code


def test_example_messages_are_those_of_the_code(document: dict[str, Any]) -> None:
    known = {
        *(error.message for error in API_ERRORS.values()),
        *NOT_ALLOWED.values(),
    }
    for name, response in document["components"]["responses"].items():
        assert response["content"]["application/json"]["example"]["message"] in known, name


def _explained_values(schema: dict[str, Any]) -> set[str]:
    """Return the values of an enum; its description must explain each value."""
    values = {value for value in schema["enum"] if value is not None}
    assert all(f"`{value}`" in schema["description"] for value in values)
    return values


def test_reasons_and_causes_are_those_of_the_code(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    reasons = _explained_values(schemas["Batch"]["properties"]["reason"])
    assert reasons == {*get_args(Reason)} - {""}
    causes = _explained_values(schemas["BatchRow"]["properties"]["cause"])
    # "price" and "no_store" pause the batch.
    never = {"not_stored", "not_for_renavam", "price", "no_store", ""}
    others = get_args(get_args(Cause)[1])
    assert causes == {*get_args(FailureKind), *others, "unreadable"} - never
    lookup = schemas["ExplainedLookup"]["properties"]
    assert lookup["cause"] == schemas["BatchRow"]["properties"]["cause"]


def test_row_schemas_match_the_tables(document: dict[str, Any]) -> None:
    found = panels()
    contents = CONTEXT.dossier(Plate.parse(PLATE), found)
    tables = {name: vehicle_table(name, contents) for name in NEEDS}
    columns = {
        f"/api/v1/vehicles/{{plate}}/{name}": table.columns
        for name, table in tables.items()
        if table is not None
    }
    for name in NEEDS:
        columns[f"/api/v1/batches/{{batch}}/{name}"] = batch_table(name, []).columns
    columns["/api/v1/batches/{batch}/results"] = COLUMNS
    seen = set()
    for path, item in document["paths"].items():
        stem, _, ending = path.rpartition(".")
        if stem not in columns or ending == "zip":
            continue
        schema = _resolved(document, item["get"]["x-row"])
        assert list(schema["properties"]) == [column.name for column in columns[stem]], path
        assert schema["required"] == list(schema["properties"]), path
        seen.add(stem)
    assert seen == set(columns)


def test_no_member_is_of_the_type_null_alone(document: dict[str, Any]) -> None:
    """Generated Go clients do not compile with such a member."""
    for name, schema in document["components"]["schemas"].items():
        for member, described in schema.get("properties", {}).items():
            assert described.get("type") != "null", (name, member)


def test_exported_rows_match_their_schemas(document: dict[str, Any]) -> None:
    found = panels()
    contents = CONTEXT.dossier(Plate.parse(PLATE), found)
    for name in NEEDS:
        table = vehicle_table(name, contents)
        assert table is not None
        row = document["paths"][f"/api/v1/vehicles/{{plate}}/{name}.jsonl"]["get"]["x-row"]
        for line in json_lines(table):
            _validate(document, row, json.loads(line))


def test_head_of_a_file_has_the_headers_and_type_of_its_document(
    here: InProcessPortal, document: dict[str, Any]
) -> None:
    batch = here.client.post("/api/v1/batches", json={"plates": [PLATE]}, headers=AUTH)
    for operation in ("decode", "renainf", "renajud"):
        here.get(next(q.path for q in QUESTIONS if q.operation == operation))
    tried = 0
    for path, item in document["paths"].items():
        content = item.get("head", {}).get("responses", {}).get("200", {}).get("content")
        if content is None or path.endswith((".zip", ".pdf")):  # these need WeasyPrint
            continue
        address = path.format(plate=PLATE, batch=batch.get_json()["id"])
        response = here.client.head(address, headers=AUTH)
        assert response.status_code == 200, path
        assert response.mimetype in content
        assert response.mimetype in item["get"]["responses"]["200"]["content"]
        described = item["head"]["responses"]["200"]["headers"]
        assert "Content-Disposition" in response.headers and "Content-Disposition" in described
        tried += 1
    assert tried == 17


def _resolved(document: dict[str, Any], reference: dict[str, str]) -> Any:
    return document["components"]["schemas"][reference["$ref"].rpartition("/")[2]]


def _validate(document: dict[str, Any], schema: dict[str, Any], found: object) -> None:
    whole = {**schema, "components": document["components"]}
    jsonschema_rs.Draft202012Validator(whole).validate(found)


def test_state_enum_matches_the_code(document: dict[str, Any]) -> None:
    assert set(document["components"]["parameters"]["State"]["schema"]["enum"]) == STATES


def _answer_schema(document: dict[str, Any], path: str, method: str, status: int) -> Any:
    template = next(
        template
        for template in document["paths"]
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path)
    )
    answer = document["paths"][template][method.lower()]["responses"][str(status)]
    if "$ref" in answer:
        answer = document["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    return answer


def _check(document: dict[str, Any], answer: dict[str, Any], response: Any) -> None:
    schema = answer["content"]["application/json"]["schema"]
    _validate(document, schema, json.loads(response.data))
    for name, header in answer.get("headers", {}).items():
        described = document["components"]["headers"][header["$ref"].rpartition("/")[2]]
        if name not in response.headers:
            assert not described.get("required"), name
            continue
        written, value = described["schema"], response.headers[name]
        if written["type"] == "integer":
            assert int(value) >= written["minimum"]
        else:
            jsonschema_rs.Draft202012Validator(written).validate(value)


def test_responses_match_the_document(
    here: InProcessPortal, upstream: FaultUpstream, document: dict[str, Any]
) -> None:
    for question in QUESTIONS:
        seen = set()
        for headers in ({}, {**AUTH, "Cache-Control": "only-if-cached"}, AUTH, AUTH):
            response = ask(here, question, headers=headers)
            answer = _answer_schema(document, question.path, question.method, response.status_code)
            _check(document, answer, response)
            seen.add(response.status_code)
        assert seen == {200, 401, 504}


def test_503_without_the_token_table_matches_the_document(
    here: InProcessPortal, document: dict[str, Any]
) -> None:
    database = sqlite3.connect(here.settings.data_dir / "portal.sqlite")
    database.execute("DROP TABLE access_tokens")
    database.close()
    for question in QUESTIONS:
        for method in {question.method, "HEAD"} if question.method == "GET" else {"POST"}:
            headers = {"Authorization": "whether-it-is-known-nobody-can-tell"}
            response = ask(here, question, method=method, headers=headers)
            assert response.status_code == 503
            described = _answer_schema(document, question.path, method, 503)
            assert int(response.headers["Retry-After"]) >= 1
            assert "Retry-After" in described["headers"]
            if method != "HEAD":
                _check(document, described, response)


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_upstream_errors_match_the_document(
    here: InProcessPortal, upstream: FaultUpstream, document: dict[str, Any], status: int
) -> None:
    upstream.default(faults.status(status))
    for question in QUESTIONS:
        response = ask(here, question, headers=AUTH)
        answer = _answer_schema(document, question.path, question.method, response.status_code)
        _check(document, answer, response)
