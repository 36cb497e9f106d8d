"""Whom a TLS connection to an upstream trusts, read once for all connections of a process."""

import functools
import ssl

import certifi


class _Settled(ssl.SSLContext):
    """A context that threads may share: urllib3 sets these protocols anew with every connection,
    and one that is just opening then reads freed memory (CPython issue 141012)."""

    def set_alpn_protocols(self, alpn_protocols: object) -> None:
        pass


@functools.cache
def trusted() -> ssl.SSLContext:
    """The authorities that certifi lists, and the system's; SSL_CERT_FILE and SSL_CERT_DIR name
    others in place of the system's, as for every program that uses OpenSSL.

    The HTTP library would have each connection read them: 17 ms and a quarter of a megabyte.
    """
    context = _Settled(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.hostname_checks_common_name = False
    context.post_handshake_auth = True  # to be able to say that we have no certificate
    ssl.SSLContext.set_alpn_protocols(context, ["http/1.1"])
    context.load_verify_locations(certifi.where())
    context.load_default_certs()
    return context
