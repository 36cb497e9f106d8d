"""Measures whether pages, paths and commands cost more with a million rows than with a thousand.

The figures are processor time of the portal's processes and of PostgreSQL. The table is saved as
``bench/results/growth.md``.
"""

import itertools
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
import requests
from sqlalchemy import Table, create_engine, insert, select, update

from bench.misses import Visitor
from bench.programs import (
    CHECKOUT,
    OPERATOR_TOKEN,
    PORTAL_TOKEN,
    Program,
    Stage,
    environment,
    family_of,
    running_s,
)
from bench.results import RESULTS, Report
from portal.access.tokens import SCOPES, digest
from portal.batch.batches import MOST_LISTED
from portal.dossier.status_style import LOOKS
from portal.factory import Portal
from portal.gateway.savings import SavingsCounter
from portal.gateway.sqlite_cache import entry_id
from portal.issued.identifiers import Identifiers
from portal.issued.model import IssuedSnapshot
from portal.presentation.issued.summary import IssuedSummary
from portal.presentation.operations.page import MOST_TOKENS
from portal.presentation.site.history_page import MOST_SEARCHED
from portal.settings import Settings
from portal.storage import tables
from portal.system.erasure import BytesKept
from portal.vehicle.operation_name import OperationName
from tests.fakes.databases import PostgresProcess

# The numbers of rows in the ledger and of stored answers. There are a tenth as many entries in the
# visitor's history, a hundredth as many tokens, and a thousandth as many batches and dossiers, but
# of each at least a full page, so that pages of equal length are compared.
SIZES: Final = tuple(
    int(size) for size in os.environ.get("BENCH_GROWTH", "1000 30000 1000000").split()
)
GOAL: Final = 1.5
_TIMES: Final = 12
_EXPIRED: Final = 20  # entries, batches and dossiers that an expiry deletes
_NAME: Final = "bench"
_DAYS: Final = 90
_KINDS: Final[Sequence[tuple[OperationName, str]]] = (
    ("decode", "0.85"),
    ("renainf", "0.95"),
    ("renajud", "0.65"),
)
# A page with these parameters is not taken from the cache of rendered pages.
_PAGES: Final = (
    "/", "/placa/ZZZ9Z99?completo=1", "/placa/ZZZ9Z99/dossie", "/comparar?placas=ZZZ9Z99,ZZZ9Z98",
    "/historico", "/historico?pagina=2", "/historico?ordem=preco", "/historico?nota=ZZZ9Z99",
    "/lote", "/dossies", "/operacao?dias=7", "/operacao", "/operacao?dias=90",
    "/operacao/uso.csv?dias=90", "/privacidade",
)  # fmt: skip
_API: Final = (
    "/detran/v1/decode/ZZZ9Z99", "/api/v1/vehicles/ZZZ9Z99", "/api/v1/usage", "/api/v1/batches",
    "/api/v1/batches/{batch}", "/api/v1/batches/{batch}/results.csv", "/metrics", "/healthz",
    "/readyz",
)  # fmt: skip
_COMMANDS: Final[Sequence[Sequence[str]]] = (
    ("token", "list"),
    ("ledger", "--summary"),
    ("ledger", "--month", "{month}", "--summary"),
    ("dossier", "list"),
    ("purge", "ZZZ9Z97"),
)


@dataclass(frozen=True, slots=True)
class _Site:
    """A portal with its rows, and the ids of the processes that work for it."""

    size: int
    program: Program
    portal: Portal
    settings: Mapping[str, str]
    postgres: PostgresProcess | None
    batch: str

    def cpu_s(self) -> float:
        """Return the processor time so far, in seconds."""
        roots = [self.program.process.pid]
        if self.postgres is not None:
            roots.append(self.postgres.pid)
        running = running_s(*(pid for root in roots for pid in family_of(root)))
        return running + sum(map(_ended_children_s, roots))


