"""The JSON object of a batch of lookups, and a table with one row per vehicle."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

import msgspec

from portal.batch.model import Batch, Item
from portal.batch.typed_list import WrongEntry
from portal.dossier.answers import Panel, Panels, answer_panel, is_readable
from portal.dossier.lookups import LOOKUP_WORDS
from portal.gateway.ledger import Allowance
from portal.gateway.lookup import Served
from portal.gateway.operations import lookups_of
from portal.presentation.exports.tables import Column, Table
from portal.presentation.render_context import RenderContext
from portal.presentation.typed_subject import doubt_reason, what_is_wrong
from portal.system.local_time import from_epoch, utc_time
from portal.vehicle.identity import VehicleIdentity
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import Plate, Renavam, parse_subject

STALE: Final = "Resposta que já não é recente: abra o veículo ou faça outro lote"
EXPIRED: Final = "Resposta vencida: abra o veículo ou faça outro lote"
NOTHING_TO_ASK: Final = "Nada foi consultado: um Renavam não tem dados do veículo nem FIPE"
NOT_RECOGNISED: Final = "Não é placa nem Renavam."
NOT_A_TEXT: Final = "Não é um texto: a placa ou o Renavam vai entre aspas."


@dataclass(frozen=True, slots=True)
class BatchRow:
    """A row of the results table, with a column for each member.

    An unknown fact about the vehicle is None. A member's metadata has the kind of its column, if
    not "text", and the lookup of its fact.

    ``missing`` names the lookups without a readable answer, and ``expired`` the lookups whose
    answer has expired. The row has no facts from an expired answer. ``not_asked`` names the lookups
    that the batch does not make. If the batch does not look up both fines and restrictions, the
    verdict "limited" replaces "clear".
    """

    plate: str = field(metadata={"kind": "subject"})
    state: str
    verdict: str | None
    headline: str | None
    vehicle: str | None = field(metadata={"lookup": "decode"})
    year: str | None = field(metadata={"lookup": "decode"})
    fines_open: int | None = field(metadata={"kind": "integer", "lookup": "renainf"})
    fines_amount: Decimal | None = field(metadata={"kind": "money", "lookup": "renainf"})
    fines_enforceable: int | None = field(metadata={"kind": "integer", "lookup": "renainf"})
    restrictions: int | None = field(metadata={"kind": "integer", "lookup": "renajud"})
    fipe_code: str | None = field(metadata={"lookup": "decode"})
    fipe_low: Decimal | None = field(metadata={"kind": "money", "lookup": "decode"})
    fipe_high: Decimal | None = field(metadata={"kind": "money", "lookup": "decode"})
    fipe_note: str | None = field(metadata={"lookup": "decode"})
    fetched_at: datetime | None = field(metadata={"kind": "moment"})
    missing: str | None
    expired: str | None
    cause: str | None
    not_asked: str | None

    @property
    def subject(self) -> Plate | Renavam:
        return parse_subject(self.plate)


_MEMBERS: Final = fields(BatchRow)
COLUMNS: Final = tuple(Column(one.name, one.metadata.get("kind", "text")) for one in _MEMBERS)


class _Answer(msgspec.Struct, frozen=True):
    """When an answer was fetched, and until when it is fresh and stored, in epoch seconds."""

    fetched_at: float
    fresh_until: float
    delete_at: float


class _Kept(msgspec.Struct, frozen=True):
    """A stored row, and the answers that it was built from."""

    row: BatchRow
    answers: dict[LookupName, _Answer]


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
    if not entry.doubt:
        hint = what_is_wrong(entry.value) or NOT_RECOGNISED
    else:
        meant = parse_subject(entry.suggestion) if entry.suggestion else None
        hint = doubt_reason(entry.doubt, entry.value, meant)
    has_question = entry.suggestion and not entry.is_as_typed
    return f"{hint} Quis dizer {entry.suggestion}?" if has_question else hint


def results_table(
    items: Iterable[Item],
    panels_of: Callable[[Plate | Renavam], Panels],
    context: RenderContext,
    ask: Sequence[LookupName] = LOOKUPS,
) -> Table:
    """Return the results of a batch as a table with one row for each item.

    ``ask`` are the lookups that the batch makes.
    """
    rows = (row_of(item, panels_of, context, ask) for item in items)
    cells = ([getattr(row, column.name) for column in COLUMNS] for row in rows)
    return Table("resultados", COLUMNS, cells)


def kept_result(
    subject: Plate | Renavam,
    ask: Sequence[LookupName],
    answers: Mapping[LookupName, Served],
    context: RenderContext,
) -> bytes:
    """Return a vehicle's row in the JSON form that ``Item.result`` stores."""
    unasked = Panel("unasked")
    panels = Panels(
        *(answer_panel(answers[name]) if name in answers else unasked for name in LOOKUPS)
    )
    row = row_of_answers(Item(subject, "done"), panels, context, ask)
    kept = {
        name: _Answer(each.fetched_at, each.fresh_until, each.delete_at)
        for name, each in answers.items()
    }
    return msgspec.json.encode(_Kept(row, kept))


