"""Signatures of issued PDFs: keys, time stamps, and what a reader of the file finds."""

import asyncio
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from asn1crypto import x509 as asn1
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign.validation import async_validate_pdf_signature
from pyhanko_certvalidator import ValidationContext

from portal.pdf import signing
from portal.pdf.archival import Embedded
from portal.pdf.process import PdfProcess
from portal.pdf.renderer import PDFUnavailable
from portal.pdf.signing import SignedPdf, Signer, SigningKey, UnusableKey, read_key
from tests.effort import long
from tests.fakes.signing import PASSWORD, SIGNER, Kind, StampAuthority, chain
from tests.pdf.specimens import pdf_of

pytestmark = pytest.mark.long

NOW = datetime.now(UTC)
PAGE = '<!doctype html><html lang="pt-BR"><head><title>t</title></head><body><p>x</p></body></html>'
EMBEDDED = Embedded(b"{}", NOW)


def key_of(folder: Path, kind: Kind = "ec", tsa_url: str | None = None) -> SigningKey:
    return read_key(chain(kind).write(folder), PASSWORD, tsa_url, NOW)


def unsigned() -> bytes:
    return pdf_of("clean car")


@pytest.fixture
def authority() -> Iterator[StampAuthority]:
    authority = StampAuthority()
    yield authority
    authority.close()


def validated(pdf: bytes, kind: Kind = "ec", *, stamp_root: Any = None) -> Any:
    """Return the status of the only signature of a PDF, by pyHanko and the chain's root."""
    roots = [asn1.Certificate.load(chain(kind).root_der)]
    if stamp_root is not None:
        roots.append(asn1.Certificate.load(stamp_root))
    (embedded,) = PdfFileReader(BytesIO(pdf)).embedded_signatures
    context = ValidationContext(trust_roots=roots)
    return asyncio.run(async_validate_pdf_signature(embedded, context))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ec", "rsa"])
def test_signature_is_valid_by_the_chain_and_covers_the_file(kind: Kind, tmp_path: Path) -> None:
    key = key_of(tmp_path, kind)
    signed = Signer(key).sign(unsigned())
    status = validated(signed.content, kind)
    assert status.bottom_line and status.intact and status.trusted
    assert status.coverage.name == "ENTIRE_FILE"
    assert signed.signature is not None
    assert (signed.signature.signer, signed.signature.stamped_at) == (SIGNER, None)
    assert signed.signature.certificate == key.certificate
    assert abs(signed.signature.signed_at - time.time()) < 60
    if shutil.which("pdfsig"):
        path = tmp_path / "signed.pdf"
        path.write_bytes(signed.content)
        told = subprocess.run(["pdfsig", path], capture_output=True, text=True, check=False).stdout
        assert "Signature is Valid" in told and "Total document signed" in told


def test_time_stamp_is_the_authoritys(authority: StampAuthority, tmp_path: Path) -> None:
    signer = Signer(key_of(tmp_path, tsa_url=authority.url))
    signed = signer.sign(unsigned())
    assert signed.signature is not None and signed.signature.stamped_at is not None
    assert abs(signed.signature.stamped_at - time.time()) < 60
    status = validated(signed.content, stamp_root=authority.stamps.root_der)
    assert status.bottom_line
    assert status.timestamp_validity is not None and status.timestamp_validity.intact
    signer.sign(unsigned())
    assert authority.requests == 3  # the size of a token is asked for once


@pytest.mark.parametrize(
    "answer", [(500, b""), (200, b"<html>"), (302, b""), (200, b""), (200, b"0" * 300_000)]
)
def test_without_a_stamp_the_signature_is_made_all_the_same(
    answer: tuple[int, bytes], authority: StampAuthority, tmp_path: Path
) -> None:
    authority.answer = lambda _: answer
    signed = Signer(key_of(tmp_path, tsa_url=authority.url)).sign(unsigned())
    assert signed.signature is not None and signed.signature.stamped_at is None
    assert validated(signed.content).bottom_line


def test_slow_authority_is_given_up(
    authority: StampAuthority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signing, "STAMPED_WITHIN_S", 0.3)

    def slow(_: bytes) -> tuple[int, bytes]:
        time.sleep(1)
        return 200, b""

    authority.answer = slow
    signed = Signer(key_of(tmp_path, tsa_url=authority.url)).sign(unsigned())
    assert signed.signature is not None and signed.signature.stamped_at is None


def test_no_authority_at_the_address(tmp_path: Path) -> None:
    signed = Signer(key_of(tmp_path, tsa_url="http://127.0.0.1:9/")).sign(unsigned())
    assert signed.signature is not None and signed.signature.stamped_at is None


