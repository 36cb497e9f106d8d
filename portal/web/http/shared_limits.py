"""Counts for rate limits in memory that a server's workers share.

The module is imported only if a limit is used, because it loads the library ``limits``.
"""

import hashlib
import time
from typing import Final

from limits.storage import Storage

from portal.system.shared_counters import SharedCounters

# A place holds the hash of a key, the key's count, and the end of the key's window in epoch
# seconds. A key has _PROBED possible places, beginning at its hash.
_NUMBERS: Final = 3
_PROBED: Final = 16
_HASH_BITS: Final = 53  # a double holds an integer of 53 bits exactly


class SharedStorage(Storage):
    """A storage of the library ``limits`` in ``counters``, of which three numbers count one window.

    If all places of a new key hold keys whose windows have not ended, the new key replaces the key
    whose window ends first.
    """

    STORAGE_SCHEME = ["shared"]  # noqa: RUF012 the base class declares it like this

    def __init__(self, counters: SharedCounters) -> None:
        super().__init__()
        self._counters = counters
        self._numbers = counters.numbers
        self._most = len(counters.numbers) // _NUMBERS

    @property
    def base_exceptions(self) -> type[Exception]:
        return OSError

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        now, name, places = time.time(), _name(key), self._places(key)
        numbers = self._numbers
        with self._counters.locked():
            place = self._place(name, places, now)
            if place is None:
                place = min(places, key=lambda candidate: numbers[candidate + 2])
                numbers[place], numbers[place + 1], numbers[place + 2] = name, 0, now + expiry
            numbers[place + 1] += amount
            return int(numbers[place + 1])

    def get(self, key: str) -> int:
        with self._counters.locked():
            place = self._place(_name(key), self._places(key), time.time())
            return 0 if place is None else int(self._numbers[place + 1])

    def get_expiry(self, key: str) -> float:
        now = time.time()
        with self._counters.locked():
            place = self._place(_name(key), self._places(key), now)
            return now if place is None else self._numbers[place + 2]

    def clear(self, key: str) -> None:
        with self._counters.locked():
            place = self._place(_name(key), self._places(key), time.time())
            if place is not None:
                self._numbers[place + 2] = 0

    def check(self) -> bool:
        return True

    def reset(self) -> int | None:
        raise NotImplementedError

    def _places(self, key: str) -> list[int]:
        first = _hash(key) >> _HASH_BITS
        return [(first + step) % self._most * _NUMBERS for step in range(_PROBED)]

    def _place(self, name: float, places: list[int], now: float) -> int | None:
        """Return the place of a key whose window has not ended, or None."""
        for place in places:
            if self._numbers[place] == name and self._numbers[place + 2] > now:
                return place
        return None


def _name(key: str) -> float:
    return float(_hash(key) % 2**_HASH_BITS)


def _hash(key: str) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:12])
