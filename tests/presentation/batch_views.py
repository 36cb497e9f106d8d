"""Batch pages with empty inputs, unless a test passes other values."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from portal.batch.model import Batch, Item
from portal.gateway.ledger import Allowance
from portal.presentation.exports.batches import BatchRow
from portal.presentation.tools.batches import BatchFormPage, BatchPage
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
    rows: Sequence[tuple[Item, BatchRow]],
    prices: Mapping[LookupName, Decimal],
    allowance: Allowance,
    now: datetime,
    **chosen: Any,
) -> BatchPage:
    whole: dict[str, Any] = {"left": None, "only": "", "order": "", "search": "", "drafted": ()}
    whole |= {"number": 1, "is_part": False}
    return BatchPage(
        batch=batch,
        rows=[row for _, row in rows],
        prices=prices,
        calls_left=allowance.left,
        now=now,
        **whole | chosen,
    )
