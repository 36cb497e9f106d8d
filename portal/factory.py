"""Builds the upstream client, the gateway and the Flask application."""

import logging
import os
import secrets
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flask import Flask
from sqlalchemy.exc import SQLAlchemyError

from portal.access.gatekeeper import Gatekeeper
from portal.access.history import History
from portal.access.sealing import SubjectKeys
from portal.access.tokens import Identity, Tokens
from portal.batch.batches import Batches
from portal.batch.item_leases import ItemLeases
from portal.batch.rows import Access, BatchRows
from portal.batch.runner import BatchRunner
from portal.batch.turn import Turn
from portal.commands import CREDENTIAL_VARIABLE, BatchTools, register_commands
from portal.dossier.answers import Panel, Panels
from portal.dossiers.archive import DossierArchive
from portal.gateway.backend import purge_bucket
from portal.gateway.backend_choice import cache_backend, leases
from portal.gateway.envelope import Seal
from portal.gateway.gateway import Gateway
from portal.gateway.lease_limit import LimitedLeases
from portal.gateway.ledger import Ledger
from portal.gateway.local_cache import LocalCache
from portal.gateway.lookup import Caller
from portal.gateway.operations import LOOKUP_OPERATIONS, OPERATIONS, CachePolicy, Operation
from portal.gateway.purge_clock import PurgeClock
from portal.gateway.retention import retention_of
from portal.gateway.savings import SavingsCounter
from portal.gateway.single_flight import SingleFlight
from portal.gateway.store import Store
from portal.gateway.upstream_client import Policy
from portal.gateway.usage_report import UsageLog
from portal.presentation.exports.batches import kept_result
from portal.presentation.paper.dossier import Issuer
from portal.presentation.render_context import RenderContext
from portal.presentation.site.public_pages import SamplePlate
from portal.settings import DAY, Settings, SettingsError
from portal.startup import (
    command_key,
    create_missing_database,
    data_check,
    embedded_store,
    exit_on_startup_error,
    former_keys,
    is_command,
    prepare,
    remove_old_unused_caches,
    server_key,
)
from portal.storage.database import database_bytes, is_in_place, open_engine, side_engine
from portal.storage.purge_log import PurgeLog
from portal.system.housekeeping import Housekeeping
from portal.system.open_file_limits import capacity
from portal.system.scheduler import PeriodicTask, Scheduler
from portal.system.shared_counters import SharedCounters
from portal.system.thread_limits import FULL_THREADS, Threads
from portal.system.trace_settings import can_trace, wants_traces
from portal.upstream.breaker import COUNTERS, Breaker
from portal.upstream.errors import NotSent
from portal.upstream.failover import Failover
from portal.upstream.origin import Origin
from portal.vehicle.operation_name import LOOKUPS
from portal.vehicle.plate import Plate
from portal.vehicle.wire import result_of
from portal.web.app_setup import init_app
from portal.web.http.client_address import UNKNOWN_CLIENT
from portal.web.http.rate_limits import LIMIT_COUNTERS, RateLimits
from portal.web.observability.access_log_buffer import AccessLogBuffer
from portal.web.observability.metrics import Metrics, MetricsAccess
from portal.web.services.page_cache import PageCache
from portal.web.services.web import Web

if TYPE_CHECKING:
    from portal.tracing import Tracing

log = logging.getLogger("portal")

