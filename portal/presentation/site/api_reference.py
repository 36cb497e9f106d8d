"""The API reference page, built from the OpenAPI document and example answers.

Paths, parameters, fields, errors and headers come from the document at ``/openapi.json``. This
module adds the order of the sections, the longer examples ("recipes") and the prices. The page
shows a text between backticks in the code font.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Literal

from portal.gateway import CachePolicy
from portal.presentation.site.api_examples import (
    LONG_EXAMPLES,
    RECIPES,
    Example,
    Recipe,
    SampleRequest,
    example_of,
)
from portal.presentation.site.public_pages import SamplePlate

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A method and path. ``summary`` is "" if it would repeat the section's title."""

    method: str
    path: str
    summary: str
    description: str


@dataclass(frozen=True, slots=True)
class Parameter:
    """A request parameter. ``place`` is a Portuguese text for "path" or "query"."""

    name: str
    place: str
    meaning: str


@dataclass(frozen=True, slots=True)
class ReferenceField:
    """A member of a JSON body. ``name`` is a path such as ``informacoesFipe[].ano``."""

    name: str
    form: str
    meaning: str


@dataclass(frozen=True, slots=True)
class FieldTable:
    """The members of an answer, or the columns of an exported table."""

    title: str
    fields: tuple[ReferenceField, ...]


@dataclass(frozen=True, slots=True)
class ApiError:
    status: int
    message: str
    cause: str
    remedy: str