@pytest.mark.parametrize("bytes_changed", [50, *long(200)])
def test_each_changed_byte_is_noticed(tmp_path: Path, bytes_changed: int) -> None:
    signed = Signer(key_of(tmp_path)).sign(unsigned()).content
    chance = random.Random(51)
    for _ in range(bytes_changed):
        at = chance.randrange(len(signed))
        changed = bytearray(signed)
        changed[at] ^= chance.randrange(1, 256)
        try:
            status = validated(bytes(changed))
            is_noticed = not (status.intact and status.valid) or not status.bottom_line
        except Exception:  # pyHanko raises several kinds for a file that it cannot read
            is_noticed = True
        # Within the signature's own container only padding may change unnoticed.
        assert is_noticed or signed[at : at + 1] in b"0", at


def test_child_signs_with_the_key_of_its_pipe(tmp_path: Path) -> None:
    pytest.importorskip("weasyprint")
    key = key_of(tmp_path)
    pdfs = PdfProcess(dict, key)
    try:
        signed = pdfs.render_signed(PAGE, EMBEDDED)
    except PDFUnavailable:
        pytest.skip("a library of WeasyPrint is not installed")
    assert validated(signed.content).bottom_line
    assert signed.content.startswith(pdfs.render(PAGE, EMBEDDED))
    assert pdfs._child is not None
    environment = Path(f"/proc/{pdfs._child._process.pid}/environ")
    limits = Path(f"/proc/{pdfs._child._process.pid}/limits")
    if environment.exists():
        assert PASSWORD.encode() not in environment.read_bytes()
        core = next(line for line in limits.read_text().splitlines() if "core" in line)
        assert core.split()[4:6] == ["0", "0"]
    pdfs._end_child()


def test_key_that_does_not_work_leaves_the_pdf_unsigned(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("weasyprint")
    broken = SigningKey(b"no key", PASSWORD, None, SIGNER, "00", NOW, NOW.replace(year=2099))
    ended = SigningKey(b"no key", PASSWORD, None, SIGNER, "00", NOW, NOW)
    for key, told in ((broken, "does not work"), (ended, "has ended")):
        pdfs = PdfProcess(dict, key)
        try:
            signed = pdfs.render_signed(PAGE, EMBEDDED)
        except PDFUnavailable:
            pytest.skip("a library of WeasyPrint is not installed")
        assert signed == SignedPdf(signed.content, None) and signed.content.startswith(b"%PDF")
        assert told in caplog.text
        pdfs._end_child()
    assert PASSWORD not in caplog.text and "no key" not in caplog.text


def pem(folder: Path) -> Path:
    path = folder / "key.pem"
    key = chain().key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(key)
    return path


def large(folder: Path) -> Path:
    path = folder / "large.p12"
    path.write_bytes(bytes(signing.LARGEST_FILE + 1))
    return path


BAD_KEYS: dict[str, tuple[Callable[[Path], Path], str | None, str]] = {
    "missing": (lambda folder: folder / "none.p12", PASSWORD, "cannot be read"),
    "a folder": (lambda folder: folder, PASSWORD, "cannot be read"),
    "wrong password": (lambda f: chain().write(f), "other", "PASSWORD) is wrong or missing"),
    "no password": (lambda f: chain().write(f), None, "PASSWORD) is wrong or missing"),
    "PEM": (pem, PASSWORD, "no PKCS#12 file"),
    "large": (large, PASSWORD, "too large"),
    "ended": (lambda f: chain("ec", ends_days=-1, starts_days=-5).write(f), PASSWORD, "ended on"),
    "to come": (lambda f: chain("ec", starts_days=5).write(f), PASSWORD, "begins on"),
    "for encryption": (
        lambda f: chain(usage="none").write(f),
        PASSWORD,
        "not for signatures",
    ),
    "short": (lambda f: chain("rsa", bits=1024).write(f), PASSWORD, "2048 bits"),
}


@pytest.mark.parametrize("name", BAD_KEYS)
def test_bad_key_is_refused_with_one_line(name: str, tmp_path: Path) -> None:
    write, password, told = BAD_KEYS[name]
    with pytest.raises(UnusableKey, match="PORTAL_SIGNING_KEY_FILE") as raised:
        read_key(write(tmp_path), password, None, NOW)
    message = str(raised.value)
    assert told in message and "\n" not in message and (password is None or password not in message)


def test_key_without_a_password_and_its_representation(tmp_path: Path) -> None:
    key = read_key(chain().write(tmp_path, ""), None, None, NOW)
    assert key.signer == SIGNER
    assert "content" not in repr(key) and "password" not in repr(key)


def test_without_pyhanko_a_key_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = chain().write(tmp_path)
    monkeypatch.setattr(signing, "find_spec", lambda _: None)
    with pytest.raises(UnusableKey, match=r"requirements-signing\.txt"):
        read_key(path, PASSWORD, None, NOW)
