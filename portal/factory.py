"""The composition root: settings → upstream → gateway → Flask application."""

import os
import secrets
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

from flask import Flask

from portal.access import Gatekeeper, History, Tokens
from portal.commands import register_commands
from portal.gateway import (
    CachePolicy,
    CompositeObserver,
    Gateway,
    Ledger,
    LimitedLeases,
    LocalCache,
    PeriodicTask,
    Policy,
    SavingsCounter,
    Scheduler,
    Seal,
    SingleFlight,
    Store,
    cache_backend,
    leases,
    retention_of,
)
from portal.settings import Settings, SettingsError
from portal.startup import (
    command_key,
    create_missing_database,
    data_check,
    failing_in_one_line,
    is_command,
    prepare,
    remove_old_unused_caches,
    server_key,
)
from portal.storage import PurgeLog, is_in_place, open_engine
from portal.system.capacity import PANEL_THREADS, capacity
from portal.upstream import (
    COUNTERS,
    PAYER_COUNTERS,
    Breaker,
    Failover,
    Origin,
    PayerBreaker,
    SharedCounters,
)
from portal.web import (
    AccessLogBuffer,
    Dependencies,
    Fragments,
    Metrics,
    MetricsAccess,
    RateLimits,
    SamplePlate,
    init_app,
)

HOME = Path(__file__).resolve().parents[1]
MEBIBYTE = 1024 * 1024
SPARE_S = 5.0  # what a request may take beside its lookups, which keep to the deadline


def create_app(settings: Settings | None = None, shared: Path | None = None) -> Flask:
    """The portal, built once from plain values; without ``settings``, for ``flask --app app``.

    ``shared`` is the directory through which the worker processes of one server share breakers
    and add up their numbers; without it this process is alone.
    """
    if settings is not None:
        return _build(settings, server_key(settings), shared)
    settings = environment_settings()
    with failing_in_one_line():
        if is_command():
            return _build(settings, command_key(settings), shared, create=False)
        lock = prepare(settings)
        app = _build(settings, server_key(settings), shared)
    app.extensions["data_lock"] = lock
    return app


