"""Signs PDFs with the operator's key (PAdES), by the optional package pyHanko.

The signature proves that a file has not changed since it was issued, and whose key signed it. It
says nothing of whether the records in it are true.

A worker reads the key's file and hands its content to the PDF's child process, which signs. The
worker itself looks at the certificate alone and does not load pyHanko.
"""

import asyncio
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12
from cryptography.x509 import Certificate, ExtensionNotFound, KeyUsage
from cryptography.x509.oid import NameOID

from portal.system.start_refused import StartRefused

FIELD: Final = "Assinatura"
READABLE_FIELD: Final = "Assinatura do emitente"
REASON: Final = "Prova que o arquivo não mudou desde a emissão"
LARGEST_FILE: Final = 1024 * 1024  # bytes of a PKCS#12 file
SHORTEST_RSA: Final = 2048  # bits
# How long both requests to the time-stamp authority may take. The first asks for a token of the
# usual size, and is made once for each child.
STAMPED_WITHIN_S: Final = 6.0
_CONNECT_S: Final = 2.0
_LARGEST_TOKEN: Final = 256 * 1024  # bytes
_READ_BYTES: Final = 16 * 1024


class UnusableKey(StartRefused):
    """The signing key cannot sign. The message is one line for the operator."""


@dataclass(frozen=True, slots=True)
class SigningKey:
    """The content of a PKCS#12 file, and what its certificate says."""

    content: bytes = field(repr=False)
    password: str = field(repr=False)
    tsa_url: str | None
    signer: str
    certificate: str  # its SHA-256, in hex
    starts_at: datetime
    ends_at: datetime

    def is_valid_at(self, moment: datetime) -> bool:
        return self.starts_at <= moment < self.ends_at


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature that the portal has made. Times are epoch seconds.

    ``stamped_at`` is the time of the time-stamp authority, or None without a stamp. ``certificate``
    is the SHA-256 of the signer's certificate, in hex.
    """

    signer: str
    certificate: str
    signed_at: float
    stamped_at: float | None = None


@dataclass(frozen=True, slots=True)
class SignedPdf:
    content: bytes
    signature: Signature | None


def can_sign() -> bool:
    """Return whether the packages of requirements-signing.txt are installed."""
    return find_spec("pyhanko") is not None


def read_key(path: Path, password: str | None, tsa_url: str | None, now: datetime) -> SigningKey:
    """Return the key in a PKCS#12 file. Raises UnusableKey."""
    if not can_sign():
        raise UnusableKey(
            "PORTAL_SIGNING_KEY_FILE needs the packages of requirements-signing.txt, which are not "
            "installed"
        )
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise UnusableKey("PORTAL_SIGNING_KEY_FILE is no PKCS#12 file: it is too large")
        content = path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnusableKey(f"PORTAL_SIGNING_KEY_FILE cannot be read: {reason}") from None
    key = _parsed(content, password or "", tsa_url)
    if now >= key.ends_at:
        raise UnusableKey(
            f"PORTAL_SIGNING_KEY_FILE: the certificate ended on {key.ends_at:%Y-%m-%d}; renew it "
            "(docs/operating.md, Signing)"
        )
    if now < key.starts_at:
        raise UnusableKey(
            f"PORTAL_SIGNING_KEY_FILE: the certificate begins on {key.starts_at:%Y-%m-%d}"
        )
    return key


def _parsed(content: bytes, password: str, tsa_url: str | None) -> SigningKey:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # cryptography warns of odd but readable certificates
            opened = load_pkcs12(content, password.encode() or None)
    except Exception as error:  # also a KeyError or a TypeError, of odd files
        is_encrypted = isinstance(error, ValueError) and "password" in str(error).lower()
        reason = (
            "its password (PORTAL_SIGNING_KEY_PASSWORD) is wrong or missing"
            if is_encrypted
            else "it is no PKCS#12 file that can be read"
        )
        raise UnusableKey(f"PORTAL_SIGNING_KEY_FILE cannot be used: {reason}") from None
    certificate = opened.cert.certificate if opened.cert else None
    if opened.key is None or certificate is None:
        raise UnusableKey(
            "PORTAL_SIGNING_KEY_FILE cannot be used: it has no key with its certificate"
        )
    if not _is_usable(opened.key):
        raise UnusableKey(
            "PORTAL_SIGNING_KEY_FILE cannot be used: an RSA key of at least "
            f"{SHORTEST_RSA} bits or an elliptic curve of NIST is expected"
        )
    if not _may_sign(certificate):
        raise UnusableKey(
            "PORTAL_SIGNING_KEY_FILE cannot be used: its certificate is not for signatures"
        )
    return SigningKey(
        content,
        password,
        tsa_url,
        signer=_name_of(certificate),
        certificate=certificate.fingerprint(SHA256()).hex(),
        starts_at=certificate.not_valid_before_utc,
        ends_at=certificate.not_valid_after_utc,
    )


