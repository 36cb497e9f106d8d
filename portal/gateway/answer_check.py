"""Is this body an answer? Strict JSON, the contract's frame, and the vehicle that was asked for."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from portal.gateway import strict_json
from portal.gateway.lookup import Lookup
from portal.vehicle import read_field

LONGEST_MESSAGE: Final = 1_000  # characters of an error's message; the contract's have 36

# Members beside `result`, at any depth, in which services report that they could not look. A
# correlation id ("messageId") or a count ("total") says nothing of the kind and must not refuse
# a clean record.
_NOTICE_NAME = re.compile(
    r"messag|mensag|msg|erro|warn|aviso|alert|fail|falha|fault|reason|motivo"
    r"|detail|detalhe|unavail|indispon|partial|parcial|incomplet",
    re.IGNORECASE,
)
_REMARK_NAME = re.compile(r"observ|situac|com+ent|^(info(rmac\w*)?|obs|not[ae]s?)$")
_NOTICE_TEXT = re.compile(
    r"indispon|unavail|\berro|falha|fail|time-?out|fora do ar|tempor[aá]ri|manuten|maintenance"
    r"|parcial|partial|tente |try again|offline",
    re.IGNORECASE,
)
_SUCCESS_NAMES = frozenset({"success", "sucesso", "ok"})
_DENIALS = frozenset({"false", "0", "no", "nao", "não", "n"})
_CODE_NAMES = frozenset({"status", "code", "codigo", "statuscode", "status_code", "httpstatus"})
_CODES_OF_SUCCESS = frozenset({"0", "00", "200"})
_IDENTIFIER_ENDS = ("Id", "ID", "_id")
_NOTHING_SAID = frozenset({"", "-", "0", "false", "null", "none"})
_PLATE_NAMES = frozenset({"placa", "plate"})
_RENAVAM_NAMES = frozenset({"renavam"})
_LONGEST_NAME = len("renavam")


class _Frame(msgspec.Struct):
    result: msgspec.Raw


_frame = msgspec.json.Decoder(_Frame)


class NoAnswer(ValueError):
    """A body that does not answer the question."""


def check(lookup: Lookup, body: bytes, hidden_marker: str) -> dict[str, Any]:
    """The document of a 200's body; raises NoAnswer.

    Only the frame is judged: whatever is new, missing or oddly typed inside ``result`` was paid
    for and passes.
    """
    document = _parsed(body)
    operation = lookup.operation
    if not isinstance(document, dict) or document.get("status") != operation.status_word:
        raise NoAnswer("status is not the operation's word")
    result = document.get("result")
    if not isinstance(result, operation.result_type):
        raise NoAnswer("result is missing or of another type")
    records = result if isinstance(result, list) else [result]
    for record in (document, *records):
        if not isinstance(record, dict):
            raise NoAnswer("a record is no object")
        if not _names_subject(record, lookup, hidden_marker):
            raise NoAnswer("the record of another vehicle")
    # An outage behind the upstream: stored, it would read as "nothing on record".
    if _records_nothing(records) and _carries_notice(document):
        raise NoAnswer("nothing on record, and a message beside it")
    return document


def message_body(body: bytes, secret: str | None = None) -> bytes:
    """An error's body as it is relayed: ``{"message": text}`` and no other member.

    The text stays as the upstream sent it, cut at LONGEST_MESSAGE characters, but for an echo of
    ``secret``. Raises NoAnswer for a body that is not the contract's error, such as a web
    server's page.
    """
    document = _parsed(body)
    message = document.get("message") if isinstance(document, dict) else None
    if not isinstance(message, str) or not read_field(message, ""):
        raise NoAnswer("an error without the contract's message")
    text = message.replace(secret, "***") if secret else message
    return json.dumps({"message": text[:LONGEST_MESSAGE]}, ensure_ascii=False).encode()


def is_empty(body: bytes) -> bool:
    """Whether a checked answer's result is a list that records nothing."""
    result = msgspec.json.decode(_frame.decode(body).result)
    return isinstance(result, list) and _records_nothing(result)


def _parsed(body: bytes) -> Any:
    try:
        return strict_json.parse(body)
    except strict_json.NotStrictJSON as error:
        raise NoAnswer(str(error)) from None


def _records_nothing(records: list[dict[str, Any]]) -> bool:
    """No record, an empty one, or court records that deny their restriction."""
    return all(not record or record.get("constaRenajud") is False for record in records)


def _carries_notice(document: dict[str, Any]) -> bool:
    """Whether a member beside ``result`` says that something went wrong."""
    return any(
        _is_notice(name, value)
        for name, value in document.items()
        if name not in ("status", "result")
    )


def _is_notice(name: str, value: Any) -> bool:
    match value:
        case dict():
            return any(_is_notice(f"{name}.{inner}", each) for inner, each in value.items())
        case list():
            return any(_is_notice(name, each) for each in value)
    own_name = name.rpartition(".")[2].casefold()
    text = _plain_text(value)
    if own_name in _SUCCESS_NAMES:
        return text in _DENIALS
    if text in _NOTHING_SAID or name.endswith(_IDENTIFIER_ENDS):
        return False
    if own_name in _CODE_NAMES and text.isdecimal():
        return text not in _CODES_OF_SUCCESS
    return bool(
        any(map(_NOTICE_NAME.search, name.split(".")))
        or _REMARK_NAME.search(own_name)
        or _NOTICE_TEXT.search(text)
    )


def _plain_text(value: str | float | None) -> str:
    """A scalar as one casefolded text."""
    match value:
        case str():
            return str(read_field(value, "")).casefold()
        case bool() | None:
            return str(value).casefold()
        case _:
            return str(value) if value else "0"


def _names_subject(record: dict[str, Any], lookup: Lookup, hidden_marker: str) -> bool:
    """A plate or Renavam in a record is the one asked for, or none: blank, hidden, no plate.

    Its name may be spelt in any letter case, its value be of any JSON type. A plate asked for
    by Renavam (or the other way round) cannot be compared and passes.
    """
    names = _PLATE_NAMES if hasattr(lookup.subject, "twin") else _RENAVAM_NAMES
    for name, value in record.items():
        if len(name) <= _LONGEST_NAME and name.casefold() in names:
            texts = list(_texts(value, hidden_marker))
            # Each part, and all of them as one: a plate may be split over a list.
            named = [*texts, " ".join(texts)] if len(texts) > 1 else texts
            if not all(map(lookup.subject.names_same_vehicle, named)):
                return False
    return True


def _texts(value: Any, hidden_marker: str) -> Iterator[str]:
    """The known texts in a JSON value, a number as its digits."""
    match value:
        case list():
            for item in value:
                yield from _texts(item, hidden_marker)
        case dict():
            yield from _texts(list(value.values()), hidden_marker)
        case float() if value.is_integer():
            yield str(int(value))
        case _:
            if field := read_field(value, hidden_marker):
                yield str(field)
