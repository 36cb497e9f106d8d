"""A bounded, byte-counted process memory of sealed answers, the least recently used leave first."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

BELIEVED_S = 1.0
_OVERHEAD = 200  # bytes a key, its tuple and its slot take beside the value


class Memory:
    """``recent`` is an entry put or confirmed within the last second; ``any`` whatever is held."""

    def __init__(self, capacity_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity = capacity_bytes
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, tuple[float, bytes]] = OrderedDict()
        self.size_bytes = 0

    def keep(self, key: str, sealed: bytes) -> None:
        with self._lock:
            self._drop(key)
            self._entries[key] = (self._clock(), sealed)
            self.size_bytes += len(sealed) + _OVERHEAD
            while self.size_bytes > self._capacity and self._entries:
                self._drop(next(iter(self._entries)))

    def recent(self, key: str) -> bytes | None:
        entry = self._entries.get(key)
        if entry is None or self._clock() - entry[0] > BELIEVED_S:
            return None
        return entry[1]

    def any(self, key: str) -> bytes | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[1]

    def forget(self, key: str) -> None:
        with self._lock:
            self._drop(key)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self.size_bytes = 0

    def _drop(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.size_bytes -= len(entry[1]) + _OVERHEAD
