"""Which hosts a webhook may reach: public addresses over https, or hosts that an operator names."""

import socket
from collections.abc import Callable, Collection, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any, Final
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


class HostRefused(ValueError):
    """A webhook must not go to this address. The text says why, in English."""


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
    return not any(address in each for each in _SPECIAL if each.version == address.version)


def checked_url(url: str, allowed: Collection[str]) -> tuple[str, int, str]:
    """Return the host, the port and the path of a webhook's URL. Raises HostRefused.

    With ``allowed`` hosts, only these are reached, over http too.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise HostRefused("it is no URL") from None
    host = (parts.hostname or "").lower()
    if not url.isascii() or not url.isprintable() or " " in url or not host:
        raise HostRefused("it is no URL")
    if parts.username is not None or parts.fragment:
        raise HostRefused("it has a user or a fragment")
    if allowed:
        if host not in allowed:
            raise HostRefused("the host is not in WEBHOOK_HOSTS")
        if parts.scheme not in ("http", "https"):
            raise HostRefused("it begins with https://")
    elif parts.scheme != "https":
        raise HostRefused("it begins with https://")
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
    found = [each[4][0] for each in look_up(host, port, 0, socket.SOCK_STREAM)]
    if not found:
        raise OSError("the host has no address")
    if not allowed:
        for text in found:
            if not is_public(ip_address(text.partition("%")[0])):
                raise HostRefused("the host has an address that is not public")
    return str(found[0])