def row_of(
    item: Item,
    panels_of: Callable[[Plate | Renavam], Panels],
    context: RenderContext,
    ask: Sequence[LookupName] = LOOKUPS,
) -> BatchRow:
    """Return the row of a batch item. ``ask`` are the lookups that the batch makes.

    The batch runner stores an item's row as soon as the item's lookups end, because a row built
    later could mix answers of different days. If no readable row is stored, this function builds
    the row from the answers that ``panels_of`` returns.
    """
    kept, now_s = _kept(item), context.now.timestamp()
    if item.state == "pending":
        # A pending item with a stored row was looked up before, and waits for a new lookup. Its row
        # keeps the facts of the earlier answers, but not the verdict.
        known = _empty_row(item) if kept is None else _without_expired(kept, now_s)
        return replace(known, state=item.state, verdict=None, headline=None, cause=None)
    if kept is None:
        return row_of_answers(item, panels_of(item.subject), context, ask)
    row = replace(_without_expired(kept, now_s), state=item.state, cause=item.cause or None)
    if row.verdict in ("clear", "limited") and any(
        each.fresh_until < now_s for each in kept.answers.values()
    ):
        # A fine or restriction may have been added since. As on the vehicle's page, a stale answer
        # does not say that nothing is there.
        level = "caution" if row.verdict == "clear" else row.verdict
        return replace(row, verdict=level, headline=STALE)
    return row


def _without_expired(kept: _Kept, now_s: float) -> BatchRow:
    """Return the row without the facts of answers that the store has deleted by now.

    A verdict needs all answers. Only known court orders block a transfer whatever the other
    answers were.
    """
    living = {name: each for name, each in kept.answers.items() if each.delete_at >= now_s}
    expired = [name for name in LOOKUPS if name in kept.answers and name not in living]
    if not expired:
        return kept.row
    facts: dict[str, Any] = {
        one.name: None for one in _MEMBERS if one.metadata.get("lookup") in expired
    }
    fetched_at = min((each.fetched_at for each in living.values()), default=None)
    row = replace(
        kept.row,
        **facts,
        expired=", ".join(LOOKUP_WORDS[name] for name in expired),
        fetched_at=None if fetched_at is None else utc_time(fetched_at),
    )
    if row.verdict == "blocked" and "renajud" in living:
        return row
    return replace(row, verdict="incomplete", headline=EXPIRED)


def _kept(item: Item) -> _Kept | None:
    if item.result is None:
        return None
    try:
        return msgspec.json.decode(item.result, type=_Kept)
    except msgspec.ValidationError:  # an incompatible version of the portal stored the row
        return None


def row_of_answers(
    item: Item, panels: Panels, context: RenderContext, ask: Sequence[LookupName]
) -> BatchRow:
    """Return the row of an item, built from the present answers."""
    possible = lookups_of(item.subject)
    asked = [name for name in possible if name in ask]
    not_asked = [LOOKUP_WORDS[name] for name in possible if name not in ask]
    if not asked:
        nothing = _empty_row(item)
        return replace(
            nothing, verdict="limited", headline=NOTHING_TO_ASK, not_asked=", ".join(not_asked)
        )
    dossier = context.dossier(item.subject, panels, asked)
    prices, totals, verdict = dossier.prices, dossier.totals, dossier.verdict
    likely = [tab.current for tab in prices.likeliest if tab.current is not None] if prices else []
    best = prices.best if prices else None
    price = prices.price_summary if prices else None
    fetched = [panel.fetched_at for panel in panels.all if panel.fetched_at is not None]
    missing = [
        _without_answer(name, panels.of(name))
        for name in asked
        if not is_readable(panels.of(name).result, name)
    ]
    return BatchRow(
        plate=item.subject.text,
        state=item.state,
        verdict=verdict.level,
        headline=verdict.headline,
        vehicle=str(dossier.name) or None,
        year=_years(dossier.vehicle),
        fines_open=totals.open_count if totals else None,
        fines_amount=totals.known_amount if totals else None,
        fines_enforceable=totals.enforceable_count if totals else None,
        restrictions=dossier.orders_in_force,
        fipe_code=best.code.text if best and best.code else None,
        fipe_low=min(likely, default=None),
        fipe_high=max(likely, default=None),
        fipe_note=(price.doubt or None) if price else None,
        fetched_at=min(fetched, default=None),
        missing=", ".join(missing) or None,
        expired=None,
        cause=item.cause or None,
        not_asked=", ".join(not_asked) or None,
    )


def _without_answer(name: LookupName, panel: Panel) -> str:
    """Name a lookup. If its answer confirms nothing, quote the source."""
    words = LOOKUP_WORDS[name]
    return f"{words}: não confirmado ({panel.reason})" if panel.cause == "unconfirmed" else words


def _empty_row(item: Item) -> BatchRow:
    nothing = dict.fromkeys(column.name for column in COLUMNS)
    known = {"plate": item.subject.text, "state": item.state, "cause": item.cause or None}
    return BatchRow(**{**nothing, **known})  # type: ignore[arg-type]


def _years(vehicle: VehicleIdentity | None) -> str | None:
    known = (vehicle.built_year, vehicle.model_year) if vehicle else ()
    return "/".join(str(year) for year in known if year) or None


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else from_epoch(round(seconds))
