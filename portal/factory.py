"""Builds the parts of a portal from the settings: ``Portal``."""

import logging
import os
import secrets
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from flask import Flask

from portal.access.calendar_addresses import CalendarAddresses
from portal.access.declarations import Declarations
from portal.access.history import History
from portal.access.idempotency import IdempotencyKeys
from portal.access.people import People
from portal.access.sealing import SubjectKeys
from portal.access.tokens import Gatekeeper, Tokens
from portal.access.trail import FLUSH_EVERY_S, Trail
from portal.batch.batches import Batches
from portal.batch.item_leases import ItemLeases
from portal.batch.pricing import BatchPricing
from portal.batch.runner import BatchRunner
from portal.batch.turn import Turn
from portal.commands import register_commands
from portal.commands.parts import DataFiles
from portal.desk.background import BackgroundDesk
from portal.desk.caller import Caller
from portal.desk.core import Core
from portal.desk.desk import Desk
from portal.desk.desks import Desks
from portal.desk.examples import Examples, SamplePlate
from portal.desk.hand_over import HandOver
from portal.desk.lookups import Lookups
from portal.desk.measuring import Measuring
from portal.desk.operator import OperatorDesk
from portal.desk.own_tokens import OwnTokens
from portal.desk.reading import Reading
from portal.gateway.backend_choice import cache_backend, ends_journals, leases
from portal.gateway.envelope import Seal
from portal.gateway.gateway import Gateway
from portal.gateway.ledger import Ledger
from portal.gateway.local_cache import LocalCache
from portal.gateway.lookup import Observer
from portal.gateway.operations import OPERATIONS, CachePolicy, Policy
from portal.gateway.reservation import PortalLimits
from portal.gateway.savings import SavingsCounter
from portal.gateway.single_flight import RENEW_S, Leases, SingleFlight
from portal.gateway.sqlite_cache import SQLiteCache
from portal.gateway.store import Store
from portal.gateway.usage_report import UsageLog, uses_of_portal
from portal.issued.archive import DossierArchive
from portal.issued.issuer import Issuer
from portal.issued.verification import Verifier
from portal.messages.batches import BatchMessages
from portal.messages.budgets import BudgetMessages
from portal.messages.channels import Addresses, Channels
from portal.messages.courier import TICK_S as TICK_OF_COURIER_S
from portal.messages.courier import Courier
from portal.messages.endings import DossierEndings, KeyEnding, TokenEndings
from portal.messages.mail import MailServer
from portal.messages.outbox import OPERATOR, Outbox
from portal.messages.webhook import WebhookSender
from portal.oidc.provider import OidcProvider
from portal.pdf.inspection import PdfInspector
from portal.pdf.signing import SigningKey, UnusableKey
from portal.settings import DAY, YEAR, Settings, SettingsError
from portal.startup import (
    command_data_key,
    create_missing_database,
    data_files,
    exit_on_startup_error,
    is_command,
    plain_facts,
    prepare,
    remove_old_unused_caches,
    secret_keys,
    server_data_key,
    signing_key,
    warn_of_settings,
)
from portal.storage.backup import DATABASE_NAME
from portal.storage.data_lock import DataLock
from portal.storage.database import Database
from portal.storage.ends import Ends, EndsCopier, Journal
from portal.storage.opening import open_database
from portal.storage.purge_log import PurgeClock, PurgeLog
from portal.storage.secret import NAME as KEY_NAME
from portal.storage.server_sight import SightWriter
from portal.system.environment import can_trace, wants_traces
from portal.system.housekeeping import Housekeeping
from portal.system.open_file_limits import capacity
from portal.system.scheduler import PeriodicTask, Scheduler
from portal.system.shared_counters import SharedCounters
from portal.system.sight import ClockSeen
from portal.system.thread_limits import FULL_THREADS, Threads
from portal.upstream.breaker import COUNTERS, Breaker
from portal.upstream.errors import NotSent
from portal.upstream.failover import Failover
from portal.upstream.origin import Origin
from portal.upstream.spares import TICK_S, Spares
from portal.upstream.warm_up import WarmUp
from portal.web.app_setup import init_app
from portal.web.http.company import Company
from portal.web.http.forwarded import ForwardedMemory
from portal.web.http.page_cache import PageCache
from portal.web.http.proxy_sign_in import ProxySignIn, SignInMemory
from portal.web.http.rate_limits import LIMIT_COUNTERS, RateLimits
from portal.web.observability.metrics import Metrics
from portal.web.observability.request_log import AccessLogBuffer
from portal.web.web import Web, WebSettings

