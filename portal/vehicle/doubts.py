"""Tells what an answer leaves open: whether there are more records, and what could not be read.

``portal.vehicle.notices`` judges the members and elements; this module chooses which of them count
beside records, and which without any.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from portal.vehicle.content import Contents
from portal.vehicle.decode import unnamed_members
from portal.vehicle.denials import Asked
from portal.vehicle.notices import Gap, Notice, gap_in, judge, more_declared
from portal.vehicle.wire import MOST_RECORDS, read_amount


def doubt_of(
    contents: Contents, document: Mapping[str, Any], asked: Asked | None = None
) -> Notice | None:
    """Return what leaves open whether the vehicle has more records than an answer, or None.

    Without a record, that is a notice that reports no success. Beside records, it is a failure, a
    sign that the answer is partial, a count of more records than these, or an element that is no
    record and denies none. A ``result`` that is too large to show has records.
    Where it is known what was ``asked``, a denial of anything else confirms nothing.
    """
    result = contents.result
    if not isinstance(result, list) and contents.has_records:
        return None
    if not contents.has_records:
        notice = gravest_notice(document, result, asked)
        return None if notice is None or notice.kind == "success" else notice
    beside = gravest_notice(document, [])
    if beside is not None and beside.kind in ("failure", "partial"):
        return beside
    records = result if isinstance(result, list) else [result]
    more = more_declared(beside_result(document), len(records), _sums(records))
    if more is not None:
        return more
    inside = judge({}, contents.remarks, asked)
    return None if inside is None or inside.kind == "success" else inside


def gap_of(contents: Contents, document: Mapping[str, Any]) -> Gap | None:
    """Return the part of a vehicle's data that an answer says could not be read, or None."""
    result = contents.result
    if not isinstance(result, dict) or contents.remarks:
        return None
    return gap_in(beside_result(document), unnamed_members(result))


def _sums(records: Sequence[Any]) -> set[Decimal]:
    """Return what the fines of an answer amount to, in R$: all of them, and those not paid."""
    amounts = [
        (amount, bool(record.get("pagamento")))
        for record in records
        if isinstance(record, dict) and (amount := read_amount(record.get("valor"))) is not None
    ]
    unpaid = (amount for amount, is_paid in amounts if not is_paid)
    return {sum((amount for amount, _ in amounts), Decimal(0)), sum(unpaid, Decimal(0))}


def gravest_notice(
    document: Mapping[str, Any], result: Any, asked: Asked | None = None
) -> Notice | None:
    """Return the gravest notice of an answer without a record, or None."""
    members = beside_result(document)
    if isinstance(result, list):
        return judge(members, result[:MOST_RECORDS], asked)
    return judge(members | {"": result})


def beside_result(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of an answer beside its records and its status."""
    return {name: value for name, value in document.items() if name not in ("status", "result")}
