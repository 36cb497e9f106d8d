"""``python -m bench.streams [ARCHIVES TABLES [SENDERS]]``: long responses that no client reads.

Prints, for one sender and for 50, the times of ``/healthz`` and of a hit, idle and beside the
responses, the time of a person's PDF, and the worker's memory and temporary files; then what the
worker holds 75 s later.
"""

import sys
import time
from collections.abc import Sequence

from tests.outages.unread_responses import HIT, Readers


def measure(senders: int, archives: int, tables: int, seconds: float = 20) -> None:
    with Readers(senders) as readers:
        print(f"\n{senders} senders, {archives} archives, {tables} tables", flush=True)
        for path in ("/healthz", HIT):
            print(f"  idle {path}: {readers.timed(path, seconds / 2)}")
        print(f"  idle: a person's PDF {readers.pdf_s():.1f} s; {readers.held()}", flush=True)
        with readers.unread(archives, tables):
            began = time.monotonic()
            print(f"  beside, first 5 s: /healthz: {readers.timed('/healthz', 5)}", flush=True)
            for path in ("/healthz", HIT):
                print(f"  beside {path}: {readers.timed(path, seconds)}")
            pdfs = ", ".join(f"{readers.pdf_s():.1f}" for _ in range(4))
            print(f"  beside: a person's PDFs {pdfs} s; {readers.held()}", flush=True)
            time.sleep(max(0, 75 - (time.monotonic() - began)))
            since_s = time.monotonic() - began
            print(f"  {since_s:.0f} s after the requests: {readers.held()}", flush=True)
        time.sleep(2)
        print(f"  after all have left: {readers.held()}", flush=True)


def main(words: Sequence[str]) -> None:
    archives, tables, *senders = map(int, words or ("700", "50"))
    for each in senders or (1, 50):
        measure(each, archives, tables)


if __name__ == "__main__":
    main(sys.argv[1:])
