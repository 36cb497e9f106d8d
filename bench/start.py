"""Measures the portal's import time, and the time from its start to a response."""

import subprocess
import sys
import time
import urllib.request

from bench.programs import CHECKOUT, Stage, environment
from bench.results import Report


def start(stage: Stage, report: Report, seconds: float, rounds: int) -> None:
    del seconds
    upstream = stage.upstream()
    firsts, imports = [], []
    for number in range(rounds + 1):
        started_at = time.perf_counter()
        portal = stage.portal(upstream.url, f"start-{number}")
        with urllib.request.urlopen(f"{portal.url}/healthz", timeout=20) as answer:
            answer.read()
        firsts.append(time.perf_counter() - started_at)
        portal.stop()
        imports.append(_import_s())
    # The first start and the first import read files from the disk. The goals are for files that
    # the system has cached, so these two times are dropped.
    report.compare("start to first answer", firsts[1:], [1.0] * rounds, "s", 1.5, "at most")
    report.compare("import of the application", imports[1:], [1.0] * rounds, "s", 0.5, "at most")


def _import_s() -> float:
    """Return the import time in a new process, without the interpreter's start."""
    program = (
        "import time; began = time.perf_counter(); import app; print(time.perf_counter() - began)"
    )
    output = subprocess.run(
        [sys.executable, "-c", program],
        cwd=CHECKOUT,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return float(output)