if TYPE_CHECKING:  # both are optional
    from portal.gateway.redis_cache import SealedRedisCache
    from portal.tracing import Tracing

log = logging.getLogger("portal")

PROJECT_ROOT = Path(__file__).resolve().parents[1]
MEBIBYTE = 1024 * 1024
# Threads of periodic tasks. A write to the database may wait ten seconds. Neither the store's
# confirmations nor the renewals of a batch's leases may wait as long.
_BATCHES_THREAD = "scheduler-batches"
_SLOW_THREAD = "scheduler-slow"
_LEASES_THREAD = "scheduler-leases"
_MESSAGES_THREAD = "scheduler-messages"  # a receiver may be slow
_TRAIL_THREAD = "scheduler-trail"
SPARE_S = 5.0  # seconds that a request may take beyond the deadline of its lookups
# The parts that ``Portal.close`` closes, each before the parts that it uses.
_CLOSED_BY = {
    "scheduler": "stop",
    "batch_runner": "stop",
    "pool": "shutdown",
    "spares": "close",
    "tracing": "close",
    "limits": "stop",
    "tokens": "stop",
    "people": "stop",
    "history": "stop",
    "declarations": "stop",
    "backend": "close",
    "side": "dispose",
    "database": "dispose",
}


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """The options of a process of the server.

    ``shared`` is a directory of files through which the processes of a server share metrics and the
    states of circuit breakers. If ``shared`` is None, each process has its own metrics and states.
    ``/readyz`` answers 503 while ``is_draining`` returns True. ``ask_for_batches`` asks the main
    process to start the batch process (``portal.serving.batch_process``). If ``ask_for_batches`` is
    None, this process runs batches itself. ``batch_holder`` is the name under which the batch
    process leases the items of a batch. In all other processes, ``batch_holder`` is None.
    """

    shared: Path | None = None
    threads: Threads = FULL_THREADS
    is_draining: Callable[[], bool] = lambda: False
    ask_for_batches: Callable[[], None] | None = None
    batch_holder: str | None = None


def create_app(settings: Settings | None = None) -> Flask:
    """Build the application from ``settings``, or from the environment if ``settings`` is None."""
    if settings is not None:
        return Portal(settings).app
    settings = environment_settings()
    with exit_on_startup_error():
        if is_command():
            secret_keys(settings)  # a damaged file of the key ends the command
            return Portal(settings, is_command=True).app
        lock, key = prepare(settings)
        warn_of_settings(settings)
        return Portal(settings, key, lock=lock).app


def environment_settings() -> Settings:
    """Return the settings from the environment, or exit with a one-line message."""
    try:
        return Settings.from_environment(os.environ, PROJECT_ROOT)
    except SettingsError as error:
        sys.exit(f"dossie-veicular: {error}")


