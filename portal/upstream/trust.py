"""The certificate authorities that TLS connections to an upstream trust, read once a process."""

import functools
import ssl

import certifi


@functools.cache
def trusted() -> ssl.SSLContext:
    """The authorities that certifi lists, and the system's; SSL_CERT_FILE and SSL_CERT_DIR name
    others in place of the system's, as for every program that uses OpenSSL.

    Shared, because to read them takes 17 ms and a quarter of a megabyte.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.hostname_checks_common_name = False
    context.post_handshake_auth = True  # to be able to say that we have no certificate
    context.set_alpn_protocols(["http/1.1"])
    context.load_verify_locations(certifi.where())
    context.load_default_certs()
    return context
