"""From nothing to the first answer, and how long the import alone takes."""

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
        began = time.perf_counter()
        portal = stage.portal(upstream.url, f"start-{number}")
        with urllib.request.urlopen(f"{portal.url}/healthz", timeout=20) as answer:
            answer.read()
        firsts.append(time.perf_counter() - began)
        portal.stop()
        imports.append(_import_s())
    # The first of each reads files from the disk: a warm start is what is asked for.
    report.compare("start to first answer", firsts[1:], [1.0] * rounds, "s", 1.5, "at most")
    report.compare("import of the application", imports[1:], [1.0] * rounds, "s", 0.5, "at most")


def _import_s() -> float:
    """By the process's own clock, the interpreter's start not counted."""
    program = (
        "import time; began = time.perf_counter(); import app; print(time.perf_counter() - began)"
    )
    told = subprocess.run(
        [sys.executable, "-c", program],
        cwd=CHECKOUT,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return float(told)
