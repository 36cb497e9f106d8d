"""What was read and drawn of an answer a moment ago: a page shown again costs no drawing again.

Everything here is made of an answer's bytes alone and found by them, so a page never shows what
the store no longer holds. ``forget`` is called every half minute, so nothing outlives its
retention in memory, and with every purge of the store.
"""

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from markupsafe import Markup

from portal.presentation import read_facts
from portal.presentation.glossary_links import glossed

MOST: Final = 64  # at 60 kB of markup each


class Fragments:
    """Markup by the object it was drawn from; ``most`` 0 keeps nothing at hand.

    ``longest_request_s``: for how long after a purge a page may still be drawn of what its
    request had read before.
    """

    def __init__(
        self,
        longest_request_s: float = 30.0,
        most: int = MOST,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = most
        self._longest_request_s = longest_request_s
        self._clock = clock
        self._purged_until = -math.inf
        self._drawn: OrderedDict[int, tuple[object, Markup]] = OrderedDict()
        self._change = threading.Lock()

    def remembered(self, subject: object, caller: Callable[[], Markup]) -> Markup:
        """``{% call remembered(subject) %}``: the block, drawn once a subject.

        The very same object is meant, not an equal one: to compare would cost what is saved.
        """
        if not self._most:
            self.forget()
            return caller()
        held = self._drawn.get(id(subject))
        if held is not None and held[0] is subject:
            return held[1]
        markup = caller()
        with self._change:
            self._drawn[id(subject)] = subject, markup
            while len(self._drawn) > self._most:
                self._drawn.popitem(last=False)
        return markup

    def purged(self) -> None:
        """The store was purged: let go of everything, and again of what late pages leave here."""
        self._purged_until = self._clock() + self._longest_request_s
        self.forget()

    def tick(self) -> None:
        """Twice a second: see ``purged``."""
        if self._clock() <= self._purged_until:
            self.forget()

    def forget(self) -> None:
        with self._change:
            self._drawn.clear()
        read_facts.cache_clear()
        glossed.cache_clear()
