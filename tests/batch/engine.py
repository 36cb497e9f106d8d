"""A batch engine for tests: real components and a stub upstream."""

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from portal.access.tokens import Identity
from portal.batch.batches import Batches
from portal.batch.item_leases import ItemLeases
from portal.batch.model import Batch
from portal.batch.pricing import BatchPricing, missing_price
from portal.batch.rows import Access
from portal.batch.runner import BatchRunner
from portal.batch.typed_list import Subject, read_strings
from portal.gateway.gateway import Gateway
from portal.gateway.lookup import Lookup, Served
from portal.storage.database import Database
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import parse_subject
from tests.fakes import Clock
from tests.fakes.closing import closed_later
from tests.fakes.databases import kept_open
from tests.fakes.one_tenant import subject_keys
from tests.gateway.gateways import FRESH_S, SECRET, STALE_S, Bench, StubUpstream, bench

OWNER = "owner"
IDENTITY = Identity("ana", OWNER, OWNER, frozenset(LOOKUPS))


def plates(count: int, prefix: str = "AAA") -> list[str]:
    return [
        f"{prefix}{number // 1000}{'ABCDEFGHIJ'[number // 100 % 10]}{number % 100:02}"
        for number in range(count)
    ]


@dataclass
class BatchEngine:
    """One process's batches. Two engines on one folder act as two processes.

    ``leases(holder)`` returns the leases of another process, which has no runner.
    """

    bench: Bench
    database: Database
    batches: Batches
    runner: BatchRunner
    clock: Clock
    leases: Callable[..., ItemLeases]
    identity: Identity = IDENTITY

    def create(
        self, texts: Sequence[object], ask: tuple[LookupName, ...] = ("decode",), owner: str = OWNER
    ) -> str:
        return self.pricing.create(owner, self.identity, ask, read_strings(texts))

    def start(self, batch: str, max_cost: Decimal | None = None) -> None:
        self.pricing.start(batch, OWNER, self.identity, max_cost)

    def retry(self, batch: str, texts: Sequence[str], max_cost: Decimal | None = None) -> None:
        subjects = [parse_subject(text) for text in texts]
        self.pricing.retry(batch, OWNER, self.identity, subjects, max_cost)

    @property
    def pricing(self) -> BatchPricing:
        return BatchPricing(self.batches, self.bench.gateway, self.clock)

    def get(self, batch: str) -> Batch:
        return self.batches.get(batch, OWNER)

    def run(self, batch: str, timeout_s: float = 60) -> Batch:
        """Call the runner's ``tick`` until the batch stops and no item is in progress."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            self.runner.tick()
            time.sleep(0.005)
            found = self.get(batch)
            if found.state != "running" and not found.active and not self.runner.active:
                return found
        raise AssertionError(f"still {self.get(batch)}")

    def spent(self, batch: str) -> Decimal | None:
        return self.get(batch).cost.spent


@dataclass(frozen=True)
class Background:
    """Authenticates as a test says, looks up, and stores no rows."""

    identify: Callable[[Access], Identity]
    gateway: Gateway

    def fetch(self, lookup: Lookup, identity: Identity) -> Served:
        return self.gateway.fetch(lookup, identity)

    def price(
        self, subject: Subject, ask: Sequence[LookupName], identity: Identity, enough: Decimal
    ) -> Decimal | None:
        return missing_price(self.gateway, subject, ask, identity, enough)

    def row(self, *_: object) -> None:
        return None


def engine_of(
    folder: Path,
    clock: Clock,
    upstream: StubUpstream | None = None,
    *,
    database: Database | None = None,
    concurrency: int = 8,
    daily_limit: int = 0,
    identify: Callable[[Access], Identity] = lambda _: IDENTITY,
    fresh_s: int = FRESH_S,
    stale_s: int = STALE_S,
) -> BatchEngine:
    database = database or kept_open(None, folder)
    one = bench(
        *(folder, clock, upstream),
        daily_limit=daily_limit,
        fresh_s=fresh_s,
        stale_s=stale_s,
        database=database,
    )
    keys = subject_keys(SECRET, one.store.tag)
    rows = (database, keys, one.gateway.retention_s, clock)
    batches = Batches(*rows)

    def leases(holder: str = "", limit: int = concurrency) -> ItemLeases:
        return ItemLeases(*rows, concurrency=limit, holder=holder or secrets.token_hex(8))

    background = Background(identify, one.gateway)
    runner = BatchRunner(leases(), background, wait=clock.advance)
    runner = closed_later(runner, BatchRunner.stop)
    return BatchEngine(one, database, batches, runner, clock, leases)
