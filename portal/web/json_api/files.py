"""Tables as files, which are written whole before the response starts."""

from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from os import SEEK_END
from typing import Final

from flask import Response, request

from portal.presentation.exports.tables import Dialect, Format, Table, write_table
from portal.web.http.streams import Spool, chunks
from portal.web.json_api.calls import Call
from portal.web.routing.responses import file_response, streamed_response

_TYPES: Final = {
    "csv": "text/csv; charset=utf-8; header=present",
    "jsonl": "application/jsonl",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
RECORD_FILES: Final[tuple[Format, ...]] = ("csv", "jsonl")


def download(call: Call, table: Table, ending: Format, dialect: Dialect, name: str) -> Response:
    """Return a table as a file. The whole file is written before the response starts.

    The response therefore has a Content-Length, which tells a truncated file from a complete one.
    A slow client gets nothing that was read after the revocation of its token.
    """
    content_type, file_name = _TYPES[ending], f"{name}.{ending}"
    if request.method == "HEAD":
        return file_response((), content_type, file_name)
    with ExitStack() as stack:
        slot = call.web.slots.streams.slot(call.sender)
        file = stack.enter_context(Spool(partial(stack.enter_context, slot)))
        if ending == "xlsx":
            file.rollover()  # its writer also has temporary files
        rows = stack.enter_context(closing(call.web.slots.file_turn.sliced(table.rows)))
        write_table(replace(table, rows=rows), file, ending, dialect)
        length = file.seek(0, SEEK_END)
        file.seek(0)
        if length <= file.most_in_memory:
            return file_response(file.read(), content_type, file_name)
        close = stack.pop_all().close
        response = streamed_response(chunks(file), content_type, file_name, close)
        response.content_length = length
        return response