def _build(
    settings: Settings, key: bytes | None, shared: Path | None, create: bool = True
) -> Flask:
    """``key`` None: a command's, which needs none; nothing that this one signs is kept."""
    secret = key or secrets.token_bytes()
    app = Flask(__name__, static_folder=None, template_folder=str(HOME / "templates"))
    app.secret_key = secret

    # Set up by main() already: a worker that is replaced while it is away must not die of it.
    engine = open_engine(settings.database_url, settings.data_dir, False, create)
    namespace = settings.namespace
    longest_request_s = settings.deadline + SPARE_S
    origins = _origins(settings)
    breakers = _breakers(settings, origins, shared, longest_request_s)
    policy = _policy(settings)
    metrics = Metrics(breakers, shared)
    tally = SavingsCounter(engine, policy.terms, namespace=namespace)
    observer = CompositeObserver(metrics, tally)
    backend = cache_backend(app, settings.data_dir, settings.redis_url)
    edge_bytes = settings.edge_memory_mb * MEBIBYTE
    memory = LocalCache(edge_bytes - edge_bytes // 8)
    fragments = Fragments(longest_request_s) if edge_bytes else Fragments(longest_request_s, most=0)
    purge_log = PurgeLog(engine)
    store = Store(
        backend,
        Seal(secret),
        memory,
        observer,
        purged=fragments.purged,
        purges_since=purge_log.since,
        retention=retention_of(policy.terms, namespace),
        namespace=namespace,
    )
    ledger = Ledger(
        engine, settings.daily_call_limit, processes=settings.workers, namespace=namespace
    )
    held = leases(backend, settings.data_dir, settings.redis_url)
    flight = SingleFlight[Any](LimitedLeases(held, capacity().lookups))
    gateway = Gateway(Failover(breakers or origins), store, flight, ledger, policy, observer)
    history = History(engine, secret, store.tag, namespace=namespace)
    access_log = AccessLogBuffer(gateway, metrics)
    scheduler = Scheduler(
        PeriodicTask(0.25, access_log.write),
        PeriodicTask(0.5, store.tick),
        PeriodicTask(0.5, fragments.tick),
        PeriodicTask(30.0, fragments.forget),
        PeriodicTask(5.0, tally.flush),
        PeriodicTask(2.0, ledger.settle),
        PeriodicTask(1.0, store.sweep),
        PeriodicTask(3600.0, ledger.drop_past_counters),
        PeriodicTask(3600.0, history.drop_expired),
        PeriodicTask(3600.0, lambda: remove_old_unused_caches(settings.data_dir)),
    )
    app.extensions["housekeeper"] = scheduler
    pool = ThreadPoolExecutor(PANEL_THREADS, thread_name_prefix="panel")
    app.extensions["closing"] = _closing(
        engine.dispose, backend.close, pool.shutdown, scheduler.stop
    )
    tokens = Tokens(engine, settings.access_tokens, namespace=namespace)
    init_app(
        app,
        Dependencies(
            gateway=gateway,
            gatekeeper=Gatekeeper(settings.mode, tokens, secret),
            history=history,
            pool=pool,
            samples=_samples(),
            secret=secret,
            namespace=namespace,
            hidden_marker=settings.hidden_marker,
            mask_names=settings.mask_names,
            longest_request_s=longest_request_s,
            trusted_proxies=settings.trusted_proxies,
            limits=RateLimits(
                settings.rate_limit_token, settings.rate_limit_address, settings.redis_url
            ),
            static=HOME / "static",
            edge_bytes=edge_bytes // 8,
            access_log=access_log,
            fragments=fragments,
            ready=lambda: store.is_up() and is_in_place(engine),
            metrics=metrics,
            metrics_access=MetricsAccess(settings.metrics_token, settings.trusted_proxies > 0),
        ),
    )
    app.before_request(scheduler.start)
    data = data_check(settings, engine, backend, key, expects_files=not create)
    register_commands(
        app,
        *(tokens, ledger, tally, store, history, purge_log, held, data),
        lambda: create_missing_database(settings),
    )
    return app


def _closing(*ends: Callable[[], object]) -> ExitStack:
    """What ends an application whose process goes on, the last first: users after what they use."""
    closing = ExitStack()
    for end in ends:
        closing.callback(end)
    return closing


def environment_settings() -> Settings:
    """The operator's settings, or the end with one clear line."""
    try:
        return Settings.from_environment(os.environ, HOME)
    except SettingsError as error:
        sys.exit(f"dossie-veicular: {error}")


def _origins(settings: Settings) -> Sequence[Origin]:
    limits = (settings.connect_timeout, settings.first_byte_timeout)
    if settings.upstream_url is None:
        from portal.sandbox import Sandbox, SandboxTransport, today

        sandbox = Sandbox(today, time.sleep)
        return [
            Origin(
                role,
                f"http://{role}.sandbox.invalid",
                *limits,
                transport=lambda _, role=role: SandboxTransport(sandbox, role),  # type: ignore[misc]
            )
            for role in ("primary", "secondary")
        ]
    addresses = {"primary": settings.upstream_url, "secondary": settings.upstream_secondary_url}
    return [Origin(name, url, *limits) for name, url in addresses.items() if url]


def _breakers(
    settings: Settings, origins: Sequence[Origin], shared: Path | None, longest_call_s: float
) -> Sequence[Breaker | PayerBreaker]:
    """One a base address; none for the sandbox, whose faults are a plate's, never an address's."""
    kind, count = (
        (PayerBreaker, PAYER_COUNTERS) if settings.mode == "pass-through" else (Breaker, COUNTERS)
    )
    return [
        kind(each, each.name, time.monotonic, _cells(shared, each.name, count), longest_call_s)
        for each in (origins if settings.mode != "demo" else ())
    ]


def _cells(shared: Path | None, name: str, count: int) -> SharedCounters | None:
    """What the worker processes know together of a base address."""
    try:
        return SharedCounters(count, shared / f"breaker-{name}") if shared else None
    except OSError:
        return None  # each process for itself


def _policy(settings: Settings) -> Policy:
    terms = {
        name: CachePolicy(
            fresh_s=getattr(settings, f"fresh_{name}"),
            stale_s=getattr(settings, f"stale_{name}"),
            price=getattr(settings, f"price_{name}"),
        )
        for name in ("decode", "renainf", "renajud", "report")
    }
    credential = settings.upstream_token
    if settings.mode == "demo":
        from portal.sandbox import TOKEN

        credential = TOKEN
    return Policy(cast(Any, terms), settings.deadline, settings.hidden_marker, credential)


def _samples() -> Sequence[SamplePlate]:
    from portal.sandbox import SITUATIONS

    return [SamplePlate(each.plate, each.title, each.alone, each.portal) for each in SITUATIONS]
