"""Measures ``flask ledger`` with a million rows, on SQLite and on PostgreSQL."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from sqlalchemy import insert

from bench.programs import CHECKOUT, Stage, environment
from bench.results import Report
from portal.storage.opening import open_database
from portal.storage.tables import ledger
from tests.fakes.databases import PostgresProcess

ROWS = int(os.environ.get("BENCH_LEDGER_ROWS", "1000000"))
GOAL_S = 15.0
_NAME = "bench"
_FIRST = datetime(2025, 1, 1, 12, tzinfo=UTC).timestamp()
_YEAR_S = 365 * 86400
_COMMANDS: Final[Sequence[list[str]]] = (
    [],
    ["--json"],
    ["--csv"],
    ["--summary"],
    ["--month", "2025-06", "--csv"],
    ["--month", "2025-06", "--summary"],
)


def ledger_command(stage: Stage, report: Report, seconds: float, rounds: int) -> None:
    """Time the forms of the command, from the start of its process to its last line."""
    del seconds, rounds
    with ExitStack() as stack:
        databases: dict[str, str | None] = {"SQLite": None}
        try:
            databases["PostgreSQL"] = stack.enter_context(PostgresProcess()).new_database()
        except pytest.skip.Exception as skipped:
            report.note(f"ledger on PostgreSQL left out: {skipped}")
        for kind, url in databases.items():
            folder = stage.folder(f"ledger-{kind}")
            settings = {
                "PORTAL_UPSTREAM_URL": "http://127.0.0.1:1",
                "PORTAL_UPSTREAM_NAME": _NAME,
                "PORTAL_DATA_DIR": str(folder),
                **({"PORTAL_DATABASE_URL": url} if url else {}),
            }
            command = [sys.executable, "-m", "flask", "--app", "app"]
            if url:  # SQLite's tables are made by ``open_database``
                _run([*command, "db", "upgrade"], settings)
            database = open_database(url, folder)
            rows = _rows()
            while chunk := [row for row, _ in zip(rows, range(500), strict=False)]:
                with database.writing() as db:
                    db.execute(insert(ledger), chunk)
            database.dispose()
            for words in _COMMANDS:
                name = " ".join(["ledger", *words, "on", kind])
                before = _cpu_s()
                took = _run([*command, "ledger", *words], settings)
                report.compare(f"{name}, {ROWS:,} rows", [took], [1.0], "s", GOAL_S, "at most")
                report.note(f"{name}: {_cpu_s() - before:.2f} s of processor time")


def _rows() -> Iterator[dict[str, Any]]:
    kinds = (("decode", "0.85"), ("renainf", "0.95"), ("renajud", "0.65"))
    for number in range(ROWS):
        sent_at = _FIRST + number * _YEAR_S / ROWS
        operation, price = kinds[number % len(kinds)]
        yield {
            "sent_at": sent_at,
            "day": datetime.fromtimestamp(sent_at, UTC).date().isoformat(),
            "operation": operation,
            "subject": f"{number // 3:064x}",
            "origin": "primary",
            "caller": f"token-{number % 100}",
            "price": price,
            "outcome": "answered",
            "status": 200,
            "namespace": f"upstream:{_NAME}",
        }


def _cpu_s() -> float:
    """Return the processor time of all commands so far, which other programs hardly change."""
    times = os.times()
    return times.children_user + times.children_system


def _run(command: list[str], settings: dict[str, str]) -> float:
    """Run a command, and return how long it took in seconds."""
    began = time.perf_counter()
    done = subprocess.run(
        command, cwd=CHECKOUT, env=environment(**settings), stdout=subprocess.PIPE, check=True
    )
    assert b"decode" in done.stdout or "upgrade" in command, "the command found no row"
    return time.perf_counter() - began
