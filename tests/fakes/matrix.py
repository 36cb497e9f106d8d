"""The fault matrix: each fault, where it applies, and the expected result.

``status`` is the status of the portal's JSON response in managed mode, with an empty cache and one
upstream address. ``charge`` is the charge class of docs/contract.md, by which the portal decides on
failover. The faults in SLOW outlast any deadline, so each call ends at its deadline.

Each level tests what it decides. ``Origin`` gives each fault its error, by GET and by POST.
``Failover`` knows these errors and no faults. The portal answers each fault with and without a
stored answer. Over all levels, each fault meets an object by GET, a list and a report.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import pytest

from tests.effort import FULL
from tests.fakes import faults, odd_bodies
from tests.fakes.answers import LISTS, NAMING_A_PLATE, OPERATIONS, Operation
from tests.fakes.wire import Fault

Charge = Literal["maybe", "charged", "answered"]


@dataclass(frozen=True, slots=True)
class Row:
    fault: Fault
    status: int
    charge: Charge
    operations: tuple[Operation, ...] = OPERATIONS

    @property
    def name(self) -> str:
        return self.fault.name

    def __str__(self) -> str:
        return self.fault.name


def _maybe(status: int, *several: Fault) -> list[Row]:
    return [Row(fault, status, "maybe") for fault in several]


def _charged(*several: Fault) -> list[Row]:
    return [Row(fault, 502, "charged") for fault in several]


def _answered(status: int, *several: Fault) -> list[Row]:
    return [Row(fault, status, "answered") for fault in several]


SLOW = (
    *_maybe(
        504,
        faults.hang(),
        faults.slow_first_byte(60),
        faults.slow_headers(),
        faults.body_drip(),
        faults.body_drip(closing=True),
        faults.body_drip(sized=False),
    ),
)

BROKEN = (
    *_maybe(
        502,
        faults.closed_before_a_byte(),
        faults.reset_before_a_byte(),
        faults.status(500),
        faults.status(502),
        faults.status(503, retry_after="30"),
        faults.html_error(503),
    ),
    *_charged(
        faults.interim_and_no_answer(),
        faults.started_then_reset(),
        faults.reset_mid_body(),
        faults.short_length(),
        faults.bad_chunk_framing(),
        faults.chunks_without_end(),
        faults.gzip_bomb(),
        faults.unknown_encoding(),
        faults.cut_gzip(),
        faults.gzipped_as("gzip", layers=9),
        faults.marked(b"\xff\xfe"),
        faults.redirect(),
        faults.no_content(),
        faults.partial_content(),
        odd_bodies.truncated_json(),
        odd_bodies.wrong_type_bad_body(),
        odd_bodies.html(),
        odd_bodies.html_as_json(),
        odd_bodies.empty_body(),
        odd_bodies.over_size(),
        odd_bodies.latin_1(),
        odd_bodies.invalid_utf_8(),
        odd_bodies.duplicate_key(),
        odd_bodies.duplicate_key_inside(),
        odd_bodies.nan(),
        odd_bodies.nested(65),
        odd_bodies.nested(100_000),
        odd_bodies.long_number(),
        odd_bodies.lone_surrogate(),
        odd_bodies.message_in_200(),
        odd_bodies.wrong_status_word(),
        faults.accepted(),
        odd_bodies.not_an_object(),
        odd_bodies.result_missing(),
        odd_bodies.result_of_wrong_type(),
        odd_bodies.result_as_text(),
        odd_bodies.result_null(),
        faults.html_error(400),
        faults.html_error(404),
        # A web firewall or a proxy answers with these, and not the upstream.
        faults.html_error(401),
        faults.html_error(403),
        faults.html_error(407),
        faults.html_error(451),
        faults.status_in_bad_gzip(401),
        faults.answer("status 403, no message", b'{"error": "blocked"}', 403),
        faults.answer("status 403, no body", b"", 403),
    ),
    Row(odd_bodies.empty_result_with_message(), 502, "charged", LISTS),
    Row(odd_bodies.elements_not_objects(), 502, "charged", LISTS),
    Row(odd_bodies.other_plate(), 502, "charged", NAMING_A_PLATE),
)

REFUSED = (
    *_answered(400, faults.status(400)),
    *_answered(404, faults.status(404)),
    *_answered(503, faults.status(401), faults.status(403), faults.status(429, retry_after="7")),
    *_answered(502, faults.status(402), faults.status(418)),
    *_answered(502, faults.status(407), faults.status(451)),
    *_answered(502, faults.status_in_bad_gzip(402)),
)

GOOD = (
    *_answered(
        200,
        faults.good(),
        faults.stale_keep_alive(),
        faults.chunked(),
        faults.wrong_length_beside_chunks(),
        faults.interim(),
        faults.interim(0.0, 100, 102, 103, 199),
        faults.interim(0.05),
        faults.bytes_behind(),
        faults.bytes_behind(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
        faults.gzipped(),
        faults.gzipped_in_two(),
        faults.gzipped_as("x-gzip"),
        faults.gzipped_as("gzip", layers=2),
        faults.gzipped_as("gzip, gzip", layers=2),
        faults.gzipped_as(None),
        faults.labelled("gzip"),
        faults.labelled("utf-8"),
        faults.labelled("deflate, br"),
        faults.typed_as("application/json; charset=utf8"),
        faults.typed_as("application/json; charset=UTF-8;"),
        faults.typed_as("application/json; charset=iso-8859-1"),
        faults.typed_as(""),
        faults.marked(),
        faults.cookies(),
        odd_bodies.wrong_type_good_body(),
        odd_bodies.nested(50),
        odd_bodies.new_field(),
        odd_bodies.missing_field(),
        odd_bodies.oddly_typed_field(),
    ),
    Row(odd_bodies.empty_result(), 200, "answered", LISTS),
)

ROWS: tuple[Row, ...] = (*SLOW, *BROKEN, *REFUSED, *GOOD)
BY_NAME: Mapping[str, Row] = {row.name: row for row in ROWS}


def in_turn(rows: Iterable[Row], turn: int) -> list[pytest.ParameterSet]:
    """Return each row with the kind of operation whose turn it is, or FUZZ=full: with all."""
    return [
        pytest.param(row, operation, id=f"{row}-{operation}")
        for row in rows
        for operation in (row.operations if FULL else [_kind(row, turn)])
    ]


def by_each_method(rows: Iterable[Row]) -> list[pytest.ParameterSet]:
    """Return each row with a GET over one scheme and with the report over the other.

    The GET is of the kind that the turns 0 and 1 leave out. FUZZ=full takes all operations and both
    schemes.
    """
    return [
        pytest.param(row, operation, scheme, id=f"{row}-{operation}-{scheme}")
        for row in rows
        for operation in row.operations
        for scheme in ("http", "https")
        if FULL or (operation, scheme) in _two_calls(row)
    ]


def _two_calls(row: Row) -> list[tuple[Operation, str]]:
    first, second = ("http", "https") if ROWS.index(row) % 2 else ("https", "http")
    left = _kind(row, 2)
    return [("decode" if left == "report" else left, first), ("report", second)]


def _kind(row: Row, turn: int) -> Operation:
    number = ROWS.index(row)
    all_kinds: tuple[Operation, ...] = ("decode", LISTS[number % 2], "report")
    kinds = all_kinds if row.operations == OPERATIONS else row.operations
    return kinds[(number + turn) % len(kinds)]
