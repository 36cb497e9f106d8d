"""Every example of ``/api`` and of the README runs as printed, against real servers.

The examples are taken from the rendered page and from the README's text. A new block that is
neither run nor marked as an answer fails the test.
"""

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from portal.presentation.site.api_answers import excerpt
from portal.settings import Settings
from tests.examples.printed import (
    NODE,
    SECONDS,
    Printed,
    blocks_of,
    commands_of,
    printed_on,
    run,
    words_of,
)
from tests.fakes.preloaded import CHECKOUT
from tests.fakes.processes import PortalProcess, SandboxProcess, clean_environment

README = "".join(
    (CHECKOUT / name).read_text("utf-8") for name in ("README.md", "docs/reference.md")
)
CLIENT = CHECKOUT / "client"
MAKEFILE = (CHECKOUT / "Makefile").read_text("utf-8")
# The number of the page's examples by language. Update these numbers with the page.
COUNTED = {"curl": 25, "python": 24, "javascript": 22, "formula": 2}
ANSWERS = 10
CONTRACT = {"Começar", "decode", "renainf", "renajud", "laudo"}
VARYING = re.compile(r'\d{4}-\d\d-\d\dT[^"]*|[0-9a-f]{24}|(?<="age_s": )\d+|"embedded[^"]*"')

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed"),
]


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    """The demonstration, which ``make run`` starts without settings."""
    with PortalProcess() as server:
        yield server


@pytest.fixture(scope="module")
def sandbox() -> Iterator[SandboxProcess]:
    """The sandbox, as ``make sandbox`` starts it."""
    with SandboxProcess() as server:
        yield server


@pytest.fixture(scope="module")
def printed(portal: PortalProcess) -> list[Printed]:
    return printed_on(portal.get("/api").text)


def runnable(printed: list[Printed]) -> list[Printed]:
    # Only a spreadsheet runs formulas; tests/web/json_api asks their addresses.
    examples = [each for each in printed if each.language not in ("", "formula")]
    return [each for each in examples if each.language != "javascript" or NODE is not None]


def check_output(output: str) -> None:
    """Fail on printed API errors, because curl exits with status 0 after them."""
    for line in output.splitlines():
        assert not line.startswith('{"message":') or "pausado" in line, line


def test_make_runs_the_servers_of_this_test() -> None:
    for target, command in (("run", "app.py"), ("sandbox", "-m portal.sandbox")):
        recipe = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
        assert recipe is not None
        assert recipe[1].rstrip().endswith(command)


@pytest.mark.slow
def test_examples_are_counted(printed: list[Printed]) -> None:
    assert Counter(each.language for each in printed if each.language) == COUNTED
    assert sum(not each.language for each in printed) == ANSWERS


@pytest.mark.slow
def test_every_operation_of_the_document_has_a_section(portal: PortalProcess) -> None:
    document = portal.get("/openapi.json").json()
    html = portal.get("/api").text.replace("<wbr>", "")
    for path, item in document["paths"].items():
        for method in item:
            if method in ("get", "post"):
                assert f"<b>{method.upper()}</b> <code>{path}</code>" in html


@pytest.mark.slow
@pytest.mark.long
def test_every_example_of_the_page_runs_as_printed(printed: list[Printed], tmp_path: Path) -> None:
    for example in runnable(printed):
        check_output(run(example.language, example.text, tmp_path))


DEMO = {"Authorization": "demo"}
SHEETS = {
    "semicolons-and-bom": "\ufeffPlaca;Modelo\r\nABC1D23;Citroën\r\nLMP0A01;\r\n;\r\n".encode(),
    "windows-1252": 'placa;observação\r\n"ABC1D23";"São João; a pé"\r\nLMP0A01;\r\n'.encode(
        "cp1252"
    ),
    "commas": b'placa,modelo\nABC1D23,"Onix; 1.0"\nLMP0A01,\n',
    "one-column": b"placa\nABC1D23\nLMP0A01\n",
}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("language", ["curl", "python"])
def test_recipe_reads_what_spreadsheets_save(
    portal: PortalProcess, printed: list[Printed], language: str, tmp_path: Path
) -> None:
    """The recipe also reads the portal's results file of an earlier run."""
    recipe = next(
        each.text for each in printed if each.language == language and "placas.csv" in each.text
    )
    results = b""
    for name, content in [*SHEETS.items(), ("results", None)]:
        (tmp_path / "placas.csv").write_bytes(content or results)
        check_output(run(language, recipe, tmp_path))
        results = (tmp_path / "resultados.csv").read_bytes()
        rows = results.decode("utf-8-sig").splitlines()[1:]
        assert [row.split(";")[0] for row in rows] == ["ABC1D23", "LMP0A01"], name
        (batch, *_) = portal.get("/api/v1/batches", headers=DEMO).json()["batches"]
        one = portal.get(f"/api/v1/batches/{batch['id']}", headers=DEMO).json()
        assert one["wrong"] == [], name


