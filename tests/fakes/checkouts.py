"""Finds threads that check out a second connection of a pool while they hold one.

If as many threads as the pool has connections hold one each, and each waits for a second one, all
of them wait until the time-out.
"""

import sys
import threading
import traceback
from pathlib import Path
from typing import Any

from sqlalchemy import event
from sqlalchemy.pool import NullPool, Pool, StaticPool

ROOT = Path(__file__).resolve().parents[2]
_CODE, _TESTS = f"{ROOT / 'portal'}/", f"{ROOT / 'tests'}/"
_OPEN_CONNECTIONS = {
    str(ROOT / "portal" / "storage" / name) for name in ("sqlite.py", "postgresql.py")
}

_lock = threading.Lock()
_held: dict[Any, tuple[int, Pool]] = {}
_found: list[str] = []


def install() -> None:
    """Watch all pools of this process."""
    event.listen(Pool, "checkout", _checked_out)
    event.listen(Pool, "checkin", _returned)
    event.listen(Pool, "invalidate", _returned)


def take_found() -> list[str]:
    """Return where a thread has taken a second connection since the last call."""
    with _lock:
        found, _found[:] = list(_found), []
        return found


def _checked_out(_connection: object, record: object, fairy: Any) -> None:
    pool: Pool = fairy._pool
    if isinstance(pool, NullPool | StaticPool) or not _is_for_the_portal():
        return
    holder = threading.get_ident(), pool
    with _lock:
        if any(other is not record and held == holder for other, held in _held.items()):
            _found.append("".join(traceback.format_stack(limit=30)))
        _held[record] = holder


def _returned(_connection: object, record: object, *_: object) -> None:
    with _lock:
        _held.pop(record, None)


def _is_for_the_portal() -> bool:
    """Return whether the portal's code, and not a test's own, takes the connection."""
    frame = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_CODE) and file not in _OPEN_CONNECTIONS:
            return True
        if file.startswith(_TESTS) and file != __file__:
            return False
        frame = frame.f_back  # type: ignore[assignment]
    return True
