"""Validates the body of an upstream response (docs/contract.md, "Valid answers").

Later, valid answers are also compared with the fields that docs/contract.md lists.
"""

import json
import threading
from collections import deque
from collections.abc import Iterator
from typing import Any, Final

from portal.gateway import strict_json
from portal.gateway.lookup import Lookup, Observer
from portal.upstream.errors import Unfit, Unusable
from portal.vehicle.content import is_record, is_report
from portal.vehicle.doubts import gravest_notice
from portal.vehicle.drift import unexpected, unexpected_members
from portal.vehicle.field import read_field
from portal.vehicle.notices import is_working
from portal.vehicle.operation_name import OperationName
from portal.vehicle.plate import Plate
from portal.vehicle.statements import reports_outage
from portal.vehicle.wire import MOST_RECORDS, has_too_many_values

# An upstream error message is cut to this many characters. The limit is far above the 36 characters
# of the longest message in docs/contract.md.
LONGEST_MESSAGE: Final = 1_000

OTHER_VEHICLE: Final = "the record of another vehicle"
STILL_WORKING: Final = "the source still works on the answer"
_PLATE_NAMES = frozenset({"placa", "plate"})
_RENAVAM_NAMES = frozenset({"renavam"})
_LONGEST_NAME = len("renavam")

# A list or an object in a record of a large answer is read up to this many characters.
_MOST_COMPARED = 2_000

MOST_WAITING: Final = 16  # largest number of queued bodies, each of at most 2 MiB

# Checking one large answer takes up to 60 MiB, so a process checks one at a time.
_large_answers = threading.Lock()


def check(lookup: Lookup, body: bytes, hidden_marker: str) -> bool:
    """Return whether a valid answer to the lookup reports nothing about the vehicle.

    No element of such an answer is a record, and a report has no text that says something
    (``portal.vehicle.content``). An object without content is such an answer only if it leaves a
    doubt (``portal.vehicle.doubts``). An answer that is too large for the portal to show reports
    nothing either.

    Raises Unusable or Unfit if the body of a 200 is not a valid answer. The function checks
    ``status`` and the type of ``result``, and rejects a record that names another vehicle. It
    rejects an answer without a record in which anything reports a failure, because one of the
    upstream's data sources may be down, and that source may have records of the vehicle. Unknown,
    missing or mistyped fields inside ``result`` do not make the body invalid. ``hidden_marker`` is
    the text that the upstream sends in place of a value that it withholds.
    """
    if not has_too_many_values(body):
        return _reports_nothing(lookup, _parsed(body), hidden_marker)
    with _large_answers:
        _reports_nothing(lookup, _outline(lookup, body, hidden_marker), hidden_marker)
    return True


def _reports_nothing(lookup: Lookup, document: Any, hidden_marker: str) -> bool:
    operation = lookup.operation
    status = document.get("status") if isinstance(document, dict) else None
    result = document.get("result") if isinstance(document, dict) else None
    if status != operation.status_word or not isinstance(result, operation.result_type):
        if is_working(document):
            raise Unfit(STILL_WORKING, may_differ=True)
        if status != operation.status_word:
            raise Unusable("status is not the operation's word")
        raise Unfit("result is missing or of another type", may_differ=False)
    records = result if isinstance(result, list) else [result]
    for record in (document, *records):
        if not isinstance(record, dict):
            raise Unfit("a record is no object", may_differ=False)
        if not _names_subject(record, lookup, hidden_marker):
            raise Unfit(OTHER_VEHICLE, may_differ=True)
    is_content = is_report if operation.name == "report" else is_record
    if any(map(is_content, records)):
        return False
    notice = gravest_notice(document, result)
    if notice is not None and notice.kind == "failure":
        raise Unfit("nothing on record, and a failure beside it", may_differ=True)
    return isinstance(result, list) or (
        notice is not None and notice.kind in ("partial", "unknown")
    )


def _outline(lookup: Lookup, body: bytes, hidden_marker: str) -> dict[str, Any]:
    """Return a large answer with only those records on which its validity depends.

    All values are validated, but one record is in memory at a time. Of a list or an object in a
    record, only the first _MOST_COMPARED characters are kept.
    """
    try:
        walk = strict_json.Walk(body)
        document: dict[str, Any] = {}
        for name in walk.members():
            if name == "result" and walk.next_is("["):
                document[name] = _decisive_records(lookup, walk, hidden_marker)
            elif name == "result":
                document[name] = _short_record(walk)
            else:
                document[name] = walk.short_value(_MOST_COMPARED)
        walk.end()
    except strict_json.NotStrictJSON as error:
        raise Unusable(str(error)) from None
    return document


