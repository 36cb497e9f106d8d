"""Measures cached answers at a thousand a second beside the purge of a plate."""

import subprocess
import sys
import time

from bench.hits import PATHS, PLATES, fill
from bench.load import press
from bench.programs import CHECKOUT, OPERATOR_TOKEN, Stage, environment
from bench.results import Report

# With a pause of 15 ms after each response, 16 connections send about a thousand requests a second.
PAUSE_MS = 15
PURGE_S = 2  # seconds that a purge takes at least, with the start of its process


def purge(stage: Stage, report: Report, seconds: float, rounds: int) -> None:
    """Time lookups of 2,000 stored plates. A purge deletes another plate of the store."""
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
    idle, beside, took = [], [], []
    for plate in PLATES[: 3 * rounds]:
        idle.append(press(portal, kept, seconds, PAUSE_MS).p99_s * 1e3)
        started_at = time.monotonic()
        command = [sys.executable, "-m", "flask", "--app", "app", "purge", plate]
        purging = subprocess.Popen(command, cwd=CHECKOUT, env=env, stdout=subprocess.DEVNULL)
        beside.append(press(portal, kept, seconds, PAUSE_MS).p99_s * 1e3)
        if purging.wait(60):
            raise RuntimeError(f"the purge of {plate} failed")
        took.append(time.monotonic() - started_at)
    report.compare("p99 of lookups beside a purge over idle", beside, idle, "ms", 2, "at most")
    report.note(f"purges at 1,000 lookups a second, s: {', '.join(f'{each:.1f}' for each in took)}")
