"""Reads a form with a file into memory: nothing of it is kept, not even in a temporary file."""

from collections.abc import Mapping
from io import BytesIO
from typing import Final

from flask import Request, abort
from werkzeug.formparser import FormDataParser

FORM_BYTES: Final = 256 * 1024  # of a form, beside its file; its parser keeps 64 KB at a time
_MOST_FIELDS: Final = 8


def read_form_with_file(sent: Request, field: str, largest: int) -> tuple[Mapping[str, str], bytes]:
    """Return the fields of a form and the content of one file, b"" without it.

    Aborts with 413 if the file has more than ``largest`` bytes.
    """
    sent.max_content_length = largest + FORM_BYTES
    if sent.mimetype != "multipart/form-data":
        return {}, b""
    parser = FormDataParser(
        stream_factory=lambda *_, **__: BytesIO(),
        max_form_memory_size=FORM_BYTES,
        max_content_length=sent.max_content_length,
        max_form_parts=_MOST_FIELDS,
    )
    _, fields, files = parser.parse(
        sent.stream, sent.mimetype, sent.content_length, sent.mimetype_params
    )
    file = files.get(field)
    content = b"" if file is None else file.stream.read()
    if len(content) > largest:
        abort(413)
    return fields, content
