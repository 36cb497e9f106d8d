"""What one caller last saw of vehicles, kept with the caller's history."""

import logging
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec

from portal.access.history import History
from portal.dossier.dossier import Dossier
from portal.dossier.row import VehicleRow
from portal.dossier.sight import is_other_row, sight_of
from portal.law.last_seen import (
    Sights,
    SinceLastSeen,
    after_look,
    before_of,
    is_worth_keeping,
    since_last_seen,
)

log = logging.getLogger(__name__)

_encoder: Final = msgspec.json.Encoder(decimal_format="string")
_decoder: Final = msgspec.json.Decoder(Sights)


class LastSeen:
    """Reads and moves what one owner last saw."""

    def __init__(self, history: History, owner: str) -> None:
        self._history = history
        self._owner = owner
        self._visited: dict[str, bytes | None] = {}

    def visit(self, subject: str) -> None:
        """Add a vehicle to the history. ``look`` reads nothing more for it."""
        self._visited[subject] = self._history.record(self._owner, subject)

    def look(self, dossier: Dossier, now: datetime) -> SinceLastSeen | None:
        """Note that a page shows a dossier, and return what differs from the visit before.

        Returns None in the first visit, and while a lookup was not made.
        """
        subject = dossier.subject.text
        former = self._kept([subject]).get(subject)
        shown = sight_of(dossier, now, former.latest if former else None)
        if shown is None:
            return None
        kept = after_look(former, shown)
        if former is None or is_worth_keeping(former, kept):
            self._history.keep_sight(self._owner, subject, _encoder.encode(kept))
        return None if kept.before is None else since_last_seen(kept.before, shown)

    def since(self, dossier: Dossier, now: datetime) -> SinceLastSeen | None:
        """Return what differs, as ``look`` would, and note nothing."""
        kept = self._kept([dossier.subject.text]).get(dossier.subject.text)
        before = before_of(kept, now) if kept else None
        shown = sight_of(dossier, now, kept.latest) if kept and before else None
        return since_last_seen(before, shown) if before and shown else None

    def changed(self, rows: Sequence[VehicleRow], now: datetime) -> Collection[str]:
        """Return the plates and Renavams of rows that differ from the visit before."""
        kept = self._kept([row.plate for row in rows])
        return frozenset(
            row.plate
            for row in rows
            if row.plate in kept
            and (before := before_of(kept[row.plate], now)) is not None
            and is_other_row(before, row)
        )

    def _kept(self, subjects: Sequence[str]) -> Mapping[str, Sights]:
        sights = {}
        for subject, content in self._contents(subjects).items():
            try:
                sights[subject] = _decoder.decode(content)
            except msgspec.MsgspecError:
                log.warning("what a caller last saw is not of this version")
        return sights

    def _contents(self, subjects: Sequence[str]) -> Mapping[str, bytes]:
        if not self._visited.keys() >= set(subjects):
            return self._history.sights(self._owner, subjects)
        visited = ((subject, self._visited[subject]) for subject in subjects)
        return {subject: content for subject, content in visited if content is not None}