@pytest.mark.slow
@pytest.mark.long
def test_nightly_recipe_survives_a_bad_plate(
    portal: PortalProcess, printed: list[Printed], tmp_path: Path
) -> None:
    """The other plates are compared and stored, and the bad plate keeps its former state."""
    recipe = next(
        each.text for each in printed if each.language == "python" and "situacao.json" in each.text
    )
    state = tmp_path / "situacao.json"
    state.write_text('{"ERR0500": {"multas": 7}}')
    plates = '"ABC1D23", "ABC12", "ERR0500", "LMP0A01"'
    output = run("python", recipe.replace('"ABC1D23", "LMP0A01"', plates), tmp_path)
    assert "ABC12 ficou como estava: Por favor, informe uma placa válida." in output
    assert "ERR0500 ficou como estava: sem resposta de" in output
    found = json.loads(state.read_text())
    assert sorted(found) == ["ABC1D23", "ERR0500", "LMP0A01"]
    assert found["ERR0500"] == {"multas": 7}
    assert found["ABC1D23"]["multas"] >= 0


@pytest.mark.slow
def test_contract_examples_run_against_the_sandbox(
    portal: PortalProcess, sandbox: SandboxProcess, printed: list[Printed], tmp_path: Path
) -> None:
    """The scripts run against the sandbox with only their base address changed."""
    ran = 0
    for example in runnable(printed):
        if "/detran/v1/" not in example.text:
            continue
        text = example.text.replace(portal.url, sandbox.url)
        assert "/api/v1/" not in text
        check_output(run(example.language, text, tmp_path))
        ran += 1
    assert ran == (21 if NODE is not None else 14)


@pytest.mark.slow
@pytest.mark.long
def test_every_example_of_a_managed_portal_runs_as_printed(
    sandbox: SandboxProcess, tmp_path: Path
) -> None:
    """A managed portal's page prints SEU_TOKEN in place of the visitor's token."""
    settings = {
        "PORTAL_UPSTREAM_URL": sandbox.url,
        "PORTAL_UPSTREAM_SECONDARY_URL": f"{sandbox.url}/secundario",
        "PORTAL_UPSTREAM_TOKEN": "demo",
        "PORTAL_ACCESS_TOKENS": "SEU_TOKEN",
    }
    with PortalProcess(settings) as server:
        page = printed_on(server.get("/api").text)
        assert Counter(each.language for each in page if each.language) == COUNTED
        for example in page:
            if example.language == "curl":
                check_output(run("curl", example.text, tmp_path))


def stable(text: str) -> str:
    """Leave out what varies, also the open lines, of which an earlier example declares one."""
    return re.sub(r'"open": \d+', '"open": ~', VARYING.sub("~", text))


