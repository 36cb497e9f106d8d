"""The edge and the long way side by side: two portals on one store that must not differ."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from portal.web.json_api.hit_cache import Edge
from tests.conftest import PortalFactory
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal

_OWN = frozenset({"date", "x-request-id"})  # each response's own
_COUNTING = frozenset({"age", "cache-status"})  # may tick between the two
PATHS = (
    "/detran/v1/decode/ABC1D23",
    "/detran/v1/restrictions/renainf/ABC1D23",
    "/detran/v1/restrictions/renainf/ABC1D23/MG",
    "/detran/v1/restrictions/renainf/00123456789",
    "/detran/v1/restrictions/renajud/ABC1D23",
)


@dataclass(frozen=True, slots=True)
class BothWays:
    """``edge`` answers hits at the edge, ``long`` has none; everything else is the same."""

    edge: InProcessPortal
    long: InProcessPortal

    def ask(self, path: str, **options: Any) -> tuple[Any, Any]:
        """One request put to both."""
        return tuple(  # type: ignore[return-value]
            portal.client.open(path, **options) for portal in (self.edge, self.long)
        )


def both_ways(portal: PortalFactory, **settings: str) -> BothWays:
    pair = BothWays(portal(**settings), portal(EDGE_MEMORY_MB="0", **settings))
    for each in (pair.edge, pair.long):
        each.client.get("/healthz")  # a process's first request takes the long way
        for path in PATHS:
            assert each.client.get(path, headers={"Authorization": PORTAL_TOKEN}).status_code == 200
    return pair


def edge_of(portal: InProcessPortal) -> Edge:
    layer = portal.app.wsgi_app
    found = layer if isinstance(layer, Edge) else layer.app
    assert isinstance(found, Edge)
    return found


@contextmanager
def flask_asleep(portal: InProcessPortal) -> Iterator[None]:
    """Whatever is asked inside must be answered by the edge alone."""
    edge = edge_of(portal)
    behind = edge._application

    def woken(*_: object) -> Any:
        raise AssertionError("Flask was woken")

    edge._application = woken
    try:
        yield
    finally:
        edge._application = behind


def tell_apart(first: Any, second: Any) -> list[str]:
    """In what two responses differ, time aside."""
    found = []
    if first.status != second.status:
        found.append(f"status: {first.status} / {second.status}")
    if first.data != second.data:
        found.append(f"body: {first.data[:80]!r} / {second.data[:80]!r}")
    ours, theirs = _headers(first), _headers(second)
    if ours != theirs:
        found.append(f"headers: {sorted(set(ours) ^ set(theirs)) or 'in another order'}")
    return found


def _headers(response: Any) -> list[tuple[str, str]]:
    return [(name, _alike(name.lower(), value)) for name, value in response.headers]


def _alike(name: str, value: str) -> str:
    if name in _OWN:
        return ""
    return re.sub(r"\d+", "N", value) if name in _COUNTING else value


def counted(portal: InProcessPortal) -> Callable[[], dict[str, float]]:
    """What the metrics count of lookups and requests since now, durations aside."""

    def read() -> dict[str, float]:
        text = portal.client.get("/metrics").get_data(as_text=True)
        names = ("portal_lookups_total", "portal_requests_total", "portal_lookup_seconds_count")
        lines = [line for line in text.splitlines() if line.startswith(names)]
        values = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}
        return {name: value for name, value in values.items() if "/metrics" not in name}

    before = read()
    return lambda: {
        name: value - before.get(name, 0)
        for name, value in read().items()
        if value != before.get(name, 0)
    }
