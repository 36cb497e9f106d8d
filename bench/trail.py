"""Compares cached JSON answers of a portal that keeps the trail with one that keeps none."""

from bench.hits import HOT
from bench.load import press
from bench.programs import Stage
from bench.results import Report


def trail(stage: Stage, report: Report, seconds: float, rounds: int) -> None:
    upstream = stage.upstream()
    servers = {
        "with": stage.portal(upstream.url, "portal with a trail"),
        "without": stage.portal(upstream.url, "portal without a trail", AUDIT_DAYS="0"),
    }
    rates: dict[str, list[float]] = {name: [] for name in servers}
    for server in servers.values():
        press(server, HOT, 1)
    for turn in range(2 * rounds):
        # The order changes, because what else runs on the machine may favour the first or second.
        for name, server in sorted(servers.items(), reverse=bool(turn % 2)):
            rates[name].append(press(server, HOT, seconds).per_s)
    report.compare(
        "JSON hits with the trail over hits without it",
        *(rates["with"], rates["without"], "req/s", 0.95, "at least"),
    )
