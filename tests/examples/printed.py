"""The examples that the reference page and the README print, and how to run one."""

import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

from tests.fakes.processes import clean_environment
from tests.web.html_checker import HTML, parse

NODE: Final = shutil.which("node")
SECONDS: Final = 120
_BLOCK: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Printed:
    """A ``<pre>`` text of the page: an example in a language, or an example's answer."""

    section: str
    language: str  # "" for an answer
    text: str


def printed_on(html: str) -> list[Printed]:
    """Return every ``<pre>`` of a page; each must be marked as example or answer."""
    return [_printed(pre, code) for pre in parse(html).iter(f"{HTML}pre") for code in pre]


def _printed(pre: Element, code: Element) -> Printed:
    text = "".join(code.itertext())
    assert "".join(pre.itertext()).strip() == text.strip(), "a <pre> holds one <code> and no more"
    section, language = code.get("data-answer"), code.get("data-language")
    language = language or ("formula" if text.startswith("=") else None)
    assert bool(section) != bool(language), f"neither an example nor an answer: {text[:80]}"
    return Printed(section or str(pre.get("aria-label")), language or "", text)


def blocks_of(markdown: str) -> list[tuple[str, str]]:
    """Return the fenced blocks of a Markdown text as (language, text)."""
    fences = len(re.findall("^```", markdown, re.MULTILINE))
    found = _BLOCK.findall(markdown)
    assert fences == 2 * len(found), "a block is not closed"
    return found


def commands_of(block: str) -> list[str]:
    """Return the commands of a shell block, without comments, with its continued lines joined."""
    joined = block.replace("\\\n", " ")
    return [line for line in (_without_comment(each) for each in joined.splitlines()) if line]


def _without_comment(line: str) -> str:
    return re.sub(r"(^|\s)#.*$", "", line).strip()


def words_of(command: str) -> tuple[dict[str, str], list[str]]:
    """Split a command into the variables before it and its words."""
    words, variables = shlex.split(command), {}
    while words and re.match(r"[A-Z_]+=", words[0]):
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    return variables, words


def run(language: str, text: str, folder: Path) -> str:
    """Run an example as printed; return its output, or raise AssertionError."""
    match language:
        case "curl":
            command = ["bash", "-euo", "pipefail", "-c", text]
        case "python":
            (folder / "exemplo.py").write_text(text, "utf-8")
            command = [sys.executable, "-W", "error", "exemplo.py"]
        case "javascript":
            assert NODE is not None
            (folder / "exemplo.mjs").write_text(text, "utf-8")
            command = [NODE, "exemplo.mjs"]
        case _:
            raise AssertionError(f"nothing runs {language!r}")
    done = subprocess.run(
        command,
        cwd=folder,
        env=clean_environment(),
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    output = done.stdout.decode("utf-8", "replace")
    shown = f"{text}\n---\n{output}\n---\n{done.stderr.decode('utf-8', 'replace')}"
    assert done.returncode == 0, shown
    assert output.strip(), f"it prints nothing: {shown}"
    return output
