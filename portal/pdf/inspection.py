"""Reads PDF files that strangers send, in a child process with limits of memory and time.

A hostile file may make PDFium, a C++ library, take all memory and time, or run code. The child
therefore has no setting and no secret, reads one file, and ends. What it answers is JSON, which the
parent checks: a child that runs a stranger's code can state something false about that stranger's
file, and nothing else. ``read`` reads a file, and ``differences`` compares a file that was read as
one of the portal's own with the file that was issued.
"""

import ctypes
import difflib
import json
import logging
import re
import resource
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from io import BytesIO
from multiprocessing.connection import Connection
from typing import Any, Final, Literal

import msgspec

from portal.pdf.child import start_child
from portal.system.error_kind import error_kind

log = logging.getLogger(__name__)

LARGEST_FILE: Final = 5 * 1024 * 1024  # bytes
MOST_AT_ONCE: Final = 2  # children of a process
MOST_DIFFERENCES: Final = 20
_WAITS_S: Final = 10.0  # for a child's turn
# A hostile file uses up its processor time first, unless the machine has much else to do.
_ANSWERS_WITHIN_S = 20.0
_CPU_S: Final = 4
_MEMORY: Final = 600 * 1024 * 1024  # bytes of address space
_LARGEST_ANSWER: Final = 256 * 1024
_MOST_PAGES: Final = 200
_MOST_LETTERS: Final = 400_000  # in all pages
_MOST_LINKS: Final = 1_000
_MOST_CODES: Final = 8
_MOST_SIGNATURES: Final = 4
_LONGEST: Final = 80  # characters of a text in a difference
_DATA_NAME: Final = "dossie.json"
_LARGEST_DATA: Final = 4_000_000
_NUMBER: Final = re.compile(r"(?<!\w)[0-9A-HJKMNP-TV-Z]{4}(?:-[0-9A-HJKMNP-TV-Z]{4}){2}(?!\w)")
_KEY: Final = re.compile(r"codigo=([A-Za-z0-9_-]{22})(?![A-Za-z0-9_-])")
_PROGRAM: Final = "import sys; from portal.pdf.inspection import serve; serve(int(sys.argv[1]))"

SignatureState = Literal["valid", "broken"]


class Unreadable(Exception):
    """The file is no PDF that can be read within the limits."""


class Busy(Exception):
    """Too many files are being read, or the machine is too busy to read one."""


class FoundSignature(msgspec.Struct, frozen=True):
    """A signature in a file. ``state`` is None if it could not be checked.

    It is "valid" if the signed bytes are unchanged and are the whole file. Whether the signer is
    who the certificate says is not checked. ``certificate`` is its SHA-256, in hex.
    """

    state: SignatureState | None
    signer: str
    certificate: str
    signed_at: float | None = None
    stamped_at: float | None = None


class Contents(msgspec.Struct, frozen=True):
    """What was found in a file: numbers of dossiers, keys of links, and signatures."""

    pages: int
    numbers: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    signatures: tuple[FoundSignature, ...] = ()


class Difference(msgspec.Struct, frozen=True):
    """What differs from the issued file, such as ``130,16 → 230,16``. ``page`` counts from 1."""

    page: int | None
    what: str


class _Failed(msgspec.Struct, frozen=True):
    failed: str


class PdfInspector:
    """Reads files in child processes. Methods raise Unreadable, or Busy."""

    def __init__(self) -> None:
        self._slots = threading.BoundedSemaphore(MOST_AT_ONCE)

    def read(self, pdf: bytes) -> Contents:
        contents: Contents = self._asked([pdf], Contents)
        return contents

    def differences(self, pdf: bytes, issued: bytes) -> Sequence[Difference]:
        """Return what differs in the words of the pages and in the data, at most some of it."""
        differences: list[Difference] = self._asked([pdf, issued], list[Difference])
        return differences

    def _asked(self, files: Sequence[bytes], kind: Any) -> Any:
        if not self._slots.acquire(timeout=_WAITS_S):
            raise Busy
        try:
            answer = _ask_child(files)
            return msgspec.json.decode(answer, type=kind)
        except TimeoutError:
            # The child had not used up its processor time, so nothing is known of the file.
            log.warning("a file was not read in time")
            raise Busy from None
        except (EOFError, OSError, msgspec.MsgspecError) as error:
            log.info("a file could not be read: %s", error_kind(error))
            raise Unreadable from None
        finally:
            self._slots.release()


