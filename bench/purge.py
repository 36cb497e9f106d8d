"""Measures cached answers at a thousand a second beside the purge of a plate."""

import subprocess
import sys
from contextlib import ExitStack
from typing import Any, Final

from bench.hits import PATHS, PLATES, fill
from bench.load import press
from bench.programs import CHECKOUT, OPERATOR_TOKEN, Stage, environment
from bench.results import Report

# With a pause of 15 ms after each response, 16 connections send about a thousand requests a second.
PAUSE_MS = 15
# An operator's shell or a timer has another session than the server, so Linux shares the processors
# between them (see bench/programs.py).
_SILENT: Final[Any] = {
    "stdout": subprocess.DEVNULL,
    "stderr": subprocess.DEVNULL,
    "start_new_session": True,
}
PURGE_S = 2  # seconds that a purge takes at least, with the start of its process


def purge(stage: Stage, report: Report, seconds: float, rounds: int) -> None:
    """Time lookups of 2,000 stored plates while another plate of the store is purged.

    The control is a command that deletes nothing. It shows what the start of a process costs.
    """
    upstream = stage.upstream()
    data = stage.folder("purged")
    portal = stage.portal(upstream.url, DATA_DIR=str(data))
    fill(portal)
    env = environment(
        PORTAL_UPSTREAM_URL=upstream.url,
        PORTAL_UPSTREAM_TOKEN=OPERATOR_TOKEN,
        PORTAL_DATA_DIR=str(data),
    )
    kept, seconds = PATHS[100:], max(seconds, PURGE_S)
    turns: dict[str, list[float]] = {"idle": [], "purge": [], "ledger": []}
    for plate in PLATES[: 3 * rounds]:
        for name, found in turns.items():
            words = [] if name == "idle" else [name, plate] if name == "purge" else [name, "--json"]
            command = [sys.executable, "-m", "flask", "--app", "app", *words]
            with ExitStack() as stack:
                if words:
                    beside = subprocess.Popen(command, cwd=CHECKOUT, env=env, **_SILENT)
                    stack.callback(beside.wait, 60)
                found.append(press(portal, kept, seconds, PAUSE_MS).p99_s * 1e3)
            if words and beside.returncode:
                raise RuntimeError(f"the command {name} failed")
    for name, what in (("idle", "idle"), ("ledger", "a command that deletes nothing")):
        report.compare(
            f"p99 of lookups beside a purge over {what}",
            *(turns["purge"], turns[name], "ms", 2, "at most"),
        )
