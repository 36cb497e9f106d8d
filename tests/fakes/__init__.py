"""Fakes: an upstream, a clock, server processes, unusable addresses.

``faults`` and ``odd_bodies`` define faulty answers of the upstream. ``matrix`` lists these faults
with the portal's expected responses.
"""

from tests.fakes.clock import Clock
from tests.fakes.network_guard import hanging_names
from tests.fakes.ports import (
    UNKNOWN_NAME_URL,
    Blackhole,
    free_port,
    refused_url,
    wait_until,
)
from tests.fakes.upstream import FaultUpstream
from tests.fakes.wire import Call, Fault

__all__ = [
    "UNKNOWN_NAME_URL",
    "Blackhole",
    "Call",
    "Clock",
    "Fault",
    "FaultUpstream",
    "free_port",
    "hanging_names",
    "refused_url",
    "wait_until",
]
