"""Issued tokens: digest, scopes, expiry, daily limit; and who a token turns out to be."""

import hashlib
import logging
import math
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Engine, insert, select, update
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from portal.storage import reading
from portal.storage import tokens as table

log = logging.getLogger(__name__)

OPERATION_SCOPES: Final = frozenset({"decode", "renainf", "renajud", "report"})
SCOPES: Final = OPERATION_SCOPES | {"refresh", "admin"}
REMEMBERED_S = 2.0  # a revocation reaches every process within this
# With the database away a token that held goes on for a little: a restart of PostgreSQL is no
# outage of the portal's. The edge may hold a judgement for another second, and a revocation is
# to reach everybody within five.
LAST_KNOWN_S = 4.0
AWAY_PAUSE_S = 0.5  # after a failure nobody asks for this long: the next ones need not wait too
REMEMBERED_MOST = 10_000


class UnknownToken(LookupError):
    """Nobody was ever given this token: 401."""


class RefusedToken(LookupError):
    """A token that was given and no longer holds: revoked or expired. 403."""


class TokensUnavailable(Exception):
    """The database of tokens cannot be asked: nobody can be told from a stranger. 503."""


class NameTaken(ValueError):
    """A token of this name was issued before."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks. ``daily_limit`` in upstream calls, 0 = none; ``credential`` in pass-through mode
    alone, where the caller's own goes upstream and ``digest`` is an HMAC of it."""

    name: str
    digest: str
    scopes: frozenset[str]
    daily_limit: int = 0
    credential: str | None = field(default=None, repr=False)

    def has_scope(self, scope: str) -> bool:
        return scope in self.scopes


@dataclass(frozen=True, slots=True)
class Issued:
    """A token as the operator sees it listed; times in epoch seconds."""

    name: str
    digest: str
    scopes: frozenset[str]
    daily_limit: int
    created_at: float
    expires_at: float | None
    revoked_at: float | None
    namespace: str

    def holds(self, now: float) -> bool:
        expired = self.expires_at is not None and now >= self.expires_at
        return self.revoked_at is None and not expired


class Tokens:
    """The tokens of the database beside those of the settings; only digests are kept.

    A token is valid in the ``namespace`` it was issued in, and unknown in every other.
    """

    def __init__(
        self,
        engine: Engine,
        configured: Sequence[str],
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        namespace: str = "upstream",
    ) -> None:
        self._engine = engine
        self._namespace = namespace
        self._clock = clock
        self._monotonic = monotonic
        self._configured = {
            digest(token): Identity(f"settings:{number}", digest(token), SCOPES)
            for number, token in enumerate(configured, start=1)
        }
        self._remembered: dict[str, tuple[float, Issued | None]] = {}
        self._away_until = -math.inf
        self._lock = threading.Lock()

    def identify(self, token_digest: str) -> Identity:
        """Whose digest it is; raises UnknownToken, RefusedToken or TokensUnavailable."""
        configured = self._configured.get(token_digest)
        if configured is not None:
            return configured
        issued = self._find(token_digest)
        if issued is None or issued.namespace != self._namespace:
            raise UnknownToken
        if not issued.holds(self._clock()):
            raise RefusedToken
        return Identity(issued.name, issued.digest, issued.scopes, issued.daily_limit)

    def was_issued(self, token_digest: str) -> bool:
        """Whether it is a portal token, live or not, of whatever namespace.

        A credential that was not one a moment ago does not become one, so what was found last
        holds while the database is away. Raises TokensUnavailable where nothing was found yet.
        """
        remembered = self._remembered.get(token_digest)
        try:
            return self._find(token_digest) is not None
        except TokensUnavailable:
            if remembered is None:
                raise
            return remembered[1] is not None

    def issue(
        self, name: str, scopes: frozenset[str], lifetime_s: float | None, daily_limit: int
    ) -> str:
        """A new token of 256 random bits: returned here and nowhere else, ever. NameTaken."""
        token = secrets.token_urlsafe(32)
        now = self._clock()
        try:
            with self._engine.begin() as db:
                db.execute(
                    insert(table).values(
                        digest=digest(token),
                        namespace=self._namespace,
                        name=name,
                        scopes=",".join(sorted(scopes)),
                        daily_limit=daily_limit,
                        created_at=now,
                        expires_at=now + lifetime_s if lifetime_s is not None else None,
                    )
                )
        except IntegrityError:
            raise NameTaken(name) from None
        return token

    def revoke(self, name: str) -> bool:
        """False where no such token holds."""
        with self._engine.begin() as db:
            revoked = db.execute(
                update(table)
                .where(
                    table.c.namespace == self._namespace,
                    table.c.name == name,
                    table.c.revoked_at.is_(None),
                )
                .values(revoked_at=self._clock())
            )
        with self._lock:
            self._remembered.clear()
        return bool(revoked.rowcount)

    def listed(self) -> list[Issued]:
        query = select(table).where(table.c.namespace == self._namespace)
        with reading(self._engine) as db:
            return [_issued(row) for row in db.execute(query.order_by(table.c.created_at))]

    def _find(self, token_digest: str) -> Issued | None:
        now = self._monotonic()
        remembered = self._remembered.get(token_digest)
        if remembered is not None and now - remembered[0] < REMEMBERED_S:
            return remembered[1]
        if now < self._away_until:
            return self._last_known(remembered)
        try:
            with reading(self._engine) as db:
                row = db.execute(select(table).where(table.c.digest == token_digest)).first()
        except SQLAlchemyError as error:
            self._away_until = self._monotonic() + AWAY_PAUSE_S
            log.warning("tokens were not read: %s", type(error).__name__)
            return self._last_known(remembered)
        issued = _issued(row) if row is not None else None
        with self._lock:
            if len(self._remembered) >= REMEMBERED_MOST:
                self._remembered.clear()  # a flood of wrong tokens must not grow us
            self._remembered[token_digest] = (now, issued)
        return issued

    def _last_known(self, remembered: tuple[float, Issued | None] | None) -> Issued:
        """Counted from the question that was answered last, to now: failing took its time too."""
        asked_at, issued = remembered or (-math.inf, None)
        if issued is None or self._monotonic() - asked_at >= LAST_KNOWN_S:
            raise TokensUnavailable("the database is away")
        return issued


def digest(token: str) -> str:
    """SHA-256 in hex. Enough for 256 random bits; nothing slower would be safer."""
    return hashlib.sha256(token.encode()).hexdigest()


def _issued(row: object) -> Issued:
    values = row._mapping  # type: ignore[attr-defined]
    return Issued(**{**values, "scopes": frozenset(values["scopes"].split(","))})
