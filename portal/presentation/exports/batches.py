"""The JSON object of a batch of lookups, and a table with one row per vehicle."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from portal.batch.model import Batch
from portal.dossier.row import MEMBERS, VehicleRow
from portal.gateway.limits import Allowance
from portal.presentation.exports.tables import Column, Table
from portal.presentation.wrong_entries import wrong_message
from portal.system.local_time import from_epoch

COLUMNS: Final = tuple(
    Column(one.name, one.metadata.get("kind", "text"))
    for one in MEMBERS
    if one.metadata.get("kind", "text") is not None
)


def batch_object(batch: Batch, allowance: Allowance) -> object:
    """Return the JSON object of a batch.

    ``allowance`` says how many upstream calls the daily limits still allow today, for the whole
    portal and for the caller's token.
    """
    return {
        "id": batch.id,
        "state": batch.state,
        "reason": batch.reason or None,
        "resumes_at": _moment(batch.resume_at),
        "ask": batch.ask,
        "counts": batch.counts,
        "cost": batch.cost,
        "repeated": batch.repeated,
        "wrong": [
            {"index": entry.index, "value": entry.value, "message": wrong_message(entry)}
            for entry in batch.wrong
        ],
        "more_wrong": batch.more_wrong,
        "created_at": _moment(batch.created_at),
        "started_at": _moment(batch.started_at),
        "ended_at": _moment(batch.ended_at),
        "expires_at": _moment(batch.expires_at),
        "calls_left": {"day": allowance.day, "token": allowance.token},
    }


def results_table(rows: Iterable[VehicleRow]) -> Table:
    """Return the results of a batch as a table with one row for each vehicle."""
    cells = ([getattr(row, column.name) for column in COLUMNS] for row in rows)
    return Table("resultados", COLUMNS, cells)


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else from_epoch(round(seconds))
