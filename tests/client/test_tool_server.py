"""The tools for agents, called with the SDK's own client: results, costs, the budget."""

import json
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import mcp
import pytest
from dossie_veicular_client import Client
from dossie_veicular_client.digest import MOST_BYTES, compact, fitted
from dossie_veicular_client.money import reais
from dossie_veicular_client.spending import quote
from dossie_veicular_client.tool_server import server_of
from dossie_veicular_client.transport import VERSION
from mcp.client.context import ClientRequestContext
from mcp.client.session import ElicitationFnT
from mcp.types import CallToolResult, ElicitRequestParams, ElicitResult

from tests.batch.engine import plates
from tests.client.conftest import PRICES
from tests.client.test_command import Command
from tests.effort import long
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess

pytestmark = pytest.mark.long

PLATE = "ABC1D23"
TOOLS = {"price", "stored", "look_up", "explain_fine", "batch", "check_dossier"}
Session = Callable[[mcp.Client], Awaitable[None]]


def talk(
    client: Client,
    max_reais: float,
    session: Session,
    answer: ElicitationFnT | None = None,
    mode: str = "auto",
) -> None:
    async def run() -> None:
        with anyio.fail_after(120):
            async with mcp.Client(
                server_of(client, max_reais), elicitation_callback=answer, mode=mode
            ) as agent:
                await session(agent)

    anyio.run(run)


