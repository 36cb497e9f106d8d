"""Chains of certificates and keys for signatures, and a time-stamp authority on a socket."""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

Kind = Literal["rsa", "ec"]
PASSWORD = "uma senha de teste"
SIGNER = "Despachante Exemplo Ltda"


@dataclass(frozen=True, slots=True)
class Chain:
    """A root, an intermediate and a leaf, whose key signs."""

    key: Any
    leaf: x509.Certificate
    intermediate: x509.Certificate
    root: x509.Certificate

    def pkcs12(self, password: str = PASSWORD) -> bytes:
        encryption = BestAvailableEncryption(password.encode()) if password else NoEncryption()
        return serialize_key_and_certificates(
            b"leaf", self.key, self.leaf, [self.intermediate], encryption
        )

    def write(self, folder: Path, password: str = PASSWORD) -> Path:
        path = folder / "assinatura.p12"
        path.write_bytes(self.pkcs12(password))
        return path

    @property
    def root_der(self) -> bytes:
        return self.root.public_bytes(Encoding.DER)


@cache
def chain(
    kind: Kind = "ec",
    name: str = SIGNER,
    starts_days: int = -1,
    ends_days: int = 365,
    usage: Literal["sign", "none", "stamp"] = "sign",
    bits: int = 2048,
) -> Chain:
    """Return a chain whose leaf is valid between two numbers of days from now."""
    keys = [_key(kind, bits) for _ in range(3)]
    names = [_name(f"{name} {each}") for each in ("root", "intermediate")] + [_name(name)]
    certificates: list[x509.Certificate] = []
    now = datetime.now(UTC)
    for at, (key, subject) in enumerate(zip(keys, names, strict=True)):
        is_ca = at < 2
        first, last = (-10, 3650) if is_ca else (starts_days, ends_days)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(names[max(at - 1, 0)])
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + timedelta(days=first))
            .not_valid_after(now + timedelta(days=last))
            .add_extension(x509.BasicConstraints(is_ca, None), critical=True)
            .add_extension(_usage(is_ca, signs=usage != "none"), critical=True)
        )
        if usage == "stamp" and not is_ca:
            purpose = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING])
            builder = builder.add_extension(purpose, critical=True)
        issuer = keys[max(at - 1, 0)]
        certificates.append(builder.sign(issuer, hashes.SHA256()))
    root, intermediate, leaf = certificates
    return Chain(keys[2], leaf, intermediate, root)


def _key(kind: Kind, bits: int) -> Any:
    if kind == "rsa":
        return rsa.generate_private_key(public_exponent=65537, key_size=bits)
    return ec.generate_private_key(ec.SECP256R1())


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _usage(is_ca: bool, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=signs and not is_ca,
        content_commitment=signs and not is_ca,
        key_encipherment=not signs and not is_ca,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=is_ca,
        crl_sign=is_ca,
        encipher_only=False,
        decipher_only=False,
    )


class StampAuthority:
    """A time-stamp authority (RFC 3161) on loopback. ``answer`` may be replaced."""

    def __init__(self, stamps: Chain | None = None) -> None:
        self.stamps = stamps or chain("rsa", "Carimbo Exemplo", usage="stamp")
        self.requests = 0
        self.answer: Callable[[bytes], tuple[int, bytes]] = lambda body: (200, self.stamp(body))
        authority = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                authority.requests += 1
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, content = authority.answer(body)
                with suppress(OSError):
                    self.send_response(status)
                    self.send_header("Content-Type", "application/timestamp-reply")
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/tsa"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def stamp(self, body: bytes) -> bytes:
        """Return the authority's answer to a request."""
        from asn1crypto import keys, tsp
        from asn1crypto import x509 as asn1
        from pyhanko.sign.timestamps import DummyTimeStamper
        from pyhanko_certvalidator.registry import SimpleCertificateStore

        store: Any = SimpleCertificateStore

        def der(certificate: x509.Certificate) -> Any:
            return asn1.Certificate.load(certificate.public_bytes(Encoding.DER))

        key = keys.PrivateKeyInfo.load(
            self.stamps.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
        )
        certificates: Any = store()
        certificates.register(der(self.stamps.intermediate))
        stamper: Any = DummyTimeStamper(der(self.stamps.leaf), key, certificates)
        return bytes(stamper.request_tsa_response(tsp.TimeStampReq.load(body)).dump())
