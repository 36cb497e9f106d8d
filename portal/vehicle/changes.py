"""Lists the changes between two answers about one vehicle.

No record has a reliable identifier. For example, the upstream often hides a fine's notice number.
Records are therefore matched by fields that do not change, such as a fine's code, place and time.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import Final, Literal, TypeVar

from portal.vehicle.decode import ATTRIBUTE_LABELS, Decoded, FipeEntry
from portal.vehicle.field import Field
from portal.vehicle.fines import Fine
from portal.vehicle.judicial import Restriction

# Of the earlier records with the same key, so many are compared with a later record. Two records of
# one key are rare, and thousands of them would be compared with each other.
_MOST_COMPARED: Final = 20
FineEvent = Literal["new", "gone", "payment", "notified", "penalty", "kind", "amount", "altered"]
RestrictionEvent = Literal[
    "new", "gone", "lifted", "in force", "denied", "affirmed", "kind", "altered"
]


@dataclass(frozen=True, slots=True)
class FactChange:
    """A changed attribute of the vehicle. ``name`` is a key of ATTRIBUTE_LABELS."""

    name: str
    before: Field
    after: Field


@dataclass(frozen=True, slots=True)
class PriceChange:
    """A change of the current price of one price-table entry.

    ``before`` is the price in R$ in the earlier answer, and ``after`` in the later answer. None
    means that the answer has no price.
    """

    entry: FipeEntry
    before: Decimal | None
    after: Decimal | None


@dataclass(frozen=True, slots=True)
class FineChange:
    """A change of one fine between two answers.

    ``before`` is None for a new fine. ``after`` is None for a fine that the later answer lacks.
    ``position`` is the fine's index in the later answer, or -1 if the later answer lacks the fine.

    The event "payment" means that the date or amount of the payment differs. "kind" means that the
    status text differs. "altered" means that some field differs, but no other event applies.
    """

    events: tuple[FineEvent, ...]
    before: Fine | None
    after: Fine | None
    position: int

    @property
    def fine(self) -> Fine:
        fine = self.after or self.before
        assert fine is not None
        return fine


@dataclass(frozen=True, slots=True)
class RestrictionChange:
    """A change of one restriction.

    ``before`` is None for a new restriction. ``after`` is None for a restriction that the later
    answer lacks. ``position`` is the restriction's index in the later answer, or -1 if the later
    answer lacks the restriction.

    A record with ``is_lifted`` says that there is no restriction, and does not contradict itself.
    The event "lifted" means that ``is_lifted`` became true. "in force" means that it became false.
    "denied" means that the flag ``recorded`` became False although other fields still state or hide
    a restriction. "affirmed" means that ``recorded`` is no longer False.
    """

    event: RestrictionEvent
    before: Restriction | None
    after: Restriction | None
    position: int

    @property
    def restriction(self) -> Restriction:
        restriction = self.after or self.before
        assert restriction is not None
        return restriction


def changed_facts(before: Decoded, after: Decoded) -> tuple[FactChange, ...]:
    """Return the attributes that differ, in the order of ATTRIBUTE_LABELS."""
    pairs = ((name, getattr(before, name), getattr(after, name)) for name in ATTRIBUTE_LABELS)
    return tuple(FactChange(name, old, new) for name, old, new in pairs if old != new)


def changed_prices(before: Decoded, after: Decoded) -> tuple[PriceChange, ...]:
    """Return the changes of current prices. Entries that ``after`` lacks come last."""
    changes = []
    for old, new, _ in _match_records(before.fipe, after.fipe, (lambda entry: entry, _candidate)):
        was, now = old.current if old else None, new.current if new else None
        entry = new or old
        if entry is not None and was != now:
            changes.append(PriceChange(entry, was, now))
    return tuple(changes)


def changed_fines(before: Sequence[Fine], after: Sequence[Fine]) -> tuple[FineChange, ...]:
    """Return changes in the order of ``after``. Fines that ``after`` lacks come last."""
    changes = []
    keys = (lambda fine: fine, _notice, _offence)
    for old, new, position in _match_records(before, after, keys, _may_match):
        if events := _fine_events(old, new):
            changes.append(FineChange(events, old, new, position))
    return tuple(changes)


def changed_restrictions(
    before: Sequence[Restriction], after: Sequence[Restriction]
) -> tuple[RestrictionChange, ...]:
    """Return changes in the order of ``after``. Records not in ``after`` come last."""
    changes = []
    for old, new, position in _match_records(before, after, (lambda record: record, _order)):
        if event := _restriction_event(old, new):
            changes.append(RestrictionChange(event, old, new, position))
    return tuple(changes)


def _fine_events(old: Fine | None, new: Fine | None) -> tuple[FineEvent, ...]:
    if old is None or new is None:
        return ("new",) if old is None else ("gone",)
    checks: tuple[tuple[FineEvent, bool], ...] = (
        ("payment", _payment(new) != _payment(old)),
        ("notified", new.notified_on is not None and new.notified_on != old.notified_on),
        ("penalty", new.penalty_on is not None and new.penalty_on != old.penalty_on),
        ("kind", new.kind != old.kind),
        ("amount", new.amount != old.amount),
    )
    events = tuple(event for event, holds in checks if holds)
    return events or (("altered",) if old != new else ())


def _restriction_event(old: Restriction | None, new: Restriction | None) -> RestrictionEvent | None:
    if old is None or new is None:
        return "new" if old is None else "gone"
    if old.is_lifted != new.is_lifted:
        return "lifted" if new.is_lifted else "in force"
    if (old.recorded is False) != (new.recorded is False):
        return "denied" if new.recorded is False else "affirmed"
    if (old.kinds_text, old.block_type) != (new.kinds_text, new.block_type):
        return "kind"
    return "altered" if old != new else None


def _payment(fine: Fine) -> Hashable:
    return fine.paid_on or fine.paid_on_text, fine.paid_amount


def _candidate(entry: FipeEntry) -> Hashable:
    return entry.fipe_id, entry.year_text, entry.make, entry.model, entry.version, entry.fuel


def _notice(fine: Fine) -> Hashable:
    return (fine.notice, fine.authority_code) if fine.notice else None


def _offence(fine: Fine) -> Hashable:
    return fine.code, fine.committed_on_text, fine.committed_at_text, fine.place, fine.authority


def _may_match(old: Fine, new: Fine) -> bool:
    """Return False if both records have a notice number and the two numbers differ."""
    return not (old.notice and new.notice) or old.notice == new.notice


def _order(record: Restriction) -> Hashable:
    return record.court, record.court_body, record.case, record.included_at_text, record.protocol


Record = TypeVar("Record")


def _match_records(
    before: Sequence[Record],
    after: Sequence[Record],
    keys: Iterable[Callable[[Record], Hashable]],
    may_match: Callable[[Record, Record], bool] = lambda _old, _new: True,
) -> list[tuple[Record | None, Record | None, int]]:
    """Match the records of two answers, and return tuples ``(old, new, position)``.

    Each record of ``after`` gives one tuple, with None as ``old`` if no earlier record matches.
    Unmatched records of ``before`` come last, with None as ``new`` and -1 as ``position``.

    ``keys`` are functions that return a record's key, the most reliable function first. Records
    with the same key are matched in the order in which the answers list them. The key None matches
    nothing.
    """
    unmatched = dict(enumerate(before))
    matches: dict[int, Record] = {}
    for key in keys:
        by_key: dict[Hashable, list[int]] = {}
        for position, record in unmatched.items():
            by_key.setdefault(key(record), []).append(position)
        by_key.pop(None, None)
        for position, record in enumerate(after):
            queue = [] if position in matches else by_key.get(key(record), [])
            compared = islice(queue, _MOST_COMPARED)
            found = next((old for old in compared if may_match(unmatched[old], record)), None)
            if found is not None:
                queue.remove(found)
                matches[position] = unmatched.pop(found)
    return [
        *((matches.get(position), record, position) for position, record in enumerate(after)),
        *((record, None, -1) for record in unmatched.values()),
    ]