@dataclass(frozen=True, slots=True)
class ApiHeader:
    name: str
    meaning: str
    example: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An example answer.

    ``caption`` states status, content type and size. ``text`` is the body or an excerpt.
    """

    caption: str
    text: str
    kind: Literal["json", "lines"]


@dataclass(frozen=True, slots=True)
class Section:
    """One or several operations that are explained together.

    ``uses_memory`` is true if the portal may serve stored answers. The request header Cache-Control
    then has an effect.
    """

    anchor: str
    title: str
    short_title: str
    endpoints: tuple[Endpoint, ...]
    parameters: tuple[Parameter, ...]
    body_fields: tuple[ReferenceField, ...]
    field_tables: tuple[FieldTable, ...]
    uses_memory: bool
    headers: tuple[str, ...]
    examples: tuple[Example, ...]
    answer: Answer | None
    errors: tuple[ApiError, ...]


@dataclass(frozen=True, slots=True)
class SectionGroup:
    title: str
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class ReferenceFacts:
    """The data about this portal from which the page is built.

    ``document`` is the OpenAPI document. ``terms`` has the price and the cache times of each
    operation of the upstream. ``samples`` are example plates of the sandbox (a simulated upstream).
    """

    document: Document
    terms: Mapping[str, CachePolicy]
    batch_limit: int
    allows_origins: bool
    samples: Sequence[SamplePlate]


@dataclass(frozen=True, slots=True)
class ApiPage:
    """The API reference. ``token`` is the API token in the examples."""

    template: ClassVar[str] = "pages/api.html"
    base_url: str
    token: str
    first: Example
    groups: tuple[SectionGroup, ...]
    recipes: tuple[Recipe, ...]
    errors: tuple[ApiError, ...]
    headers: tuple[ApiHeader, ...]
    terms: Mapping[str, CachePolicy]  # the keys are short titles of sections
    facts: ReferenceFacts


# A section has an anchor, a title, a short title and operations. The section shows the answer and
# the headers of its first operation.
_GROUPS: Final = (
    (
        "Caminhos da fonte",
        (
            ("decode", "Dados do veículo e preços FIPE", "Dados e FIPE", ("decode",)),
            ("renainf", "Multas (Renainf)", "Multas", ("renainf", "renainfByState")),
            ("renajud", "Restrições judiciais (Renajud)", "Restrições", ("renajud",)),
            ("laudo", "Laudo analítico", "Laudo", ("report",)),
        ),
    ),
    (
        "Conclusões do portal",
        (
            ("veiculo", "O veículo explicado", "Veículo explicado", ("vehicle",)),
            (
                "arquivos",
                "Multas, restrições e preços em arquivos",
                "CSV e JSON Lines",
                (
                    *("finesCsv", "finesJsonl", "restrictionsCsv", "restrictionsJsonl"),
                    *("pricesCsv", "pricesJsonl"),
                ),
            ),
        ),
    ),
    (
        "Lotes",
        (
            ("lotes", "Criar e listar lotes", "Criar e listar", ("createBatch", "batches")),
            (
                "andamento",
                "Começar, acompanhar e parar",
                "Andamento",
                ("batch", "startBatch", "pauseBatch", "cancelBatch"),
            ),
            (
                "resultados",
                "Resultados de um lote",
                "Resultados",
                ("resultsCsv", "resultsJsonl", "resultsXlsx", "resultsZip"),
            ),
        ),
    ),
)
_SHORT_TITLES: Final = {
    names[0]: short_title for _, sections in _GROUPS for _, _, short_title, names in sections
}
_PLACES: Final = {"path": "caminho", "query": "endereço, após ?"}
_TYPES: Final = {
    "string": "texto",
    "integer": "inteiro",
    "number": "número",
    "boolean": "booleano",
    "array": "lista",
    "object": "objeto",
    "null": "nulo",
}
_FORMATS: Final = {"date": "AAAA-MM-DD", "date-time": "data e hora"}


def api_page(
    facts: ReferenceFacts, answers: Mapping[str, Answer], base_url: str, token: str
) -> ApiPage:
    """Build the reference. ``answers`` maps names of operations to example answers."""
    base = base_url.rstrip("/")
    spec = Specification(facts.document)

    def filled(example: Example) -> Example:
        return example.filled(base, token)

    def section(anchor: str, title: str, short_title: str, names: tuple[str, ...]) -> Section:
        main = names[0]
        examples = LONG_EXAMPLES.get(anchor) or [spec.example(anchor, name) for name in names]
        return Section(
            anchor=anchor,
            title=title,
            short_title=short_title,
            endpoints=tuple(
                replace(each, summary="" if each.summary == title else each.summary)
                for each in map(spec.endpoint, names)
            ),
            parameters=spec.parameters(names),
            body_fields=spec.body_fields(main),
            field_tables=spec.field_tables(names),
            uses_memory=spec.uses_memory(main),
            headers=spec.headers(main),
            examples=tuple(map(filled, examples)),
            answer=answers.get(main),
            errors=spec.errors(names),
        )

    return ApiPage(
        base_url=base,
        token=token,
        first=filled(example_of("comecar", "Começar", spec.sample("decode"))),
        groups=tuple(
            SectionGroup(title, tuple(section(*each) for each in sections))
            for title, sections in _GROUPS
        ),
        recipes=tuple(replace(each, example=filled(each.example)) for each in RECIPES),
        errors=spec.all_errors(),
        headers=spec.all_headers(),
        terms={_SHORT_TITLES[name]: policy for name, policy in facts.terms.items()},
        facts=facts,
    )


class Specification:
    """The operations and schemas of the OpenAPI document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._operations: dict[str, tuple[str, str, Document]] = {
            operation["operationId"]: (method.upper(), path, operation)
            for path, item in document["paths"].items()
            for method, operation in item.items()
            if method != "parameters" and "operationId" in operation
        }

    def endpoint(self, name: str) -> Endpoint:
        method, path, operation = self._operations[name]
        summary = operation["summary"]
        return Endpoint(method, path, summary, _plain(operation.get("description", "")))

    def example(self, anchor: str, name: str) -> Example:
        return example_of(f"{anchor}-{name}", self.endpoint(name).summary, self.sample(name))

    def sample(self, name: str) -> SampleRequest:
        """Return the request that the examples of the operation ``name`` send."""
        method, path, _ = self._operations[name]
        for parameter in self._parameters(name):
            if parameter["in"] == "path":
                path = path.replace(f"{{{parameter['name']}}}", parameter["example"])
        body = self._body(name)
        answer = self._success(name)["content"]
        return SampleRequest(
            method, path, body and body["example"], is_text="application/json" not in answer
        )

    def parameters(self, names: Sequence[str]) -> tuple[Parameter, ...]:
        found = {
            parameter["name"]: Parameter(
                parameter["name"],
                _PLACES[parameter["in"]],
                _plain(parameter.get("description", "")),
            )
            for name in names
            for parameter in self._parameters(name)
            if parameter["in"] != "header"
        }
        return tuple(found.values())

    def body_fields(self, name: str) -> tuple[ReferenceField, ...]:
        body = self._body(name)
        return () if body is None else tuple(self._members(body))

    def field_tables(self, names: Sequence[str]) -> tuple[FieldTable, ...]:
        """Return the fields of the first operation's answer, or columns of tables.

        If the first operation's answer is not JSON, return the columns of the exported tables.
        Operations that export the same table in different file formats share one FieldTable.
        """
        found: dict[str, FieldTable] = {}
        for name in names:
            _, path, operation = self._operations[name]
            if "x-row" in operation:
                title = f"Colunas de {path.rpartition('/')[2].partition('.')[0]}"
                columns = tuple(self._members(self._resolved(operation["x-row"])))
                found.setdefault(title, FieldTable(title, columns))
        content = self._success(names[0])["content"].get("application/json")
        if content is None:
            return tuple(found.values())
        members = tuple(self._members(self._resolved(content["schema"])))
        return (FieldTable("Campos da resposta", members),) if members else ()

    def _body(self, name: str) -> Document | None:
        """Return the schema of an operation's request body, or None if it has no body."""
        operation = self._operations[name][2]
        if "requestBody" not in operation:
            return None
        (content,) = operation["requestBody"]["content"].values()
        return self._resolved(content["schema"])

    def _members(
        self, schema: Document, prefix: str = "", seen: dict[str, str] | None = None
    ) -> Iterator[ReferenceField]:
        """Yield the members of an object and of its nested objects.

        If several members have the same schema, only the first yields its nested members.
        """
        seen = {} if seen is None else seen
        for name, written in schema.get("properties", {}).items():
            path = f"{prefix}{name}"
            inner, reference, is_list = self._inner(written)
            shown = f"{path}[]" if is_list else path
            meaning = written.get("description") or (inner or {}).get("description", "")
            if inner is not None and reference in seen:
                meaning = f"{meaning} Os mesmos campos de `{seen[reference]}`."
            yield ReferenceField(shown, _form(written), _plain(meaning))
            if inner is not None and reference not in seen:
                seen[reference] = shown
                yield from self._members(inner, f"{shown}.", seen)

    def uses_memory(self, name: str) -> bool:
        return any(each["name"] == "Cache-Control" for each in self._parameters(name))

    def headers(self, name: str) -> tuple[str, ...]:
        return tuple(self._success(name).get("headers", {}))

    def errors(self, names: Sequence[str]) -> tuple[ApiError, ...]:
        found: dict[int, ApiError] = {}
        for name in names:
            for status, response in self._operations[name][2]["responses"].items():
                if int(status) >= 400:
                    found.setdefault(int(status), self._error(int(status), response))
        return tuple(found[status] for status in sorted(found))

    def all_errors(self) -> tuple[ApiError, ...]:
        return self.errors(tuple(self._operations))

    def all_headers(self) -> tuple[ApiHeader, ...]:
        headers = self._document["components"]["headers"]
        return tuple(
            ApiHeader(name, _plain(each["description"]), str(each.get("example", "")))
            for name, each in headers.items()
        )

    def _error(self, status: int, response: Document) -> ApiError:
        written = self._resolved(response)
        content = written["content"]["application/json"]
        return ApiError(
            status,
            content["example"]["message"],
            _plain(written["description"]),
            _plain(written["x-remedy"]),
        )

    def _parameters(self, name: str) -> list[Document]:
        _, path, operation = self._operations[name]
        item = self._document["paths"][path]
        return [
            self._resolved(each)
            for each in (*item.get("parameters", ()), *operation.get("parameters", ()))
        ]

    def _success(self, name: str) -> Document:
        responses = self._operations[name][2]["responses"]
        return next(each for status, each in responses.items() if status.startswith("2"))

    def _resolved(self, written: Document) -> Document:
        reference = written.get("$ref")
        if reference is None:
            return written
        found: Any = self._document
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]
        resolved: Document = found
        return resolved

    def _inner(self, written: Document) -> tuple[Document | None, str, bool]:
        """Return a member's schema, the schema's name, and whether the member is a list.

        For a list, the schema is that of the elements. If the member contains no object, the schema
        is None and the name is "".
        """
        items = written.get("items")
        target = written if items is None else items
        for each in (target, *target.get("anyOf", ())):
            if "$ref" in each:
                name = each["$ref"].rpartition("/")[2]
                return self._resolved(each), name, items is not None
        return None, "", items is not None


def _form(schema: Document) -> str:
    """Describe a type, for example ``texto ou nulo`` (text or null).

    The allowed values follow a colon, as in ``texto: csv, json``. They are left out if the schema's
    description names all of them.
    """
    if "$ref" in schema:
        return "objeto"
    if "anyOf" in schema:
        return " ou ".join(map(_form, schema["anyOf"]))
    if "const" in schema:
        return str(schema["const"])
    kinds = schema.get("type", "string")
    names = [kinds] if isinstance(kinds, str) else kinds
    shown = [
        _FORMATS.get(schema.get("format", ""), _TYPES[each]) if each == "string" else _TYPES[each]
        for each in names
    ]
    values = [str(each) for each in schema.get("enum", ()) if each is not None]
    form = " ou ".join(shown)
    if all(f"`{each}`" in schema.get("description", "") for each in values):
        return form
    return f"{form}: {', '.join(values)}" if values else form


def _plain(text: str) -> str:
    """Join the lines of ``text``, and remove the bold marks ``**``."""
    return " ".join(text.replace("**", "").split())
