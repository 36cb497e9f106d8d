"""Run the named benchmarks, or all. Print and save the results. Exit 1 if a benchmark failed."""

import os
import sys
import time

from bench.batch import batch
from bench.capacity import capacity
from bench.debian import fetch_missing
from bench.faces import faces
from bench.fleet import fleet
from bench.growth import growth
from bench.hits import hits, store_copies
from bench.ledger import ledger_command
from bench.misses import cold_page, proxied, warm_page
from bench.network import network
from bench.programs import stage
from bench.purge import purge
from bench.results import Report
from bench.signing import signing
from bench.sizes import sizes
from bench.start import start
from bench.store import entries
from bench.streams import streams
from bench.trail import trail

SCENARIOS = {
    "hits": hits,
    "store-copies": store_copies,
    "miss": proxied,
    "cold-page": cold_page,
    "warm-page": warm_page,
    "faces": faces,
    "entries": entries,
    "batch": batch,
    "purge": purge,
    "fleet": fleet,
    "ledger": ledger_command,
    "growth": growth,
    "sizes": sizes,
    "start": start,
    "network": network,
    "trail": trail,
    "streams": streams,
    "capacity": capacity,
    "signing": signing,
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in SCENARIOS]
    if unknown:
        print(f"no such benchmark: {unknown[0]}; there are {', '.join(SCENARIOS)}")
        return 2
    seconds = float(os.environ.get("BENCH_SECONDS", "3"))
    rounds = int(os.environ.get("BENCH_ROUNDS", "3"))
    report, failures = Report(), 0
    if missing := fetch_missing():
        report.note(f"left out, no package or no root: {', '.join(missing)}")
    for name in names or SCENARIOS:
        print(f"{name} …", flush=True)
        started_at = time.monotonic()
        try:
            with stage() as place:
                SCENARIOS[name](place, report, seconds, rounds)
        except Exception as error:
            failures += 1
            report.note(f"{name} failed: {type(error).__name__}: {error}")
        print(f"  ({time.monotonic() - started_at:.0f} s)", flush=True)
    print(f"saved in {report.save('part' if names else 'latest').parent}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
