"""Trusted certificate authorities for TLS to an upstream, loaded once per process."""

import functools
import ssl

import certifi


class UnusableAuthorities(Exception):
    """SSL_CERT_FILE cannot be used. The text is one line for the operator."""


def require_usable_authorities(path: str | None) -> None:
    """Raise UnusableAuthorities unless SSL_CERT_FILE, if it is set to a path, holds certificates.

    OpenSSL ignores a missing or empty file, and every call then fails.
    """
    if not path:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except OSError as error:  # ssl.SSLError is one
        reason = "it holds no certificate" if isinstance(error, ssl.SSLError) else error.strerror
        raise UnusableAuthorities(f"SSL_CERT_FILE makes no sense: {reason}") from None


@functools.cache
def trusted() -> ssl.SSLContext:
    """Return a context that trusts the authorities of certifi and of the system.

    SSL_CERT_FILE and SSL_CERT_DIR replace the system's authorities, as for every program that
    uses OpenSSL. The context is shared, because loading the authorities takes 17 ms and a
    quarter of a megabyte.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.hostname_checks_common_name = False
    # If the server asks for a client certificate after the handshake, reply that there is none.
    context.post_handshake_auth = True
    context.set_alpn_protocols(["http/1.1"])
    context.load_verify_locations(certifi.where())
    context.load_default_certs()
    return context
