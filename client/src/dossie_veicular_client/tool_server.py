"""Tools for agents (Model Context Protocol, stdio): stored answers, and lookups within a budget.

Nothing is spent beyond the budget of the start, unless the person who uses the agent confirms a
lookup: the question goes to the person, not to the model.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, TypeVar

import anyio.to_thread
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

from dossie_veicular_client.answers import Explained, LookupName
from dossie_veicular_client.budget import Budget
from dossie_veicular_client.client import Client
from dossie_veicular_client.errors import CostsTooMuch, NotFound, PortalError
from dossie_veicular_client.money import reais
from dossie_veicular_client.spending import DRAFTS, Quote, look_up, quote

_RECENT_MONTHS: Final = 13
_MOST_PLATES: Final = 200
_FOLLOWED_S: Final = 30
_INSTRUCTIONS: Final = (
    "Dados de veículos brasileiros pela placa. Cada consulta à fonte custa dinheiro; o que está "
    "guardado é grátis. Comece por `stored`. `price` diz quanto custaria o que falta. `look_up` e "
    "`batch` gastam, dentro do orçamento de {limit} desta sessão. Uma consulta indisponível "
    "não significa “nada consta”: diga o que não foi verificado e a idade de cada resposta."
)
_READS: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_SPENDS: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True
)

Plate = Annotated[str, Field(description="Placa, como ABC1D23 ou ABC1234.")]
Ask = Annotated[
    list[LookupName] | None,
    Field(description="decode: atributos e FIPE; renainf: multas; renajud: ordens judiciais."),
]
Result = dict[str, Any]
_T = TypeVar("_T")


class Confirmation(BaseModel):
    """What the person answers."""

    confirm: bool = Field(description="Gastar este valor?")


class Tools:
    """The six tools over one portal and one budget. Each method returns a JSON object."""

    def __init__(self, client: Client, budget: Budget) -> None:
        self._client = client
        self._budget = budget
        self._open: dict[str, float] = {}  # what is reserved for each unfinished batch

    def price(self, plate: str, ask: Sequence[LookupName] | None) -> Result:
        return self._priced(quote(self._client, plate, ask))

    def stored(self, plate: str, ask: Sequence[LookupName] | None) -> Result:
        found = quote(self._client, plate, ask)
        return {**self._priced(found), "vehicle": _shortened(found.document)}

    def is_within_budget(self, found: Quote) -> bool:
        return found.price <= self._budget.left

    def look_up(self, found: Quote, *, is_confirmed: bool) -> Result:
        """Ask what is not stored: within the budget, or at the price that a person confirmed."""
        document, spent = self._confirmed(found) if is_confirmed else self._budgeted(found)
        return {
            "spent": spent,
            "budget_left": self._budget.left,
            "vehicle": _shortened(document),
        }

    def _confirmed(self, found: Quote) -> tuple[Explained, float]:
        return look_up(self._client, found, found.price)

    def _budgeted(self, found: Quote) -> tuple[Explained, float]:
        self._budget.reserve(found.price)
        document, spent = look_up(self._client, found, found.price)
        self._budget.settle(found.price, spent)
        return document, spent

    def explain_fine(self, plate: str, number: int) -> Result:
        found = quote(self._client, plate, ["renainf"])
        fines = found.document["fines"]
        if fines is None:
            return {**self._priced(found), "fine": None}
        record = next((each for each in fines["records"] if each["number"] == number), None)
        if record is None:
            raise NotFound(
                f"a placa tem {len(fines['records'])} multas, e não a de número {number}"
            )
        return {"fine": record, "lookup": found.document["lookups"]["renainf"]}

    def start_batch(self, plates: Sequence[str], ask: Sequence[LookupName] | None) -> Result:
        with DRAFTS:
            draft = self._client.create_batch(plates, ask)
            at_most = draft["cost"]["at_most"]
            try:
                self._budget.reserve(at_most)
            except CostsTooMuch:
                self._client.cancel_batch(draft["id"])
                raise
            self._open[draft["id"]] = at_most
            self._client.start_batch(draft["id"], at_most)
        return self.batch(draft["id"])

    def batch(self, batch: str) -> Result:
        found = self._client.batch(batch, wait_s=_FOLLOWED_S)
        if found["state"] in ("done", "cancelled"):
            reserved = self._open.pop(batch, None)
            if reserved is not None:
                self._budget.settle(reserved, found["cost"]["spent"])
        rows = self._client.results(batch) if found["counts"]["total"] <= _MOST_PLATES else None
        return {"batch": found, "rows": rows, "budget_left": self._budget.left}

    def check_dossier(self, number: str) -> Result:
        return dict(self._client.issued(number))

    def _priced(self, found: Quote) -> Result:
        return {
            "plate": found.plate,
            "stored": list(found.stored),
            "missing": list(found.missing),
            "price": found.price,
            "budget_left": self._budget.left,
        }


def server_of(client: Client, max_reais: float) -> MCPServer:
    """Return the server. ``max_reais`` is what its tools may spend together, in R$."""
    tools = Tools(client, Budget(max_reais))
    server: MCPServer = MCPServer(
        "dossie-veicular",
        title="Dossiê Veicular",
        instructions=_INSTRUCTIONS.format(limit=reais(max_reais)),
        log_level="ERROR",
    )

    @server.tool(annotations=_READS)
    async def price(plate: Plate, ask: Ask = None) -> Result:
        """O que está guardado de uma placa e quanto custaria, em R$, consultar o resto. Grátis."""
        return await _in_thread(tools.price, plate, ask)

    @server.tool(annotations=_READS)
    async def stored(plate: Plate, ask: Ask = None) -> Result:
        """As respostas guardadas de uma placa, explicadas, com idade e fonte. Grátis."""
        return await _in_thread(tools.stored, plate, ask)

    async def quoted(plate: str, ask: list[LookupName] | None) -> Quote:
        """Quote once a round, so that a lookup costs at most what its question has said."""
        return await _in_thread(quote, client, plate, ask)

    async def confirmation(
        found: Annotated[Quote, Resolve(quoted)], context: Context[Any, Any]
    ) -> Confirmation | Elicit[Confirmation]:
        """Ask the person where the budget does not suffice and the agent's program can ask."""
        capabilities = context.client_capabilities
        if tools.is_within_budget(found) or not (capabilities and capabilities.elicitation):
            return Confirmation(confirm=False)
        missing = ", ".join(found.missing)
        question = f"Consultar {missing} de {found.plate} por até {reais(found.price)}?"
        return Elicit(question, Confirmation)

    @server.tool(annotations=_SPENDS)
    async def look_up(
        plate: Plate,  # noqa: ARG001 (an argument of the tool, which ``quoted`` takes)
        found: Annotated[Quote, Resolve(quoted)],
        answer: Annotated[ElicitationResult[Confirmation], Resolve(confirmation)],
        ask: Ask = None,  # noqa: ARG001
    ) -> Result:
        """Consulta a fonte pelo que não está guardado. CUSTA o que `price` diz.

        Gasta só dentro do orçamento da sessão, ou com a confirmação da pessoa. Uma consulta que
        falha pode ter sido cobrada: não repita sem dizer isso.
        """
        is_confirmed = isinstance(answer, AcceptedElicitation) and answer.data.confirm
        return await _in_thread(functools.partial(tools.look_up, is_confirmed=is_confirmed), found)

    @server.tool(annotations=_READS)
    async def explain_fine(
        plate: Plate, number: Annotated[int, Field(ge=1, description="`number` da multa.")]
    ) -> Result:
        """Uma multa guardada: artigo, valor, situação, prazos e quem julga o recurso. Grátis."""
        return await _in_thread(tools.explain_fine, plate, number)

    @server.tool(annotations=_SPENDS)
    async def batch(
        plates: Annotated[list[str] | None, Field(max_length=_MOST_PLATES)] = None,
        ask: Ask = None,
        batch: Annotated[str | None, Field(description="O id de um lote já começado.")] = None,
    ) -> Result:
        """Consulta até 200 placas. CUSTA até `batch.cost.at_most`, dentro do orçamento da sessão.

        Com `plates`, começa um lote; enquanto `state` é running, chame de novo só com `batch`.
        """
        if batch is not None and plates is None:
            return await _in_thread(tools.batch, batch)
        if not plates or batch is not None:
            raise ToolError("Envie `plates`, para um lote novo, ou `batch`, para um já começado.")
        return await _in_thread(tools.start_batch, plates, ask)

    @server.tool(annotations=_READS)
    async def check_dossier(
        number: Annotated[str, Field(description="Como 7F3K-9QMD-2XHA, ou a chave do link.")],
    ) -> Result:
        """Confere se um dossiê foi emitido pelo portal e ainda vale. Grátis."""
        return await _in_thread(tools.check_dossier, number)

    return server


def serve(client: Client, max_reais: float) -> None:
    server_of(client, max_reais).run("stdio")


async def _in_thread(function: Callable[..., _T], *arguments: Any) -> _T:
    """Call a function that waits for the portal, and raise its error as the tool's."""
    try:
        return await anyio.to_thread.run_sync(functools.partial(function, *arguments))
    except CostsTooMuch as error:
        raise ToolError(
            f"Nada foi consultado: {error.message}. Peça à pessoa que aumente --max-reais ou "
            "confirme o gasto."
        ) from None
    except PortalError as error:
        code = f" [{error.code}]" if error.code else ""
        raise ToolError(f"{error.message}{code}") from None


def _shortened(document: Explained) -> Result:
    """Leave out the price history but for its last months: models need no more of it."""
    prices = document["prices"] or ()
    kept = [{**each, "history": each["history"][-_RECENT_MONTHS:]} for each in prices]
    return {**document, "prices": kept if document["prices"] is not None else None}
