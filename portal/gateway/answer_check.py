"""Validates the body of an upstream response (docs/contract.md, "Valid answers")."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from portal.gateway import strict_json
from portal.gateway.lookup import Lookup
from portal.vehicle import read_field

# An upstream error message is cut to this many characters. The limit is far above the 36 characters
# of the longest message in docs/contract.md.
LONGEST_MESSAGE: Final = 1_000

# A JSON member outside ``result`` counts as an error message if its name contains one of these
# texts and its value is not blank. The texts must not occur in harmless names, such as "total".
# ``_is_notice`` skips names that end in "Id", "ID" or "_id", such as "messageId".
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
_NEGATIVES = frozenset({"false", "0", "no", "nao", "não", "n"})
_CODE_NAMES = frozenset({"status", "code", "codigo", "statuscode", "status_code", "httpstatus"})
_SUCCESS_CODES = frozenset({"0", "00", "200"})
_IDENTIFIER_ENDS = ("Id", "ID", "_id")
_BLANK_VALUES = frozenset({"", "-", "0", "false", "null", "none"})
_PLATE_NAMES = frozenset({"placa", "plate"})
_RENAVAM_NAMES = frozenset({"renavam"})
_LONGEST_NAME = len("renavam")


class _Frame(msgspec.Struct):
    result: msgspec.Raw


_frame = msgspec.json.Decoder(_Frame)


class NoAnswer(ValueError):
    """The body is not a valid answer to the lookup."""


def check(lookup: Lookup, body: bytes, hidden_marker: str) -> dict[str, Any]:
    """Return the parsed body of a 200, or raise NoAnswer.

    The function checks ``status`` and the type of ``result``, and rejects a record that names
    another vehicle. Unknown, missing or mistyped fields inside ``result`` do not make the body
    invalid. ``hidden_marker`` is the text that the upstream sends in place of a value that it
    withholds.
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
    # Reject an empty result if a member beside it carries an error message. The message may mean
    # that one of the upstream's data sources is down. That source may have records of the vehicle.
    if _records_nothing(records) and _carries_notice(document):
        raise NoAnswer("nothing on record, and a message beside it")
    return document


def message_body(body: bytes, secret: str | None = None) -> bytes:
    """Return the JSON body ``{"message": text}`` that reports an upstream error.

    ``text`` is the upstream's message, cut to LONGEST_MESSAGE characters. "***" replaces
    ``secret``, the operator's credential. Raises NoAnswer if the body is not a JSON object with a
    text ``message``, for example if it is a web server's error page.
    """
    document = _parsed(body)
    message = document.get("message") if isinstance(document, dict) else None
    if not isinstance(message, str) or not read_field(message, ""):
        raise NoAnswer("an error without the contract's message")
    text = message.replace(secret, "***") if secret else message
    return json.dumps({"message": text[:LONGEST_MESSAGE]}, ensure_ascii=False).encode()


def is_empty(body: bytes) -> bool:
    """Return whether ``result`` is a list that reports nothing about the vehicle.

    Each record of such a list is empty, or says that no court has restricted the vehicle.
    """
    result = memoryview(_frame.decode(body).result)
    return result[0] == ord("[") and _records_nothing(msgspec.json.decode(result))


def _parsed(body: bytes) -> Any:
    try:
        return strict_json.parse(body)
    except strict_json.NotStrictJSON as error:
        raise NoAnswer(str(error)) from None


def _records_nothing(records: list[dict[str, Any]]) -> bool:
    """Return whether each record is empty, or says that no court has restricted the vehicle.

    ``constaRenajud`` is false if no court has restricted the vehicle.
    """
    return all(not record or record.get("constaRenajud") is False for record in records)


def _carries_notice(document: dict[str, Any]) -> bool:
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
        return text in _NEGATIVES
    if text in _BLANK_VALUES or name.endswith(_IDENTIFIER_ENDS):
        return False
    if own_name in _CODE_NAMES and text.isdecimal():
        return text not in _SUCCESS_CODES
    return bool(
        any(map(_NOTICE_NAME.search, name.split(".")))
        or _REMARK_NAME.search(own_name)
        or _NOTICE_TEXT.search(text)
    )


def _plain_text(value: str | float | None) -> str:
    match value:
        case str():
            return str(read_field(value, "")).casefold()
        case bool() | None:
            return str(value).casefold()
        case _:
            return str(value) if value else "0"


def _names_subject(record: dict[str, Any], lookup: Lookup, hidden_marker: str) -> bool:
    """Return False if the record names another vehicle than the lookup does.

    If the lookup is for a plate, only plates are compared. If the lookup is for a Renavam (national
    vehicle number), only Renavams are compared. The letter case of field names and the JSON type of
    values do not matter. Blank values, values that the upstream withholds (``hidden_marker``), and
    texts without a plate or Renavam are ignored.
    """
    names = _PLATE_NAMES if hasattr(lookup.subject, "twin") else _RENAVAM_NAMES
    for name, value in record.items():
        if len(name) <= _LONGEST_NAME and name.casefold() in names:
            texts = list(_texts(value, hidden_marker))
            # Also compare the joined texts, because a list may contain a plate in parts, for
            # example ["ABC", "1D23"].
            named = [*texts, " ".join(texts)] if len(texts) > 1 else texts
            if not all(map(lookup.subject.names_same_vehicle, named)):
                return False
    return True


def _texts(value: Any, hidden_marker: str) -> Iterator[str]:
    """Yield the texts and numbers in a JSON value. Skip blank texts and ``hidden_marker``."""
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