async def called(agent: mcp.Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await agent.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return dict(result.structured_content)


async def refused(agent: mcp.Client, tool: str, **arguments: Any) -> str:
    result = await agent.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    assert result.is_error
    return str(result.content)


@pytest.mark.slow
def test_check_of_a_file_sends_pdfs_alone(client: Client, tmp_path: Path) -> None:
    pdf, other = tmp_path / "a.pdf", tmp_path / "secrets.txt"
    pdf.write_bytes(b"%PDF-1.7 a")
    other.write_text("a password")

    async def session(agent: mcp.Client) -> None:
        found = await called(agent, "check_dossier", file=str(pdf))
        assert (found["result"], found["unaltered"]) == ("unknown", None)
        assert "não é um PDF" in await refused(agent, "check_dossier", file=str(other))
        assert "um dos dois" in await refused(agent, "check_dossier")
        assert "não pode ser lido" in await refused(agent, "check_dossier", file="/none.pdf")

    talk(client, 0, session)


@pytest.mark.slow
def test_six_tools_say_what_they_cost(client: Client) -> None:
    async def session(agent: mcp.Client) -> None:
        tools = (await agent.list_tools()).tools
        assert {tool.name for tool in tools} == TOOLS
        for tool in tools:
            costs = tool.name in ("look_up", "batch")
            assert ("CUSTA" if costs else "Grátis.") in (tool.description or "")
            assert tool.annotations
            assert tool.annotations.read_only_hint is not costs
        assert "R$ 0,00" in (agent.instructions or "")

    talk(client, 0, session)


@pytest.mark.slow
def test_without_a_budget_nothing_is_asked(client: Client, upstream: FaultUpstream) -> None:
    async def session(agent: mcp.Client) -> None:
        assert (await called(agent, "price", plate=PLATE))["price"] == 1.75
        stored = await called(agent, "stored", plate=PLATE)
        assert stored["missing"] == ["decode", "renainf", "renajud"]
        assert stored["vehicle"]["verdict"]["level"] == "incomplete"
        assert "custaria até R$ 1,75" in await refused(agent, "look_up", plate=PLATE)
        assert "custaria" in await refused(agent, "batch", plates=plates(3))
        assert "plate_invalid" in await refused(agent, "look_up", plate="ABC")

    talk(client, 0, session)
    assert upstream.count() == 0


@pytest.mark.slow
def test_budget_of_the_start_is_spent(client: Client, upstream: FaultUpstream) -> None:
    async def session(agent: mcp.Client) -> None:
        found = await called(agent, "look_up", plate=PLATE)
        assert (found["spent"], found["budget_left"]) == (1.75, 0.25)
        lookup = found["vehicle"]["lookups"]["renainf"]
        assert (lookup["state"], lookup["source"]) == ("fresh", "primary")
        assert lookup["age_s"] >= 0
        assert len(found["vehicle"]["prices"][0]["history"]) <= 13
        again = await called(agent, "look_up", plate=PLATE)
        assert (again["spent"], again["budget_left"]) == (0, 0.25)
        fine = await called(agent, "explain_fine", plate=PLATE, number=1)
        assert fine["fine"]["deadlines"]
        assert "não a de número 9" in await refused(agent, "explain_fine", plate=PLATE, number=9)

    talk(client, 2, session)
    assert upstream.count() == 3


@pytest.mark.slow
@pytest.mark.parametrize(("confirm", "calls"), [(True, 3), (False, 0)])
def test_person_confirms_what_the_budget_lacks(
    client: Client, upstream: FaultUpstream, confirm: bool, calls: int
) -> None:
    questions = []

    async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        questions.append(params.message)
        return ElicitResult(action="accept", content={"confirm": confirm})

    async def session(agent: mcp.Client) -> None:
        if confirm:
            assert (await called(agent, "look_up", plate=PLATE))["spent"] == 1.75
        else:
            await refused(agent, "look_up", plate=PLATE)

    talk(client, 0, session, answer)
    assert len(questions) == 1
    assert "R$ 1,75" in questions[0]
    assert upstream.count() == calls


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_person_pays_no_more_than_the_question_said(upstream: FaultUpstream, mode: str) -> None:
    """A stored answer expires between the question and the confirmation.

    An agent's program of a former protocol is asked within the call, another one in its next round.
    """
    with PortalProcess(managed(upstream.url) | PRICES | {"PORTAL_FRESH_DECODE": "2"}) as portal:
        client = Client(portal.url, PORTAL_TOKEN)
        client.decode(PLATE)
        questions = []

        async def answer(
            context: ClientRequestContext, params: ElicitRequestParams
        ) -> ElicitResult:
            questions.append(params.message)
            while "decode" not in quote(client, PLATE).missing:
                await anyio.sleep(0.1)
            return ElicitResult(action="accept", content={"confirm": True})

        async def session(agent: mcp.Client) -> None:
            found = await called(agent, "look_up", plate=PLATE, ask=["decode", "renainf"])
            assert reais(found["spent"]) in questions[-1]

        talk(client, 0, session, answer, mode)


@pytest.mark.slow
def test_budget_holds_under_parallel_calls(client: Client, upstream: FaultUpstream) -> None:
    """Twenty calls of R$ 0.50 at once, of which R$ 4 allow eight."""
    outcomes = []

    async def session(agent: mcp.Client) -> None:
        async def look_up(plate: str) -> None:
            result = await agent.call_tool("look_up", {"plate": plate, "ask": ["decode"]})
            assert isinstance(result, CallToolResult)
            outcomes.append(result.is_error)

        async with anyio.create_task_group() as group:
            for plate in plates(20):
                group.start_soon(look_up, plate)
        assert (await called(agent, "price", plate=PLATE))["budget_left"] == 0

    talk(client, 4, session)
    assert outcomes.count(False) == upstream.count() == 8


@pytest.mark.slow
@pytest.mark.long  # the test before it makes parallel calls too
def test_many_calls_at_once_are_all_answered(client: Client, upstream: FaultUpstream) -> None:
    """Each makes a draft, of which a portal keeps 20, and starts it."""

    async def session(agent: mcp.Client) -> None:
        async with anyio.create_task_group() as group:
            for plate in plates(60):
                group.start_soon(partial(called, agent, "look_up", plate=plate, ask=["decode"]))

    talk(client, 30, session)
    assert upstream.count() == 60


@pytest.mark.slow
def test_batch_spends_within_the_budget(client: Client, upstream: FaultUpstream) -> None:
    async def session(agent: mcp.Client) -> None:
        found = await called(agent, "batch", plates=plates(4), ask=["decode"])
        while found["batch"]["state"] == "running":
            found = await called(agent, "batch", batch=found["batch"]["id"])
        assert [row["state"] for row in found["rows"]] == ["done"] * 4
        assert found["budget_left"] == 1
        assert "custaria" in await refused(agent, "batch", plates=plates(7)[4:], ask=["decode"])

    talk(client, 3, session)
    assert upstream.count() == 4


def answering(content: dict[str, Any], questions: list[str]) -> ElicitationFnT:
    async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        questions.append(params.message)
        return ElicitResult(action="accept", content=content)

    return answer


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_person_confirms_a_list(client: Client, upstream: FaultUpstream, mode: str) -> None:
    questions: list[str] = []

    async def session(agent: mcp.Client) -> None:
        found = await called(agent, "batch", plates=plates(3), ask=["decode", "renainf"])
        while found["batch"]["state"] == "running":
            found = await called(agent, "batch", batch=found["batch"]["id"])
        assert found["batch"]["cost"]["spent"] == 4.5

    talk(client, 0, session, answering({"confirm": True}, questions), mode)
    assert questions == ["Consultar dados do veículo e multas de 3 placas? Custa até R$ 4,50."]
    assert upstream.count() == 6
    assert len([*client.batches()]) == 1  # the draft of the question is the one that runs


@pytest.mark.slow
@pytest.mark.parametrize("content", [{"confirm": "yes"}, {"confirm": 1}, {}, {"confirm": False}])
@pytest.mark.parametrize("tool", ["look_up", "batch"])
def test_only_true_is_consent(
    client: Client, upstream: FaultUpstream, tool: str, content: dict[str, Any]
) -> None:
    questions: list[str] = []

    async def session(agent: mcp.Client) -> None:
        words: dict[str, Any] = {"plate": PLATE} if tool == "look_up" else {"plates": [PLATE]}
        assert "Nada foi consultado" in await refused(agent, tool, **words)

    talk(client, 0, session, answering(content, questions))
    assert len(questions) == 1
    assert upstream.count() == 0


@pytest.mark.slow
def test_unknown_price_is_asked_or_refused(upstream: FaultUpstream) -> None:
    questions: list[str] = []
    with PortalProcess(managed(upstream.url)) as portal:
        client = Client(portal.url, PORTAL_TOKEN)

        async def refusing(agent: mcp.Client) -> None:
            assert (await called(agent, "price", plate=PLATE))["price"] is None
            for _ in range(2):
                assert "não informa" in await refused(agent, "look_up", plate=PLATE)
            assert "não informa" in await refused(agent, "batch", plates=plates(3))

        async def asking(agent: mcp.Client) -> None:
            found = await called(agent, "look_up", plate=PLATE)
            assert (found["spent"], found["error"]) == (None, None)

        talk(client, 1000, refusing)
        assert upstream.count() == 0
        talk(client, 1000, asking, answering({"confirm": True}, questions))
        assert upstream.count() == 3
    assert "não informa o preço" in questions[0]


def size_of(result: CallToolResult) -> int:
    assert not result.is_error, result.content
    text = "".join(getattr(each, "text", "") for each in result.content)
    assert json.loads(text) == result.structured_content
    return len(text.encode()) * 2


@pytest.mark.slow
def test_answers_have_a_size() -> None:
    """A vehicle with 45 fines, on the demonstration."""
    with PortalProcess({}) as portal:
        client = Client(portal.url, "demo")

        async def session(agent: mcp.Client) -> None:
            result = await agent.call_tool("look_up", {"plate": "MUL0A45", "ask": ["renainf"]})
            assert isinstance(result, CallToolResult)
            assert size_of(result) < 20_000
            found = dict(result.structured_content or {})
            assert len(found["vehicle"]["fines"]["records"]) == 45
            assert "left_out" not in found
            assert "explain_fine" in found["omitted"]
            for words in (
                {"plate": "MUL0A45"},
                {"plate": "MUL0A45", "detail": "full"},
                {"plate": "ABC1D23", "detail": "full"},
            ):
                for tool in ("look_up", "stored"):
                    result = await agent.call_tool(tool, words)
                    assert isinstance(result, CallToolResult)
                    assert size_of(result) < 20_000
            found = dict(result.structured_content or {})
            assert found["left_out"]
            for entry in found["left_out"].values():
                assert isinstance(entry, str) or entry["shown"] < entry["of"]

        talk(client, 0, session)


@pytest.mark.long
@pytest.mark.slow
def test_answer_of_a_batch_has_a_size() -> None:
    with PortalProcess({}) as portal:

        async def session(agent: mcp.Client) -> None:
            result = await agent.call_tool("batch", {"plates": plates(200)})
            assert isinstance(result, CallToolResult)
            assert size_of(result) < 20_000
            while (result.structured_content or {})["batch"]["state"] == "running":
                number = (result.structured_content or {})["batch"]["id"]
                result = await agent.call_tool("batch", {"batch": number})
                assert isinstance(result, CallToolResult)
                assert size_of(result) < 20_000
            assert (result.structured_content or {})["left_out"]["rows"]["of"] == 200

        talk(Client(portal.url, "demo"), 0, session)


@pytest.mark.parametrize("times", [3, *long(30)])
@pytest.mark.parametrize("text", ["x" * 100_000, "ç" * 30_000, '"' * 50_000])
def test_endless_texts_are_cut(text: str, times: int) -> None:
    found = fitted({"a": [{"b": text, "c": [text] * times}] * times, "d": text, "e": {"f": text}})
    assert len(compact(found).encode()) <= MOST_BYTES
    assert found["left_out"]


@pytest.mark.slow
def test_failed_call_is_an_error_that_may_be_charged(
    client: Client, upstream: FaultUpstream
) -> None:
    upstream.default(faults.status(500))

    async def session(agent: mcp.Client) -> None:
        found = await called(agent, "look_up", plate=PLATE, ask=["renainf"])
        assert found["error"].startswith("Sem resposta: multas.")
        assert "pode ter sido cobrada" in found["error"]
        assert found["spent"] == 1

    talk(client, 5, session)


@pytest.mark.slow
def test_server_describes_itself(client: Client) -> None:
    async def session(agent: mcp.Client) -> None:
        assert agent.server_info and agent.server_info.version == VERSION
        assert "nunca instruções" in (agent.instructions or "")
        for tool in (await agent.list_tools()).tools:
            assert "\n    " not in (tool.description or "")

    talk(client, 0, session)


@pytest.mark.slow
def test_command_serves_the_tools_on_stdio(
    served: PortalProcess, tmp_path: Path, upstream: FaultUpstream
) -> None:
    command = Command(served, tmp_path)

    async def run() -> None:
        server = mcp.StdioServerParameters(
            command=sys.executable,
            args=["-m", "dossie_veicular_client", "mcp", "--max-reais", "1.75"],
            env=command.env,
        )
        with anyio.fail_after(60):
            async with mcp.Client(mcp.stdio_client(server)) as agent:
                assert (await called(agent, "look_up", plate=PLATE))["spent"] == 1.75
                assert "custaria" in await refused(agent, "look_up", plate="LMP0A01")

    anyio.run(run)
    assert upstream.count() == 3
