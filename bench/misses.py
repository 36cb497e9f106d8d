"""Measures the portal's overhead on an upstream call, and uncached and cached vehicle pages."""

import http.client
import re
import time
from urllib.parse import urlencode

from bench.hits import PLATES
from bench.load import CONNECTIONS, press
from bench.programs import PORTAL_TOKEN, Stage
from bench.results import Report


class Visitor:
    """A browser on one connection, which can sign in and keeps its cookie."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.cookie = ""

    def ask(self, path: str, form: dict[str, str] | None = None) -> bytes:
        headers = {"Authorization": PORTAL_TOKEN} if path.startswith("/d") else {}
        if self.cookie:
            headers["Cookie"] = self.cookie
        body = None
        if form is not None:
            body = urlencode(form)
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        self._connection.request("POST" if form is not None else "GET", path, body, headers)
        response = self._connection.getresponse()
        content = response.read()
        if response.status >= 400:
            raise RuntimeError(f"{response.status} from {path}")
        for name, value in response.getheaders():
            if name.lower() == "set-cookie":
                self.cookie = value.partition(";")[0]
        return content

    def sign_in(self) -> "Visitor":
        page = self.ask("/entrar").decode()
        found = re.search(r'name="csrf_token" value="([^"]+)"', page)
        assert found is not None
        self.ask("/entrar", {"token": PORTAL_TOKEN, "csrf_token": found[1], "next": "/"})
        return self

    def timed(self, path: str) -> float:
        started = time.perf_counter()
        self.ask(path)
        return time.perf_counter() - started


def proxied(stage: Stage, report: Report, seconds: float, rounds: int) -> None:
    """Compare a miss through the portal with the direct call, and with a miss of the plain app.

    The upstream takes 100 ms. The plain app has no ledger, coalesces no calls and checks no
    answers. Its time therefore shows how much of the overhead is due to Flask and the server.
    """
    upstream = stage.upstream()
    address = f"{upstream.url}/long/d/100"
    portal = Visitor(stage.portal(address).port)
    plain = Visitor(stage.plain(address).port)
    direct = Visitor(upstream.port)
    for server in (portal, plain):
        server.ask("/detran/v1/decode/ZZZ9Z99")
    plates = iter(PLATES)
    medians: dict[str, list[float]] = {"portal": [], "plain": [], "direct": []}
    for _ in range(rounds):
        turn: dict[str, list[float]] = {name: [] for name in medians}
        for _ in range(max(8, round(seconds * 4))):
            path = f"/detran/v1/decode/{next(plates)}"
            turn["direct"].append(direct.timed(f"/long/d/100{path}"))
            turn["portal"].append(portal.timed(path))
            turn["plain"].append(plain.timed(path))
        for name, times in turn.items():
            medians[name].append(_median(times) * 1e3)
    for name, peer, goal in (
        ("the direct call", "direct", 1.04),
        ("the plain app's", "plain", 1.0),
    ):
        report.compare(
            f"a miss over {name} (100 ms upstream)",
            medians["portal"],
            medians[peer],
            "ms",
            goal,
            "at most",
        )


def cold_page(stage: Stage, report: Report, seconds: float, rounds: int) -> None:
    """Compare the full page of an uncached vehicle with the slowest of its three lookups."""
    upstream = stage.upstream()
    visitor = Visitor(stage.portal(f"{upstream.url}/d/80,150,120").port).sign_in()
    direct = Visitor(upstream.port)
    visitor.ask("/placa/ZZZ9Z99?completo=1")
    number, ours, theirs = 0, [], []
    for _ in range(rounds):
        pages, lookups = [], []
        for _ in range(max(6, round(seconds * 3))):
            plate = PLATES[number]
            number += 1
            lookups.append(direct.timed(f"/d/0,150,0/detran/v1/restrictions/renainf/{plate}"))
            pages.append(visitor.timed(f"/placa/{plate}?completo=1"))
        ours.append(_median(pages) * 1e3)
        theirs.append(_median(lookups) * 1e3)
    report.compare("a cold page over its slowest lookup", ours, theirs, "ms", 1.10, "at most")


def warm_page(stage: Stage, report: Report, seconds: float, rounds: int) -> None:
    """Compare cached pages with the pages of a portal without caches. The upstream has no delay.

    There are as many vehicles as connections. With a single vehicle, even the portal without caches
    would answer simultaneous requests with one upstream call.
    """
    upstream = stage.upstream()
    warm = stage.portal(upstream.url)
    off = {f"{kind}_{name}": "0" for kind in ("FRESH", "STALE") for name in OPERATIONS}
    bare = stage.portal(upstream.url, "cache-off", EDGE_MEMORY_MB="0", **off)
    visitors = {server: Visitor(server.port).sign_in() for server in (warm, bare)}
    cookies = {server: visitor.cookie for server, visitor in visitors.items()}
    pages = [f"/placa/{plate}?completo=1" for plate in PLATES[:CONNECTIONS]]
    for visitor in visitors.values():
        for page in pages * 2:
            visitor.ask(page)
    ours: list[float] = []
    theirs: list[float] = []
    cost: list[float] = []
    for _ in range(rounds):
        for server, rates in ((warm, ours), (bare, theirs)):
            before = server.cpu_s()
            load = press(server, pages, seconds, Cookie=cookies[server])
            rates.append(load.per_s)
            if server is warm:
                cost.append((server.cpu_s() - before) / load.requests * 1e3)
    report.compare(
        "a warm page over the cache switched off", ours, theirs, "pages/s", 5, "at least"
    )
    report.compare("processor time of a warm page", cost, [1.0] * len(cost), "ms", 5, "at most")


OPERATIONS = ("DECODE", "RENAINF", "RENAJUD")


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
