"""Stores what a server process has seen, for ``flask doctor``, which is another process."""

import logging
import time
from collections.abc import Callable
from typing import Final, TypeVar

import msgspec
from sqlalchemy import Connection, select, text
from sqlalchemy.exc import SQLAlchemyError

from portal.storage.database import Database
from portal.storage.tables import meta
from portal.system.error_kind import error_kind
from portal.system.repeated_warning import RepeatedWarning
from portal.system.sight import ClockSeen, ForwardedSeen, Sight, SignInSeen

_warn = RepeatedWarning(logging.getLogger(__name__))
_NAME: Final = "server_sight"
_Seen = TypeVar("_Seen", ForwardedSeen, ClockSeen, SignInSeen)
_SAME_FOR_S: Final = 3600.0
# Another process may have written that a sign-in was refused, so that each writes this more often.
_SIGN_IN_SAME_FOR_S: Final = 300.0
_PUT: Final = text(
    "INSERT INTO meta (name, value) VALUES (:name, :value) "
    "ON CONFLICT (name) DO UPDATE SET value = excluded.value"
)


def read_sight(database: Database) -> Sight | None:
    """Return what the server has seen. Raises SQLAlchemyError."""
    with database.reading() as db:
        return _stored(db)


def _stored(db: Connection) -> Sight | None:
    stored = db.execute(select(meta.c.value).where(meta.c.name == _NAME)).scalar()
    try:
        return None if stored is None else msgspec.json.decode(stored, type=Sight)
    except msgspec.DecodeError:
        return None


class SightWriter:
    """Writes what this process has seen, when it has changed or is an hour old."""

    def __init__(
        self,
        database: Database,
        forwarded: Callable[[], ForwardedSeen | None],
        clock_seen: Callable[[], ClockSeen | None],
        sign_in: Callable[[], SignInSeen | None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._database = database
        self._forwarded = forwarded
        self._clock_seen = clock_seen
        self._sign_in = sign_in
        self._clock = clock
        self._written: object = None
        self._written_at = 0.0

    def write(self) -> None:
        """Write what was seen. A database failure is only logged."""
        forwarded, clock_seen, sign_in = self._forwarded(), self._clock_seen(), self._sign_in()
        facts = (
            forwarded and (forwarded.hops, forwarded.proto, forwarded.host),
            clock_seen and round(clock_seen.ahead_s, -1),
            sign_in and (sign_in.refusal, sign_in.at // _SIGN_IN_SAME_FOR_S),
        )
        is_fresh = self._clock() - self._written_at < _SAME_FOR_S
        if facts == (None, None, None) or (facts == self._written and is_fresh):
            return
        try:
            with self._database.writing() as db:
                former = _stored(db) or Sight()
                sight = Sight(
                    _later(forwarded, former.forwarded),
                    _later(clock_seen, former.clock),
                    _later(sign_in, former.sign_in),
                )
                db.execute(_PUT, {"name": _NAME, "value": msgspec.json.encode(sight).decode()})
        except SQLAlchemyError as error:
            _warn(f"what the server has seen was not written: {error_kind(error)}")
            return
        self._written, self._written_at = facts, self._clock()


def _later(seen: _Seen | None, stored: _Seen | None) -> _Seen | None:
    """Return the later of what this process and any process has seen."""
    if seen is None or stored is None:
        return seen or stored
    return seen if seen.at >= stored.at else stored
