"""The client beside openapi.yaml: its operations, its types, its errors."""

import types
from collections.abc import Callable, Iterator
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

import pytest
from dossie_veicular_client import Client, PortalError, answers
from dossie_veicular_client.errors import error_class

from portal.phrasebook.api_errors import API_ERRORS
from portal.presentation.site.api_reference import operations_of
from portal.web.json_api.openapi import as_document

PLATE = "ABC1D23"
DOCUMENT = as_document()
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
# The schema of a type whose name differs, and schemas that are no answer of the client's.
UNNAMED = {
    "Message",
    "Error",
    "Problem",
    "BatchRequest",
    "BatchStart",
    "DeclaredChange",
    "DeclaredChanges",
    "SeenChange",
    "ReportRequest",
    "MomentRequest",
    "CallPrices",
}
CALLS: dict[str, Callable[[Client, str], object]] = {
    "decode": lambda client, _: client.decode(PLATE),
    "renainf": lambda client, _: client.renainf(PLATE),
    "renainfByState": lambda client, _: client.renainf(PLATE, "SP"),
    "renajud": lambda client, _: client.renajud(PLATE),
    "report": lambda client, _: client.report(PLATE, {"ano": "2015"}),
    "vehicle": lambda client, _: client.vehicle(PLATE, ["decode"]),
    "finesCsv": lambda client, _: client.table(PLATE, "fines"),
    "finesJsonl": lambda client, _: client.fines(PLATE),
    "restrictionsCsv": lambda client, _: client.table(PLATE, "restrictions"),
    "restrictionsJsonl": lambda client, _: client.restrictions(PLATE),
    "pricesCsv": lambda client, _: client.table(PLATE, "prices"),
    "pricesJsonl": lambda client, _: client.prices(PLATE),
    "deadlines": lambda client, _: client.deadlines(PLATE),
    "declaredLines": lambda client, _: client.declared(PLATE),
    "declareLines": lambda client, _: client.declare(PLATE, "recall", "nothing", source="marca"),
    "createBatch": lambda client, _: client.create_batch([PLATE]),
    "batches": lambda client, _: list(client.batches()),
    "batch": lambda client, batch: client.batch(batch, wait_s=1),
    "startBatch": lambda client, batch: client.start_batch(batch, 5),
    "pauseBatch": lambda client, batch: client.pause_batch(client.start_batch(batch)["id"]),
    "cancelBatch": lambda client, batch: client.cancel_batch(batch),
    "resultsCsv": lambda client, batch: client.batch_file(batch, "results", "csv", "rfc4180"),
    "resultsJsonl": lambda client, batch: client.results(batch),
    "resultsXlsx": lambda client, batch: client.batch_file(batch, "results", "xlsx"),
    "resultsZip": lambda client, batch: client.batch_file(batch, "results", "zip"),
    "batchFinesCsv": lambda client, batch: client.batch_file(batch, "fines", "csv"),
    "batchFinesJsonl": lambda client, batch: client.batch_fines(batch),
    "batchRestrictionsCsv": lambda client, batch: client.batch_file(batch, "restrictions", "csv"),
    "batchRestrictionsJsonl": lambda client, batch: client.batch_restrictions(batch),
    "batchPricesCsv": lambda client, batch: client.batch_file(batch, "prices", "csv"),
    "batchPricesJsonl": lambda client, batch: client.batch_prices(batch),
    "sheetsPdf": lambda client, batch: client.batch_sheets(batch, [PLATE]),
    "batchDeadlines": lambda client, batch: client.batch_deadlines(batch),
    "usage": lambda client, _: client.usage(),
    "issuedDossier": lambda client, _: client.issued("7F3K-9QMD-2XHA"),
    "verifyHash": lambda client, _: client.verify(b"%PDF-1.7"),
    "verifyFile": lambda client, _: client.verify(b"%PDF-1.7 another"),
    "moment": lambda client, _: client.moment(PLATE, max_cost=0.25, idempotency_key="a"),
}
# On a machine without Pango, and without an issued dossier.
MAY_BE_UNABLE = {
    "resultsZip": "pdf_unavailable",
    "sheetsPdf": "pdf_unavailable",
    "issuedDossier": "dossier_unknown",
}


@pytest.mark.slow
def test_every_operation_is_called(client: Client) -> None:
    """On one portal, because each call is free after the first lookup of the vehicle."""
    assert set(CALLS) == set(operations_of(DOCUMENT))
    client.vehicle(PLATE)
    for name, call in CALLS.items():
        batch = "" if name == "createBatch" else client.create_batch([PLATE])["id"]
        try:
            found = call(client, batch)
        except PortalError as error:
            assert error.code == MAY_BE_UNABLE.get(name), (name, error)
        else:
            assert found, name
        if batch:
            client.cancel_batch(batch)  # a draft more than 20 is refused


@pytest.mark.parametrize("name", sorted(set(SCHEMAS) - UNNAMED))
def test_type_has_the_members_of_its_schema(name: str) -> None:
    described = getattr(answers, name)
    hints = get_type_hints(described)
    schema = SCHEMAS[name]
    assert set(hints) == set(schema["properties"]), name
    for member, hint in hints.items():
        written = schema["properties"][member]
        assert _shape(hint) == _written(written), (name, member)


def test_every_type_has_a_schema() -> None:
    named = {name for name, each in vars(answers).items() if is_typeddict(each)}
    assert {name for name in named if not name.startswith("_")} <= set(SCHEMAS)


def _shape(hint: Any) -> frozenset[str]:
    """The JSON types of a hint, without the members of objects."""
    return frozenset(_shapes(hint))


def _shapes(hint: Any) -> Iterator[str]:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        for each in get_args(hint):
            yield from _shapes(each)
    elif origin is Literal:
        yield from {{str: "string", int: "integer"}[type(each)] for each in get_args(hint)}
    elif origin is list:
        yield from (f"array of {each}" for each in _shapes(get_args(hint)[0]))
    elif is_typeddict(hint) or origin is dict:
        yield "object"
    else:
        names = {str: "string", int: "integer", float: "number", bool: "boolean"}
        yield names.get(hint, "null")


def _written(schema: dict[str, Any]) -> frozenset[str]:
    if "$ref" in schema:
        return _written(SCHEMAS[schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return frozenset().union(*map(_written, schema["anyOf"]))
    if schema.get("enum") == [None]:
        return frozenset({"null"})
    if "const" in schema:
        return frozenset({"integer" if isinstance(schema["const"], int) else "string"})
    kinds = schema.get("type", "object")
    found: set[str] = set()
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        found |= (
            {f"array of {each}" for each in _written(schema["items"])}
            if kind == "array"
            else {kind}
        )
    return frozenset(found)


@pytest.mark.parametrize("code", API_ERRORS)
def test_every_code_has_an_exception(code: str) -> None:
    found = error_class(API_ERRORS[code].status, code)
    assert found is not PortalError
    assert issubclass(found, PortalError)


@pytest.mark.slow
def test_an_error_says_what_can_be_switched_on(client: Client) -> None:
    with pytest.raises(PortalError) as raised:
        client.vehicle("ABC")
    assert (raised.value.status, raised.value.code) == (400, "plate_invalid")
    assert raised.value.request_id