def _is_usable(key: object) -> bool:
    if isinstance(key, rsa.RSAPrivateKey):
        return key.key_size >= SHORTEST_RSA
    curves = (ec.SECP256R1, ec.SECP384R1, ec.SECP521R1)
    return isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, curves)


def _may_sign(certificate: Certificate) -> bool:
    """Return whether the certificate allows signatures. One without a key usage allows all uses."""
    try:
        usage = certificate.extensions.get_extension_for_class(KeyUsage).value
    except ExtensionNotFound:
        return True
    return usage.digital_signature or usage.content_commitment


def _name_of(certificate: Certificate) -> str:
    """Return the common name in a certificate, or its organisation, on one line."""
    for kind in (NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME):
        for attribute in certificate.subject.get_attributes_for_oid(kind):
            name = "".join(c for c in str(attribute.value) if c.isprintable()).strip()
            if name:
                return name[:120]
    return "titular sem nome"


class Signer:
    """Signs PDFs in the child process. Raises whatever pyHanko raises for an unusable key."""

    def __init__(self, key: SigningKey) -> None:
        from pyhanko.sign.signers import SimpleSigner  # imported late: pyHanko is optional

        signer = SimpleSigner.load_pkcs12_data(
            key.content, other_certs=[], passphrase=key.password.encode() or None
        )
        if signer is None:
            raise ValueError("the key cannot be read")
        self._signer = signer
        self._key = key
        self._stamper = _stamper(key.tsa_url) if key.tsa_url else None

    def sign(self, pdf: bytes) -> SignedPdf:
        """Sign a PDF, with a time stamp if the authority gives one in time."""
        signed_at = time.time()
        if self._stamper is not None:
            with suppress(Exception):  # the authority's answer may be anything
                self._stamper.begin()
                content = self._signed(pdf, self._stamper)
                return self._result(content, signed_at, self._stamper.stamped_at)
        return self._result(self._signed(pdf, None), signed_at, None)

    def _result(self, content: bytes, signed_at: float, stamped_at: float | None) -> SignedPdf:
        signature = Signature(self._key.signer, self._key.certificate, signed_at, stamped_at)
        return SignedPdf(content, signature)

    def _signed(self, pdf: bytes, stamper: Any) -> bytes:
        from pyhanko.sign.fields import SigFieldSpec, SigSeedSubFilter
        from pyhanko.sign.signers import PdfSignatureMetadata, PdfSigner

        signer = PdfSigner(
            PdfSignatureMetadata(
                field_name=FIELD,
                md_algorithm="sha256",
                subfilter=SigSeedSubFilter.PADES,
                reason=REASON,
                name=self._key.signer,
            ),
            signer=self._signer,
            timestamper=stamper,
            new_field_spec=SigFieldSpec(FIELD, readable_field_name=READABLE_FIELD),
        )
        output = BytesIO()
        asyncio.run(signer.async_sign_pdf(_writer(pdf), output=output))
        return output.getvalue()


def _writer(pdf: bytes) -> Any:
    from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter

    class Writer(IncrementalPdfFileWriter):  # type: ignore[misc, unused-ignore]
        def _update_meta(self) -> None:
            """Leave the metadata as they are.

            pyHanko would write them anew, and without the identifier of PDF/UA where they are in
            a form that it does not expect (MatthiasValvekens/pyHanko#755).
            """

    return Writer(BytesIO(pdf))


def _stamper(url: str) -> Any:
    from asn1crypto import tsp
    from pyhanko.sign.timestamps import TimeStamper

    class Stamper(TimeStamper):
        """Asks an authority for time stamps (RFC 3161) within STAMPED_WITHIN_S."""

        stamped_at: float | None = None
        _deadline = 0.0

        def begin(self) -> None:
            self.stamped_at = None
            self._deadline = time.monotonic() + STAMPED_WITHIN_S

        async def async_request_tsa_response(self, req: Any) -> Any:
            answer = tsp.TimeStampResp.load(_post(url, req.dump(), self._deadline))
            token = answer["time_stamp_token"]
            made = token["content"]["encap_content_info"]["content"].parsed["gen_time"].native
            self.stamped_at = made.replace(tzinfo=made.tzinfo or UTC).timestamp()
            return answer

    return Stamper()  # type: ignore[no-untyped-call, unused-ignore]


def _post(url: str, body: bytes, deadline: float) -> bytes:
    """Return the authority's answer. Raises TimeoutError, OSError or ValueError."""
    import requests

    def left_s() -> float:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    with requests.Session() as session:
        session.trust_env = False
        with session.post(
            url,
            data=body,
            headers={
                "Content-Type": "application/timestamp-query",
                "Accept": "application/timestamp-reply",
            },
            timeout=(min(_CONNECT_S, left_s()), left_s()),
            allow_redirects=False,
            stream=True,
        ) as answer:
            if answer.status_code != 200:
                raise ValueError(f"status {answer.status_code}")
            content = b""
            while part := answer.raw.read1(_READ_BYTES):
                content += part
                left_s()
                if len(content) > _LARGEST_TOKEN:
                    raise ValueError("the answer is too large")
    return content
