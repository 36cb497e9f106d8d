"""The API reference page, built from the OpenAPI document and example answers.

The template shows paths, parameters, fields, errors and headers as the document has them. This
module adds the order of the sections, and lists an object's nested members.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

import msgspec

from portal.data_files import read_toml
from portal.gateway.operations import CachePolicy
from portal.phrasebook.api_errors import API_ERRORS, ApiError
from portal.vehicle.operation_name import OperationName

Document = Mapping[str, Any]
# An example answer: status, content type and size, and the body or an excerpt of it.
Answer = tuple[str, str]
# A member of a JSON object: its path, for example ``informacoesFipe[].ano``, its type and meaning.
Member = tuple[str, str, str]


class _Outline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A section of ``api_reference.toml``, with the names of its operations."""

    group: str
    anchor: str
    title: str
    short_title: str
    operations: tuple[str, ...]


class _Texts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sections, and the words for the types and the formats of members."""

    types: dict[str, str]
    formats: dict[str, str]
    sections: tuple[_Outline, ...]


_TEXTS: Final = read_toml(__package__, "api_reference.toml", _Texts)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the OpenAPI document, whose references are resolved.

    ``parameters`` are those of the path and those of the operation.
    """

    name: str
    method: str
    path: str
    document: Document
    parameters: Sequence[Document]

    @property
    def success(self) -> Document:
        responses = self.document["responses"].items()
        return next(response for status, response in responses if status.startswith("2"))

    @property
    def body(self) -> Document:
        """The schema of the request's JSON body, or an empty document."""
        content = self.document.get("requestBody", {}).get("content", {})
        schema: Document = content.get("application/json", {}).get("schema", {})
        return schema

    @property
    def has_sample(self) -> bool:
        """Whether the path can be called as the page prints it, as an issued dossier's cannot.

        A body that is no JSON, or has no example, cannot be printed, and neither can a hash.
        """
        can_be_sent = "requestBody" not in self.document or "example" in self.body
        parameters = self.parameters
        needs_query = any(
            parameter["in"] == "query" and parameter.get("required") for parameter in parameters
        )
        is_named = all(
            "example" in parameter for parameter in parameters if parameter["in"] == "path"
        )
        return is_named and can_be_sent and not needs_query

    @property
    def sample_path(self) -> str:
        path = self.path
        for parameter in self.parameters:
            if parameter["in"] == "path":
                path = path.replace(f"{{{parameter['name']}}}", parameter["example"])
        return path

    @property
    def sample_body(self) -> str:
        """The JSON body that the examples send, or ""."""
        return json.dumps(self.body["example"], ensure_ascii=False) if self.body else ""


@dataclass(frozen=True, slots=True)
class Section:
    """One or several operations that are explained together."""

    anchor: str
    title: str
    short_title: str
    operations: Sequence[Operation]
    answer: Answer | None

    @property
    def parameters(self) -> Sequence[Document]:
        parameters = {
            parameter["name"]: parameter
            for operation in self.operations
            for parameter in operation.parameters
            if parameter["in"] != "header"
        }
        return tuple(parameters.values())

    @property
    def body_fields(self) -> Sequence[Member]:
        return tuple(members(self.operations[0].body))

    @property
    def tables(self) -> Mapping[str, Sequence[Member]]:
        """The members of the first operation's answer, or the columns of the exported tables.

        Operations that export the same table in different file formats share one entry.
        """
        content = self.operations[0].success["content"].get("application/json")
        if content is not None:
            fields = tuple(members(content["schema"]))
            return {"Campos da resposta": fields} if fields else {}
        rows = {
            operation.path.rpartition("/")[2].partition(".")[0]: operation.document["x-row"]
            for operation in self.operations
            if "x-row" in operation.document
        }
        return {f"Colunas de {name}": tuple(members(row)) for name, row in rows.items()}

    @property
    def errors(self) -> Mapping[str, Document]:
        """The first response of each error status, in the order of the statuses."""
        by_status: dict[str, Document] = {}
        for operation in self.operations:
            for status, response in operation.document["responses"].items():
                if status >= "400":
                    by_status.setdefault(status, response)
        return dict(sorted(by_status.items()))


