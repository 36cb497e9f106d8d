"""Batch pages with empty inputs, unless a test passes other values."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from portal.batch.model import Batch, Item, Preview
from portal.dossier.row import VehicleRow
from portal.gateway.limits import Allowance
from portal.presentation.lists.batches import BatchFormPage, BatchPage
from portal.presentation.lists.vehicle_list import ListChoice, VehicleList
from portal.vehicle.operation_name import LOOKUPS, LookupName


def batch_form_page(
    prices: Mapping[LookupName, Decimal],
    limit: int,
    batches: Sequence[Batch] = (),
    **typed: Any,
) -> BatchFormPage:
    empty: dict[str, Any] = {"text": "", "problem": "", "corrects": "", "ask": LOOKUPS}
    empty |= {"recent": (), "chosen": ()}
    return BatchFormPage(prices=prices, limit=limit, batches=batches, **empty | typed)


def batch_page(
    batch: Batch,
    rows: Sequence[tuple[Item, VehicleRow]],
    prices: Mapping[LookupName, Decimal],
    allowance: Allowance,
    now: datetime,
    drafted: Sequence[Item] = (),
    left: Preview | None = None,
    **chosen: Any,
) -> BatchPage:
    return BatchPage(
        batch=batch,
        vehicles=VehicleList(
            path=f"/lote/{batch.id}",
            rows=[row for _, row in rows],
            notes={},
            choice=ListChoice(**chosen),
            now=now,
            order="lista",
        ),
        drafted=drafted,
        prices=prices,
        allowance=allowance,
        now=now,
        left=left,
        failing=[item for item, _ in rows if item.failing_since is not None],
        retries={},
    )
