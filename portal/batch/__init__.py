"""Batches: lists of vehicles that the portal looks up in the background."""

from portal.batch.batches import DRAFT_S, Batches, QuotedItem
from portal.batch.item_leases import ItemLeases
from portal.batch.model import (
    Batch,
    Cost,
    Counts,
    Item,
    NotAllowed,
    Reason,
    State,
)
from portal.batch.preview import Preview, RemainingPreviews, quote, quote_left
from portal.batch.rows import Access, UnknownBatch
from portal.batch.runner import BatchRunner
from portal.batch.start import start_batch
from portal.batch.turn import Turn
from portal.batch.typed_list import (
    Subject,
    TypedList,
    WrongEntry,
    read_file,
    read_list,
    read_strings,
    reticked,
)
from portal.batch.under_way import BatchUnderWay, batches_under_way, has_unfinished_batches
from portal.batch.uploads import BinaryFile, BinaryFormat, decode_upload

__all__ = [
    "DRAFT_S",
    "Access",
    "Batch",
    "BatchRunner",
    "BatchUnderWay",
    "Batches",
    "BinaryFile",
    "BinaryFormat",
    "Cost",
    "Counts",
    "Item",
    "ItemLeases",
    "NotAllowed",
    "Preview",
    "QuotedItem",
    "Reason",
    "RemainingPreviews",
    "State",
    "Subject",
    "Turn",
    "TypedList",
    "UnknownBatch",
    "WrongEntry",
    "batches_under_way",
    "decode_upload",
    "has_unfinished_batches",
    "quote",
    "quote_left",
    "read_file",
    "read_list",
    "read_strings",
    "reticked",
    "start_batch",
]
