"""The certificate authorities that the portal trusts for TLS to an upstream."""

import functools
import ssl
import threading

import certifi

from portal.system.start_refused import StartRefused


def require_usable_authorities(path: str | None) -> None:
    """Raise StartRefused if the file ``path`` (SSL_CERT_FILE) has no certificates.

    OpenSSL would ignore such a file. Calls to an upstream whose certificate is from a private
    authority would then fail.
    """
    if not path:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except OSError as error:  # includes ssl.SSLError
        reason = "it holds no certificate" if isinstance(error, ssl.SSLError) else error.strerror
        raise StartRefused(f"SSL_CERT_FILE makes no sense: {reason}") from None


loading = threading.Lock()


def trusted() -> ssl.SSLContext:
    """Return a context that trusts the authorities of certifi and of the system.

    All connections share one context, because loading the authorities takes 17 ms and 0.25 MB of
    memory.
    """
    with loading:
        return load_authorities()


@functools.cache
def load_authorities() -> ssl.SSLContext:
    """Return the context of ``trusted``.

    SSL_CERT_FILE and SSL_CERT_DIR replace the system's authorities, as in every program that uses
    OpenSSL.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.hostname_checks_common_name = False
    # Allow a server to request a client certificate after the handshake. The portal then sends an
    # empty certificate list, which a server may accept.
    context.post_handshake_auth = True
    context.set_alpn_protocols(["http/1.1"])
    context.load_verify_locations(certifi.where())
    context.load_default_certs()
    return context
