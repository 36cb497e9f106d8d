"""The API reference page, built from the OpenAPI document and example answers.

Paths, parameters, fields, errors and headers come from the document at ``/openapi.json``. This
module adds the order of the sections, the longer examples ("recipes") and the prices.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, ClassVar, Final, Literal

from portal.presentation.site import api_examples as texts
from portal.presentation.site.api_examples import (
    Example,
    SampleRequest,
    example_of,
    written_example,
)
from portal.presentation.site.public_pages import SamplePlate

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Words:
    """A part of a sentence, shown in the code font if ``is_code`` is true."""

    text: str
    is_code: bool


Sentence = tuple[Words, ...]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An API method and path. ``summary`` is "" if it would repeat the section's title."""

    method: str
    path: str
    summary: str
    description: Sentence


@dataclass(frozen=True, slots=True)
class Parameter:
    """A request parameter. ``place`` is a Portuguese text for "path" or "query"."""

    name: str
    place: str
    form: str
    meaning: Sentence


@dataclass(frozen=True, slots=True)
class ReferenceField:
    """A member of a JSON body. ``name`` is its path, such as ``informacoesFipe[].ano``."""

    name: str
    form: str
    meaning: Sentence


@dataclass(frozen=True, slots=True)
class ApiError:
    status: int
    message: str
    cause: Sentence
    remedy: Sentence


@dataclass(frozen=True, slots=True)
class ApiHeader:
    name: str
    meaning: Sentence
    example: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An example answer. ``caption`` states status, type and size. ``text`` may be an excerpt."""

    caption: str
    text: str
    kind: Literal["json", "lines"]


@dataclass(frozen=True, slots=True)
class Section:
    """One or several operations that are explained together.

    ``uses_memory`` is true if the main operation obeys the request's Cache-Control header.
    """

    anchor: str
    title: str
    short_title: str
    endpoints: tuple[Endpoint, ...]
    parameters: tuple[Parameter, ...]
    body_fields: tuple[ReferenceField, ...]
    fields_title: str
    fields: tuple[ReferenceField, ...]
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
class Recipe:
    anchor: str
    title: str
    purpose: Sentence
    example: Example


@dataclass(frozen=True, slots=True)
class LookupTerms:
    """A lookup's price in R$ and the cache times of its answers in seconds."""

    name: str
    title: str
    price: Decimal
    fresh_s: int
    stale_s: int


@dataclass(frozen=True, slots=True)
class ApiPage:
    """The API reference.

    ``token`` is the API token in the examples. ``samples`` are example plates of the sandbox (a
    simulated upstream).
    """

    template: ClassVar[str] = "pages/api.html"
    base_url: str
    token: str
    first: Example
    groups: tuple[SectionGroup, ...]
    recipes: tuple[Recipe, ...]
    errors: tuple[ApiError, ...]
    headers: tuple[ApiHeader, ...]
    terms: tuple[LookupTerms, ...]
    batch_limit: int
    allows_origins: bool
    samples: tuple[SamplePlate, ...]


# A section has an anchor, a title, a short title and operations, the main operation first.
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
# The columns of the CSV file that ``finesCsv`` returns are the members of ``ExplainedFine``.
_COLUMNS: Final = {"finesCsv": "ExplainedFine"}
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
    document: Document,
    answers: Mapping[str, Answer],
    *,
    base_url: str,
    token: str,
    terms: Sequence[LookupTerms],
    batch_limit: int,
    allows_origins: bool,
    samples: Sequence[SamplePlate],
) -> ApiPage:
    """Build the reference. ``answers`` maps names of operations to example answers."""
    base = base_url.rstrip("/")
    spec = _Spec(document)
    return ApiPage(
        base_url=base,
        token=token,
        first=example_of("comecar", "Começar", spec.sample("decode"), base, token),
        groups=tuple(
            SectionGroup(
                title,
                tuple(_section(spec, answers, base, token, *section) for section in sections),
            )
            for title, sections in _GROUPS
        ),
        recipes=_recipes(base, token),
        errors=spec.all_errors(),
        headers=spec.all_headers(),
        terms=tuple(terms),
        batch_limit=batch_limit,
        allows_origins=allows_origins,
        samples=tuple(samples),
    )


