"""A batch as JSON, and its results as a table: one row a plate, in the order given."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from portal.batch import Batch, Item, WrongEntry
from portal.presentation.exports.tables import Cell, Column, Table
from portal.presentation.site.typed_subject import what_is_wrong
from portal.presentation.vehicle.contents import VehicleContents
from portal.presentation.vehicle.panel import LOOKUP_WORDS, Panels, RenderContext, is_readable
from portal.system.local_time import from_epoch
from portal.vehicle import Plate, Renavam

NOT_RECOGNISED: Final = "Não é placa nem Renavam."

COLUMNS: Final = (
    Column("plate", "text"),
    Column("state", "text"),
    Column("verdict", "text"),
    Column("headline", "text"),
    Column("vehicle", "text"),
    Column("year", "text"),
    Column("fines_open", "integer"),
    Column("fines_amount", "money"),
    Column("fines_enforceable", "integer"),
    Column("restrictions", "integer"),
    Column("fipe_code", "text"),
    Column("fipe_low", "money"),
    Column("fipe_high", "money"),
    Column("fetched_at", "moment"),
    Column("missing", "text"),
    Column("cause", "text"),
)


@dataclass(frozen=True, slots=True)
class BatchRow:
    """What a result table says about one plate; None where no answer says it."""

    plate: str
    state: str
    verdict: str | None
    headline: str | None
    vehicle: str | None
    year: str | None
    fines_open: int | None
    fines_amount: Decimal | None
    fines_enforceable: int | None
    restrictions: int | None
    fipe_code: str | None
    fipe_low: Decimal | None
    fipe_high: Decimal | None
    fetched_at: datetime | None
    missing: str | None
    cause: str | None


def batch_object(batch: Batch, allowed: tuple[int | None, int | None] | None = None) -> object:
    """Return the JSON object of a batch; ``allowed`` are the calls left for the day and the token.

    Counts, cost and states have the names of the interface.
    """
    counts, cost = batch.counts, batch.cost
    found: dict[str, object] = {
        "id": batch.id,
        "state": batch.state,
        "reason": batch.reason or None,
        "resumes_at": _moment(batch.resume_at),
        "ask": batch.ask,
        "counts": {
            "total": counts.total,
            "stored": counts.stored,
            "done": counts.done,
            "failed": counts.failed,
            "pending": counts.pending,
        },
        "cost": {"spent": cost.spent, "at_most": cost.at_most},
        "wrong": [
            {"index": each.index, "value": each.value, "message": wrong_message(each)}
            for each in batch.wrong
        ],
        "created_at": _moment(batch.created_at),
        "started_at": _moment(batch.started_at),
        "ended_at": _moment(batch.ended_at),
        "expires_at": _moment(batch.expires_at),
    }
    if allowed is not None:
        found["calls_left"] = {"day": allowed[0], "token": allowed[1]}
    return found


def wrong_message(entry: WrongEntry) -> str:
    """Say why an entry is left out, with the probable plate or Renavam."""
    hint = what_is_wrong(entry.value) or NOT_RECOGNISED
    return f"{hint} Quis dizer {entry.suggestion}?" if entry.suggestion else hint


def results_table(
    items: Iterable[Item],
    panels_of: Callable[[Plate | Renavam], Panels],
    context: RenderContext,
) -> Table:
    """Return the results; ``panels_of`` reads the stored answers of a plate or Renavam."""
    return Table("resultados", COLUMNS, _rows(items, panels_of, context))


def batch_row(item: Item, panels: Panels, context: RenderContext) -> BatchRow:
    """Sum up what the stored answers say about one plate."""
    if item.state == "pending" and not any(panel.has_answer for panel in panels.all):
        return _without_answer(item)
    is_plate = isinstance(item.subject, Plate)
    contents = VehicleContents.of(
        panels,
        context,
        decode_wanted=is_plate,
        check_digit_holds=is_plate or getattr(item.subject, "check_digit_holds", True),
    )
    facts, summary = contents.facts, contents.summary
    prices = [
        tab.current for tab in (facts.prices.likeliest if facts else ()) if tab.current is not None
    ]
    best = facts.prices.best if facts else None
    fetched = [panel.fetched_at for panel in panels.all if panel.fetched_at is not None]
    missing = [
        LOOKUP_WORDS[name]
        for name in LOOKUP_WORDS
        if not is_readable(panels.of(name).result, name) and (is_plate or name != "decode")
    ]
    totals = summary.fines
    return BatchRow(
        plate=item.subject.text,
        state=item.state,
        verdict=summary.verdict.level,
        headline=summary.verdict.headline,
        vehicle=summary.name or None,
        year=_years(contents),
        fines_open=totals.open_count if totals else None,
        fines_amount=totals.amount if totals else None,
        fines_enforceable=totals.enforceable_count if totals else None,
        restrictions=summary.restrictions,
        fipe_code=best.code.text if best and best.code else None,
        fipe_low=min(prices, default=None),
        fipe_high=max(prices, default=None),
        fetched_at=min(fetched, default=None),
        missing=", ".join(missing) or None,
        cause=item.cause or None,
    )


def _without_answer(item: Item) -> BatchRow:
    nothing = dict.fromkeys(column.name for column in COLUMNS)
    known = {"plate": item.subject.text, "state": item.state, "cause": item.cause or None}
    return BatchRow(**{**nothing, **known})  # type: ignore[arg-type]


def _rows(
    items: Iterable[Item],
    panels_of: Callable[[Plate | Renavam], Panels],
    context: RenderContext,
) -> Iterator[list[Cell]]:
    for item in items:
        row = batch_row(item, panels_of(item.subject), context)
        yield [getattr(row, column.name) for column in COLUMNS]


def _years(contents: VehicleContents) -> str | None:
    if contents.facts is None:
        return None
    identity = contents.facts.identity
    years = [str(year) for year in (identity.built_year, identity.model_year) if year]
    return "/".join(years) or None


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else from_epoch(round(seconds))
