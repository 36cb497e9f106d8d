"""Two portals whose responses must be equal: one with the hit cache, one without."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from portal.web.json_api.hit_cache import HitCache
from tests.conftest import PortalFactory
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal

_PER_RESPONSE = frozenset({"date", "x-request-id"})  # headers that differ in every response
_TIME_DEPENDENT = frozenset({"age", "cache-status"})  # headers that may change between two requests
PATHS = (
    "/detran/v1/decode/ABC1D23",
    "/detran/v1/restrictions/renainf/ABC1D23",
    "/detran/v1/restrictions/renainf/ABC1D23/MG",
    "/detran/v1/restrictions/renainf/00123456789",
    "/detran/v1/restrictions/renajud/ABC1D23",
)


@dataclass(frozen=True, slots=True)
class PortalPair:
    """``cached`` has the hit cache enabled, ``flask`` has it disabled."""

    cached: InProcessPortal
    flask: InProcessPortal

    def ask(self, path: str, **options: Any) -> tuple[Any, Any]:
        """Send the same request to both portals."""
        return self.cached.client.open(path, **options), self.flask.client.open(path, **options)


def portal_pair(portal: PortalFactory, **settings: str) -> PortalPair:
    pair = PortalPair(portal(**settings), portal(EDGE_MEMORY_MB="0", **settings))
    for each in (pair.cached, pair.flask):
        each.client.get("/healthz")  # a process's first request goes to Flask
        for path in PATHS:
            assert each.client.get(path, headers={"Authorization": PORTAL_TOKEN}).status_code == 200
    return pair


def hit_cache_of(portal: InProcessPortal) -> HitCache:
    layer: Any = portal.app.wsgi_app
    while not isinstance(layer, HitCache):
        layer = layer.app
    return layer


@contextmanager
def flask_disabled(portal: InProcessPortal) -> Iterator[None]:
    """Make Flask fail inside the context, so that only the hit cache can answer."""
    hit_cache = hit_cache_of(portal)
    application = hit_cache._application

    def fail(*_: object) -> Any:
        raise AssertionError("Flask was called")

    hit_cache._application = fail
    try:
        yield
    finally:
        hit_cache._application = application


def differences(first: Any, second: Any) -> list[str]:
    """The differences between two responses, except time-dependent ones."""
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
    return [(name, _normalise(name.lower(), value)) for name, value in response.headers]


def _normalise(name: str, value: str) -> str:
    if name in _PER_RESPONSE:
        return ""
    return re.sub(r"\d+", "N", value) if name in _TIME_DEPENDENT else value


def counter_growth(portal: InProcessPortal) -> Callable[[], dict[str, float]]:
    """Return a function for the growth of the lookup and request counters since this call."""

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