def sample_request(document: Document, name: str) -> SampleRequest:
    """Return the request that the examples of the operation ``name`` send."""
    return _Spec(document).sample(name)


def documented_operations() -> frozenset[str]:
    """Return the names of the operations that have a section on the page."""
    return frozenset(name for _, sections in _GROUPS for *_, names in sections for name in names)


def _section(
    spec: "_Spec",
    answers: Mapping[str, Answer],
    base: str,
    token: str,
    anchor: str,
    title: str,
    short_title: str,
    names: tuple[str, ...],
) -> Section:
    main = names[0]
    schema = _COLUMNS.get(main)
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
        fields_title="Colunas de fines" if schema else "Campos da resposta",
        fields=tuple(spec.members(spec.schema(schema))) if schema else spec.fields(main),
        uses_memory=spec.uses_memory(main),
        headers=spec.headers(main),
        examples=_examples(spec, base, token, anchor, names),
        answer=answers.get(main),
        errors=spec.errors(names),
    )


def _examples(
    spec: "_Spec", base: str, token: str, anchor: str, names: tuple[str, ...]
) -> tuple[Example, ...]:
    match anchor:
        case "andamento":
            return (
                written_example(
                    "andamento-ate-o-fim",
                    "Do começo ao fim",
                    base,
                    token,
                    curl=texts.FOLLOW_CURL,
                    python=texts.FOLLOW_PYTHON,
                    javascript=texts.FOLLOW_JAVASCRIPT,
                ),
                written_example("cancelar", "Cancelar", base, token, curl=texts.CANCEL_CURL),
            )
        case "resultados":
            return (
                written_example(
                    "baixar",
                    "Baixar",
                    base,
                    token,
                    curl=texts.RESULTS_CURL,
                    python=texts.RESULTS_PYTHON,
                    javascript=texts.RESULTS_JAVASCRIPT,
                ),
            )
    return tuple(
        example_of(f"{anchor}-{name}", spec.endpoint(name).summary, spec.sample(name), base, token)
        for name in names
    )


def _recipes(base: str, token: str) -> tuple[Recipe, ...]:
    return (
        Recipe(
            "planilha",
            "Uma planilha de placas",
            sentence(
                "Uma coluna de placas entra, uma planilha de resultados sai. O preço máximo vem "
                "antes de qualquer consulta, e nada é pago duas vezes: se o programa parar no "
                "meio, o lote continua."
            ),
            written_example(
                "receita-planilha",
                "Planilha",
                base,
                token,
                curl=texts.SHEET_CURL,
                python=texts.SHEET_PYTHON,
            ),
        ),
        Recipe(
            "noturna",
            "Uma conferência por noite",
            sentence(
                "Guarda a situação de cada placa e diz o que mudou desde a véspera. Agende com o "
                "cron, por exemplo às 3 h: `0 3 * * * python3 conferir.py`"
            ),
            written_example(
                "receita-noturna",
                "Conferência",
                base,
                token,
                curl=texts.NIGHTLY_CURL,
                python=texts.NIGHTLY_PYTHON,
            ),
        ),
        Recipe(
            "retry-after",
            "Erros, e quando tentar de novo",
            sentence(
                "Só 429 e 503 dizem quando voltar, em `Retry-After`. Os outros erros não melhoram "
                "com pressa: 400, 401, 403 e 404 são definitivos; 502 e 504 merecem uma nova "
                "tentativa mais tarde."
            ),
            written_example(
                "receita-retry-after",
                "Retry-After",
                base,
                token,
                curl=texts.RETRY_CURL,
                python=texts.RETRY_PYTHON,
                javascript=texts.RETRY_JAVASCRIPT,
            ),
        ),
    )


