"""Cache of parsed and rendered answers, for pages that are shown again.

Entries are derived from an answer's bytes alone and found by them, so a page never shows data that
the store no longer holds. ``forget`` runs every 30 s, so that no entry outlives its retention in
memory, and at every purge of the store.
"""

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from markupsafe import Markup

from portal.presentation.glossary_links import glossed

MAX_FRAGMENTS: Final = 64  # about 60 kB of markup each


class Fragments:
    """Rendered markup by source object; ``most`` is the capacity (0: disabled).

    ``longest_request_s`` is the time in seconds after a purge during which a request that read
    its data before the purge may still render it.
    """

    def __init__(
        self,
        longest_request_s: float = 30.0,
        most: int = MAX_FRAGMENTS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = most
        self._longest_request_s = longest_request_s
        self._clock = clock
        self._purged_until = -math.inf
        self._fragments: OrderedDict[int, tuple[object, Markup]] = OrderedDict()
        self._lock = threading.Lock()

    def remembered(self, subject: object, caller: Callable[[], Markup]) -> Markup:
        """The block of ``{% call remembered(subject) %}``, rendered once per subject.

        Subjects are compared by identity, because comparing values would cost what caching saves.
        """
        if not self._most:
            self.forget()
            return caller()
        cached = self._fragments.get(id(subject))
        if cached is not None and cached[0] is subject:
            return cached[1]
        markup = caller()
        with self._lock:
            self._fragments[id(subject)] = subject, markup
            while len(self._fragments) > self._most:
                self._fragments.popitem(last=False)
        return markup

    def purged(self) -> None:
        """Clear the cache after a purge, now and while requests from before it may run."""
        self._purged_until = self._clock() + self._longest_request_s
        self.forget()

    def tick(self) -> None:
        """Clear what requests from before a purge have rendered; called every 0.5 s."""
        if self._clock() <= self._purged_until:
            self.forget()

    def forget(self) -> None:
        with self._lock:
            self._fragments.clear()
        glossed.cache_clear()
