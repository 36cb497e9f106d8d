"""Example answers for the API reference.

The answers of upstream operations come from the sandbox (a simulated upstream). The other answers
come from the code of the portal's API.
"""

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

import msgspec

from portal.batch.model import Batch, Cost, Counts
from portal.dossier.answers import Panel, Panels
from portal.dossier.dossier import Dossier
from portal.dossier.row import row_of_dossier
from portal.gateway.limits import Allowance
from portal.presentation.exports.batches import batch_object, results_table
from portal.presentation.exports.declared import declared_object
from portal.presentation.exports.explained import explained
from portal.presentation.exports.tables import Table, csv_lines
from portal.presentation.exports.vehicle_tables import vehicle_table
from portal.presentation.site.api_reference import Answer, Document, operations_of
from portal.vehicle.operation_name import LOOKUPS, OPERATION_NAMES
from portal.vehicle.plate import Plate
from portal.vehicle.wire import result_of
from portal.wording import grouped

_MOST_LINES: Final = 3
_MOST_SCALARS: Final = 4
_INDENT: Final = "  "
_encoder = msgspec.json.Encoder(decimal_format="number")


def reference_answers(
    document: Document,
    ask: Callable[[str, str, bytes], bytes],
    read: Callable[[Plate, Panels], Dossier],
    now: datetime,
) -> dict[str, Answer]:
    """Return the example answers of the API reference.

    The keys are names of operations in the OpenAPI document. ``ask`` sends a method, a path and a
    body to the sandbox, and returns the body of the answer. ``read`` makes a dossier of answers.
    """
    operations = operations_of(document)
    requests = {name: operations[name] for name in OPERATION_NAMES}
    bodies = {
        name: ask(example.method, example.sample_path, example.sample_body.encode())
        for name, example in requests.items()
    }
    plate = Plate.parse(requests["decode"].sample_path.rpartition("/")[2])
    panels = Panels(
        *(
            Panel("fresh", bodies[name], result_of(bodies[name]), now, "primary", price=Decimal(0))
            for name in LOOKUPS
        )
    )
    dossier = read(plate, panels)
    fines = vehicle_table("fines", dossier)
    return {
        **{name: _json_answer(body) for name, body in bodies.items()},
        "vehicle": _json_answer(_encoder.encode(explained(dossier, now))),
        "declaredLines": _json_answer(_encoder.encode(declared_object(dossier))),
        **({} if fines is None else {"finesCsv": _table_answer(fines)}),
        "createBatch": _batch_answer(now, 201),
        "batch": _batch_answer(now, 200, is_done=True),
        "resultsCsv": _table_answer(results_table([row_of_dossier(dossier)])),
    }


def excerpt(document: object, depth: int = 0) -> str:
    """Indent a document, and shorten its long lists.

    If a list contains objects or lists, or more than _MOST_SCALARS values, only its first element
    remains. A text such as ``… mais 3`` (3 more) replaces the other elements.
    """
    inner = _INDENT * (depth + 1)
    match document:
        case dict() if document:
            members = [
                f"{inner}{json.dumps(key, ensure_ascii=False)}: {excerpt(value, depth + 1)}"
                for key, value in document.items()
            ]
            return "{\n" + ",\n".join(members) + f"\n{_INDENT * depth}}}"
        case list() if document:
            if len(document) <= _MOST_SCALARS and not any(
                isinstance(element, dict | list) for element in document
            ):
                return json.dumps(document, ensure_ascii=False)
            lines = [f"{inner}{excerpt(document[0], depth + 1)}"]
            if len(document) > 1:
                lines.append(f"{inner}… mais {len(document) - 1}")
            return "[\n" + ",\n".join(lines) + f"\n{_INDENT * depth}]"
        case _:
            return json.dumps(document, ensure_ascii=False)


def _json_answer(body: bytes, status: int = 200) -> Answer:
    return _caption(status, "application/json", body), excerpt(json.loads(body))


def _batch_answer(now: datetime, status: int, *, is_done: bool = False) -> Answer:
    at, done = now.replace(microsecond=0).timestamp(), 2 if is_done else 0
    batch = Batch(
        id="4d2a8ee8598acee71d7ddb4f",
        state="done" if is_done else "draft",
        reason="",
        resume_at=None,
        ask=("decode", "renainf"),
        counts=Counts(total=2, stored=0, done=done, failed=0, pending=2 - done),
        cost=Cost(spent=Decimal(0), at_most=Decimal(0)),
        wrong=(),
        created_at=at,
        started_at=at + 2 if is_done else None,
        ended_at=at + 3 if is_done else None,
        expires_at=at + timedelta(days=1).total_seconds(),
    )
    return _json_answer(_encoder.encode(batch_object(batch, Allowance(None, None, 0.0))), status)


def _table_answer(table: Table) -> Answer:
    lines = list(csv_lines(table))
    shown = (line.strip("\ufeff\r\n") for line in lines[: _MOST_LINES + 1])
    caption = _caption(200, "text/csv; charset=utf-8", "".join(lines).encode())
    return caption, "\n".join(filter(None, shown))


def _caption(status: int, content_type: str, body: bytes) -> str:
    return f"{status} · {content_type} · {grouped(Decimal(len(body)) / 1000, 1)} kB"