def _ask_child(files: Sequence[bytes]) -> bytes:
    """Return the child's answer. Raises EOFError or OSError if it ends or takes too long."""
    process, connection = start_child(_PROGRAM)
    try:
        for file in files:
            connection.send_bytes(file)
        connection.send_bytes(b"")
        if not connection.poll(_ANSWERS_WITHIN_S):
            raise TimeoutError
        return connection.recv_bytes(_LARGEST_ANSWER)
    finally:
        connection.close()
        process.kill()
        process.wait()


# The child


def serve(descriptor: int) -> None:
    """Read the files that the parent sends, up to an empty one, and answer."""
    with Connection(descriptor) as parent, suppress(EOFError, OSError):
        files = list(iter(lambda: parent.recv_bytes(LARGEST_FILE * 4), b""))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        try:
            answer = _contents(*files) if len(files) == 1 else _differences(*files)
            parent.send_bytes(msgspec.json.encode(answer))
        except Exception as error:
            parent.send_bytes(msgspec.json.encode(_Failed(type(error).__name__)))


def _contents(content: bytes) -> Contents:
    document = _opened(content)
    texts = list(_texts(document))
    text = " ".join(texts)
    links = list(_links(document))
    return Contents(
        pages=len(document),
        numbers=tuple(dict.fromkeys(_NUMBER.findall(text.upper())))[:_MOST_CODES],
        keys=tuple(dict.fromkeys(key for link in links for key in _KEY.findall(link)))[
            :_MOST_CODES
        ],
        signatures=_signatures(content, document),
    )


def _opened(content: bytes) -> Any:
    import pypdfium2

    document = pypdfium2.PdfDocument(content)
    if len(document) == 0:
        raise ValueError("no pages")
    return document


def _texts(document: Any) -> Iterator[str]:
    """Yield the text of each page, as far as the limits allow. An odd page has none."""
    left = _MOST_LETTERS
    for at in range(min(len(document), _MOST_PAGES)):
        text = ""
        with suppress(Exception):
            page = document[at].get_textpage()
            text = page.get_text_range(0, min(page.count_chars(), left))
        left -= len(text)
        yield text
        if left <= 0:
            return


def _links(document: Any) -> Iterator[str]:
    import pypdfium2.raw as raw

    count = 0
    for at in range(min(len(document), _MOST_PAGES)):
        with suppress(Exception):
            page, place, link = document[at], ctypes.c_int(0), raw.FPDF_LINK()
            while raw.FPDFLink_Enumerate(page.raw, ctypes.byref(place), ctypes.byref(link)):
                count += 1
                if count > _MOST_LINKS:
                    return
                action = raw.FPDFLink_GetAction(link)
                length = raw.FPDFAction_GetURIPath(document.raw, action, None, 0)
                if 0 < length < 4_000:
                    address = ctypes.create_string_buffer(length)
                    raw.FPDFAction_GetURIPath(document.raw, action, address, length)
                    yield address.value.decode("ascii", "replace")


def _signatures(content: bytes, document: Any) -> tuple[FoundSignature, ...]:
    import pypdfium2.raw as raw

    count = raw.FPDF_GetSignatureCount(document.raw)
    if count <= 0:
        return ()
    try:
        from pyhanko.pdf_utils.reader import PdfFileReader
    except ImportError:
        return (FoundSignature(None, "", ""),)
    try:
        embedded = PdfFileReader(BytesIO(content), strict=False).embedded_signatures
        signatures = tuple(map(_signature, embedded[:_MOST_SIGNATURES]))
    except Exception:  # pyHanko raises several kinds for a damaged file
        signatures = ()
    return signatures or (FoundSignature("broken", "", ""),)


