"""The composition root: settings → upstream → gateway → Flask application."""

import os
import secrets
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from flask import Flask

from portal.access import Gatekeeper, History, Identity, Tokens
from portal.batch import LOOKUPS, Access, Batches, BatchRunner
from portal.commands import BatchTools, register_commands
from portal.dossiers import DossierArchive
from portal.gateway import (
    DECODE,
    RENAINF,
    RENAJUD,
    CachePolicy,
    Gateway,
    Ledger,
    LimitedLeases,
    LocalCache,
    Operation,
    PeriodicTask,
    Policy,
    SavingsCounter,
    Scheduler,
    Seal,
    SingleFlight,
    Store,
    cache_backend,
    leases,
    purge_bucket,
    retention_of,
)
from portal.presentation import Issuer, Panels, RenderContext, read_facts
from portal.presentation.panels import Panel
from portal.settings import DAY, Settings, SettingsError
from portal.startup import (
    command_key,
    create_missing_database,
    data_check,
    exit_on_startup_error,
    is_command,
    prepare,
    remove_old_unused_caches,
    server_key,
)
from portal.storage import PurgeLog, is_in_place, open_engine, side_engine
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
from portal.vehicle import Plate, result_of
from portal.web import (
    AccessLogBuffer,
    Dependencies,
    Metrics,
    MetricsAccess,
    RateLimits,
    SamplePlate,
    clear_rendered_pages,
    init_app,
    panels_of,
)

PROJECT_ROOT = Path(__file__).resolve().parents[1]
MEBIBYTE = 1024 * 1024
# The owner of batches that ``flask batch`` makes. The text is no digest, so no token has it.
COMMAND_ACCESS = Access("command")
COMMAND_IDENTITY = Identity("command", COMMAND_ACCESS.digest, frozenset(LOOKUPS))
SPARE_S = 5.0  # longest time of a request outside its lookups, which the deadline bounds


def create_app(
    settings: Settings | None = None,
    shared: Path | None = None,
    panel_threads: int = PANEL_THREADS,
) -> Flask:
    """Build the portal's application.

    Without ``settings`` they are read from the environment, for ``flask --app app``.
    ``shared`` is the directory through which the worker processes of one server share breakers
    and sum their metrics. Without it this process shares nothing. ``panel_threads`` bounds the
    threads that make the lookups of pages.
    """
    if settings is not None:
        return _build(settings, server_key(settings), shared, panel_threads=panel_threads)
    settings = environment_settings()
    with exit_on_startup_error():
        if is_command():
            return _build(settings, command_key(settings), shared, create=False)
        lock = prepare(settings)
        app = _build(settings, server_key(settings), shared)
    app.extensions["data_lock"] = lock
    return app