def growth(stage: Stage, report: Report, seconds: float, rounds: int) -> None:
    del seconds, rounds
    upstream = stage.upstream()
    lines = []
    with ExitStack() as stack:
        kinds: dict[str, PostgresProcess | None] = {"SQLite": None}
        try:
            kinds["PostgreSQL"] = stack.enter_context(PostgresProcess())
        except pytest.skip.Exception as skipped:
            report.note(f"growth on PostgreSQL left out: {skipped}")
        for kind, postgres in kinds.items():
            costs: dict[str, list[float]] = {}
            for size in SIZES:
                site = _site(stage, upstream.url, f"{kind}-{size}", size, postgres)
                for name, cost_s in _measured(site):
                    costs.setdefault(name, []).append(cost_s * 1e3)
                site.portal.close()
                site.program.stop()
            lines += [
                "",
                f"| {kind}, processor time in ms | {_joined(f'{n:,}' for n in SIZES)} | ratio |",
            ]
            lines += [f"|{'---|' * (len(SIZES) + 2)}"]
            for name, each in costs.items():
                ratio = each[-1] / each[0]
                lines.append(f"| {name} | {_joined(f'{ms:.1f}' for ms in each)} | {ratio:.2f} |")
            worst = max(costs, key=lambda name: costs[name][-1] / costs[name][0])
            name = (
                f"{SIZES[-1]:,} rows over {SIZES[0]:,}, {kind}, the worst of {len(costs)}: {worst}"
            )
            report.compare(name, costs[worst][-1:], costs[worst][:1], "ms", GOAL, "at most")
    (RESULTS / "growth.md").write_text("\n".join([*lines[1:], ""]), encoding="utf-8")
    for line in lines:
        report.note(line)


def _joined(cells: Iterator[str]) -> str:
    return " | ".join(cells)


def _measured(site: _Site) -> Iterator[tuple[str, float]]:
    visitor = Visitor(site.program.port).sign_in()
    for plate in ("ZZZ9Z99", "ZZZ9Z98"):
        visitor.ask(f"/placa/{plate}?completo=1")
    headers = {"Authorization": PORTAL_TOKEN}
    session = requests.Session()
    session.headers.update(headers)

    def get(path: str) -> None:
        answer = session.get(site.program.url + path.format(batch=site.batch), timeout=60)
        answer.raise_for_status()

    for path in _PAGES:
        yield path, _cost_s(site, partial(visitor.ask, path))
    for path in _API:
        yield path, _cost_s(site, partial(get, path))
    plates = (
        f"YYY{number // 1000}{'ABC'[number // 100 % 3]}{number % 100:02}"
        for number in itertools.count()
    )
    yield "a JSON miss", _cost_s(site, lambda: get(f"/detran/v1/decode/{next(plates)}"))
    yield "a cold page", _cost_s(site, lambda: visitor.ask(f"/placa/{next(plates)}?completo=1"))
    yield (
        "POST /api/v1/batches",
        _cost_s(
            site,
            lambda: session.post(
                site.program.url + "/api/v1/batches", json={"plates": ["ZZZ9Z99"]}, timeout=60
            ).raise_for_status(),
        ),
    )
    page = visitor.ask("/historico").decode()
    form = {"csrf_token": re.findall(r'name="csrf_token" value="([^"]+)"', page)[0]}
    form["consulta"] = "ZZZ9Z98"
    yield "POST /historico/apagar", _cost_s(site, lambda: visitor.ask("/historico/apagar", form))
    parts = site.portal
    for name, column, key in (
        ("batches", tables.batches.c.expires_at, tables.batches.c.id),
        ("dossiers", tables.dossiers.c.expires_at, tables.dossiers.c.number),
        ("history", tables.history.c.asked_at, tables.history.c.id),
    ):
        with parts.database.writing() as db:
            some = key.in_(select(key).limit(_EXPIRED))
            db.execute(update(key.table).where(some).values({column: 1.0}))
        expiry = getattr(parts, name).drop_expired
        yield f"expiry of {_EXPIRED} rows of {name}", _cost_of_task_s(site, expiry)
    for name, task in (
        ("expiry of counters", parts.ledger.drop_past_counters),
        ("expiry of idempotency keys", parts.idempotency.drop_expired),
        ("hourly search for left-over bytes", parts.database.erase_deleted),
    ):
        yield name, _cost_of_task_s(site, task)
    for words in _COMMANDS:
        name = " ".join(words)
        costs = [_cost_of_command_s(site, words) for _ in range(1 if words[0] == "purge" else 3)]
        yield name, statistics.median(costs)


