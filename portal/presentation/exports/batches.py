"""The JSON object of a batch of lookups, and a table with one row per vehicle."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from portal.batch.model import Batch
from portal.batch.typed_list import WrongEntry
from portal.dossier.row import MEMBERS, VehicleRow
from portal.gateway.ledger import Allowance
from portal.presentation.exports.tables import Column, Table
from portal.presentation.typed_subject import doubt_reason
from portal.system.local_time import from_epoch

NOT_RECOGNISED: Final = "Não é placa nem Renavam."
VINS: Final = (
    "Parecem chassis, que têm 17 caracteres. A consulta é pela placa ou pelo Renavam, que estão no "
    "documento do veículo."
)
NOT_A_TEXT: Final = "Não é um texto: a placa ou o Renavam vai entre aspas."
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
            {"index": each.index, "value": each.value, "message": wrong_message(each)}
            for each in batch.wrong
        ],
        "more_wrong": batch.more_wrong,
        "created_at": _moment(batch.created_at),
        "started_at": _moment(batch.started_at),
        "ended_at": _moment(batch.ended_at),
        "expires_at": _moment(batch.expires_at),
        "calls_left": {"day": allowance.day, "token": allowance.token},
    }


def wrong_message(entry: WrongEntry) -> str:
    """Say why an entry is invalid, and suggest a similar valid entry if known."""
    if not entry.is_text:
        return NOT_A_TEXT
    hint = doubt_reason(entry.typed) or NOT_RECOGNISED
    # The reason of a "number" is its spelling, so its digits alone are a correction.
    has_question = entry.suggestion and (not entry.is_as_typed or entry.doubt == "number")
    return f"{hint} Quis dizer {entry.suggestion}?" if has_question else hint


def first_message(wrong: Sequence[WrongEntry]) -> str:
    """Say why a list has no vehicle, by its entries: as a whole, or by the first of them."""
    if sum(each.doubt == "vin" for each in wrong) > 1:
        return VINS
    return wrong_message(wrong[0]) if wrong else ""


def results_table(rows: Iterable[VehicleRow]) -> Table:
    """Return the results of a batch as a table with one row for each vehicle."""
    cells = ([getattr(row, column.name) for column in COLUMNS] for row in rows)
    return Table("resultados", COLUMNS, cells)


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else from_epoch(round(seconds))