def _decisive_records(lookup: Lookup, walk: strict_json.Walk, hidden_marker: str) -> list[Any]:
    """Return the first record of each kind, and the first MOST_RECORDS texts in place of one."""
    elements: dict[str, list[Any]] = {"refused": [], "record": [], "remark": [], "nothing": []}
    for _ in walk.items():
        record = _short_record(walk)
        if not isinstance(record, dict) or not _names_subject(record, lookup, hidden_marker):
            kind = "refused"
        elif is_record(record):
            kind = "record"
        else:
            kind = "remark" if any(record.values()) else "nothing"
        if len(elements[kind]) < (MOST_RECORDS if kind == "remark" else 1):
            elements[kind].append(record)
    return [record for kind in elements.values() for record in kind]


def _short_record(walk: strict_json.Walk) -> Any:
    if walk.next_is("{"):
        return {name: walk.short_value(_MOST_COMPARED) for name in walk.members()}
    return walk.short_value(_MOST_COMPARED)


def message_body(body: bytes, secret: str | None = None, *, is_absence: bool = False) -> bytes:
    """Return the JSON body ``{"message": text}`` that reports an upstream error.

    ``text`` is the upstream's message, cut to LONGEST_MESSAGE characters. "***" replaces
    ``secret``, the operator's credential. Raises Unusable if the body is not a JSON object with a
    text ``message``, for example if it is a web server's error page. Raises Unfit if the message
    says that the answer is yet to come, which rejects neither the plate nor the credential. So does
    an outage, where the status says that there is nothing (404).
    """
    if has_too_many_values(body):
        raise Unusable("an error with too many values")
    document = _parsed(body)
    message = document.get("message") if isinstance(document, dict) else None
    if not isinstance(message, str) or not read_field(message, ""):
        raise Unusable("an error without the contract's message")
    if is_working(message):
        raise Unfit(STILL_WORKING, may_differ=True)
    if is_absence and reports_outage(message):
        raise Unfit("an outage in place of an absence", may_differ=True)
    text = message.replace(secret, "***") if secret else message
    return json.dumps({"message": text[:LONGEST_MESSAGE]}, ensure_ascii=False).encode()


def _parsed(body: bytes) -> Any:
    try:
        return strict_json.parse(body)
    except strict_json.NotStrictJSON as error:
        raise Unusable(str(error)) from None


def _names_subject(record: dict[str, Any], lookup: Lookup, hidden_marker: str) -> bool:
    """Return False if the record names another vehicle than the lookup does.

    If the lookup is for a plate, only plates are compared. If the lookup is for a Renavam, only
    Renavams are compared. The letter case of field names and the JSON type of values do not matter.
    Blank values, values that the upstream withholds (``hidden_marker``), and texts without a plate
    or Renavam are ignored.
    """
    names = _PLATE_NAMES if isinstance(lookup.subject, Plate) else _RENAVAM_NAMES
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
                yield field.value


class DriftQueue:
    """A queue of answers that the scheduler's thread compares with docs/contract.md.

    The comparison of a long answer takes milliseconds. In a request's thread, the comparison would
    delay the response.
    """

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        # The deque needs no lock, because append and popleft are atomic.
        self._waiting: deque[tuple[OperationName, bytes]] = deque()

    def add(self, operation: OperationName, body: bytes) -> None:
        """Queue a valid answer. If the queue is full, compare its oldest answer at once."""
        self._waiting.append((operation, body))
        if len(self._waiting) > MOST_WAITING:
            self._compare_next()

    def flush(self) -> None:
        """Compare the queued answers."""
        while self._waiting:
            self._compare_next()

    def _compare_next(self) -> None:
        try:
            operation, body = self._waiting.popleft()
        except IndexError:  # another thread has taken the last answer
            return
        if has_too_many_values(body):  # parsing it would take seconds
            self._observer.drifted(operation, {"result"})
            return
        document = strict_json.parse(body)
        if fields := unexpected(operation, document["result"]) | unexpected_members(document):
            self._observer.drifted(operation, fields)
