"""Finds what a test starts, from the names that its functions use.

A test starts what its function, its fixtures and its parameters name, and what the functions and
classes of ``tests`` that they name start in turn. An import alone starts nothing.
"""

import subprocess
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType, ModuleType

import pytest

from tests.fakes import FaultUpstream
from tests.fakes.databases import PostgresProcess
from tests.fakes.pgbouncer import PgBouncerProcess
from tests.fakes.preloaded import PreloadedProcess
from tests.fakes.processes import RedisProcess, ServerProcess
from tests.hostile.streams.server import ScriptedServer

UPSTREAM = (FaultUpstream, ScriptedServer)
OTHER_SERVERS = (PostgresProcess, RedisProcess, PgBouncerProcess)
SLOW = (ServerProcess, PreloadedProcess)


def markers_of(item: pytest.Function) -> set[str]:
    """Return "slow" for a process, "upstream" for an upstream, "long" for another server.

    A process is a server, a browser or a program. Another server is PostgreSQL or Redis.
    """
    definitions = item._fixtureinfo.name2fixturedefs
    fixtures = [each.func for name in item.fixturenames for each in definitions.get(name, ())]
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    found = {"slow"} if "browser" in item.fixturenames else set()
    if "postgresql" in parameters:
        found |= {"slow", "long"}
    for start in (item.function, *fixtures, *parameters):
        if isinstance(start, FunctionType | type):
            found |= _reached(start)
    return found


@cache
def _reached(start: FunctionType | type) -> frozenset[str]:
    found: set[str] = set()
    seen: set[int] = set()
    unseen: list[object] = [start]
    while unseen:
        each = unseen.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, type) and issubclass(each, OTHER_SERVERS):
            found |= {"slow", "long"}
        elif each is subprocess or (isinstance(each, type) and issubclass(each, SLOW)):
            found.add("slow")
        elif each in UPSTREAM:
            found.add("upstream")
        elif str(getattr(each, "__module__", "")).startswith("tests."):
            unseen += _named(each)
    return frozenset(found)


@cache
def _named(each: object) -> tuple[object, ...]:
    return tuple(_found_in(each))


def _found_in(each: object) -> Iterator[object]:
    """The globals that a function, or the functions of a class, name."""
    if isinstance(each, type):
        yield from each.__bases__
        for member in vars(each).values():
            yield getattr(member, "fget", None) or getattr(member, "__func__", member)
        return
    yield getattr(each, "__wrapped__", None)
    if isinstance(each, FunctionType):
        names = _names(each.__code__)
        for value in map(each.__globals__.get, names):
            yield value
            if isinstance(value, ModuleType) and value.__name__.startswith("tests."):
                yield from (vars(value).get(name) for name in names)


def _names(code: CodeType) -> set[str]:
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*map(_names, inner))
