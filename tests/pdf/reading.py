"""Ways to read PDF files in tests of many: without a child, and each file once."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from portal.pdf import inspection
from portal.pdf.inspection import PdfInspector, Unreadable

Ask = Callable[[PdfInspector, Sequence[bytes], Any], Any]


def read_here(_: PdfInspector, files: Sequence[bytes], kind: Any) -> Any:
    """Read files in this process, as ``PdfInspector._asked`` does in a child."""
    work: Callable[..., Any] = inspection._contents if len(files) == 1 else inspection._differences
    try:
        return msgspec.convert(msgspec.to_builtins(work(*files)), kind)
    except Exception:
        raise Unreadable from None


def remembered(ask: Ask) -> Ask:
    """Return a function that asks once for the same files, which several faces are given."""
    known: dict[str, Any] = {}

    def asked(inspector: PdfInspector, files: Sequence[bytes], kind: Any) -> Any:
        key = " ".join(hashlib.sha256(file).hexdigest() for file in files)
        if key not in known:
            try:
                known[key] = ask(inspector, files, kind)
            except Unreadable as error:
                known[key] = error
        if isinstance(known[key], Unreadable):
            raise Unreadable from None
        return known[key]

    return asked
