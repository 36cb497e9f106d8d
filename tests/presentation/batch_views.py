"""Batch pages with empty inputs, unless a test passes other values."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from portal.batch import Batch, Item
from portal.gateway import Allowance
from portal.presentation.exports.batches import BatchRow
from portal.presentation.tools import batches as views
from portal.vehicle import LOOKUPS, LookupName


def batch_form_page(
    prices: Mapping[LookupName, Decimal],
    limit: int,
    batches: Sequence[Batch] = (),
    **typed: Any,
) -> views.BatchFormPage:
    empty: dict[str, Any] = {"text": "", "problem": "", "corrects": "", "ask": LOOKUPS}
    empty |= {"recent": (), "chosen": ()}
    return views.batch_form_page(prices, limit, batches, **empty | typed)


def batch_page(
    batch: Batch,
    rows: Sequence[tuple[Item, BatchRow]],
    prices: Mapping[LookupName, Decimal],
    allowance: Allowance,
    now: datetime,
    **chosen: Any,
) -> views.BatchPage:
    whole: dict[str, Any] = {"left": None, "only": "", "order": "", "search": ""}
    whole |= {"number": 1, "page_count": None}
    return views.batch_page(batch, rows, prices, allowance, now, **whole | chosen)
