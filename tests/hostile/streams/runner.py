"""Play many cases on several threads; keep the smallest case of each failure."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from tests.hostile.streams.oracle import Client, Violation, origin, violations_of
from tests.hostile.streams.script import Case
from tests.hostile.streams.server import ScriptedServer
from tests.hostile.streams.shrink import shrunk

WORKERS = 6
_MOST_FAILURES = 40


@dataclass
class Report:
    """The result of a run: streams by class, and one small case for each kind of failure."""

    streams: Counter[str] = field(default_factory=Counter)
    violations: Counter[str] = field(default_factory=Counter)
    failures: dict[tuple[str, str], tuple[Case, list[Violation]]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    took_s: float = 0.0

    @property
    def total(self) -> int:
        return self.streams.total()

    def classes(self) -> str:
        """Return the number of streams by class, the most frequent first."""
        lines = [f"{count:8} {name}" for name, count in self.streams.most_common()]
        return "\n".join([*lines, f"{self.total:8} streams in {self.took_s:.0f} s"])

    def __str__(self) -> str:
        lines = []
        for case, found in self.failures.values():
            lines += [*(str(each) for each in found), str(case), ""]
        lines += [f"{count:8} {kind}" for kind, count in self.violations.most_common()]
        return "\n".join(lines + self.errors)


def play(
    cases: Iterable[Case], client: Callable[[str], Client] = origin, workers: int = WORKERS
) -> Report:
    """Play every case once; shrink the failing ones."""
    report, rest, lock = Report(), iter(cases), threading.Lock()
    started = time.monotonic()
    threads = [
        threading.Thread(target=_work, args=(rest, client, lock, report), name="streams")
        for _ in range(workers)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    report.took_s = time.monotonic() - started
    return report


def _work(
    cases: Iterator[Case],
    client: Callable[[str], Client],
    lock: threading.Lock,
    report: Report,
) -> None:
    with ScriptedServer() as server:

        def violations(case: Case) -> list[Violation]:
            return violations_of(case, server, client)

        while True:
            with lock:
                case = next(cases, None)
            if case is None:
                break
            found = violations(case)
            with lock:
                _count(case, found, report)
                new = [each for each in found if _key(each) not in report.failures]
                if len(report.failures) >= _MOST_FAILURES:
                    new = []
                for each in new:
                    report.failures[_key(each)] = (case, found)
            for each in new:
                smaller = shrunk(case, _key(each), violations)
                with lock:
                    if smaller:
                        report.failures[_key(each)] = smaller
                    else:
                        report.errors.append(f"did not repeat: {each}, case {case.name}")
    with lock:
        report.errors += [f"error in the scripted upstream: {each!r}" for each in server.errors]


def _count(case: Case, found: list[Violation], report: Report) -> None:
    for exchanges in case.callers:
        report.streams.update(each.script.stream_class for each in exchanges)
    report.violations.update({f"{each.kind} [{each.stream}]" for each in found})


def _key(violation: Violation) -> tuple[str, str]:
    return violation.kind, violation.stream
