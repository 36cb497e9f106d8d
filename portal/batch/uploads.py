"""Decodes an uploaded text file, and recognises files that are no text."""

import re
from typing import Final, Literal

BinaryFormat = Literal["XLSX", "ODS", "ZIP", "XLS", "PDF", "compressed", "image", "binary"]

_SIGNATURES: Final[dict[bytes, BinaryFormat]] = {
    b"PK\x03\x04": "ZIP",
    b"\xd0\xcf\x11\xe0": "XLS",
    b"%PDF": "PDF",
    b"\x1f\x8b": "compressed",  # gzip
    b"7z\xbc\xaf\x27\x1c": "compressed",
    b"Rar!\x1a\x07": "compressed",
    b"\xfd7zXZ\x00": "compressed",
    b"(\xb5/\xfd": "compressed",  # zstd
    b"\x89PNG": "image",
    b"\xff\xd8\xff": "image",  # JPEG
    b"GIF8": "image",
}
# Spreadsheets are ZIP archives. An XLSX archive contains a file whose name begins with
# "xl/workbook.". An OpenDocument archive begins with an uncompressed file of the name "mimetype",
# whose content is the media type.
_SPREADSHEETS: Final[dict[bytes, BinaryFormat]] = {
    b"xl/workbook.": "XLSX",
    b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet": "ODS",
}
# Control characters that no text has. DOS ends a text with 1A.
_CONTROLS: Final = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f\x7f]")
_CONTROLS_PER_BYTE: Final = 1 / 200


class BinaryFile(ValueError):
    """The file is not a text. ``format`` is its format, such as "XLSX" or "PDF"."""

    def __init__(self, file_format: BinaryFormat) -> None:
        super().__init__(file_format)
        self.format = file_format


def decode_upload(content: bytes) -> str:
    """Decode UTF-16, UTF-8 or else Windows-1252. Raises BinaryFile."""
    for signature, file_format in _SIGNATURES.items():
        if content.startswith(signature):
            named = (kind for text, kind in _SPREADSHEETS.items() if text in content)
            raise BinaryFile(next(named, file_format) if file_format == "ZIP" else file_format)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    if encoding := _utf_16(content):
        return content.decode(encoding, "replace")
    if len(_CONTROLS.findall(content)) > len(content) * _CONTROLS_PER_BYTE:
        raise BinaryFile("binary")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _utf_16(content: bytes) -> str:
    """Return the encoding of a text in UTF-16 without a byte order mark, or "".

    Most characters of such a text are ASCII, so that most bytes of one half are zero.
    """
    half = len(content) // 2
    for encoding, zeros, others in (("utf-16-le", 1, 0), ("utf-16-be", 0, 1)):
        has_zeros = content[zeros::2].count(0) > half * 0.7
        if has_zeros and not _CONTROLS.search(content[others::2]):
            return encoding
    return ""
