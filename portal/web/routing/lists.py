"""The lists of vehicles that pages show whole: a batch, and the latest lookups."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from portal.access.history import Entry
from portal.batch.model import Batch, Item
from portal.desk.desk import Desk
from portal.dossier.dossier import Dossier
from portal.dossier.row import listed_row
from portal.presentation.lists.vehicle_list import ListChoice, VehicleList
from portal.presentation.site.history_page import MOST_SEARCHED, PAGE_SIZE
from portal.vehicle.plate import parse_subject


def vehicles_of_batch(
    desk: Desk,
    batch: Batch,
    items: Sequence[Item],
    choice: ListChoice,
    now: datetime,
    *,
    total: int | None = None,
) -> VehicleList:
    """Return the rows of a batch's items, of ``total`` if these are a part. A draft has none.

    A running batch stands in the order of its list, so that no row moves under the reader's finger.
    """
    desk.prepare([item.subject for item in items])
    rows = [] if batch.state == "draft" else [desk.row(item, batch.ask) for item in items]
    return VehicleList(
        path=f"/lote/{batch.id}",
        rows=rows,
        notes=desk.notes([row.plate for row in rows]),
        changed=desk.last_seen.changed(rows, now),
        choice=choice,
        now=now,
        order="lista" if batch.state == "running" else "conclusao",
        total=total,
        is_walked=True,
    )


class Recent(NamedTuple):
    """Entries of the history with their dossiers, and the number of all if these are a part."""

    entries: Sequence[Entry]
    dossiers: Sequence[Dossier]
    total: int | None


def recent_part(desk: Desk, choice: ListChoice) -> Recent:
    """Return a page of the history, or the searched part of it for a choice among all rows."""
    # Read one more entry than the page shows, to find out whether there are older entries.
    first = 0 if choice.needs_all_rows else (choice.number - 1) * PAGE_SIZE
    most = MOST_SEARCHED if choice.needs_all_rows else PAGE_SIZE + 1
    entries = desk.recent(most, first)
    is_whole = choice.needs_all_rows or (not first and len(entries) <= PAGE_SIZE)
    shown = entries if choice.needs_all_rows else entries[:PAGE_SIZE]
    dossiers = desk.stored([parse_subject(entry.subject) for entry in shown])
    return Recent(shown, dossiers, None if is_whole else first + len(entries))


def vehicles_of_history(desk: Desk, choice: ListChoice, now: datetime) -> VehicleList:
    """Return the latest lookups, the worst first, at most as many as a page of the history shows.

    Their order does not depend on when they were looked at, which opening or tagging one changes.
    """
    entries, dossiers, _ = recent_part(desk, choice)
    rows = sorted(map(listed_row, dossiers), key=lambda row: row.plate)
    return VehicleList(
        path="/historico",
        rows=rows,
        changed=desk.last_seen.changed(rows, now),
        notes=desk.notes([entry.subject for entry in entries]),
        choice=choice,
        now=now,
        order="conclusao",
    )