class Portal:
    """The composition root. Builds each part of a portal when it is first read, and no more.

    ``key`` is the data key that ``prepare`` has returned. If ``key`` is None, the portal reads the
    data key from the database. ``lock`` is held as long as the portal. ``is_command`` is true in a
    process that runs a command of ``flask`` and serves no request. ``clock`` gives the time to the
    gateway, by which answers and failures age.
    """

    def __init__(
        self,
        settings: Settings,
        key: bytes | None = None,
        process: ServerProcess = ServerProcess(),
        *,
        lock: DataLock | None = None,
        is_command: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._key = key
        self._process = process
        self._lock = lock
        self._clock = clock
        self.is_command = is_command
        self._turn = Turn()
        self.namespace = settings.namespace
        self.trail_days = settings.audit_days
        self.unpriced: Sequence[str] = settings.unpriced
        memory = settings.edge_memory_mb * MEBIBYTE
        self._hit_cache_bytes = memory // 8
        self._local_cache_bytes = memory - self._hit_cache_bytes

    def finish(self) -> None:
        """Wait for the lookups of batches in progress, and write what is left in memory.

        A process that has looked up something calls ``finish`` when it ends.
        """
        self.spares.close()
        self.batch_runner.stop()  # first, because the last lookups leave counts in memory
        self.scheduler.run_all()

    def close(self) -> None:
        """Close the parts that were built."""
        for name, method in _CLOSED_BY.items():
            if (part := vars(self).get(name)) is not None:
                getattr(part, method)()

    @cached_property
    def app(self) -> Flask:
        app = Flask(__name__, static_folder=None, template_folder=str(PROJECT_ROOT / "templates"))
        app.extensions["portal"] = self  # the portal lives as long as the application
        register_commands(app, self)
        if self.is_command:
            return app
        app.secret_key = self.secret
        if self.tracing:
            self.tracing.attach(app)
        init_app(app, self.web)
        app.before_request(self.scheduler.start)
        return app

    # Storage

    @cached_property
    def database(self) -> Database:
        # The argument ``required`` is False, so that a worker can start while the database is down.
        # The main process has already created the tables.
        settings = self._settings
        return open_database(
            settings.database_url, settings.data_dir, False, create=not self.is_command
        )

    @cached_property
    def data_key(self) -> bytes | None:
        """The data key, or None if a command cannot read it."""
        if self._key is not None:
            return self._key
        read = command_data_key if self.is_command else server_data_key
        return read(self._settings, self.database)

    @cached_property
    def secret(self) -> bytes:
        # ``data_check`` refuses the commands that need the real key and do not have it.
        return self.data_key or secrets.token_bytes()

    @cached_property
    def side(self) -> Database:
        return self.database.side()

    @cached_property
    def backend(self) -> "SQLiteCache | SealedRedisCache":
        settings = self._settings
        purge_log_name = Seal(self.secret).keyed_hash("purge log", 16)
        return cache_backend(settings.data_dir, settings.redis_url, purge_log_name)

    @cached_property
    def store(self) -> Store:
        purges = PurgeClock(PurgeLog(self.side).after)
        return Store(
            self.backend,
            Seal(self.secret),
            LocalCache(self._local_cache_bytes, purges.hides),
            self._observer,
            self._clock,
            purges=purges,
            terms=self._policy.terms,
            namespace=self.namespace,
        )

    @cached_property
    def leases(self) -> Leases:
        return leases(self.backend, self._settings.data_dir)

    @cached_property
    def keys(self) -> SubjectKeys:
        return SubjectKeys(self.secret, self.store.tag, self.namespace)

    @cached_property
    def dossiers(self) -> DossierArchive:
        lifetime_s = self._settings.dossier_days * DAY
        proof_s = self._settings.dossier_proof_years * YEAR
        return DossierArchive(self.database, self.keys, lifetime_s=lifetime_s, proof_s=proof_s)

    @cached_property
    def ends(self) -> Ends:
        return Ends(self.side)

    @cached_property
    def ends_journals(self) -> Sequence[Journal]:
        """Where the database's ends are copied to. Raises SQLAlchemyError."""
        return ends_journals(self.backend, self._settings.data_dir, PurgeLog(self.side).identity())

    # Lookups

    @cached_property
    def _policy(self) -> Policy:
        settings = self._settings
        terms = {
            name: CachePolicy(
                fresh_s=getattr(settings, f"fresh_{name}"),
                stale_s=getattr(settings, f"stale_{name}"),
                price=settings.price(name),
            )
            for name in OPERATIONS
        }
        credential = settings.upstream_token
        if settings.mode == "demo":
            from portal.sandbox.sandbox import TOKEN

            credential = TOKEN
        return Policy(terms, settings.deadline, settings.hidden_marker, credential)

    @cached_property
    def _origins(self) -> Sequence[Origin]:
        settings, waiting = self._settings, self._turn.given_up
        limits = (settings.connect_timeout, settings.first_byte_timeout, self.spares)
        if settings.upstream_url is None:
            from portal.sandbox.exchange import Role
            from portal.sandbox.sandbox import Sandbox
            from portal.sandbox.transport import SandboxTransport

            sandbox = Sandbox()
            return [
                Origin(
                    role,
                    f"http://{role}.sandbox.invalid",
                    *limits,
                    transport=SandboxTransport(sandbox, role, refused=NotSent),
                    waiting=waiting,
                )
                for role in get_args(Role)
            ]
        urls = {"primary": settings.upstream_url, "secondary": settings.upstream_secondary_url}
        return [Origin(name, url, *limits, waiting=waiting) for name, url in urls.items() if url]

    @cached_property
    def spares(self) -> Spares:
        settings, process = self._settings, self._process
        runs_batches = process.ask_for_batches is None
        # The lookups of a batch follow each other at once, so each opens the next one's connection.
        kept = settings.upstream_spares * (settings.batch_concurrency if runs_batches else 1)
        return Spares(kept, settings.connect_timeout, process.is_draining)

    @cached_property
    def _warm_up(self) -> WarmUp:
        return WarmUp(self._origins, self.breakers, self.spares)

    @cached_property
    def breakers(self) -> Sequence[Breaker]:
        """One circuit breaker for each origin.

        The sandbox, which imitates the upstream in demo mode, has no breaker. The sandbox's
        simulated failures depend on the plate. A breaker that one plate's failures open would also
        block all other plates.
        """
        return [
            Breaker(
                each,
                each.name,
                time.monotonic,
                self._shared_counters(f"breaker-{each.name}", COUNTERS),
                self._longest_request_s,
            )
            for each in (self._origins if self._settings.mode != "demo" else ())
        ]

    @cached_property
    def ledger(self) -> Ledger:
        limits = PortalLimits(self._settings.daily_call_limit, self._settings.monthly_budget)
        budgets = BudgetMessages(self.outbox)
        return Ledger(self.database, limits, budgets, namespace=self.namespace)

    @cached_property
    def outbox(self) -> Outbox:
        return Outbox(self.database, self.namespace)

    @cached_property
    def channels(self) -> Channels:
        settings = self._settings
        operator = Addresses(
            settings.mail_to or "", settings.webhook_url or "", settings.webhook_secret or ""
        )
        return Channels(self.database, self.keys, operator)

    @cached_property
    def courier(self) -> Courier:
        tried = self.metrics.tried_message
        return Courier(self.outbox, self.channels, self.webhooks, self.mail_server, tried)

    @cached_property
    def mail_server(self) -> MailServer | None:
        settings = self._settings
        if not (settings.smtp_url and settings.mail_from):
            return None
        return MailServer.of(settings.smtp_url, settings.mail_from)

    @cached_property
    def webhooks(self) -> WebhookSender:
        return WebhookSender(self._settings.webhook_hosts, time.time)

    @cached_property
    def _savings(self) -> SavingsCounter:
        return SavingsCounter(
            self.database, self._policy.terms, namespace=self.namespace, observer=self.metrics
        )

    @cached_property
    def gateway(self) -> Gateway:
        upstream = Failover(self.breakers or self._origins)
        flight = SingleFlight[Any](self.leases, capacity().lookups)
        return Gateway(
            upstream,
            self.store,
            flight,
            self.ledger,
            self._policy,
            self._observer,
            self._savings.count,
            self._clock,
        )

    @cached_property
    def pool(self) -> Executor:
        pool = ThreadPoolExecutor(self._process.threads.panels, thread_name_prefix="panel")
        return self.tracing.in_context(pool) if self.tracing else pool

    # Callers

    @cached_property
    def tokens(self) -> Tokens:
        return Tokens(
            self.side,
            self._settings.access_tokens,
            namespace=self.namespace,
            holders=self.people,
        )

    @cached_property
    def people(self) -> People | None:
        """The people who may sign in, or None if tokens are the only way."""
        settings = self._settings
        if not settings.sign_in_header and not settings.oidc_issuer:
            return None
        return People(
            self.side,
            SubjectKeys(self.secret, str, self.namespace),  # people need no tags of vehicles
            settings.roles,
            by_proxy=settings.sign_in_header is not None,
            provider=self.oidc_provider,
            daily_limit=settings.person_daily_limit,
            monthly_budget=settings.person_monthly_budget,
        )

    @cached_property
    def oidc_provider(self) -> OidcProvider | None:
        settings = self._settings
        if settings.oidc_issuer is None:
            return None
        return OidcProvider(
            settings.oidc_issuer,
            settings.oidc_client_id or "",
            settings.oidc_client_secret or "",
            settings.oidc_groups_claim,
        )

    @property
    def _company(self) -> Company | None:
        if self.people is None:
            return None
        settings = self._settings
        proxy = None
        if settings.sign_in_header is not None:
            proxy = ProxySignIn(
                settings.sign_in_header,
                settings.sign_in_groups_header,
                settings.trusted_proxies,
                settings.sign_in_secret,
                self.sign_ins,
            )
        hand_over = HandOver(
            archive=self.dossiers,
            batches=self.batches,
            calendar_addresses=self.calendar_addresses,
            declarations=self.declarations,
            history=self.history,
            people=self.people,
            tokens=self.tokens,
        )
        return Company(self.people, OwnTokens(self.tokens), hand_over, proxy, self.oidc_provider)

    @cached_property
    def history(self) -> History:
        return History(self.side, self.keys)

    @cached_property
    def declarations(self) -> Declarations:
        return Declarations(self.side, self.keys)

    @cached_property
    def trail(self) -> Trail:
        # Without the data key, a command could not continue the chain. A token may be issued before
        # the first start makes the key.
        days = self.trail_days if self.data_key else 0
        return Trail(
            self.database,
            self.keys,
            days,
            last_purge=self.store.known_purge,
            failed=self.metrics.trail_failed,
        )

    @cached_property
    def calendar_addresses(self) -> CalendarAddresses:
        return CalendarAddresses(self.database, self.keys)

    @cached_property
    def idempotency(self) -> IdempotencyKeys:
        return IdempotencyKeys(self.database, self.keys)

    @cached_property
    def gatekeeper(self) -> Gatekeeper:
        return Gatekeeper(self._settings.mode, self.tokens, self.secret)

    # Batches

    @cached_property
    def batches(self) -> Batches:
        return Batches(
            self.database, self.keys, self.gateway.retention_s, notify=BatchMessages(self.outbox)
        )

    @cached_property
    def item_leases(self) -> ItemLeases:
        return ItemLeases(
            *(self.database, self.keys, self.gateway.retention_s),
            notify=BatchMessages(self.outbox),
            concurrency=self._settings.batch_concurrency,
            # Each worker builds this part after the fork, so the random names of workers differ.
            holder=self._process.batch_holder or secrets.token_hex(8),
        )

    @cached_property
    def batch_runner(self) -> BatchRunner:
        return BatchRunner(self.item_leases, self.background, self._turn)

    @property
    def _batches_task(self) -> PeriodicTask:
        ask_for_batches = self._process.ask_for_batches
        if ask_for_batches is None:
            return PeriodicTask(0.5, self.batch_runner.tick, _BATCHES_THREAD)
        return PeriodicTask(0.5, partial(self.item_leases.ask_if_work, ask_for_batches))

    # Operation

    @cached_property
    def metrics(self) -> Metrics:
        return Metrics(
            self.breakers,
            self._process.shared,
            workers=self._settings.workers,
            priced=[name for name, each in self._policy.terms.items() if each.price is not None],
            uses=partial(uses_of_portal, self.ledger, self.usage),
            is_worker=self._process.batch_holder is None,
            key_ends_at=self.signing_key.ends_at.timestamp() if self.signing_key else None,
        )

    @cached_property
    def _observer(self) -> Observer:
        return self.tracing.observer(self.metrics) if self.tracing else self.metrics

    @cached_property
    def usage(self) -> UsageLog:
        return UsageLog(self.database, self.namespace)

    @cached_property
    def access_log(self) -> AccessLogBuffer:
        return AccessLogBuffer(self.metrics, self._observer, self._savings.count)

    @cached_property
    def limits(self) -> RateLimits:
        settings = self._settings
        return RateLimits(
            settings.rate_limit_token,
            settings.rate_limit_address,
            settings.redis_url,
            self._shared_counters("limits", LIMIT_COUNTERS),
        )

    @cached_property
    def scheduler(self) -> Scheduler:
        data_dir = self._settings.data_dir
        housekeeping = Housekeeping(
            data_dir / "housekeeping",
            PeriodicTask(5.0, EndsCopier(self.ends, lambda: self.ends_journals).run),
            PeriodicTask(60.0, self.batches.drop_expired),
            PeriodicTask(60.0, self.dossiers.drop_expired),
            PeriodicTask(3600.0, self.ledger.drop_past_counters),
            PeriodicTask(3600.0, self.history.drop_expired),
            PeriodicTask(3600.0, self.outbox.drop_expired),
            PeriodicTask(3600.0, TokenEndings(self.outbox, self.tokens).write),
            PeriodicTask(3600.0, DossierEndings(self.outbox, self.dossiers).write),
            PeriodicTask(3600.0, KeyEnding(self.outbox, self.signing_key).write),
            PeriodicTask(3600.0, self.declarations.drop_expired),
            PeriodicTask(3600.0, self.idempotency.drop_expired),
            PeriodicTask(3600.0, self.ends.drop_expired),
            PeriodicTask(3600.0, self.trail.drop_expired),
            PeriodicTask(3600.0, self.database.erase_deleted),
            PeriodicTask(3600.0, partial(remove_old_unused_caches, data_dir)),
        )
        # File leases need no renewal, and so no thread.
        renewals = [PeriodicTask(RENEW_S, self.leases.renew, _LEASES_THREAD)]
        return Scheduler(
            PeriodicTask(0.25, self.access_log.write),
            PeriodicTask(0.5, self.store.tick),
            PeriodicTask(TICK_S, self.spares.tick),
            PeriodicTask(0.5, self.gateway.drift.flush),
            PeriodicTask(1.0, self.page_cache.clear),
            PeriodicTask(1.0, self.access_log.credit),
            PeriodicTask(1.0, self.store.sweep),
            self._batches_task,
            PeriodicTask(FLUSH_EVERY_S, self.trail.flush, _TRAIL_THREAD),
            PeriodicTask(5.0, self._savings.flush, _SLOW_THREAD),
            PeriodicTask(2.0, self.ledger.settle, _SLOW_THREAD),
            PeriodicTask(TICK_OF_COURIER_S, self.courier.tick, _MESSAGES_THREAD),
            PeriodicTask(5.0, housekeeping.run_due, _SLOW_THREAD),
            PeriodicTask(5.0, self.sight.write, _SLOW_THREAD),
            *(renewals if self._settings.redis_url else []),
        )

    @cached_property
    def sight(self) -> SightWriter:
        return SightWriter(
            *(self.database, self.forwarded.last, self._latest_clock, self.sign_ins.last)
        )

    def _latest_clock(self) -> ClockSeen | None:
        seen = [found for each in self._origins if (found := each.clock_seen())]
        return max(seen, key=lambda each: each.at, default=None)

    @cached_property
    def forwarded(self) -> ForwardedMemory:
        return ForwardedMemory()

    @cached_property
    def sign_ins(self) -> SignInMemory:
        return SignInMemory()

    @cached_property
    def tracing(self) -> "Tracing | None":
        if self.is_command or not wants_traces(os.environ):
            return None
        if not can_trace():
            log.warning("no traces: OTEL_ variables ask for them, requirements-otel.txt is missing")
            return None
        # Imported late, so that OpenTelemetry is loaded only if traces are wanted.
        from portal.tracing import Tracing, UnknownExporter, exporter_of

        try:
            return Tracing(exporter_of(os.environ), continues=self._settings.trusted_proxies > 0)
        except UnknownExporter as unknown:
            log.warning("no traces: the exporter %s is not installed", unknown)
            return None

    def _shared_counters(self, name: str, count: int) -> SharedCounters | None:
        shared = self._process.shared
        try:
            return SharedCounters(count, shared / name) if shared else None
        except OSError:
            return None  # each process then has its own counters

    @cached_property
    def signing_key(self) -> SigningKey | None:
        try:
            return signing_key(self._settings)
        except UnusableKey as error:  # it has ended, or changed, since the start
            log.error("issued dossiers are not signed: %s", error)
            return None

    # Commands

    @cached_property
    def files(self) -> DataFiles:
        return data_files(self._settings)

    def create_database(self) -> None:
        create_missing_database(self._settings)

    @cached_property
    def measuring(self) -> Measuring:
        settings = self._settings
        origins = () if settings.upstream_url is None else self._origins
        return Measuring(
            plain=plain_facts(settings),
            database=lambda: self.database,
            secret_keys=secret_keys(settings),
            key_file=self.files.files.get(KEY_NAME),
            database_file=self.files.files.get(DATABASE_NAME),
            data_dir=settings.data_dir,
            probe_redis=self._probe_redis if settings.redis_url else None,
            probe_provider=None if self.oidc_provider is None else self.oidc_provider.metadata,
            probe_mail=None if self.mail_server is None else self.mail_server.check,
            origins=[(each.name, each.host) for each in origins],
            connect_timeout_s=settings.connect_timeout,
        )

    def _probe_redis(self) -> None:
        from portal.gateway.redis_probe import require_willing_redis  # lazy: Redis is optional

        if not isinstance(self.backend, SQLiteCache):
            require_willing_redis(self.backend, is_start=False)

    # Desks

    @cached_property
    def background(self) -> BackgroundDesk:
        return BackgroundDesk(self.gatekeeper, self.gateway, self._reading, self.trail)

    @cached_property
    def _reading(self) -> Reading:
        return Reading(self._settings.hidden_marker, self._settings.mask_names)

    @cached_property
    def pricing(self) -> BatchPricing:
        return BatchPricing(self.batches, self.gateway)

    @cached_property
    def desks(self) -> Desks:
        core = Core(
            archive=self.dossiers,
            batch_limit=self._settings.batch_limit,
            batches=self.batches,
            calendar_addresses=self.calendar_addresses,
            declarations=self.declarations,
            expect_lookups=self._warm_up.expect,
            gatekeeper=self.gatekeeper,
            gateway=self.gateway,
            history=self.history,
            idempotency=self.idempotency,
            issuer=self._issuer,
            keys=self.keys,
            ledger=self.ledger,
            lookups=Lookups(self.gateway, self.pool, self.ledger.allowance),
            pricing=self.pricing,
            reading=self._reading,
            trail=self.trail,
            usage=self.usage,
            verifier=Verifier(
                self.dossiers,
                PdfInspector(),
                self.signing_key.certificate if self.signing_key else None,
            ),
        )
        return Desks(core)

    def desk(self, caller: Caller) -> Desk:
        return self.desks.of(caller)

    @property
    def _issuer(self) -> Issuer | None:
        settings = self._settings
        if settings.issuer_name is None:
            return None
        return Issuer(
            settings.issuer_name,
            settings.issuer_document or "",
            settings.issuer_contact or "",
            settings.issuer_logo or "",
        )

    # Web

    @cached_property
    def page_cache(self) -> PageCache:
        return PageCache() if self._hit_cache_bytes else PageCache(most=0)

    @property
    def _longest_request_s(self) -> float:
        return self._settings.deadline + SPARE_S

    @cached_property
    def web(self) -> Web:
        settings = self._settings
        return Web(
            WebSettings(
                cors_origins=settings.cors_origins,
                hit_cache_bytes=self._hit_cache_bytes,
                longest_request_s=self._longest_request_s,
                metrics_token=settings.metrics_token,
                purposes=settings.purposes,
                privacy_contact=settings.privacy_contact or "",
                request_threads=self._process.threads.blocking,
                static=PROJECT_ROOT / "static",
                trusted_proxies=settings.trusted_proxies,
            ),
            self.desks,
            OperatorDesk(
                batches=self.batches,
                breakers=self.breakers,
                daily_limit=settings.daily_call_limit,
                database=self.database,
                gateway=self.gateway,
                gets_messages=any(self.channels.of(OPERATOR)),
                ledger=self.ledger,
                measuring=self.measuring,
                outbox=self.outbox,
                people=self.people,
                is_draining=self._process.is_draining,
                store=self.store,
                tokens=self.tokens,
                trail=self.trail,
                unpriced=settings.unpriced,
                usage=self.usage,
            ),
            access_log=self.access_log,
            company=self._company,
            allowance=self.ledger.allowance,
            signing_key=self.signing_key,
            forwarded=self.forwarded,
            examples=Examples(
                _ask_sandbox, _sample_plates, _showcases() if settings.mode == "demo" else ()
            ),
            gatekeeper=self.gatekeeper,
            gateway=self.gateway,
            keys=self.keys,
            limits=self.limits,
            metrics=self.metrics,
            page_cache=self.page_cache,
            pdf_span=self.tracing.pdf_span if self.tracing else nullcontext,
        )


# The sandbox is loaded only where a page or the demo mode needs it.


def _sample_plates() -> Sequence[SamplePlate]:
    from portal.sandbox.example_plates import EXAMPLE_PLATES

    return [(each.plate, each.title, each.alone, each.portal) for each in EXAMPLE_PLATES]


def _showcases() -> Sequence[tuple[str, str]]:
    from portal.sandbox.example_plates import SHOWCASES

    return SHOWCASES


def _ask_sandbox(method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
    """Return status and body of the answer of the sandbox, which imitates the upstream."""
    from portal.sandbox.exchange import Request
    from portal.sandbox.sandbox import TOKEN, Sandbox

    headers = {"Authorization": TOKEN, "Content-Type": "application/json"}
    response = Sandbox().handle(Request(method, path, headers=headers, body=body))
    return response.status, response.body
