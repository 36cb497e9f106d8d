"""Blocks connects beyond loopback, and lookups of names other than localhost.

The guard must be installed before test modules are imported, because a module may store
``socket.getaddrinfo`` at its import.
"""

import ipaddress
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

# Names whose lookup hangs until the event is set.
_hanging: dict[str, threading.Event] = {}


def install(patch: pytest.MonkeyPatch) -> None:
    """Guard this process until the patch is undone.

    A connect beyond loopback fails the test. Names other than localhost do not resolve, so that
    tests of DNS faults are quick and give the same result on every machine.
    """
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex
    sendto, look_up = socket.socket.sendto, socket.getaddrinfo

    def guarded_connect(held: socket.socket, address: Any) -> None:
        _check(held, address)
        return connect(held, address)

    def guarded_connect_ex(held: socket.socket, address: Any) -> int:
        _check(held, address)
        return connect_ex(held, address)

    def guarded_sendto(held: socket.socket, data: Any, *rest: Any) -> int:
        _check(held, rest[-1])
        return sendto(held, data, *rest)

    def guarded_look_up(host: Any, *args: Any, **options: Any) -> Any:
        name = _text(host)
        if released := _hanging.get(name):
            released.wait(60)
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        if name not in ("", "localhost") and _address(name) is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return look_up(host, *args, **options)

    patch.setattr(socket.socket, "connect", guarded_connect)
    patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
    patch.setattr(socket.socket, "sendto", guarded_sendto)
    patch.setattr(socket, "getaddrinfo", guarded_look_up)


@contextmanager
def hanging_names(host: str = "hangs.invalid") -> Iterator[str]:
    """Yield the base address of a host whose name lookup hangs in this process.

    The lookups fail when the block ends, so that no thread outlives the test.
    """
    released = _hanging[host] = threading.Event()
    try:
        yield f"http://{host}"
    finally:
        released.set()
        del _hanging[host]


def _check(held: socket.socket, address: Any) -> None:
    if held.family not in (socket.AF_INET, socket.AF_INET6):
        return
    name = _text(address[0])
    known = _address(name)
    if name not in ("", "localhost") and not (known and known.is_loopback):
        pytest.fail(f"a test reached for {name}:{address[1]}")


def _text(host: object) -> str:
    if isinstance(host, bytes):
        return host.decode("ascii", "replace")
    return "" if host is None else str(host)


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return None