def _signature(embedded: Any) -> FoundSignature:
    state: SignatureState = "broken"
    signer = certificate = ""
    signed_at = stamped_at = None
    with suppress(Exception):
        signer = _printable(embedded.signer_cert.subject.native)
        certificate = embedded.signer_cert.sha256.hex()
    with suppress(Exception):
        reported = embedded.self_reported_timestamp
        signed_at = reported.timestamp() if reported else None
    with suppress(Exception):
        stamp = embedded.attached_timestamp_data
        token = stamp["encap_content_info"]["content"].parsed if stamp is not None else None
        stamped_at = token["gen_time"].native.timestamp() if token is not None else None
    with suppress(Exception):
        covers = embedded.evaluate_signature_coverage().name == "ENTIRE_FILE"
        if covers and _is_intact(embedded):
            state = "valid"
    return FoundSignature(state, signer, certificate, signed_at, stamped_at)


def _is_intact(embedded: Any) -> bool:
    from pyhanko.sign.validation.generic_cms import validate_sig_integrity

    intact, valid = validate_sig_integrity(
        embedded.signer_info,
        embedded.signer_cert,
        expected_content_type="data",
        actual_digest=embedded.compute_digest(),
    )
    return bool(intact and valid)


def _printable(subject: Any) -> str:
    for name in ("common_name", "organization_name"):
        value = subject.get(name) if isinstance(subject, dict) else None
        if isinstance(value, str):
            return "".join(c for c in value if c.isprintable())[:120]
    return ""


def _differences(content: bytes, issued: bytes) -> list[Difference]:
    ours, theirs = _opened(issued), _opened(content)
    differences: list[Difference] = []
    if len(ours) != len(theirs):
        counts = [f"{n} página" if n == 1 else f"{n} páginas" for n in (len(ours), len(theirs))]
        differences.append(Difference(None, " → ".join(counts)))
    for at, (before, after) in enumerate(zip(_texts(ours), _texts(theirs), strict=False)):
        differences += (Difference(at + 1, what) for what in _changed_words(before, after))
        if len(differences) > MOST_DIFFERENCES:
            break
    differences += (Difference(None, what) for what in _changed_data(_data(ours), _data(theirs)))
    return differences[:MOST_DIFFERENCES]


def _changed_words(before: str, after: str) -> Iterator[str]:
    old, new = before.split(), after.split()
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=len(old) > 2_000)
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind != "equal":
            yield f"{_words(old[i:j])} → {_words(new[k:m])}"


def _words(words: Sequence[str]) -> str:
    text = "".join(c if c.isprintable() else " " for c in " ".join(words))
    return _cut(text) if text else "(nada)"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _data(document: Any) -> Any:
    """Return the embedded data, or None if there are none that can be read."""
    with suppress(Exception):
        for at in range(min(document.count_attachments(), 10)):
            attachment = document.get_attachment(at)
            if attachment.get_name() == _DATA_NAME:
                content = bytes(attachment.get_data())
                if len(content) <= _LARGEST_DATA:
                    return json.loads(content)
    return None


def _changed_data(before: Any, after: Any) -> Iterator[str]:
    if before is None or before == after:
        return
    if after is None:
        yield f"{_DATA_NAME}: falta ou não pode ser lido"
        return
    yield from _changed_members(_DATA_NAME + ": ", before, after, 0)


def _changed_members(path: str, before: Any, after: Any, depth: int) -> Iterator[str]:
    if before == after or depth > 12:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(kept for kept in after if kept not in before)]:
            step = name if path.endswith(" ") else f".{name}"
            yield from _changed_members(path + step, before.get(name), after.get(name), depth + 1)
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield f"{_cut(path)}: {len(before)} → {len(after)} registros"
        for at, (old, new) in enumerate(zip(before, after, strict=False)):
            yield from _changed_members(f"{path}[{at}]", old, new, depth + 1)
    else:
        yield f"{_cut(path)} {_words([_value(before)])} → {_words([_value(after)])}"


def _value(value: Any) -> str:
    if isinstance(value, dict | list):
        return "…"
    return "null" if value is None else str(value)