PROJECT_ROOT = Path(__file__).resolve().parents[1]
MEBIBYTE = 1024 * 1024
# The owner of the batches that ``flask batch`` creates. All other owners have a hexadecimal digest
# or session id as their name, so none is "command".
COMMAND_ACCESS = Access("command")
COMMAND_IDENTITY = Identity("command", COMMAND_ACCESS.digest, frozenset(LOOKUPS))
# Threads of periodic tasks. A write to the database may wait ten seconds. Neither the store's
# confirmations nor the renewals of a batch's leases may wait as long.
_BATCHES_THREAD = "scheduler-batches"
_SLOW_THREAD = "scheduler-slow"
SPARE_S = 5.0  # seconds that a request may take beyond the deadline of its lookups


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """The options that a process of the server passes to ``create_app``.

    ``shared`` is a directory of files through which the processes of a server share metrics and the
    states of circuit breakers. If ``shared`` is None, each process has its own metrics and states.
    ``/readyz`` answers 503 while ``is_draining`` returns True. ``ask_for_batches`` asks the main
    process to start the batch process (``portal.serving.batch_process``). If ``ask_for_batches`` is
    None, this process runs batches itself. ``batch_holder`` is the name under which the batch
    process leases the items (vehicles) of a batch. In all other processes, ``batch_holder`` is
    None.
    """

    shared: Path | None = None
    threads: Threads = FULL_THREADS
    is_draining: Callable[[], bool] = lambda: False
    ask_for_batches: Callable[[], None] | None = None
    batch_holder: str | None = None


def create_app(settings: Settings | None = None, process: ServerProcess = ServerProcess()) -> Flask:
    """Build the application from ``settings``, or from the environment if ``settings`` is None."""
    if settings is not None:
        return _build(settings, server_key(settings), process)
    settings = environment_settings()
    with exit_on_startup_error():
        if is_command():
            return _build(settings, command_key(settings), process, create=False)
        lock = prepare(settings)
        app = _build(settings, server_key(settings), process)
    app.extensions["data_lock"] = lock
    return app


