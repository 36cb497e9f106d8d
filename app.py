"""The front door: Settings → upstream → gateway → Flask, composed here and nowhere else."""

import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from flask import Flask
from flask_caching import Cache
from sqlalchemy.exc import SQLAlchemyError

from portal.access import Gatekeeper, History, Tokens
from portal.commands import register_commands
from portal.gateway import (
    FileLeases,
    Gateway,
    Leases,
    Ledger,
    Memory,
    Policy,
    RedisLeases,
    Seal,
    SingleFlight,
    Store,
    Terms,
)
from portal.sandbox import SITUATIONS, TOKEN, Sandbox, SandboxTransport
from portal.settings import Settings, SettingsError
from portal.storage import load_secret_key, open_engine
from portal.upstream import Breaker, Failover, Origin
from portal.web import Portal, RateLimits, SamplePlate, mount

HOME = Path(__file__).resolve().parent
MEBIBYTE = 1024 * 1024
PANEL_THREADS = 1024


def create_app(settings: Settings | None = None) -> Flask:
    """The portal, built once from plain values."""
    if settings is None:
        settings = _settings()
    secret = (settings.secret_key or load_secret_key(settings.data_dir)).encode()
    app = Flask(__name__, static_folder=None, template_folder=str(HOME / "templates"))
    app.secret_key = secret

    engine = open_engine(settings.database_url, settings.data_dir)
    breakers = [Breaker(origin, origin.name, time.monotonic) for origin in _origins(settings)]
    upstream = Failover(breakers)
    seal = Seal(secret)
    store = Store(_backend(app, settings), seal, Memory(settings.edge_memory_mb * MEBIBYTE))
    ledger = Ledger(engine, settings.daily_call_limit)
    gateway = Gateway(upstream, store, SingleFlight(_leases(settings)), ledger, _policy(settings))
    tokens = Tokens(engine, settings.access_tokens)
    history = History(engine, secret, store.tag)
    mount(
        app,
        Portal(
            gateway=gateway,
            gatekeeper=Gatekeeper(settings.mode, tokens),
            history=history,
            pool=ThreadPoolExecutor(PANEL_THREADS, thread_name_prefix="panel"),
            samples=_samples(),
            secret=secret,
            hidden_marker=settings.hidden_marker,
            mask_names=settings.mask_names,
            trusted_proxies=settings.trusted_proxies,
            limits=RateLimits(
                settings.rate_limit_token, settings.rate_limit_address, settings.redis_url
            ),
            static=HOME / "static",
            ready=store.is_up,
        ),
    )
    register_commands(app, tokens, ledger, store, history)
    return app


def _settings() -> Settings:
    """The operator's settings, or the end with one clear line."""
    try:
        return Settings.from_environment(os.environ, HOME)
    except SettingsError as error:
        sys.exit(f"dossie-veicular: {error}")


def _origins(settings: Settings) -> Sequence[Origin]:
    limits = (settings.connect_timeout, settings.first_byte_timeout)
    if settings.upstream_url is None:
        sandbox = Sandbox(today=lambda: datetime.now().astimezone().date(), sleep=time.sleep)
        return [
            Origin(
                role,
                f"http://{role}.sandbox.invalid",
                *limits,
                transport=lambda role=role: SandboxTransport(sandbox, role),  # type: ignore[misc]
            )
            for role in ("primary", "secondary")
        ]
    addresses = {"primary": settings.upstream_url, "secondary": settings.upstream_secondary_url}
    return [Origin(name, url, *limits) for name, url in addresses.items() if url]


def _backend(app: Flask, settings: Settings) -> Any:
    room = "portal.gateway"
    config = {
        "CACHE_TYPE": f"{room}.sqlite_cache.SQLiteCache",
        "CACHE_DIR": str(settings.data_dir),
    }
    if settings.redis_url:
        config = {
            "CACHE_TYPE": f"{room}.redis_cache.SealedRedisCache",
            "CACHE_REDIS_URL": settings.redis_url,
            "CACHE_KEY_PREFIX": "portal:",
            "CACHE_OPTIONS": cast(Any, {"socket_timeout": 1, "socket_connect_timeout": 1}),
        }
    cache = Cache(app, config=config)
    # Not cache.cache: that asks for the current application, which need not be this one.
    return app.extensions["cache"][cache]


def _leases(settings: Settings) -> Leases:
    if settings.redis_url:
        from redis import Redis  # late: most portals have none

        return RedisLeases(
            Redis.from_url(settings.redis_url, socket_timeout=1, socket_connect_timeout=1)
        )
    return FileLeases(settings.data_dir / "leases")


def _policy(settings: Settings) -> Policy:
    terms = {
        name: Terms(
            fresh_s=getattr(settings, f"fresh_{name}"),
            stale_s=getattr(settings, f"stale_{name}"),
            price=getattr(settings, f"price_{name}"),
        )
        for name in ("decode", "renainf", "renajud", "report")
    }
    credential = TOKEN if settings.mode == "demo" else settings.upstream_token
    return Policy(cast(Any, terms), settings.deadline, settings.hidden_marker, credential)


def _samples() -> Sequence[SamplePlate]:
    return [SamplePlate(each.plate, each.title, each.alone, each.portal) for each in SITUATIONS]


def worker() -> Flask:
    """The application inside a server process."""
    from portal.server import end_with_parent

    end_with_parent()
    return create_app()


def main() -> None:
    """``python app.py``: serve on HOST:PORT."""
    from portal.server import serve

    settings = _settings()
    host, port = os.environ.get("HOST") or "127.0.0.1", os.environ.get("PORT") or "8000"
    if not (port.isascii() and port.isdecimal() and 0 < int(port) < 65536):
        sys.exit(f"dossie-veicular: PORT makes no sense: {port}")
    try:
        load_secret_key(settings.data_dir)
        # Here once, so that a database out of reach is one line and not a crash in every worker.
        open_engine(settings.database_url, settings.data_dir).dispose()
    except (OSError, SQLAlchemyError) as error:
        sys.exit(f"dossie-veicular: cannot start: {str(error).splitlines()[0]}")
    shown = f"[{host}]" if ":" in host else host
    kind = {"demo": "demonstração, dados fictícios", "managed": "gerenciado"}
    mode = kind.get(settings.mode, "credencial de quem pede")
    print(f"Dossiê Veicular em http://{shown}:{port} ({mode})", flush=True)
    serve("app:worker", host, int(port), settings.workers, HOME)


if __name__ == "__main__":
    main()
