"""Fixtures that every room's tests may use, and the guard that keeps tests off the network."""

import ipaddress
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.fakes import Clock, FaultUpstream
from tests.fakes.in_process import InProcessPortal, built, managed

PortalFactory = Callable[..., InProcessPortal]


def _is_loopback(host: object) -> bool:
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if host in (None, "", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(host).partition("%")[0]).is_loopback
    except ValueError:
        return False


@pytest.fixture(scope="session", autouse=True)
def no_outside_world() -> Iterator[None]:
    """A connect beyond loopback fails the test; a name beyond localhost does not exist.

    The names fail as they would without a network, so that a test of DNS trouble is quick and
    the same everywhere.
    """
    connect, connect_ex, sendto = (
        socket.socket.connect,
        socket.socket.connect_ex,
        socket.socket.sendto,
    )
    look_up = socket.getaddrinfo

    def check(held: socket.socket, address: Any) -> None:
        if held.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(address[0]):
            pytest.fail(f"a test reached for {address[0]}:{address[1]}")

    def guarded_connect(held: socket.socket, address: Any) -> None:
        check(held, address)
        return connect(held, address)

    def guarded_connect_ex(held: socket.socket, address: Any) -> int:
        check(held, address)
        return connect_ex(held, address)

    def guarded_sendto(held: socket.socket, data: Any, *rest: Any) -> int:
        check(held, rest[-1])
        return sendto(held, data, *rest)

    def guarded_look_up(host: Any, *args: Any, **options: Any) -> Any:
        if not _is_loopback(host) and not _is_address(host):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return look_up(host, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded_connect)
        patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
        patch.setattr(socket.socket, "sendto", guarded_sendto)
        patch.setattr(socket, "getaddrinfo", guarded_look_up)
        yield


def _is_address(host: object) -> bool:
    try:
        ipaddress.ip_address(host.decode("ascii") if isinstance(host, bytes) else str(host))
    except ValueError:
        return False
    return True


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a developer has set for a portal of their own must not reach a test."""
    for name in [name for name in os.environ if name.startswith("PORTAL_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def upstream() -> Iterator[FaultUpstream]:
    """The primary: answers well until told otherwise."""
    with FaultUpstream() as running:
        yield running


@pytest.fixture
def secondary() -> Iterator[FaultUpstream]:
    """A second base address with the same paths."""
    with FaultUpstream() as running:
        yield running


@pytest.fixture
def portal(tmp_path: Path, upstream: FaultUpstream) -> Iterator[PortalFactory]:
    """Builds portals in this process: ``portal()`` is managed, in front of ``upstream``.

    ``portal(env)`` takes the full PORTAL_ names in place of that; ``portal({})`` is the demo.
    Named settings come on top without the prefix: ``portal(FRESH_DECODE="60")``. Every portal
    of a test has the same data directory, as a restarted one would.
    """
    with ExitStack() as open_ones:

        def build(env: Mapping[str, str] | None = None, **named: str) -> InProcessPortal:
            chosen = managed(upstream.url) if env is None else env
            settings = {**chosen, **{f"PORTAL_{name}": value for name, value in named.items()}}
            return open_ones.enter_context(built(tmp_path / "data", settings))

        yield build
