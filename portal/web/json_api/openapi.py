"""Serves the hand-written OpenAPI document as YAML and as JSON."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from flask import Response

from portal.phrasebook.api_errors import API_ERRORS
from portal.web.http.errors import PROBLEM, is_own_path
from portal.web.routing.routes import Routes
from portal.web.web import Web

routes = Routes("openapi")
DOCUMENT = Path(__file__).with_name("openapi.yaml")
# Generators of Go know no type "null" alone.
_NO_FAILURE = {
    "type": ["string", "null"],
    "enum": [None],
    "description": "Nulo na linha de um registro.",
}
_RECORDS = ("FineRow", "RestrictionRow", "PriceRow")


@cache
def as_document() -> dict[str, Any]:
    """Return the document with its YAML anchors resolved and with what is described elsewhere.

    The errors of ``/api/v1`` are those of API_ERRORS. The file describes them by the contract's
    response of the same status. The rows of a batch's records are those of a vehicle's records,
    with MissingRow's columns after them. Every GET under ``/api/v1`` takes the parameter
    ``cached``. HEAD and OPTIONS are named after the path's GET or POST.
    """
    # The two ways through JSON make one object of each place that an anchor's object appears in.
    document: dict[str, Any] = msgspec.json.decode(
        msgspec.json.encode(msgspec.yaml.decode(DOCUMENT.read_bytes()))
    )
    components = document["components"]
    schemas = components["schemas"]
    missing = schemas["MissingRow"]["properties"]
    for name in _RECORDS:
        row = schemas[name]
        row["required"] = ["plate", *row["required"]]
        row["properties"] = {"plate": missing["plate"], **row["properties"]}
        ends = dict.fromkeys(("missing", "cause"), _NO_FAILURE)
        properties = {**row["properties"], **ends}
        schemas[f"Batch{name}"] = {
            **row,
            "description": f"{row['description']} {schemas['MissingRow']['description']}",
            "required": [*properties],
            "properties": properties,
        }
    for name in ("Error", "Problem"):
        schemas[name]["properties"]["code"]["enum"] = [*API_ERRORS]
    for path, item in document["paths"].items():
        name = item.get("get", item.get("post"))["operationId"]
        for method, operation in item.items():
            if method == "parameters":
                continue
            operation.setdefault("operationId", f"{method}{name[0].upper()}{name[1:]}")
            if method in ("head", "options"):
                operation["tags"] = ["metodos"]  # a generator makes a file for each tag
            if "x-row" in operation:
                _describe_lines(operation)
            if is_own_path(path) and method == "get":
                parameters = operation.setdefault("parameters", [])
                parameters.append({"$ref": "#/components/parameters/Cached"})
            if is_own_path(path):
                _refer_to_own_errors(components["responses"], operation)
    named = msgspec.json.encode(document).decode()
    components["responses"] = {
        name: response
        for name, response in components["responses"].items()
        if f'"#/components/responses/{name}"' in named
    }
    return document


def _describe_lines(operation: dict[str, Any]) -> None:
    """Say what a line of JSON Lines is, so that tools find the rows of a table."""
    lines = operation["responses"]["200"]["content"].get("application/jsonl")
    if lines is not None:
        rows = operation["x-row"]
        if rows["$ref"].endswith(tuple(f"/Batch{name}" for name in _RECORDS)):
            rows = {"anyOf": [rows, {"$ref": "#/components/schemas/MissingRow"}]}
        described = {"contentMediaType": "application/json", "contentSchema": rows}
        lines["schema"] = lines["schema"] | described


def _refer_to_own_errors(responses: dict[str, Any], operation: dict[str, Any]) -> None:
    for status, response in operation["responses"].items():
        if status >= "400" and "$ref" in response:
            response["$ref"] += "OfPortal"
            name = response["$ref"].rpartition("/")[2]
            former = responses[name.removesuffix("OfPortal")]
            responses[name] = _own_error(int(status), former)


def _own_error(status: int, former: dict[str, Any]) -> dict[str, Any]:
    """Return the description of an error under ``/api/v1`` that is ``former`` elsewhere."""
    message = former["content"]["application/json"]["example"]["message"]
    codes = [code for code, error in API_ERRORS.items() if error.status == status]
    code = next(
        (candidate for candidate in codes if API_ERRORS[candidate].message == message), codes[0]
    )
    example = {"message": message, "code": code, "request_id": "0f8c1d2e3a4b5c6d"}
    content = {
        "application/json": {"schema": {"$ref": "#/components/schemas/Error"}, "example": example},
        PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}},
    }
    return {**former, "content": content}


@cache
def as_yaml() -> bytes:
    return msgspec.yaml.encode(as_document())


@cache
def resolved_document() -> dict[str, Any]:
    """Return the document with each ``$ref`` replaced by what it names.

    ``title`` is then the name. The members beside a ``$ref`` replace those of the same name.
    """
    document: dict[str, Any] = _resolved(as_document())
    return document


def _resolved(written: Any) -> Any:
    match written:
        case {"$ref": str(reference), **beside}:
            return {**_named(reference), **beside}
        case dict():
            return {name: _resolved(member) for name, member in written.items()}
        case list():
            return [_resolved(element) for element in written]
    return written


@cache
def _named(reference: str) -> dict[str, Any]:
    part: Any = as_document()
    for name in reference.removeprefix("#/").split("/"):
        part = part[name]
    return {"title": name, **_resolved(part)}


@cache
def as_json() -> bytes:
    return msgspec.json.encode(as_document())


@dataclass(frozen=True, slots=True)
class Declared:
    """The names that an operation's query and JSON body may have."""

    parameters: frozenset[str]
    members: frozenset[str]


@cache
def declared(rule: str, method: str) -> Declared:
    """Return what the document declares for a Flask rule and a method.

    HEAD has the parameters of GET. Every operation has the parameter ``at``, which is a credential.
    """
    item = resolved_document()["paths"][re.sub(r"<(\w+)>", r"{\1}", rule)]
    operation = item["get" if method == "HEAD" else method.lower()]
    names = {
        parameter["name"]
        for parameter in operation.get("parameters", ())
        if parameter["in"] == "query"
    }
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    return Declared(frozenset(names | {"at"}), frozenset(schema.get("properties", ())))


@routes.get("/openapi.yaml")
def yaml(_: Web) -> Response:
    return Response(as_yaml(), content_type="application/yaml")  # RFC 9512


@routes.get("/openapi.json")
def json(_: Web) -> Response:
    return Response(as_json(), content_type="application/json")