@pytest.mark.slow
@pytest.mark.long
def test_printed_answers_are_those_of_the_examples(
    portal: PortalProcess, printed: list[Printed], tmp_path: Path
) -> None:
    """Each printed answer is an excerpt of the output of the example before it."""
    compared = 0
    for number, answer in enumerate(printed):
        if answer.language:
            continue
        examples = [each for each in printed[:number] if each.language == "curl"]
        output = run("curl", examples[-1].text, tmp_path)
        last = output.lstrip("\ufeff").strip()
        if answer.section == "resultados":  # the page prints only the first plate's row
            assert last.splitlines()[0].strip() == answer.text.splitlines()[0].strip()
        elif answer.section == "arquivos":
            # The last column is the time of the answer, which the two fetch on their own.
            lines = [line.strip().rpartition(";")[0] for line in last.splitlines()]
            shown = [line.rpartition(";")[0] for line in answer.text.splitlines()]
            assert shown == lines[: len(shown)]
        else:
            got = excerpt(json.loads(last[last.rindex('{"id"') :] if '{"id"' in last else last))
            assert [line.split(":")[0] for line in stable(got).splitlines()] == [
                line.split(":")[0] for line in stable(answer.text).splitlines()
            ], answer.section
            if answer.section in CONTRACT:
                assert got == answer.text
            if answer.section == "veiculo":
                assert stable(got) == stable(answer.text)
        compared += 1
    assert compared == ANSWERS


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):(?!=)", MAKEFILE, re.MULTILINE))


@pytest.mark.slow
@pytest.mark.long
def test_every_block_of_the_readme_runs_as_printed(
    portal: PortalProcess, sandbox: SandboxProcess, tmp_path: Path
) -> None:
    """``make`` targets must exist. curl and flask commands run against real portals.

    Only the ports of the servers are changed.
    """
    counted: Counter[str] = Counter()
    for language, block in blocks_of(README):
        if not language:
            assert "curl" not in block, "a block of commands is marked sh"
            assert "flask" not in block or "portal/" in block
            continue
        assert language == "sh", f"nothing runs {language!r}"
        run_readme_block(block, portal, sandbox, tmp_path, counted)
    assert counted == {
        "make": 5,
        "curl": 11,
        "flask": 1,
        "export": 4,
        "pipx": 1,
        "dossie": 2,
    }


def run_readme_block(
    block: str,
    portal: PortalProcess,
    sandbox: SandboxProcess,
    folder: Path,
    counted: "Counter[str]",
) -> None:
    exported: dict[str, str] = {}
    server, started = portal, []
    try:
        for command in commands_of(block):
            variables, words = words_of(command)
            program = "flask" if words[:1] == [".venv/bin/flask"] else words[0]
            counted[program] += 1
            match program:
                case "export":
                    exported |= words_of(" ".join(words[1:]))[0]
                case "make":
                    assert set(words[1:]) <= make_targets(), command
                    if words == ["make", "run"] and (variables or exported):
                        server = portal_with({**exported, **variables}, sandbox)
                        started.append(server)
                case "curl":
                    address = command.replace("http://127.0.0.1:8000", server.url)
                    assert address != command
                    check_output(run("curl", address, folder))
                case "pipx":
                    assert (CHECKOUT / words[-1] / "pyproject.toml").exists(), command
                case "dossie":
                    env = exported | {"DOSSIE_URL": server.url}
                    check_output(run_client(words[1:], env, folder))
                case "flask":
                    done = server.command_line(*words[3:])
                    assert done.returncode == 0, done.stderr
                case _:
                    raise AssertionError(f"nothing runs {command!r}")
    finally:
        for each in started:
            each.close()


def run_client(words: list[str], env: dict[str, str], folder: Path) -> str:
    (folder / "placas.txt").write_text("ABC1D23\nLMP0A01\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "dossie_veicular_client", *words],
        env=clean_environment() | env | {"PYTHONPATH": str(CLIENT / "src")},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def portal_with(settings: dict[str, str], sandbox: SandboxProcess) -> PortalProcess:
    """Start a portal with the README's settings; the sandbox replaces the upstreams."""
    given = {
        name: re.sub(r"http://127\.0\.0\.1:900[01]", sandbox.url, value).replace("…", "hidden")
        for name, value in settings.items()
    }
    assert Settings.from_environment(given).mode == "managed"
    return PortalProcess(given).start()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "text"),
    [("curl", "false"), ("curl", "true"), ("python", "raise SystemExit(1)"), ("ruby", "puts 1")],
)
def test_a_failing_example_is_noticed(language: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        run(language, text, tmp_path)


@pytest.mark.parametrize("html", ["<pre>curl x</pre><p>", "<pre><code>curl x</code></pre>"])
def test_an_unmarked_block_is_noticed(html: str) -> None:
    with pytest.raises(AssertionError):
        assert printed_on(html), "no example"
