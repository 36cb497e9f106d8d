"""A certificate authority for the tests, and TLS contexts with its certificates."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from pathlib import Path

import pytest
import trustme

from portal.upstream.trust import load_authorities, loading


@cache
def authority() -> trustme.CA:
    """Return the tests' certificate authority, which nothing trusts by default."""
    return trustme.CA()


def certified(
    name: str = "127.0.0.1", by: trustme.CA | None = None, until: datetime | None = None
) -> ssl.SSLContext:
    """Return a server context with a certificate for a name or an address."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    (by or authority()).issue_cert(name, not_after=until).configure_cert(context)
    return context


def trusting_environment(folder: Path) -> dict[str, str]:
    """Return environment variables that make a process trust the authority."""
    path = folder / "authority.pem"
    authority().cert_pem.write_to_path(str(path))
    return {"SSL_CERT_FILE": str(path)}


@contextmanager
def trusting(folder: Path) -> Iterator[None]:
    """Make this process trust the authority inside the block."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in trusting_environment(folder).items():
            patch.setenv(name, value)
        _forget_authorities()
        yield
    _forget_authorities()


def _forget_authorities() -> None:
    # A spare connection may be loading the former authorities in another thread.
    with loading:
        load_authorities.cache_clear()
