"""The portal, upstreams and optional Redis of one history (a sequence of steps)."""

import csv
import http.client
import io
import itertools
import json
import random
import re
import shutil
import sqlite3
import string
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlencode

from tests.fakes import FaultUpstream, wait_until
from tests.fakes.answers import Operation, path_of
from tests.fakes.processes import PortalProcess, RedisProcess
from tests.states.model import Ask, Caller, Env, Lifetime, Model, Reply, Violation
from tests.states.numbered import NumberedUpstream
from tests.states.owned import DEADLINE_S, PRICES

OPERATOR = "operator-credential-of-the-states"
STAFF = Caller("staff", "access-token-of-the-states", is_token=True)
SECOND = Caller("second", "second-access-token-of-the-states", is_token=True)
ALICE = Caller("alice", "upstream-credential-of-alice", is_token=False)
BOB = Caller("bob", "upstream-credential-of-bob", is_token=False)
VISITOR = Caller("visitor", "demo", is_token=True)
WORKERS = 2
# The number of new connections after which each worker has accepted some.
EACH_WORKER = 12


class Portal(PortalProcess):
    """A portal whose settings can change between a stop and a start; the data stays."""

    def use_settings(self, settings: Mapping[str, str]) -> None:
        own = {"PORTAL_DATA_DIR": str(self.data_dir), "PORTAL_WORKERS": str(WORKERS)}
        self.env = {**own, **settings}

    def start(self) -> Self:
        """Start, with two retries, because a start may time out on a busy machine."""
        for _ in range(2):
            try:
                return super().start()
            except AssertionError as late:
                if "did not happen within" not in str(late):
                    raise
        return super().start()

    def log(self) -> bytes:
        return (self.directory / "output.log").read_bytes()


def plates(chance: random.Random) -> list[str]:
    """Return four plates. The first two are the old and new spelling of one plate."""
    old = "".join(chance.choices(string.ascii_uppercase, k=3)) + f"{chance.randrange(10000):04}"
    twin = old[:4] + "ABCDEFGHIJ"[int(old[4])] + old[5:]
    others = [
        "".join(chance.choices(string.ascii_uppercase, k=3))
        + f"{chance.randrange(10)}{chance.choice('KLMNOP')}{chance.randrange(100):02}"
        for _ in range(2)
    ]
    return [old, twin, *others]


