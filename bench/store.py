"""Compares the cost of get and set in the embedded store with a million and a thousand entries."""

import os
import random
import sqlite3
import statistics
import time
from pathlib import Path

from bench.programs import Stage
from bench.results import Report
from portal.gateway.sqlite_cache import SQLiteCache, entry_id

SMALL = 1_000
LARGE = int(os.environ.get("BENCH_ENTRIES", "1000000"))
VALUE = 1_000
OPERATIONS = 3_000
TURNS = 5  # in each round, because one turn is very short


def entries(stage: Stage, report: Report, seconds: float, rounds: int) -> None:
    del seconds
    stores = {}
    for size in (SMALL, LARGE):
        folder = stage.folder(f"store-{size}")
        stores[size] = SQLiteCache(folder / "cache.sqlite")
        stores[size].set(_key(0), b"x" * VALUE, 86_400)
        _fill(folder / "cache.sqlite", size)
    generator = random.Random(7)
    for kind in ("get", "set"):
        costs: dict[int, list[float]] = {SMALL: [], LARGE: []}
        sweeps: dict[int, list[float]] = {SMALL: [], LARGE: []}
        for _ in range(rounds * TURNS):
            for size, store in stores.items():
                costs[size].append(_cost_us(store, kind, size, generator))
                sweeps[size].append(_sweep_us(store))
        report.compare(
            f"the store's {kind} among {LARGE:,} entries over {SMALL:,}",
            costs[LARGE],
            costs[SMALL],
            "µs",
            1.5,
            "at most",
        )
    medians = ", ".join(f"{size:,} {statistics.median(each):.0f}" for size, each in sweeps.items())
    report.note(f"the sweep after it (a thread's own, once a second), µs an entry set: {medians}")


def _sweep_us(store: SQLiteCache) -> float:
    """Return the cost of deleting expired entries, in µs per preceding get or set.

    In the portal, a separate thread runs this sweep.
    """
    started = time.perf_counter()
    store.sweep()
    return (time.perf_counter() - started) / OPERATIONS * 1e6


def _cost_us(store: SQLiteCache, kind: str, size: int, generator: random.Random) -> float:
    keys = [_key(generator.randrange(size)) for _ in range(OPERATIONS)]
    value = generator.randbytes(VALUE)
    started = time.perf_counter()
    for key in keys:
        if kind == "get":
            assert store.get(key)
        else:
            store.set(key, value, 86_400)
    return (time.perf_counter() - started) / OPERATIONS * 1e6


def _key(number: int) -> str:
    """Return the pseudo-random key of a number, in the portal's format (24 and 40 hex digits)."""
    spread = random.Random(number).getrandbits(256)
    return f"{spread:064x}"[:24] + ":" + f"{spread:064x}"[24:]


def _fill(path: Path, size: int) -> None:
    """Insert entries in bulk, because filling the store is not measured."""
    expires_at = time.time() + 86_400
    rows = sorted((entry_id(key), key) for key in map(_key, range(size)))
    with sqlite3.connect(path) as db:
        db.executemany(
            "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, 0, ?)",
            ((number, key, expires_at, random.randbytes(VALUE)) for number, key in rows),
        )
    db.close()