def _cost_s(site: _Site, request: Callable[[], object]) -> float:
    """Return the median processor time of a request."""
    costs = []
    request()
    for _ in range(_TIMES):
        time.sleep(0.03)
        before = site.cpu_s()
        request()
        costs.append(site.cpu_s() - before)
    return statistics.median(costs)


def _cost_of_task_s(site: _Site, task: Callable[[], object]) -> float:
    before, server = time.process_time(), site.cpu_s()
    with suppress(BytesKept):  # the portal has the file open
        task()
    return time.process_time() - before + (site.cpu_s() - server if site.postgres else 0.0)


def _cost_of_command_s(site: _Site, words: Sequence[str]) -> float:
    month = datetime.now(UTC).strftime("%Y-%m")
    command = [sys.executable, "-m", "flask", "--app", "app"]
    command += [word.format(month=month) for word in words]
    before, server = _children_s(), site.cpu_s()
    env = environment(**site.settings)
    subprocess.run(command, cwd=CHECKOUT, env=env, capture_output=True, check=True)
    return _children_s() - before + (site.cpu_s() - server if site.postgres else 0.0)


def _children_s() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _ended_children_s(pid: int) -> float:
    """Return the time of a process's ended children, in hundredths of a second.

    A server process of PostgreSQL ends with its connection.
    """
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[13:15])) / os.sysconf("SC_CLK_TCK")


def _site(
    stage: Stage, upstream: str, name: str, size: int, postgres: PostgresProcess | None
) -> _Site:
    settings = {
        "UPSTREAM_NAME": _NAME,
        "UPSTREAM_TOKEN": OPERATOR_TOKEN,
        "ACCESS_TOKENS": PORTAL_TOKEN,
        "DATA_DIR": str(stage.folder(name) / "data"),
        "WORKERS": "1",
        "RATE_LIMIT_TOKEN": "100000/minute",
        "RATE_LIMIT_ADDRESS": "100000/minute",
        **{f"PRICE_{operation.upper()}": price for operation, price in _KINDS},
        **({"DATABASE_URL": postgres.new_database()} if postgres else {}),
    }
    environ = {f"PORTAL_{key}": value for key, value in settings.items()}
    environ["PORTAL_UPSTREAM_URL"] = upstream
    program = stage.portal(
        upstream, name, **{k: v for k, v in settings.items() if k != "UPSTREAM_URL"}
    )
    portal = Portal(Settings.from_environment(environ, CHECKOUT), is_command=True)
    batch = _fill(portal, Path(settings["DATA_DIR"]), size)
    return _Site(size, program, portal, environ, postgres, batch)