@dataclass(frozen=True, kw_only=True)
class ApiPage:
    """The API reference.

    ``base_url`` and ``token`` are those in the examples. ``document`` is the OpenAPI document with
    its references resolved. ``answers`` are examples by the names of operations. ``terms`` has the
    price and the cache times of each operation of the upstream.
    """

    template: ClassVar[str] = "pages/api.html"
    short_titles: ClassVar[Mapping[str, str]] = {
        section.operations[0]: section.short_title for section in _TEXTS.sections
    }
    codes: ClassVar[Mapping[str, ApiError]] = API_ERRORS
    base_url: str
    token: str
    document: Document
    answers: Mapping[str, Answer]
    terms: Mapping[OperationName, CachePolicy]
    batch_limit: int
    allows_origins: bool

    @cached_property
    def operations(self) -> Mapping[str, Operation]:
        return operations_of(self.document)

    @cached_property
    def groups(self) -> Mapping[str, Sequence[Section]]:
        """The sections by the titles of their groups."""
        groups: dict[str, list[Section]] = {}
        for written in _TEXTS.sections:
            section = Section(
                *(written.anchor, written.title, written.short_title),
                [self.operations[name] for name in written.operations],
                self.answers.get(written.operations[0]),
            )
            groups.setdefault(written.group, []).append(section)
        return groups


def operations_of(document: Document) -> Mapping[str, Operation]:
    """Return the operations of an OpenAPI document by their names."""
    schemas = (
        Operation(
            *(written["operationId"], method.upper(), path, written),
            (*item.get("parameters", ()), *written.get("parameters", ())),
        )
        for path, item in document["paths"].items()
        for method, written in item.items()
        if method in ("get", "post", "put")
    )
    return {schema.name: schema for schema in schemas}


def members(
    schema: Document, prefix: str = "", seen: dict[str, str] | None = None
) -> Iterator[Member]:
    """Yield the members of an object and of its nested objects.

    If several members have the same schema, only the first yields its nested members.
    """
    seen = {} if seen is None else seen
    for name, written in schema.get("properties", {}).items():
        path = f"{prefix}{name}[]" if "items" in written else f"{prefix}{name}"
        target = written.get("items", written)
        # A schema that a reference names has a title.
        inner: Document = next(
            (option for option in (target, *target.get("anyOf", ())) if "title" in option), {}
        )
        meaning = written.get("description") or inner.get("description", "")
        former = seen.get(inner.get("title", ""))
        if former is not None:
            meaning = f"{meaning} Os mesmos campos de `{former}`."
        yield path, _form(written), meaning
        if inner and former is None:
            seen[inner["title"]] = path
            yield from members(inner, f"{path}.", seen)


def _form(schema: Document) -> str:
    """Describe a type, for example ``texto ou nulo`` (text or null).

    The allowed values follow a colon, as in ``texto: csv, json``. They are left out if the schema's
    description names all of them.
    """
    if "anyOf" in schema:
        return " ou ".join(map(_form, schema["anyOf"]))
    if "const" in schema:
        return str(schema["const"])
    kinds = schema.get("type", "string")
    names = [kinds] if isinstance(kinds, str) else kinds
    shown = [
        _TEXTS.formats.get(schema.get("format", ""), _TEXTS.types[kind])
        if kind == "string"
        else _TEXTS.types[kind]
        for kind in names
    ]
    values = [str(value) for value in schema.get("enum", ()) if value is not None]
    form = " ou ".join(shown)
    if all(f"`{value}`" in schema.get("description", "") for value in values):
        return form
    return f"{form}: {', '.join(values)}" if values else form
