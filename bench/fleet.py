"""Checks that four portals with one Redis make only one upstream call for each plate.

The traffic follows Zipf's law, so that some plates are requested much more often than others.
"""

import itertools
import json
import os
import random
import shutil
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from bench.load import ask_each, press
from bench.programs import Stage
from bench.results import Report

PORTALS = 4
PLATES = 20_000
LOOKUPS = int(os.environ.get("BENCH_LOOKUPS", "200000"))
CONNECTIONS = 4  # to each portal
SHARED_SECRET = "one secret for all portals of a Redis"


def fleet(stage: Stage, report: Report, seconds: float, rounds: int) -> None:
    server = shutil.which("redis-server")
    if server is None:
        report.note("redis-server is not installed: the four portals are left out")
        return
    redis = stage.run(
        "redis",
        [server, "--port", "{port}", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
    )
    upstream = stage.upstream()
    portals = [
        stage.portal(
            upstream.url,
            f"portal-{number}",
            REDIS_URL=f"redis://127.0.0.1:{redis.port}/0",
            SECRET_KEY=SHARED_SECRET,
            DATABASE_URL=f"sqlite:///{stage.directory / 'fleet.sqlite'}",
            WORKERS="1",
        )
        for number in range(PORTALS)
    ]
    paths = _zipf()
    distinct = len({*paths})
    seconds_taken = ask_each(portals, paths, CONNECTIONS)
    with urllib.request.urlopen(f"{upstream.url}/calls", timeout=10) as answer:
        counts = json.loads(answer.read())
    report.compare(
        f"upstream calls over distinct plates, {PORTALS} portals on one Redis",
        [counts["calls"]],
        [distinct],
        "calls",
        1.0,
        "at most",
    )
    report.note(
        f"{LOOKUPS:,} lookups over {PLATES:,} plates by Zipf's law, {distinct:,} distinct: "
        f"{LOOKUPS / seconds_taken:,.0f} a second, {counts['calls']:,} upstream calls"
    )
    hot = paths[:500]
    for portal in portals:
        press(portal, hot, 1)
    together, alone = [], []
    for _ in range(rounds):
        alone.append(sum(press(portal, hot, seconds / 2).per_s for portal in portals))
        with ThreadPoolExecutor(PORTALS) as pool:
            loads = list(pool.map(lambda portal: press(portal, hot, seconds), portals))
        together.append(sum(load.per_s for load in loads))
    report.compare(
        f"hits of {PORTALS} portals together over their sum alone ({os.cpu_count()} cores)",
        together,
        alone,
        "req/s",
        0.8,
        "at least",
    )


def _zipf() -> list[str]:
    generator = random.Random(1)
    letters = "ABCDEFGHIJKLMNOPQRST"
    plates = [f"{letters[n // 1000 % 20]}AA{n // 100 % 10}B{n % 100:02d}" for n in range(PLATES)]
    weights = list(itertools.accumulate(1 / (rank + 1) for rank in range(PLATES)))
    chosen = generator.choices(range(PLATES), cum_weights=weights, k=LOOKUPS)
    return [f"/detran/v1/decode/{plates[each]}" for each in chosen]
