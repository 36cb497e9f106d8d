"""Reads the client's address in the forms in which proxies send it.

ProxyFix takes the last values of ``X-Forwarded-For`` as they are. Proxies send an address with a
port ("192.0.2.1:4711"), in brackets ("[2001:db8::1]:4711"), with a zone ("fe80::1%eth0"), in quotes
or as a parameter of the header ``Forwarded`` ("for=192.0.2.1"), or the word "unknown".
"""

import logging
import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from portal.system.repeated_warning import RepeatedWarning

_FORM: Final = re.compile(
    r"(?:for=)?\"?(?:\[(?P<bracketed>[0-9A-Fa-f:.]+)(?:%[^\]]*)?\](?::[0-9]{1,5})?"
    r"|(?P<v4>[0-9.]+)(?::[0-9]{1,5})?"
    r"|(?P<v6>[0-9A-Fa-f:.]+)(?:%[^\"]*)?)\"?",
    re.ASCII | re.IGNORECASE,
)
# Set in the WSGI environment if the client's address is unknown.
UNKNOWN_CLIENT: Final = "portal.unknown_client"
_warn = RepeatedWarning(logging.getLogger(__name__))


def parse_address(text: str) -> IPv4Address | IPv6Address | None:
    """Return the IP address in ``text`` without port, brackets, zone and quotes, or None."""
    form = _FORM.fullmatch(text.strip())
    return plain_address(form["bracketed"] or form["v4"] or form["v6"]) if form else None


def plain_address(text: str | None) -> IPv4Address | IPv6Address | None:
    """Return an IP address, or None for another text.

    An IPv4-mapped IPv6 address becomes the IPv4 address.
    """
    try:
        address = ip_address(text or "")
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


class ClientAddress:
    """WSGI middleware behind ProxyFix that replaces a proxy's form of the client's address.

    An address that cannot be parsed counts as the address of the proxy that sent it.
    """

    def __init__(self, application: WSGIApplication) -> None:
        self.app = application

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        sent = environ.get("REMOTE_ADDR", "")
        if address := parse_address(sent):
            environ["REMOTE_ADDR"] = str(address)
        else:
            _warn("a proxy sent a client address (X-Forwarded-For) that is no IP address")
            environ[UNKNOWN_CLIENT] = True
            environ["REMOTE_ADDR"] = environ["werkzeug.proxy_fix.orig"]["REMOTE_ADDR"]
        return self.app(environ, start_response)