class World:
    """The running programs and the requests to them. ``close`` ends the programs."""

    def __init__(
        self,
        chance: random.Random,
        lifetimes: Mapping[Operation, Lifetime],
        redis: bool,
        env: str,
    ) -> None:
        self.chance = chance
        self.plates = plates(chance)
        self.renavam = f"{chance.randrange(10**10, 10**11)}"
        self.lifetimes = lifetimes
        numbers = itertools.count(1)
        names = ("A primary", "A secondary", "B")
        self.primary, self.secondary, self.other = (
            NumberedUpstream(name, numbers) for name in names
        )
        self.upstreams = (self.primary, self.secondary, self.other)
        self.model = Model(lifetimes, self.upstreams)
        self.redis = RedisProcess() if redis else None
        self.portal = Portal()
        self.people: dict[str, tuple[Caller, str, str]] = {}  # caller, cookie, Env's name
        self._log_read = 0
        try:
            for upstream in self.upstreams:
                upstream.fake.start()
            if self.redis is not None:
                self.redis.start()
            self.envs = {env.name: env for env in self._environments()}
            self.env = self.envs[env]
            self.portal.use_settings(self.env.settings)
            self.portal.start()
        except BaseException:
            self.close()
            raise

    def _environments(self) -> Iterator[Env]:
        common = {
            "PORTAL_CONNECT_TIMEOUT": "1",
            "PORTAL_FIRST_BYTE_TIMEOUT": "3",  # long enough for a purge during a lookup
            "PORTAL_DEADLINE": f"{DEADLINE_S:.0f}",
            "PORTAL_BATCH_CONCURRENCY": "2",  # of four vehicles, some wait while others are asked
        }
        for operation, price in PRICES.items():
            common[f"PORTAL_PRICE_{operation.upper()}"] = f"{price}"
        for operation, terms in self.lifetimes.items():
            common[f"PORTAL_FRESH_{operation.upper()}"] = f"{terms.fresh_s:.0f}"
            common[f"PORTAL_STALE_{operation.upper()}"] = f"{terms.stale_s:.0f}"
        if self.redis is not None:
            common |= {
                "PORTAL_REDIS_URL": self.redis.default_url,
                "PORTAL_SECRET_KEY": "the-secret-key-of-the-states-of-redis",
            }
        a = {
            "PORTAL_UPSTREAM_URL": self.primary.fake.url,
            "PORTAL_UPSTREAM_SECONDARY_URL": self.secondary.fake.url,
        }
        b = {"PORTAL_UPSTREAM_URL": self.other.fake.url}
        managed = {
            "PORTAL_UPSTREAM_TOKEN": OPERATOR,
            "PORTAL_ACCESS_TOKENS": f"{STAFF.text},{SECOND.text}",
        }
        both = {"primary": self.primary, "secondary": self.secondary}
        yield Env("A", "managed", common | a | managed, both, OPERATOR)
        yield Env("B", "managed", common | b | managed, {"primary": self.other}, OPERATOR)
        yield Env("A passed through", "pass-through", common | a, both)
        yield Env("demo", "demo", common | {"PORTAL_ACCESS_TOKENS": STAFF.text}, {})

    # Requests

    def ask(self, operation: Operation, subject: str, uf: str | None = None, data: int = 0) -> Ask:
        if operation != "report":
            path = path_of(operation, subject, uf)
            return Ask(operation, subject, ("GET", path, ""))
        document = {"plate": subject, "data": {"consulta": data}}
        key = ("POST", path_of("report"), json.dumps(document, sort_keys=True))
        return Ask(operation, subject, key, json.dumps(document).encode())

    def request(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] = {},
        body: bytes | None = None,
    ) -> Reply:
        """Send a request on a new connection; status 0 means that no response came."""
        asked_at = time.time()
        connection = http.client.HTTPConnection("127.0.0.1", self.portal.port, timeout=60)
        try:
            connection.request(method, path, body, dict(headers))
            response = connection.getresponse()
            data = response.read()
            shown = {name.lower(): value for name, value in response.getheaders()}
            ended_at = time.time()
            if response.status == 401 and "Authorization" in headers:
                self.model.wrong_tokens.append(ended_at)
            return Reply(response.status, data, shown, asked_at, ended_at)
        except (OSError, http.client.HTTPException):
            return Reply(0, b"", {}, asked_at, time.time())
        finally:
            connection.close()

    def json(self, who: Caller, ask: Ask, directive: str = "") -> Reply:
        method, path, _ = ask.key
        headers = {"Authorization": who.text} | ({"Cache-Control": directive} if directive else {})
        if ask.body is not None:
            headers["Content-Type"] = "application/json"
        return self.request(method, path, headers, ask.body)

    def page(self, person: str, path: str, **headers: str) -> Reply:
        """Send a GET with a person's cookie, and store the new cookie."""
        if person not in self.people:
            return self.request("GET", path, headers)
        who, cookie, env = self.people[person]
        reply = self.request("GET", path, {"Cookie": cookie} | headers)
        self.people[person] = (who, _cookie(reply) or cookie, env)
        return reply

    def form(self, person: str, page: str, action: str) -> Reply:
        """Post a form of ``page`` to ``action``, as a browser does."""
        return self.post_form(action, *self.form_keys(person, page))

    def form_keys(self, person: str, page: str) -> tuple[str, str]:
        """Open a page, and return the CSRF token of its forms and the person's cookie."""
        csrf = _csrf(self.page(person, page).body)
        return csrf, self.people[person][1] if person in self.people else ""

    def post_form(self, action: str, csrf: str, cookie: str) -> Reply:
        body = urlencode({"csrf_token": csrf}).encode()
        headers = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
        return self.request("POST", action, headers, body)

    def sign_in(self, who: Caller) -> bool:
        form = self.request("GET", "/entrar")
        headers = {
            "Cookie": _cookie(form) or "",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        fields = {"token": who.text, "csrf_token": _csrf(form.body)}
        done = self.request("POST", "/entrar", headers, urlencode(fields).encode())
        if done.status != 303:
            return False
        self.people[who.name] = (who, _cookie(done) or "", self.env.name)
        return True

    # Operator

    def rotate_key(self) -> None:
        """Let the next start and all commands use a new secret key, and know the former ones."""
        names = ("PORTAL_SECRET_KEY", "PORTAL_SECRET_KEYS_OLD")
        known = [self.env.settings[name] for name in names if self.env.settings.get(name)]
        if not known:  # the demonstration has a key of its own
            known = [path.read_text() for path in self.portal.data_dir.rglob("secret_key")]
        keys = dict(
            zip(names, (f"{self.chance.getrandbits(128):032x}", ",".join(known)), strict=True)
        )
        self.envs = {
            name: replace(env, settings={**env.settings, **keys}) for name, env in self.envs.items()
        }
        self.env = self.envs[self.env.name]

    def command(self, *words: str, **settings: str) -> tuple[int, str]:
        """Run ``flask --app app …``; return its exit code and output.

        ``settings`` override the portal's settings for this command.
        """
        before = dict(self.portal.env)
        self.portal.env |= settings
        try:
            done = self.portal.command_line(*words)
        finally:
            self.portal.env = before
        return done.returncode, done.stdout + done.stderr

    def ledger(self) -> list[dict[str, str]]:
        done = self.portal.command_line("ledger", "--csv")
        if done.returncode != 0:
            raise Violation("the ledger can be printed", done.stderr[-300:])
        return list(csv.DictReader(io.StringIO(done.stdout)))

    # Contents of disk, Redis and log

    def files(self) -> dict[Path, bytes]:
        """Read every file under DATA_DIR."""
        found = {}
        for path in sorted(self.portal.data_dir.rglob("*")):
            try:
                if path.is_file():
                    found[path] = path.read_bytes()
            except FileNotFoundError:  # for example, a lease file removed meanwhile
                continue
        return found

    def cells(self) -> dict[bytes, str]:
        """Return the database's texts and blobs of at least 12 bytes, each with its column.

        The values are read from a copy, because a connection to the original could checkpoint its
        WAL.
        """
        found: dict[bytes, str] = {}
        with tempfile.TemporaryDirectory() as folder:
            for original in self.portal.data_dir.rglob("portal.sqlite"):
                copy = Path(folder) / "portal.sqlite"
                for ending in ("", "-wal"):
                    if (part := original.with_name(original.name + ending)).exists():
                        shutil.copy(part, copy.with_name(copy.name + ending))
                with closing(sqlite3.connect(copy)) as db:
                    found |= dict(_cells(db))
                for part in Path(folder).iterdir():
                    part.unlink()
        return found

    def last_purge(self) -> int:
        """Return the number of the latest purge in the database's log."""
        url = f"file:{self.portal.data_dir / 'portal.sqlite'}?mode=ro"
        with closing(sqlite3.connect(url, uri=True)) as db:
            (last,) = db.execute("SELECT coalesce(max(number), 0) FROM purges").fetchone()
        return int(last)

    def redis_values(self) -> dict[bytes, bytes]:
        """Return every key of Redis with its value."""
        if self.redis is None or not self.redis.is_running:
            return {}
        from redis import Redis

        found = {}
        with Redis(port=self.redis.port) as client:
            for key in client.scan_iter(count=1000):
                found[key] = client.dump(key) or b""
                if client.type(key) == b"string":
                    found[key] = client.get(key) or b""
                elif client.type(key) == b"set":
                    found[key] = b"\n".join(client.smembers(key))
        return found

    def new_log(self) -> bytes:
        """Return what the server has logged since this method's last call."""
        text = self.portal.log()
        new, self._log_read = text[self._log_read :], len(text)
        return new

    def wait_for_workers(self) -> None:
        wait_until(lambda: len(self.portal.worker_pids()) == WORKERS, "the workers", 60)
        wait_until(self.portal.answers, "an answer", 60)

    def close(self) -> None:
        for upstream in self.upstreams:
            upstream.gate.set()
        self.portal.close()
        if self.redis is not None:
            self.redis.close()
        for upstream in self.upstreams:
            upstream.fake.stop()


def restart(fake: FaultUpstream) -> None:
    """Start an upstream, unless it is running."""
    try:
        fake.start()
    except RuntimeError:
        return


def _cells(db: sqlite3.Connection) -> Iterator[tuple[bytes, str]]:
    tables = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    for (table,) in tables:
        rows: Any = db.execute(f'SELECT * FROM "{table}"')
        names = [f"{table}.{column[0]}" for column in rows.description]
        for row in rows:
            for cell, name in zip(row, names, strict=True):
                if isinstance(cell, str | bytes) and len(cell) >= 12:
                    yield (cell.encode() if isinstance(cell, str) else cell), name


def _csrf(page: bytes) -> str:
    found = re.search(rb'name="csrf_token"[^>]*value="([^"]+)"', page)
    return found[1].decode() if found else ""


def _cookie(reply: Reply) -> str | None:
    found = re.match(r"(portal=[^;]+)", reply.headers.get("set-cookie", ""))
    return found[1] if found else None
