"""Lists the changes between two answers about one vehicle.

No record has a reliable identifier. For example, the upstream often hides a fine's notice number.
Records are therefore matched by fields that do not change, such as a fine's code, place and time.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Generic, TypeVar

from portal.vehicle.decode import Decoded, FipeEntry
from portal.vehicle.fines import Fine
from portal.vehicle.judicial import Restriction

# Of the earlier records with the same key, so many are compared with a later record. Two records of
# one key are rare, and thousands of them would be compared with each other.
_MOST_COMPARED: Final = 20

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Change(Generic[Record]):
    """A change of one record between two answers.

    ``before`` is None for a new record. ``after`` is None for a record that the later answer lacks.
    ``position`` is the record's index in the later answer, or -1 if the later answer lacks it.

    The events of a fine: "payment" means that the date or amount of the payment differs. "kind"
    means that the status text differs. "altered" means that some field differs, but no other event
    applies.

    A restriction has one event. A record with ``is_lifted`` says that there is no restriction, and
    does not contradict itself. "lifted" means that ``is_lifted`` became true. "in force" means that
    it became false. "denied" means that the flag ``recorded`` became False although other fields
    still state or hide a restriction. "affirmed" means that ``recorded`` is no longer False.
    """

    events: tuple[str, ...]
    before: Record | None
    after: Record | None
    position: int

    @property
    def record(self) -> Record:
        record = self.after or self.before
        assert record is not None
        return record


def changed_prices(before: Decoded, after: Decoded) -> list[Change[FipeEntry]]:
    """Return the changes of current prices. Entries that ``after`` lacks come last."""
    return _changed(before.fipe, after.fipe, (lambda entry: entry, _candidate), _price_events)


def changed_fines(before: Sequence[Fine], after: Sequence[Fine]) -> list[Change[Fine]]:
    """Return changes in the order of ``after``. Fines that ``after`` lacks come last."""
    keys = (lambda fine: fine, _notice, _offence)
    return _changed(before, after, keys, _fine_events, _may_match)


def changed_restrictions(
    before: Sequence[Restriction], after: Sequence[Restriction]
) -> list[Change[Restriction]]:
    """Return changes in the order of ``after``. Records not in ``after`` come last."""
    return _changed(before, after, (lambda record: record, _order), _restriction_events)


def _price_events(old: FipeEntry | None, new: FipeEntry | None) -> tuple[str, ...]:
    return ("price",) if (old and old.current) != (new and new.current) else ()


def _fine_events(old: Fine | None, new: Fine | None) -> tuple[str, ...]:
    if old is None or new is None:
        return ("new",) if old is None else ("gone",)
    checks = (
        ("payment", _payment(new) != _payment(old)),
        ("notified", new.notified_on is not None and new.notified_on != old.notified_on),
        ("penalty", new.penalty_on is not None and new.penalty_on != old.penalty_on),
        ("kind", new.kind != old.kind),
        ("amount", new.amount != old.amount),
    )
    events = tuple(event for event, holds in checks if holds)
    return events or (("altered",) if old != new else ())


def _restriction_events(old: Restriction | None, new: Restriction | None) -> tuple[str, ...]:
    if old is None or new is None:
        return ("new",) if old is None else ("gone",)
    if old.is_lifted != new.is_lifted:
        return ("lifted",) if new.is_lifted else ("in force",)
    if (old.recorded is False) != (new.recorded is False):
        return ("denied",) if new.recorded is False else ("affirmed",)
    if (old.kinds_text, old.block_type) != (new.kinds_text, new.block_type):
        return ("kind",)
    return ("altered",) if old != new else ()


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


def _changed(
    before: Sequence[Record],
    after: Sequence[Record],
    keys: Iterable[Callable[[Record], Hashable]],
    events_of: Callable[[Record | None, Record | None], tuple[str, ...]],
    may_match: Callable[[Record, Record], bool] = lambda _old, _new: True,
) -> list[Change[Record]]:
    """Match the records of two answers, and return the changes that have events.

    An unmatched record of ``after`` is new. Unmatched records of ``before`` come last.

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
            match = next((old for old in compared if may_match(unmatched[old], record)), None)
            if match is not None:
                queue.remove(match)
                matches[position] = unmatched.pop(match)
    pairs: list[tuple[Record | None, Record | None, int]] = [
        *((matches.get(position), record, position) for position, record in enumerate(after)),
        *((record, None, -1) for record in unmatched.values()),
    ]
    return [Change(events, *pair) for pair in pairs if (events := events_of(*pair[:2]))]
