"""Trusted certificate authorities for TLS to an upstream, loaded once per process."""

import functools
import ssl

import certifi


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
