"""Faults of content: correctly framed answers with an odd body."""

import json
import re
from collections.abc import Callable
from typing import Any

from tests.factories import encode, message_body
from tests.fakes.answers import LISTS, good_body, operation_of
from tests.fakes.faults import answer
from tests.fakes.wire import JSON, Call, Fault

OTHER_PLATE = "ZZZ9Z99"
HTML_PAGE = b"<!doctype html><html><body><h1>Em manuten\xc3\xa7\xc3\xa3o</h1></body></html>"

_FIRST_RECORD = re.compile(rb'"result":\s*\[?\s*\{')


def reworked(name: str, change: Callable[[bytes], bytes], content_type: str = JSON) -> Fault:
    """The clean body changed as bytes, also into bodies that are not JSON."""

    def body(call: Call) -> bytes:
        clean = good_body(call)
        assert clean is not None, f"{call.method} {call.path} is no path of the contract"
        changed = change(clean)
        assert changed != clean, f"{name} changed nothing"
        return changed

    return answer(name, body, content_type=content_type)


def spliced(name: str, member: bytes) -> Fault:
    """The clean body with ``member``, as raw bytes, added to its first record."""
    return reworked(
        name, lambda body: _FIRST_RECORD.sub(lambda at: at[0] + member + b", ", body, 1)
    )


def reshaped(name: str, change: Callable[[dict[str, Any], bool], None]) -> Fault:
    """The clean body, changed as a parsed value and encoded again.

    ``change`` receives the parsed body, and whether its ``result`` is a list.
    """

    def body(call: Call) -> bytes:
        value = json.loads(good_body(call) or b"null")
        change(value, operation_of(call) in LISTS)
        return encode(value)

    return answer(name, body)


def _first_record(value: dict[str, Any], is_list: bool) -> dict[str, Any]:
    record: dict[str, Any] = value["result"][0] if is_list else value["result"]
    return record


# Not JSON, or not strict JSON


def truncated_json() -> Fault:
    """Half the body, under a matching Content-Length."""
    return reworked("truncated JSON", lambda body: body[: len(body) // 2])


def wrong_type_bad_body() -> Fault:
    return answer("wrong content type, bad body", b"erro interno", content_type="text/plain")


def wrong_type_good_body() -> Fault:
    """The clean body as text/html, which the portal accepts."""
    return reworked("wrong content type, good body", lambda body: body + b"\n", "text/html")


def html() -> Fault:
    return answer("HTML", HTML_PAGE, content_type="text/html; charset=utf-8")


def html_as_json() -> Fault:
    return answer("HTML called JSON", HTML_PAGE)


def empty_body() -> Fault:
    return answer("empty body", b"")


def over_size(size: int = 2 * 1024 * 1024) -> Fault:
    """A clean answer with one long text, one byte longer than ``size`` in total."""

    def change(body: bytes) -> bytes:
        frame = b'"novo": "", '
        member = b'"novo": "' + b"a" * (size + 1 - len(body) - len(frame)) + b'", '
        return _FIRST_RECORD.sub(lambda at: at[0] + member, body, 1)

    return reworked(f"body of {size + 1} bytes", change)


def latin_1() -> Fault:
    """A body in Latin-1, with this charset in its Content-Type."""
    return reworked(
        "latin-1",
        lambda body: body.replace(b"{", '{"situação": "é", '.encode("latin-1"), 1),
        "application/json; charset=iso-8859-1",
    )


def invalid_utf_8() -> Fault:
    return spliced("invalid UTF-8", b'"novo": "\xff\xfe\xc3"')


def duplicate_key() -> Fault:
    return reworked("duplicate key", lambda body: body.replace(b"{", b'{"status": "DONE", ', 1))


def duplicate_key_inside() -> Fault:
    return spliced("duplicate key inside", b'"novo": 1, "novo": 2')


def nan() -> Fault:
    return spliced("NaN", b'"novo": NaN')


def nested(depth: int) -> Fault:
    """``depth`` nested arrays in the first record, itself two or three levels deep."""
    return spliced(f"nesting of {depth}", b'"novo": ' + b"[" * depth + b"]" * depth)


def long_number(digits: int = 5_000) -> Fault:
    return spliced(f"number of {digits} digits", b'"novo": ' + b"7" * digits)


def lone_surrogate() -> Fault:
    return spliced("lone surrogate", rb'"novo": "\ud800"')


# JSON that is not a valid answer


def message_in_200() -> Fault:
    return answer("200 with a message", message_body("Saldo insuficiente."))


def wrong_status_word(word: str = "ERROR") -> Fault:
    return reshaped(f"status word {word}", lambda value, _: value.update(status=word))


def empty_result_with_message() -> Fault:
    """An empty list beside a message about an outage."""

    def change(value: dict[str, Any], is_list: bool) -> None:
        value.update(result=[], message="Base estadual indisponível.")

    return reshaped("empty result with a message", change)


def not_an_object() -> Fault:
    return answer("not an object", b"[]")


def result_missing() -> Fault:
    def change(value: dict[str, Any], is_list: bool) -> None:
        del value["result"]

    return reshaped("result missing", change)


def result_of_wrong_type() -> Fault:
    """An object in place of the contract's list, or the reverse."""

    def change(value: dict[str, Any], is_list: bool) -> None:
        value["result"] = value["result"][0] if is_list else [value["result"]]

    return reshaped("result of a wrong type", change)


def result_as_text() -> Fault:
    return reshaped("result as text", lambda value, _: value.update(result="nada consta"))


def result_null() -> Fault:
    return reshaped("result null", lambda value, _: value.update(result=None))


def elements_not_objects() -> Fault:
    """A list with elements that are not objects."""
    return reshaped(
        "elements not objects", lambda value, _: value.update(result=["nada consta", 1, None])
    )


def other_plate(plate: str = OTHER_PLATE) -> Fault:
    """A clean record of another vehicle, for operations whose records name a vehicle."""

    def change(value: dict[str, Any], is_list: bool) -> None:
        _first_record(value, is_list)["placa"] = plate
        if is_list:
            _first_record(value, is_list)["renavam"] = "00000000000"

    return reshaped("another plate's record", change)


# Odd, but valid


def new_field() -> Fault:
    return spliced("new field", '"campoNovo": {"situação": [1, 2.5, null]}'.encode())


def missing_field() -> Fault:
    """The record without its last field."""

    def change(value: dict[str, Any], is_list: bool) -> None:
        _first_record(value, is_list).popitem()

    return reshaped("missing field", change)


def oddly_typed_field() -> Fault:
    """The first text of the record, replaced by a list with a number."""

    def change(value: dict[str, Any], is_list: bool) -> None:
        record = _first_record(value, is_list)
        name = next(key for key, held in record.items() if isinstance(held, str))
        record[name] = [2014]

    return reshaped("oddly typed field", change)


def empty_result() -> Fault:
    """A ``result`` of ``[]`` or ``{}``. ``[]`` means that nothing is on record."""
    return reshaped(
        "empty result", lambda value, is_list: value.update(result=[] if is_list else {})
    )
