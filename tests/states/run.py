"""State shared by the histories of a run: time left, totals, violations."""

import time
from collections import Counter
from dataclasses import dataclass, field


@dataclass
class Totals:
    """Counts over all histories of a run."""

    rules: Counter[str] = field(default_factory=Counter)
    lookups: int = 0
    pages: int = 0
    calls: int = 0
    histories: int = 0
    late: int = 0  # failures that a slow machine may have caused


class Run:
    """The clock, the totals and the violations of a run."""

    def __init__(self, seconds: float) -> None:
        self.ends_at = time.monotonic() + seconds
        self.totals = Totals()
        self.found: dict[str, list[str]] = {}  # descriptions of the violations, by invariant

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self.ends_at

    def __str__(self) -> str:
        done = self.totals
        rules = ", ".join(f"{name} {count}" for name, count in sorted(done.rules.items()))
        broken = ", ".join(f"{promise} ({len(each)})" for promise, each in self.found.items())
        return (
            f"{done.histories} histories, {done.rules.total()} steps ({rules}), "
            f"{done.lookups} lookups, {done.pages} pages, {done.calls} upstream calls; "
            f"{done.late} failures too late to judge; broken: {broken or 'nothing'}"
        )

    def keep(self, promise: str, story: str) -> None:
        self.found.setdefault(promise, []).append(story)
