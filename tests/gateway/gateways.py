"""A gateway for tests: real components and a stub upstream."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import cast

from portal.access.tokens import Identity
from portal.gateway.backend import Backend
from portal.gateway.envelope import Seal
from portal.gateway.gateway import Gateway
from portal.gateway.ledger import Ledger
from portal.gateway.local_cache import LocalCache
from portal.gateway.lookup import CacheStatus, Failure, Lookup, Observer, Served, Spend
from portal.gateway.operations import DECODE, OPERATIONS, CachePolicy, Policy
from portal.gateway.single_flight import FileLeases, Leases, SingleFlight
from portal.gateway.sqlite_cache import SQLiteCache
from portal.gateway.store import Store
from portal.storage.database import Database
from portal.storage.purge_log import PurgeClock, PurgeLog
from portal.upstream.errors import Failing, Unusable, UpstreamError
from portal.upstream.protocol import Account, Resource, Response
from portal.vehicle.operation_name import OperationName
from portal.vehicle.plate import Plate
from tests import factories
from tests.fakes import Clock
from tests.fakes.closing import closed_later
from tests.fakes.databases import kept_open
from tests.fakes.one_tenant import NAMESPACE, ledger_of
from tests.fakes.purges import log_purge

SECRET = b"the secret of the gateway's tests"


def as_caller(
    name: str,
    daily_limit: int = 0,
    credential: str | None = None,
    batch: str | None = None,
    monthly_budget: Decimal = Decimal(0),
) -> Identity:
    return Identity(
        name, "", "", frozenset(), daily_limit, monthly_budget, credential=credential, batch=batch
    )


CALLER = as_caller("somebody")
MEBIBYTE = 1024 * 1024
MOST_LEASES = 1000
FRESH_S, STALE_S = 1000, 5000


@dataclass
class StubUpstream:
    """An upstream that returns or raises ``answer``, or calls it with the resource.

    Without ``answer`` it returns a valid response.
    """

    answer: Response | Exception | Callable[[Resource], Response] | None = None
    calls: list[Resource] = field(default_factory=list)
    gate: threading.Event | None = None

    def send(self, resource: Resource, account: Account, deadline: float) -> Response:
        attempt = account.begin("primary")
        self.calls.append(resource)
        if self.gate is not None:
            assert self.gate.wait(20)
        try:
            answer = self.answer(resource) if callable(self.answer) else self.answer
        except UpstreamError as error:
            answer = error
        if isinstance(answer, Exception):
            attempt.finish(getattr(answer, "outcome", "maybe"))
            raise answer
        answer = answer or good(resource)
        if answer.status in (200, 400, 404):
            try:
                answer = resource.check(answer)
            except Unusable as error:
                attempt.finish(error.outcome, answer.status)
                raise
        attempt.finish("answered", answer.status)
        return answer


def good(resource: Resource) -> Response:
    plate = resource.path.rpartition("/")[2]
    if "renainf" in resource.path:
        body = factories.renainf_body(factories.fine())
    elif "renajud" in resource.path:
        body = factories.renajud_body(factories.restriction())
    elif "decode" in resource.path:
        body = factories.decode_body(plate)
    else:
        body = factories.report_body()
    return Response(200, body, "primary")


def outcome(ask: Callable[[], Served]) -> str:
    """Return the cache status of the answer, or the kind of the failure."""
    try:
        return ask().cache_status
    except Failure as failure:
        return failure.kind


def failing() -> Exception:
    return Failing(500)


@dataclass
class Bench:
    """A gateway and all its parts."""

    gateway: Gateway
    upstream: StubUpstream
    store: Store
    backend: Backend
    memory: LocalCache
    purge_log: PurgeLog
    ledger: Ledger
    clock: Clock
    ticking: Clock

    @property
    def sqlite(self) -> SQLiteCache:
        """The SQLite backend, which a gateway has unless a test names another one."""
        assert isinstance(self.backend, SQLiteCache)
        return self.backend

    def decode(self, plate: str = "ABC1D23", directive: Spend = Spend.ASKED) -> Served:
        return self.gateway.fetch(decode(plate), CALLER, directive)

    def purge(self, plate: str = "ABC1D23") -> int:
        """Purge the store as the command does, and return how many entries were deleted."""
        tag = self.store.tag(plate)
        (number,) = log_purge(self.purge_log.database, tag, self.store.purged_to())
        return self.store.purge({tag: number})

    def expire_local_cache(self) -> None:
        """Advance the clock beyond the one second for which local entries are current."""
        self.ticking.advance(1.1)


def pass_time(one: Bench, seconds: float) -> None:
    """Advance the clock, and call the store's ``tick`` twice a second as a server does."""
    for _ in range(round(seconds * 2)):
        one.ticking.advance(0.5)
        one.store.tick()


def decode(plate: str = "ABC1D23") -> Lookup:
    return Lookup(DECODE, Plate.parse(plate))


def terms(
    fresh_s: int = FRESH_S, stale_s: int = STALE_S, price: str = "0.30"
) -> dict[OperationName, CachePolicy]:
    return {name: CachePolicy(fresh_s, stale_s, Decimal(price)) for name in OPERATIONS}


def store_of(
    cache: Backend, namespace: str, lifetimes: Mapping[OperationName, CachePolicy] | None = None
) -> Store:
    """Return a store on ``cache`` with an empty purge log, without an observer."""
    purges = PurgeClock(lambda _: {})
    return Store(
        *(cache, Seal(SECRET), LocalCache(10_000, purges.hides), Observer()),
        purges=purges,
        terms=lifetimes or terms(),
        namespace=namespace,
    )


def opened_cache(folder: Path) -> SQLiteCache:
    """Open the folder's cache as a worker process does, until the test ends."""
    return closed_later(SQLiteCache(folder / "cache.sqlite"), SQLiteCache.close)


def bench(
    folder: Path,
    clock: Clock,
    upstream: StubUpstream | None = None,
    *,
    deadline_s: float = 10.0,
    daily_limit: int = 0,
    operator_credential: str | None = "operator",
    leases: Leases | None = None,
    backend: object = None,
    observer: Observer | None = None,
    savings: Callable[[str, CacheStatus, int, str], object] | None = None,
    fresh_s: int = FRESH_S,
    stale_s: int = STALE_S,
    purge_log: PurgeLog | None = None,
    database: Database | None = None,
) -> Bench:
    """Return a gateway with its parts.

    Two benches on one folder act as two worker processes. ``backend`` needs only the
    methods that the test calls.
    """
    upstream = upstream or StubUpstream()
    ticking = Clock(0.0)
    held = cast(Backend, backend or opened_cache(folder))
    database = database or kept_open(None, folder)
    log = purge_log or PurgeLog(database)
    purges = PurgeClock(log.after, ticking)
    memory = LocalCache(MEBIBYTE, purges.hides, ticking)
    store = Store(
        *(held, Seal(SECRET), memory, observer or Observer(), clock),
        purges=purges,
        terms=terms(fresh_s, stale_s),
        namespace=NAMESPACE,
    )
    ledger = ledger_of(database, daily_limit, clock=clock)
    policy = Policy(terms(fresh_s, stale_s), deadline_s, factories.HIDDEN, operator_credential)
    gateway = Gateway(
        upstream,
        store,
        SingleFlight(leases or FileLeases(folder / "leases"), MOST_LEASES),
        ledger,
        policy,
        observer,
        savings or (lambda *_: None),
        clock,
    )
    return Bench(gateway, upstream, store, held, memory, log, ledger, clock, ticking)
