"""Short requests beside 700 archives and 50 tables that no client reads, of one sender and of 50.

``python -m bench.streams [ARCHIVES TABLES [SENDERS]]`` prints the times of one run, of a
person's PDFs too, what the worker holds, and what it holds 75 s later.
"""

import sys
import time
from collections.abc import Sequence

from bench.programs import Stage
from bench.results import Report
from tests.outages.unread_responses import HIT, Answered, Readers

ARCHIVES, TABLES, SENDERS = 700, 50, (1, 50)
PATHS = ("/healthz", HIT)
WINDOW_S = 30.0
FREED_S = 75.0


def streams(_: Stage, report: Report, seconds: float, rounds: int) -> None:
    """Compare the 99th percentiles beside the files with those of the idle portal.

    The window begins with the requests. The idle portal is measured before and after, in windows of
    the same length, because other programs of the machine slow both.
    """
    window_s = max(WINDOW_S, seconds)
    for senders in SENDERS:
        beside: dict[str, list[float]] = {path: [] for path in PATHS}
        idle: dict[str, list[float]] = {path: [] for path in PATHS}
        pdfs: list[float] = []
        with Readers(senders) as readers:
            for _turn in range(rounds):
                before = readers.timed(PATHS, window_s / 2)
                with readers.unread(ARCHIVES, TABLES):
                    during = readers.timed(PATHS, window_s)
                    pdfs.append(readers.pdf_s())
                    held = readers.held()
                time.sleep(2)
                after = readers.timed(PATHS, window_s / 2)
                for path in PATHS:
                    beside[path].append(during[path].p99_s * 1000)
                    idle[path].append(_both(before[path], after[path]).p99_s * 1000)
        for path in PATHS:
            report.compare(
                f"p99 of {path} beside unread files of {senders} senders",
                *(beside[path], idle[path], "ms", 2.0, "at most"),
            )
        report.note(f"{senders} senders: a person's PDFs in {max(pdfs):.1f} s at most; {held}")


def _both(first: Answered, second: Answered) -> Answered:
    return Answered([*first.times_s, *second.times_s], first.failed + second.failed)


def measure(senders: int, archives: int, tables: int) -> None:
    with Readers(senders) as readers:
        print(f"\n{senders} senders, {archives} archives, {tables} tables", flush=True)
        _print("idle", readers.timed(PATHS, WINDOW_S / 2))
        print(f"  idle: a person's PDF {readers.pdf_s():.1f} s; {readers.held()}", flush=True)
        with readers.unread(archives, tables):
            began = time.monotonic()
            _print("beside, first 5 s:", readers.timed(PATHS, 5))
            _print("beside", readers.timed(PATHS, WINDOW_S - 5))
            pdfs = ", ".join(f"{readers.pdf_s():.1f}" for _ in range(4))
            print(f"  beside: a person's PDFs {pdfs} s; {readers.held()}", flush=True)
            time.sleep(max(0, FREED_S - (time.monotonic() - began)))
            since_s = time.monotonic() - began
            print(f"  {since_s:.0f} s after the requests: {readers.held()}", flush=True)
        time.sleep(2)
        print(f"  after all have left: {readers.held()}", flush=True)


def _print(when: str, found: dict[str, Answered]) -> None:
    for path, answered in found.items():
        print(f"  {when} {path}: {answered}", flush=True)


def main(words: Sequence[str]) -> None:
    archives, tables, *senders = map(int, words or (str(ARCHIVES), str(TABLES)))
    for each in senders or SENDERS:
        measure(each, archives, tables)


if __name__ == "__main__":
    main(sys.argv[1:])