def _fill(portal: Portal, folder: Path, size: int) -> str:
    """Write the rows, and return the id of a batch of ten plates."""
    began = time.monotonic()
    now = time.time()
    owner = digest(PORTAL_TOKEN)
    visitor = portal.keys.owner_key("", owner)
    sealed = portal.keys.encrypt(b"history", b"YYY1A11")
    note = portal.keys.encrypt(b"history", b'["comprar ABC1D23", "comprar"]')
    space = portal.namespace
    callers = max(4 * MOST_TOKENS, size // 100)
    _insert(portal, tables.tokens, (_token(space, number, now) for number in range(callers)))
    _insert(
        portal, tables.ledger, (_call(space, number, size, callers, now) for number in range(size))
    )
    _insert(portal, tables.call_counters, (
        {"namespace": space, "day": _day(now), "payer": f"token:token-{number:05}", "calls": 3}
        for number in range(callers)
    ))  # fmt: skip
    terms = {name: portal.gateway.terms[name] for name, _ in _KINDS}
    for day in range(_DAYS):
        clock = partial(float, now - day * 86400)
        savings = SavingsCounter(portal.database, terms, clock, namespace=space)
        for number in range(day % callers, callers, _DAYS):
            for name in terms:
                savings.count(name, "hit", 7, f"token-{number:05}")
        savings.flush()
    entries = max(MOST_SEARCHED, size // 10)
    _insert(portal, tables.history, (
        {"visitor": visitor, "subject": f"{number:024}", "sealed": sealed,
         "asked_at": now - 29 * 86400 * number / entries,
         "sealed_note": note if number % 100 == 7 else None}
        for number in range(entries)
    ))  # fmt: skip
    few = max(MOST_LISTED, size // 1000)
    ids = [f"{number:024x}" for number in range(few)]
    wrong, plate = portal.keys.encrypt(b"batch", b"{}"), portal.keys.encrypt(b"batch", b"YYY1A11")
    _insert(portal, tables.batches, (
        {"id": id, "namespace": space, "owner": visitor, "created_at": now - 60 * number,
         "started_at": now - 60 * number, "ended_at": now - 30 * number, "expires_at": now + 86400,
         "state": "done", "reason": "", "tries": 0, "claimed_at": now, "ask": "decode",
         "at_most": "8.50", "sealed_wrong": wrong} for number, id in enumerate(ids)
    ))  # fmt: skip
    _insert(portal, tables.batch_items, (
        {"batch": id, "position": position, "subject": f"{position:024}", "sealed": plate,
         "stored": False, "state": "done", "cause": "", "attempts": 0, "holder": "",
         "lease_until": 0.0} for id in ids for position in range(10)
    ))  # fmt: skip
    summary = msgspec.json.encode(
        IssuedSummary(
            "YYY1A11", "", "", LOOKS["clear"], "Nada.", (), (), (), 0, datetime.now(UTC), None
        )
    )
    snapshot = IssuedSnapshot(plate="YYY1A11", caller="settings:1", summary=summary.decode())
    for number in range(few):
        names = Identifiers(f"{number:012}", f"{number:022}")
        portal.dossiers.issue(owner, names, snapshot, "", None, last_purge=0)
    _store(folder / "cache.sqlite", size, now)
    if portal.database.engine.dialect.name == "postgresql":
        # Autovacuum does this within minutes, and its processor time would count here.
        with create_engine(
            portal.database.engine.url, isolation_level="AUTOCOMMIT"
        ).connect() as db:
            db.exec_driver_sql("VACUUM (ANALYZE)")
    print(f"  filled {size:,} rows in {time.monotonic() - began:.0f} s", flush=True)
    return ids[0]


def _store(file: Path, size: int, now: float) -> None:
    keys = sorted((entry_id(key), key) for key in (f"{n:024x}:{n:040x}" for n in range(size)))
    with sqlite3.connect(file, timeout=60) as db:
        db.executemany(
            "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, 0, ?)",
            ((number, key, now + 86400, os.urandom(100)) for number, key in keys),
        )
    db.close()


def _insert(portal: Portal, table: Table, rows: Iterator[Mapping[str, Any]]) -> None:
    while chunk := list(itertools.islice(rows, 500)):
        with portal.database.writing() as db:
            db.execute(insert(table), chunk)


def _token(space: str, number: int, now: float) -> Mapping[str, Any]:
    return {
        "digest": f"{number:064}",
        "namespace": space,
        "name": f"token-{number:05}",
        "scopes": ",".join(sorted(SCOPES)),
        "daily_limit": 5 if number % 2 else 0,
        "created_at": now - 86400 * 90 + number,
        "expires_at": now + 86400 * (number % 300 + 1) if number % 3 else None,
        "revoked_at": now - number if number % 5 == 4 else None,
    }


def _call(space: str, number: int, size: int, callers: int, now: float) -> Mapping[str, Any]:
    sent_at = now - _DAYS * 86400 * (1 - (number + 1) / size)
    operation, price = _KINDS[number % 3]
    return {
        "sent_at": sent_at,
        "day": _day(sent_at),
        "operation": operation,
        "subject": f"{number // 3:024}",
        "origin": "primary",
        "caller": f"token-{number % callers:05}",
        "price": price,
        "outcome": "timed_out" if number % 100 == 7 else "answered",
        "status": None if number % 100 == 7 else 200,
        "namespace": space,
        "batch": None,
    }


def _day(at: float) -> str:
    return datetime.fromtimestamp(at - 3 * 3600, UTC).date().isoformat()