def _build(
    settings: Settings, key: bytes | None, process: ServerProcess, create: bool = True
) -> Flask:
    """Build the application.

    ``key`` is None only for a command that finds no secret key. The application then uses a random
    key. Commands that need the real key do not run, because DataCheck (``portal.commands``) rejects
    them.
    """
    secret = key or secrets.token_bytes()
    former = tuple(each for each in former_keys(settings) if each != secret)
    app = Flask(__name__, static_folder=None, template_folder=str(PROJECT_ROOT / "templates"))
    app.secret_key = secret

    # The argument ``required`` is False, so that a worker can start while the database is down. The
    # main process has already created the tables.
    engine = open_engine(settings.database_url, settings.data_dir, False, create)
    side = side_engine(engine)
    namespace = settings.namespace
    longest_request_s = settings.deadline + SPARE_S
    turn = Turn()
    origins = _origins(settings, turn.given_up)
    breakers = _breakers(settings, origins, process.shared, longest_request_s)
    policy = _policy(settings)
    ledger = Ledger(engine, settings.daily_call_limit, namespace=namespace)
    metrics = Metrics(
        breakers,
        process.shared,
        workers=settings.workers,
        daily_limit=settings.daily_call_limit,
        calls_left=lambda: ledger.allowance(Caller("")).day,
        is_worker=process.batch_holder is None,
    )
    savings = SavingsCounter(engine, policy.terms, namespace=namespace, observer=metrics)
    backend = cache_backend(
        app, settings.data_dir, settings.redis_url, Seal(secret).keyed_hash("purge log", 16)
    )
    tracing = _tracing(settings) if create else None
    hit_cache_bytes = settings.edge_memory_mb * MEBIBYTE
    purge_log = PurgeLog(side)
    purges = PurgeClock(purge_log.after)
    store = Store(
        tracing.backend(backend) if tracing else backend,
        Seal(secret),
        LocalCache(hit_cache_bytes - hit_cache_bytes // 8, purges.hides),
        metrics,
        purges=purges,
        retention=retention_of(policy.terms),
        namespace=namespace,
        former_seals=[Seal(each) for each in former],
    )
    process_leases = leases(backend, settings.data_dir, settings.redis_url)
    flight = SingleFlight[Any](LimitedLeases(process_leases, capacity().lookups))
    upstream = Failover(breakers or origins)
    gateway = (tracing.gateway if tracing else Gateway)(
        tracing.upstream(upstream) if tracing else upstream,
        *(store, flight, ledger, policy, metrics, savings.count),
    )
    keys = SubjectKeys(secret, store.tag, namespace, former, store.former_tags)
    history = History(side, keys)
    tokens = Tokens(side, settings.access_tokens, namespace=namespace)
    render_context = partial(
        RenderContext, marker=settings.hidden_marker, mask_names=settings.mask_names
    )
    batch_rows = BatchRows(engine, keys, gateway.retention_s)
    batches, item_leases = (
        Batches(batch_rows, wake=process.ask_for_batches or (lambda: None)),
        ItemLeases(batch_rows, settings.batch_concurrency, process.batch_holder),
    )
    dossiers = DossierArchive(engine, keys, purge_bucket, lifetime_s=settings.dossier_days * DAY)
    gatekeeper = Gatekeeper(
        settings.mode,
        tokens,
        secret,
        former,
        partial(_take_over, history=history, batches=batches, dossiers=dossiers),
    )
    batch_runner = BatchRunner(
        item_leases,
        gateway.fetch,
        _identifier(gatekeeper),
        summarise=lambda subject, ask, answers: kept_result(
            subject, ask, answers, render_context(datetime.now(UTC))
        ),
        turn=turn,
    )
    access_log = AccessLogBuffer(gateway, metrics)
    page_cache = PageCache(enabled=hit_cache_bytes > 0)
    scheduler = Scheduler(
        PeriodicTask(0.25, access_log.write),
        PeriodicTask(0.5, store.tick),
        PeriodicTask(0.5, gateway.count_drift),
        PeriodicTask(1.0, page_cache.clear),
        PeriodicTask(1.0, access_log.credit),
        PeriodicTask(1.0, store.sweep),
        PeriodicTask(
            0.5,
            partial(_run_batches, item_leases, batch_runner, process.ask_for_batches),
            _BATCHES_THREAD,
        ),
        PeriodicTask(5.0, savings.flush, _SLOW_THREAD),
        PeriodicTask(2.0, ledger.settle, _SLOW_THREAD),
        PeriodicTask(
            5.0,
            Housekeeping(
                settings.data_dir / "housekeeping",
                PeriodicTask(60.0, batches.drop_expired),
                PeriodicTask(60.0, dossiers.drop_expired),
                PeriodicTask(3600.0, ledger.drop_past_counters),
                PeriodicTask(3600.0, history.drop_expired),
                PeriodicTask(3600.0, lambda: remove_old_unused_caches(settings.data_dir)),
            ).run_due,
            _SLOW_THREAD,
        ),
    )
    app.extensions |= {
        "batch_runner": batch_runner,
        "batches": batches,
        "item_leases": item_leases,
        "scheduler": scheduler,
        "store": store,
    }
    pool: Executor = ThreadPoolExecutor(process.threads.panels, thread_name_prefix="panel")
    if tracing:
        pool = tracing.attach(app, pool)
    closing = app.extensions["closing"] = ExitStack()
    for close in (
        # ExitStack calls these functions in reverse order. Each object is therefore closed before
        # the resources that it uses.
        engine.dispose,
        side.dispose,
        backend.close,
        *([tracing.close] if tracing else []),
        pool.shutdown,
        batch_runner.stop,
        scheduler.stop,
    ):
        closing.callback(close)
    if process.batch_holder is not None:
        return app
    web = Web(
        gateway=gateway,
        gatekeeper=gatekeeper,
        history=history,
        batches=batches,
        batch_limit=settings.batch_limit,
        allowance=ledger.allowance,
        paid=lambda caller, subjects, since: _paid(ledger, keys, caller, subjects, since),
        dossiers=dossiers,
        issuer=_issuer(settings),
        pool=pool,
        samples=_samples(),
        ask_sandbox=lambda *request: _ask_sandbox(*request)[1],
        showcases=_showcases if settings.mode == "demo" else tuple,
        secret=secret,
        former_secrets=former,
        namespace=namespace,
        hidden_marker=settings.hidden_marker,
        mask_names=settings.mask_names,
        longest_request_s=longest_request_s,
        trusted_proxies=settings.trusted_proxies,
        request_threads=process.threads.blocking,
        limits=RateLimits(
            settings.rate_limit_token,
            settings.rate_limit_address,
            settings.redis_url,
            _shared_counters(process.shared, "limits", LIMIT_COUNTERS),
        ),
        cors_origins=settings.cors_origins,
        static=PROJECT_ROOT / "static",
        hit_cache_bytes=hit_cache_bytes // 8,
        page_cache=page_cache,
        access_log=access_log,
        ready=lambda: not process.is_draining() and store.is_up() and is_in_place(engine),
        metrics=metrics,
        metrics_access=MetricsAccess(
            settings.metrics_token, settings.trusted_proxies > 0, UNKNOWN_CLIENT
        ),
        usage=UsageLog(engine, namespace),
        tokens=tokens,
        breakers=breakers,
        daily_limit=settings.daily_call_limit,
        store_size=store.size,
        database_bytes=partial(database_bytes, engine),
        purges=purge_log.latest,
        pdf_span=tracing.pdf_span if tracing else nullcontext,
    )
    init_app(app, web)
    app.before_request(scheduler.start)
    data = data_check(settings, engine, backend, key, expects_files=not create)
    register_commands(
        app,
        *(tokens, ledger, web.usage, store, history, dossiers, process_leases, data),
        lambda: create_missing_database(settings),
        BatchTools(
            batches=batches,
            runner=batch_runner,
            scheduler=scheduler,
            gateway=gateway,
            identity=COMMAND_IDENTITY,
            access=COMMAND_ACCESS,
            limit=settings.batch_limit,
            panels_of=web.lookups.panels,
            render_context=render_context,
            credential=lambda: os.environ.get(CREDENTIAL_VARIABLE),
            authenticate=gatekeeper.authenticate if settings.mode == "pass-through" else None,
        ),
        embedded_store(settings, key),
        SubjectKeys(secret, store.tag, namespace),
    )
    return app


def _run_batches(
    item_leases: ItemLeases, runner: BatchRunner, ask_for_batches: Callable[[], None] | None
) -> None:
    if ask_for_batches is None:
        runner.tick()
    elif item_leases.has_work():
        ask_for_batches()


def _take_over(
    old_name: str, name: str, *, history: History, batches: Batches, dossiers: DossierArchive
) -> None:
    """Move a caller's data from the caller's old name to the new name.

    A caller's name is the HMAC of the caller's credential, so a new secret key changes the name.
    Database errors are logged and not raised.
    """
    for each in (history, batches, dossiers):
        try:
            each.take_over(old_name, name)
        except SQLAlchemyError as error:
            log.warning("a former name was not replaced: %s", type(error).__name__)


def _paid(
    ledger: Ledger, keys: SubjectKeys, caller: str, subjects: Sequence[str], since: float
) -> dict[str, Decimal]:
    """Return how many R$ a caller has paid for each subject since a given time.

    A subject is a plate or a Renavam (vehicle registration number). ``since`` is in epoch seconds.
    """
    tags = {tag: subject for subject in subjects for tag in keys.tags(subject)}
    sums: dict[str, Decimal] = {}
    for tag, price in ledger.paid(caller, [*tags], since).items():
        sums[tags[tag]] = sums.get(tags[tag], Decimal(0)) + price
    return sums


def _tracing(settings: Settings) -> "Tracing | None":
    if not wants_traces(os.environ):
        return None
    if not can_trace():
        log.warning("no traces: OTEL_ variables ask for them, requirements-otel.txt is missing")
        return None
    # Imported late, so that OpenTelemetry is loaded only if traces are wanted.
    from portal.tracing import Tracing, UnknownExporter, exporter_of

    try:
        return Tracing(exporter_of(os.environ), continues=settings.trusted_proxies > 0)
    except UnknownExporter as unknown:
        log.warning("no traces: the exporter %s is not installed", unknown)
        return None


def _identifier(gatekeeper: Gatekeeper) -> Callable[[Access], Identity]:
    """Return a function that authenticates a batch's owner while the batch runs."""

    def identify(access: Access) -> Identity:
        if access == COMMAND_ACCESS:
            return COMMAND_IDENTITY
        if access.credential is not None:
            return gatekeeper.authenticate(access.credential)
        return gatekeeper.authenticate_digest(access.digest)

    return identify


def environment_settings() -> Settings:
    """Return the settings from the environment, or exit with a one-line message."""
    try:
        return Settings.from_environment(os.environ, PROJECT_ROOT)
    except SettingsError as error:
        sys.exit(f"dossie-veicular: {error}")


def _origins(
    settings: Settings, waiting: Callable[[], AbstractContextManager[None]]
) -> Sequence[Origin]:
    limits = (settings.connect_timeout, settings.first_byte_timeout)
    if settings.upstream_url is None:
        from portal.sandbox import Sandbox, SandboxTransport

        sandbox = Sandbox()
        return [
            Origin(
                role,
                f"http://{role}.sandbox.invalid",
                *limits,
                transport=lambda _, role=role: SandboxTransport(  # type: ignore[misc]
                    sandbox, role, refused=NotSent
                ),
                waiting=waiting,
            )
            for role in ("primary", "secondary")
        ]
    addresses = {"primary": settings.upstream_url, "secondary": settings.upstream_secondary_url}
    return [Origin(name, url, *limits, waiting=waiting) for name, url in addresses.items() if url]


def _breakers(
    settings: Settings, origins: Sequence[Origin], shared: Path | None, longest_call_s: float
) -> Sequence[Breaker]:
    """Return one circuit breaker for each origin (base address of the upstream).

    The sandbox, which imitates the upstream in demo mode, has no breaker. The sandbox's simulated
    failures depend on the plate. A breaker that one plate's failures open would also block all
    other plates.
    """
    return [
        Breaker(
            each,
            each.name,
            time.monotonic,
            _shared_counters(shared, f"breaker-{each.name}", COUNTERS),
            longest_call_s,
        )
        for each in (origins if settings.mode != "demo" else ())
    ]


def _shared_counters(shared: Path | None, name: str, count: int) -> SharedCounters | None:
    try:
        return SharedCounters(count, shared / name) if shared else None
    except OSError:
        return None  # each process then has its own counters


def _policy(settings: Settings) -> Policy:
    terms = {
        name: CachePolicy(
            fresh_s=getattr(settings, f"fresh_{name}"),
            stale_s=getattr(settings, f"stale_{name}"),
            price=getattr(settings, f"price_{name}"),
        )
        for name in OPERATIONS
    }
    credential = settings.upstream_token
    if settings.mode == "demo":
        from portal.sandbox import TOKEN

        credential = TOKEN
    return Policy(terms, settings.deadline, settings.hidden_marker, credential)


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
    """Return the demo's example plates with captions and with the sandbox's answers.

    The sandbox imitates the upstream. Its answers do not pass through the gateway, which would
    count them as the visitor's lookups.
    """
    from portal.sandbox import SHOWCASES

    def panel(operation: Operation, plate: Plate) -> Panel:
        path = operation.path_for(plate.text)
        status, body = _ask_sandbox("GET", path)
        if status != 200:
            return Panel("unavailable", cause="unreachable")
        return Panel("fresh", body, result_of(body), datetime.now(UTC))

    return [
        (plate, caption, Panels(*(panel(operation, plate) for operation in LOOKUP_OPERATIONS)))
        for text, caption in SHOWCASES
        for plate in (Plate.parse(text),)
    ]


def _ask_sandbox(method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
    """Return status and body of the answer of the sandbox, which imitates the upstream."""
    from portal.sandbox import TOKEN, Request, Sandbox

    headers = {"Authorization": TOKEN, "Content-Type": "application/json"}
    response = Sandbox().handle(Request(method, path, headers=headers, body=body))
    return response.status, response.body


def _samples() -> Sequence[SamplePlate]:
    from portal.sandbox import EXAMPLE_PLATES

    return [SamplePlate(each.plate, each.title, each.alone, each.portal) for each in EXAMPLE_PLATES]
