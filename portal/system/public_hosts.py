"""Which hosts a webhook may reach: public addresses over https, or hosts that an operator names."""

import re
import socket
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any, Final, Literal
from urllib.parse import urlsplit

Address = IPv4Address | IPv6Address
# The only IPv6 addresses that are allocated to the public (IANA, "IPv6 Global Unicast Address
# Assignments"). Those outside of it may be translated, local to a site, or not routed at all.
_UNICAST: Final = ip_network("2000::/3")
# ``is_global`` calls these public: protocols (RFC 6890), relays and translations to IPv4 addresses,
# which may be private (6to4, Teredo), and documentation (RFC 9637).
_SPECIAL: Final = tuple(
    map(ip_network, ("192.0.0.0/24", "192.88.99.0/24", "2002::/16", "2001::/23", "3fff::/20"))
)
# The interface identifiers of ISATAP (RFC 5214 §6.1), which end with an IPv4 address.
_ISATAP: Final = (0x00005EFE, 0x02005EFE)
_HOST_NAME: Final = re.compile(r"[a-z0-9_]([a-z0-9_.-]*[a-z0-9_.])?", re.ASCII)
HostRefusal = Literal["no_url", "user_or_fragment", "not_listed", "no_https", "not_public"]
_REASONS: Final[Mapping[HostRefusal, str]] = {
    "no_url": "it is no URL, as in https://host/path",
    "user_or_fragment": "it has a user or a fragment",
    "not_listed": "its host is not in PORTAL_WEBHOOK_HOSTS",
    "no_https": "it does not begin with https://, which it must unless PORTAL_WEBHOOK_HOSTS names "
    "its host",
    "not_public": "its host has an address that is not public, and is not in PORTAL_WEBHOOK_HOSTS",
}


class HostRefused(ValueError):
    """A webhook must not go to this address. The text says why, in English, without the address."""

    def __init__(self, reason: HostRefusal) -> None:
        super().__init__(_REASONS[reason])
        self.reason: Final = reason


def is_public(address: Address) -> bool:
    """Return whether an address is one of the public internet."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    if mapped is not None:
        return is_public(mapped)
    if address.is_multicast or not address.is_global or address.is_reserved:
        return False
    if isinstance(address, IPv6Address) and (
        address not in _UNICAST or int(address) >> 32 & 0xFFFFFFFF in _ISATAP
    ):
        return False
    return not any(address in network for network in _SPECIAL if network.version == address.version)


def is_host(text: str) -> bool:
    """Return whether a text is a host's name or address alone, without scheme, port or path."""
    with suppress(ValueError):
        return bool(ip_address(text))
    return _HOST_NAME.fullmatch(text) is not None


def checked_url(url: str, allowed: Collection[str]) -> tuple[str, int, str]:
    """Return the host, the port and the path of a webhook's URL. Raises HostRefused.

    With ``allowed`` hosts, only these are reached, over http too.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise HostRefused("no_url") from None
    host = (parts.hostname or "").lower()
    if not url.isascii() or not url.isprintable() or " " in url or not host:
        raise HostRefused("no_url")
    if parts.username is not None or parts.fragment:
        raise HostRefused("user_or_fragment")
    if parts.scheme not in ("http", "https"):
        raise HostRefused("no_https")
    if allowed:
        if host not in allowed:
            raise HostRefused("not_listed")
    elif parts.scheme == "http":
        raise HostRefused("no_https")
    elif _is_never_public(host):
        raise HostRefused("not_public")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return host, port or (443 if parts.scheme == "https" else 80), path


def reachable(
    host: str,
    port: int,
    allowed: Collection[str],
    look_up: Callable[..., Sequence[Any]] = socket.getaddrinfo,
) -> str:
    """Return an address of a host that may be connected to. Raises HostRefused or OSError.

    The connection goes to this very address, so that a later answer of the DNS changes nothing.
    Each address of the host must be public, unless the operator names the host.
    """
    texts = [address[4][0] for address in look_up(host, port, 0, socket.SOCK_STREAM)]
    if not texts:
        raise OSError("the host has no address")
    if not allowed:
        for text in texts:
            if not is_public(ip_address(text.partition("%")[0])):
                raise HostRefused("not_public")
    return str(texts[0])


def _is_never_public(host: str) -> bool:
    """Return whether a host has no public address, whatever the DNS answers (RFC 6761)."""
    with suppress(ValueError):
        return not is_public(ip_address(host.partition("%")[0]))
    return host.rstrip(".").rpartition(".")[2] == "localhost"