def _build(
    settings: Settings,
    key: bytes | None,
    shared: Path | None,
    create: bool = True,
    panel_threads: int = PANEL_THREADS,
) -> Flask:
    """Build the application.

    ``key`` is None for a command without a secret key. A random key is used then, because
    nothing that a command signs is kept.
    """
    secret = key or secrets.token_bytes()
    app = Flask(__name__, static_folder=None, template_folder=str(PROJECT_ROOT / "templates"))
    app.secret_key = secret

    # The database is not required now: the main process has set it up, and a worker that is
    # replaced while the database is down must still start.
    engine = open_engine(settings.database_url, settings.data_dir, False, create)
    side = side_engine(engine)
    namespace = settings.namespace
    longest_request_s = settings.deadline + SPARE_S
    origins = _origins(settings)
    breakers = _breakers(settings, origins, shared, longest_request_s)
    policy = _policy(settings)
    metrics = Metrics(breakers, shared)
    savings = SavingsCounter(engine, policy.terms, namespace=namespace)
    backend = cache_backend(app, settings.data_dir, settings.redis_url)
    hit_cache_bytes = settings.edge_memory_mb * MEBIBYTE
    local_cache = LocalCache(hit_cache_bytes - hit_cache_bytes // 8)
    purge_log = PurgeLog(engine)
    store = Store(
        backend,
        Seal(secret),
        local_cache,
        metrics,
        purges_since=purge_log.since,
        retention=retention_of(policy.terms, namespace),
        namespace=namespace,
    )
    ledger = Ledger(
        engine, settings.daily_call_limit, processes=settings.workers, namespace=namespace
    )
    process_leases = leases(backend, settings.data_dir, settings.redis_url)
    flight = SingleFlight[Any](LimitedLeases(process_leases, capacity().lookups))
    gateway = Gateway(
        Failover(breakers or origins), store, flight, ledger, policy, metrics, savings.count
    )
    history = History(side, secret, store.tag, namespace=namespace)
    tokens = Tokens(side, settings.access_tokens, namespace=namespace)
    gatekeeper = Gatekeeper(settings.mode, tokens, secret)
    batches = Batches(
        engine, secret, store.tag, gateway.retention_s, ledger.spent, namespace=namespace
    )
    batch_runner = BatchRunner(
        batches, gateway.fetch, _identifier(gatekeeper), settings.batch_concurrency
    )
    app.extensions["batch_runner"] = batch_runner
    dossiers = DossierArchive(
        engine,
        secret,
        store.tag,
        purge_bucket,
        lifetime_s=settings.dossier_days * DAY,
        namespace=namespace,
    )
    access_log = AccessLogBuffer(gateway, metrics)
    scheduler = Scheduler(
        PeriodicTask(0.25, access_log.write),
        PeriodicTask(0.5, store.tick),
        PeriodicTask(0.5, gateway.count_drift),
        PeriodicTask(1.0, read_facts.cache_clear),
        PeriodicTask(0.5, batch_runner.tick),
        PeriodicTask(60.0, batches.drop_expired),
        PeriodicTask(1.0, clear_rendered_pages),
        PeriodicTask(5.0, savings.flush),
        PeriodicTask(2.0, ledger.settle),
        PeriodicTask(1.0, store.sweep),
        PeriodicTask(60.0, dossiers.drop_expired),
        PeriodicTask(3600.0, ledger.drop_past_counters),
        PeriodicTask(3600.0, history.drop_expired),
        PeriodicTask(3600.0, lambda: remove_old_unused_caches(settings.data_dir)),
    )
    app.extensions["scheduler"] = scheduler
    pool = ThreadPoolExecutor(panel_threads, thread_name_prefix="panel")
    app.extensions["closing"] = _close_stack(
        engine.dispose,
        side.dispose,
        backend.close,
        pool.shutdown,
        batch_runner.stop,
        scheduler.stop,
    )
    init_app(
        app,
        Dependencies(
            gateway=gateway,
            gatekeeper=gatekeeper,
            history=history,
            batches=batches,
            batch_limit=settings.batch_limit,
            allowance=ledger.allowance,
            dossiers=dossiers,
            issuer=_issuer(settings),
            pool=pool,
            samples=_samples(),
            showcases=_showcases if settings.mode == "demo" else tuple,
            secret=secret,
            namespace=namespace,
            hidden_marker=settings.hidden_marker,
            mask_names=settings.mask_names,
            longest_request_s=longest_request_s,
            trusted_proxies=settings.trusted_proxies,
            limits=RateLimits(
                settings.rate_limit_token, settings.rate_limit_address, settings.redis_url
            ),
            static=PROJECT_ROOT / "static",
            hit_cache_bytes=hit_cache_bytes // 8,
            access_log=access_log,
            ready=lambda: store.is_up() and is_in_place(engine),
            metrics=metrics,
            metrics_access=MetricsAccess(settings.metrics_token, settings.trusted_proxies > 0),
        ),
    )
    app.before_request(scheduler.start)
    data = data_check(settings, engine, backend, key, expects_files=not create)
    register_commands(
        app,
        *(tokens, ledger, savings, store, history, dossiers, purge_log, process_leases, data),
        lambda: create_missing_database(settings),
        BatchTools(
            batches=batches,
            runner=batch_runner,
            gateway=gateway,
            identity=COMMAND_IDENTITY,
            access=COMMAND_ACCESS,
            limit=settings.batch_limit,
            panels_of=panels_of(gateway, pool),
            render_context=lambda now: RenderContext(
                now, settings.hidden_marker, settings.mask_names
            ),
            credential_is_missing=settings.mode == "pass-through",
        ),
    )
    return app


def _identifier(gatekeeper: Gatekeeper) -> Callable[[Access], Identity]:
    """Return the function that authenticates the owner of a batch again while it runs."""

    def identify(access: Access) -> Identity:
        if access == COMMAND_ACCESS:
            return COMMAND_IDENTITY
        if access.credential is not None:
            return gatekeeper.authenticate(access.credential)
        return gatekeeper.authenticate_digest(access.digest)

    return identify


def _close_stack(*ends: Callable[[], object]) -> ExitStack:
    """Return a stack that closes an application's resources, the last of ``ends`` first.

    A resource is closed after those that use it. Use the stack if the process outlives the
    application, as in tests.
    """
    closing = ExitStack()
    for end in ends:
        closing.callback(end)
    return closing


def environment_settings() -> Settings:
    """Return the settings from the environment, or exit with a one-line message."""
    try:
        return Settings.from_environment(os.environ, PROJECT_ROOT)
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
    """Return one breaker for each base address.

    The sandbox has none, because its faults belong to plates, not to base addresses.
    """
    kind, count = (
        (PayerBreaker, PAYER_COUNTERS) if settings.mode == "pass-through" else (Breaker, COUNTERS)
    )
    return [
        kind(
            each,
            each.name,
            time.monotonic,
            _shared_counters(shared, each.name, count),
            longest_call_s,
        )
        for each in (origins if settings.mode != "demo" else ())
    ]


def _shared_counters(shared: Path | None, name: str, count: int) -> SharedCounters | None:
    """Return the worker processes' shared counters of a base address, or None."""
    try:
        return SharedCounters(count, shared / f"breaker-{name}") if shared else None
    except OSError:
        return None  # each process has its own counters


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


def _issuer(settings: Settings) -> Issuer | None:
    if settings.issuer_name is None:
        return None
    return Issuer(
        settings.issuer_name,
        settings.issuer_document or "",
        settings.issuer_contact or "",
        settings.issuer_logo or "",
    )


def _showcases() -> Sequence[tuple[Plate, str, Panels]]:
    """Return the demonstration's showcase plates with a caption and the answers of today.

    They do not pass through the gateway, because a list of examples is no lookup of a visitor.
    """
    from portal.sandbox import SHOWCASES, TOKEN, Request, Sandbox, today

    sandbox = Sandbox(today, time.sleep)

    def panel(operation: Operation, plate: Plate) -> Panel:
        path = operation.path_for(plate.text)
        response = sandbox.handle(Request("GET", path, headers={"Authorization": TOKEN}))
        if response.status != 200:
            return Panel("unavailable", cause="unreachable")
        body = response.body
        return Panel("fresh", body, result_of(body), datetime.now(UTC))

    return [
        (plate, caption, Panels(*(panel(one, plate) for one in (DECODE, RENAINF, RENAJUD))))
        for text, caption in SHOWCASES
        for plate in (Plate.parse(text),)
    ]


def _samples() -> Sequence[SamplePlate]:
    from portal.sandbox import SITUATIONS

    return [SamplePlate(each.plate, each.title, each.alone, each.portal) for each in SITUATIONS]
