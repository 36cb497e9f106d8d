"""Measures cached JSON answers (hits): rate, p99 latency, processor time, hits from the store."""

import statistics

from bench.caches import nginx, varnish
from bench.debian import find
from bench.load import press
from bench.programs import Program, Stage
from bench.results import Report

PLATES = [f"AB{'CDEFGHIJKL'[i // 100 % 10]}{i % 10}D{i // 10 % 10}{i // 1000}" for i in range(2000)]
PATHS = [f"/detran/v1/decode/{plate}" for plate in PLATES]
HOT = PATHS[:100]
# With a pause after each response, 16 connections put the same load on every server.
PAUSE_MS = 4
_COMPRESSED = "portal, gzip"


def hits(stage: Stage, report: Report, seconds: float, rounds: int) -> None:
    upstream = stage.upstream()
    servers: dict[str, Program] = {}
    for name, start in (("nginx", nginx), ("varnishd", varnish)):
        peer = find(name)
        if peer is None:
            report.note(f"{name} is not available: left out")
        else:
            servers[name] = start(stage, peer, upstream.port)
    servers["portal"] = stage.portal(upstream.url)
    servers["plain"] = stage.plain(upstream.url)
    servers["gunicorn"] = stage.plain_on_gunicorn(upstream.url)
    for server in servers.values():
        press(server, HOT, 1)
    turns = [(name, server, "identity") for name, server in servers.items()]
    turns.append((_COMPRESSED, servers["portal"], "gzip"))
    press(servers["portal"], HOT, 1, Accept_Encoding="gzip")
    rates: dict[str, list[float]] = {name: [] for name, *_ in turns}
    costs: dict[str, list[float]] = {name: [] for name, *_ in turns}
    for _ in range(rounds):
        for name, server, coding in turns:
            before = server.cpu_s()
            load = press(server, HOT, seconds, Accept_Encoding=coding)
            rates[name].append(load.per_s)
            costs[name].append((server.cpu_s() - before) / load.requests * 1e6)
    if "nginx" in servers:
        report.compare(
            "JSON hits over nginx", rates["portal"], rates["nginx"], "req/s", 0.60, "at least"
        )
    if "varnishd" in servers:
        report.compare(
            "JSON hits over Varnish", rates["portal"], rates["varnishd"], "req/s", 0.60, "at least"
        )
    for name, words in (
        ("gunicorn", "the plain app on gunicorn"),
        ("plain", "the plain app on the portal's own server"),
    ):
        report.compare(
            f"JSON hits over {words}", rates["portal"], rates[name], "req/s", 15, "at least"
        )
    report.compare(
        "processor time of a compressed hit over a plain one",
        *(costs[_COMPRESSED], costs["portal"], "µs", 1.0, "at most"),
    )
    medians = ", ".join(f"{name} {statistics.median(each):.0f}" for name, each in costs.items())
    report.note(f"processor time a hit, µs: {medians}")
    sizes = ", ".join(f"{each:.0f}" for each in servers["portal"].rss_mib())
    report.note(f"resident memory of the portal's workers under hits, MiB: {sizes}")
    if "nginx" in servers:
        slowest: dict[str, list[float]] = {"portal": [], "nginx": []}
        # The ratio of a single turn varies from 1.3 to 3.3 on the same machine, so this comparison
        # takes three times as many turns.
        for _ in range(3 * rounds):
            for name, each in slowest.items():
                each.append(press(servers[name], HOT, seconds, PAUSE_MS).p99_s * 1e3)
        report.compare(
            "p99 of a hit at equal load, over nginx",
            slowest["portal"],
            slowest["nginx"],
            "ms",
            2,
            "at most",
        )


def store_copies(stage: Stage, report: Report, seconds: float, rounds: int) -> None:
    """Measure hits from the store on disk.

    The 2,000 answers of 8 kB do not fit into the memory cache of 1 MiB.
    """
    upstream = stage.upstream()
    portal = stage.portal(upstream.url, EDGE_MEMORY_MB="1")
    plain = stage.plain(upstream.url)
    for server in (portal, plain):
        fill(server)
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(press(portal, PATHS, seconds).per_s)
        theirs.append(press(plain, PATHS, seconds).per_s)
    report.compare("hits out of the store over the plain app", ours, theirs, "req/s", 3, "at least")


def fill(server: Program) -> None:
    """Send two requests per path, so that the server has stored every path."""
    requests = 0
    while requests < len(PATHS) * 2:
        requests += press(server, PATHS, 2).requests