class _Spec:
    def __init__(self, document: Document) -> None:
        self._document = document
        self._operations: dict[str, tuple[str, str, Document]] = {
            operation["operationId"]: (method.upper(), path, operation)
            for path, item in document["paths"].items()
            for method, operation in item.items()
            if method != "parameters" and "operationId" in operation
        }

    def schema(self, name: str) -> Document:
        found: Document = self._document["components"]["schemas"][name]
        return found

    def endpoint(self, name: str) -> Endpoint:
        method, path, operation = self._operations[name]
        summary = operation["summary"]
        return Endpoint(method, path, summary, sentence(operation.get("description", "")))

    def sample(self, name: str) -> SampleRequest:
        method, path, operation = self._operations[name]
        for parameter in self._parameters(name):
            if parameter["in"] == "path":
                path = path.replace(f"{{{parameter['name']}}}", parameter["example"])
        body = None
        if "requestBody" in operation:
            (content,) = operation["requestBody"]["content"].values()
            body = self._resolved(content["schema"])["example"]
        answer = self._success(name)["content"]
        return SampleRequest(method, path, body, is_text="application/json" not in answer)

    def parameters(self, names: Sequence[str]) -> tuple[Parameter, ...]:
        found = {
            parameter["name"]: Parameter(
                parameter["name"],
                _PLACES[parameter["in"]],
                _form(parameter["schema"]),
                sentence(parameter.get("description", "")),
            )
            for name in names
            for parameter in self._parameters(name)
            if parameter["in"] != "header"
        }
        return tuple(found.values())

    def body_fields(self, name: str) -> tuple[ReferenceField, ...]:
        operation = self._operations[name][2]
        if "requestBody" not in operation:
            return ()
        (content,) = operation["requestBody"]["content"].values()
        return tuple(self.members(self._resolved(content["schema"])))

    def fields(self, name: str) -> tuple[ReferenceField, ...]:
        content = self._success(name)["content"].get("application/json")
        return () if content is None else tuple(self.members(self._resolved(content["schema"])))

    def members(
        self, schema: Document, prefix: str = "", seen: dict[str, str] | None = None
    ) -> Iterator[ReferenceField]:
        """Yield the members of an object and of its nested objects.

        Of several members with the same schema, only the first is followed by its own members.
        """
        seen = {} if seen is None else seen
        for name, written in schema.get("properties", {}).items():
            path = f"{prefix}{name}"
            inner, reference, is_list = self._inner(written)
            shown = f"{path}[]" if is_list else path
            meaning = written.get("description") or (inner or {}).get("description", "")
            if inner is not None and reference in seen:
                meaning = f"{meaning} Os mesmos campos de `{seen[reference]}`."
            yield ReferenceField(shown, self._form(written), sentence(meaning))
            if inner is not None and reference not in seen:
                seen[reference] = shown
                yield from self.members(inner, f"{shown}.", seen)

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
            ApiHeader(name, sentence(each["description"]), str(each.get("example", "")))
            for name, each in headers.items()
        )

    def _error(self, status: int, response: Document) -> ApiError:
        written = self._resolved(response)
        content = written["content"]["application/json"]
        return ApiError(
            status,
            content["example"]["message"],
            sentence(written["description"]),
            sentence(written["x-remedy"]),
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
        """Return a member's object schema, the schema's name, and whether the member is a list.

        If the member contains no object, the schema is None and the name is "".
        """
        items = written.get("items")
        target = written if items is None else items
        for each in (target, *target.get("anyOf", ())):
            if "$ref" in each:
                name = each["$ref"].rpartition("/")[2]
                return self._resolved(each), name, items is not None
        return None, "", items is not None

    def _form(self, written: Document) -> str:
        if "$ref" in written:
            return "objeto"
        if "anyOf" in written:
            return " ou ".join(self._form(each) for each in written["anyOf"])
        return _form(written)


def _form(schema: Document) -> str:
    """Describe a type, for example ``texto ou nulo`` (text or null) or ``texto: csv, json``."""
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
    return f"{form}: {', '.join(values)}" if values else form


_CODE: Final = re.compile(r"`([^`]*)`")


def sentence(text: str) -> Sentence:
    """Split a text of the OpenAPI document at its backticks into words and code."""
    plain = " ".join(text.replace("**", "").split())
    parts = _CODE.split(plain)
    return tuple(Words(part, is_code=bool(number % 2)) for number, part in enumerate(parts) if part)
