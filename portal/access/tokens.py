"""Issues, revokes and identifies tokens, and authenticates callers by token or credential."""

import hashlib
import math
import re
import secrets
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from typing import Any, Final, Literal, Protocol

from sqlalchemy import (
    ColumnElement,
    Connection,
    func,
    insert,
    literal,
    select,
    union_all,
    update,
)
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from portal.access.sealing import keyed_hash
from portal.storage.database import Also, Database, nothing_else
from portal.storage.ends import note_end
from portal.storage.tables import tokens as table
from portal.system.caller_credentials import Mode
from portal.system.dependency_breaker import BreakerOpen, DependencyBreaker
from portal.system.local_time import iso_day
from portal.vehicle.operation_name import OPERATION_NAMES

OPERATION_SCOPES: Final[frozenset[str]] = frozenset(OPERATION_NAMES)
SCOPES: Final = OPERATION_SCOPES | {"refresh", "admin"}
# Alone, this scope lets a token read every stored answer, and never spend.
STORED: Final = "stored"
ISSUABLE_SCOPES: Final = SCOPES | {STORED}
# Seconds for which a token's row is cached while the database is reachable. The cache saves 0.27 ms
# per request on SQLite (``test_identify_uses_its_cached_row_within_the_time_to_live``). A process
# notices a revocation within REMEMBERED_S seconds.
REMEMBERED_S = 2.0
# Seconds for which a cached row is used while the database is unreachable, so that tokens still
# work while PostgreSQL restarts (``test_known_token_outlives_a_short_database_outage``). A
# revocation must take effect within 5 s. LAST_KNOWN_S is one second less, because the cache of JSON
# responses (``portal.web.json_api.hit_cache``) may delay a revocation by another second.
LAST_KNOWN_S = 4.0
MOST_CACHED = 10_000  # rows
# Stands in the name of a token that was replaced, before a number. No typed name contains it.
_REPLACED: Final = "#"
# Stands before the name of a person who has signed in. No name of a token contains a colon.
PERSON: Final = "person:"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,79}", re.ASCII)
TokenState = Literal["valid", "expired", "revoked"]


def are_issuable(scopes: Collection[str]) -> bool:
    """Return whether a token may have these scopes. STORED stands alone."""
    return bool(scopes) and (STORED not in scopes or len(set(scopes)) == 1)


class UnknownToken(LookupError):
    """No token with the given digest exists in the portal's namespace. Status 401.

    A namespace is the name of an upstream, or "demo".
    In pass-through mode, the error has another meaning: the credential is an issued token, which
    must not be sent upstream.
    """


class RefusedToken(LookupError):
    """The token was issued, but is revoked or expired. Status 403."""


class TokensUnavailable(Exception):
    """Authentication is impossible because the database cannot be read. Status 503."""


@dataclass(frozen=True, slots=True)
class TokenChange:
    """What is to change of a token. None leaves a value as it is.

    ``lifetime_s`` counts from now. An infinite one never ends.
    """

    scopes: frozenset[str] | None = None
    lifetime_s: float | None = None
    daily_limit: int | None = None
    monthly_budget: Decimal | None = None


@dataclass(frozen=True, slots=True)
class PersonLimits:
    """What a person may spend by all ways together, pages and own tokens. 0 means no limit.

    ``id`` is the person as an owner, and ``caller`` the name under which the ledger has the calls
    of the person's pages.
    """

    id: str
    caller: str
    daily_limit: int = 0
    monthly_budget: Decimal = Decimal(0)

    @property
    def payer(self) -> str:
        """The payer of the rows that count what the person has used of these limits."""
        return f"{PERSON}{self.id}"


class NameTaken(ValueError):
    """The namespace already has a token of this name, perhaps a revoked one."""


@dataclass(frozen=True, slots=True)
class Identity:
    """An authenticated caller.

    ``daily_limit`` is a number of upstream calls, and ``monthly_budget`` is in R$ a calendar month.
    Either is 0 for no limit. In pass-through mode,
    ``credential`` is the caller's own upstream credential, and ``digest`` is the credential's HMAC.
    In other modes, ``credential`` is None, and ``digest`` is the token's SHA-256. ``owner`` is the
    key under which the caller's data is stored. It outlives a token, because several tokens may
    have one owner. ``person`` are the limits of the person who has signed in, or whose token it is.
    ``batch`` is the id of the batch for which a lookup is made, or None for a
    single lookup.
    """

    name: str
    digest: str
    owner: str
    scopes: frozenset[str]
    daily_limit: int = 0
    monthly_budget: Decimal = Decimal(0)
    credential: str | None = field(default=None, repr=False)
    batch: str | None = None
    person: PersonLimits | None = None

    @property
    def is_person(self) -> bool:
        """Whether a person has signed in, rather than a token."""
        return self.name.startswith(PERSON)

    @property
    def least_daily_limit(self) -> int:
        """The smaller daily limit of the token and its person, or 0 without one."""
        limits = self.daily_limit, self.person.daily_limit if self.person else 0
        return min(filter(None, limits), default=0)

    @property
    def least_monthly_budget(self) -> Decimal:
        """The smaller budget of a month of the token and its person, or 0 without one."""
        budgets = self.monthly_budget, self.person.monthly_budget if self.person else Decimal(0)
        return min(filter(None, budgets), default=Decimal(0))

    def has_scope(self, scope: str) -> bool:
        return scope in self.scopes or (scope in OPERATION_SCOPES and not self.may_spend)

    @property
    def may_spend(self) -> bool:
        """Whether a lookup of the caller may reach the upstream."""
        return STORED not in self.scopes


@dataclass(frozen=True, slots=True)
class Issued:
    """A row of the table ``access_tokens``. Times are in epoch seconds."""

    name: str
    digest: str
    owner: str
    scopes: frozenset[str]
    daily_limit: int
    monthly_budget: Decimal
    created_at: float
    expires_at: float | None
    revoked_at: float | None
    namespace: str
    person: str | None = None  # the id of the person whose own token it is

    @property
    def ended_at(self) -> float:
        """When the token was revoked or expires, or infinity."""
        return self.revoked_at or self.expires_at or math.inf

    def state(self, now: float) -> TokenState:
        """Return the token's state at ``now``. A revoked token stays "revoked" after expiry."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and now >= self.expires_at else "valid"

    @property
    def caller(self) -> str:
        """The name under which calls are recorded and limited.

        A token that was replaced shares it with its successor, so both share their limits.
        """
        return self.name.partition(_REPLACED)[0]

    @property
    def identity(self) -> Identity:
        limits = self.daily_limit, self.monthly_budget
        return Identity(self.caller, self.digest, self.owner, self.scopes, *limits)


class Holders(Protocol):
    """The people who hold tokens of their own (``portal.access.people``)."""

    def bound(self, identity: Identity, person: str) -> Identity:
        """Return a token's identity with at most what its person may do.

        Raises RefusedToken or TokensUnavailable.
        """
        ...

    def of_owner(self, owner: str) -> Identity | None:
        """Return the identity of the person who is this owner, or None.

        Raises RefusedToken or TokensUnavailable.
        """
        ...


@dataclass(frozen=True, slots=True)
class TokenOverview:
    """Tokens for the operator's page.

    ``valid`` is sorted by name. Of ``ended``, the token that was revoked or has expired last is
    first. ``full`` have reached their limit today, even if a call was given back since. ``ending``
    expire soon, the next one first.
    """

    valid: Sequence[Issued]
    ended: Sequence[Issued]
    full: Sequence[Issued]
    ending: Sequence[Issued]


_NAMES: Final = [field.name for field in fields(Issued)]
_COLUMNS: Final = [table.c[name] for name in _NAMES]


class Tokens:
    """The tokens in the database, and the tokens in the settings.

    The database stores only a token's digest. An issued token is valid only in the ``namespace``
    (the name of the upstream, or "demo") in which it was issued.
    """

    def __init__(
        self,
        database: Database,
        configured: Sequence[str],
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        *,
        namespace: str,
        holders: Holders | None = None,
    ) -> None:
        self._database = database
        self._namespace = namespace
        self._clock = clock
        self._monotonic = monotonic
        self._holders = holders
        self._configured = {
            digest(token): Identity(f"settings:{number}", digest(token), digest(token), SCOPES)
            for number, token in enumerate(configured, start=1)
        }
        self._cached: dict[str, tuple[float, Issued | None]] = {}
        # A database error opens the breaker. While the breaker is open, no request waits for the
        # database (``test_failed_token_read_pauses_further_reads``).
        self._breaker = DependencyBreaker("the database", self._ping, (SQLAlchemyError,))
        self._lock = threading.Lock()

    def stop(self) -> None:
        """Look no more for a database that is away."""
        self._breaker.stop()

    def identify(self, token_digest: str) -> Identity:
        """Return a token's identity. Raises UnknownToken, RefusedToken or TokensUnavailable."""
        configured = self._configured.get(token_digest)
        if configured is not None:
            return configured
        issued = self._find(token_digest)
        if issued is None or issued.namespace != self._namespace:
            raise UnknownToken
        if issued.state(self._clock()) != "valid":
            raise RefusedToken
        return self._bound(issued)

    def _bound(self, issued: Issued) -> Identity:
        """Return the identity of a token, which never exceeds what its person may do."""
        if issued.person is None:
            return issued.identity
        if self._holders is None:
            raise RefusedToken
        return self._holders.bound(issued.identity, issued.person)

    def identify_owner(self, owner: str) -> Identity:
        """Return the identity of an owner's newest valid token. Raises as ``identify`` does.

        A token in the settings is its own owner, and so is a token that was issued before owners
        were stored.
        """
        if owner in self._configured:
            return self._configured[owner]
        if self._holders is not None and (person := self._holders.of_owner(owner)) is not None:
            return person
        is_owned = (table.c.owner == owner) | (table.c.digest == owner) & table.c.owner.is_(None)
        query = select(*_COLUMNS).where(is_owned, table.c.namespace == self._namespace)
        try:
            with self._breaker.guard(), self._database.reading() as db:
                tokens = [*map(_issued, db.execute(query.order_by(table.c.created_at.desc())))]
        except (SQLAlchemyError, BreakerOpen):
            raise TokensUnavailable("the database cannot be read") from None
        if not tokens:
            raise UnknownToken
        now = self._clock()
        valid = [token for token in tokens if token.state(now) == "valid"]
        if not valid:
            raise RefusedToken
        return self._bound(valid[0])

    def was_issued(self, token_digest: str) -> bool:
        """Return whether a token with this digest was issued, in any namespace.

        An expired or revoked token also counts. If the database is unreachable, the method returns
        a cached result of any age, or raises TokensUnavailable if no result is cached. A cached
        True stays correct, because tokens are never deleted. A cached False stays correct, because
        a new random token practically never equals a token that a caller has sent before.
        """
        cached = self._cached.get(token_digest)
        try:
            return self._find(token_digest) is not None
        except TokensUnavailable:
            if cached is None:
                raise
            return cached[1] is not None

    def issue(
        self,
        name: str,
        scopes: frozenset[str],
        lifetime_s: float | None,
        daily_limit: int,
        monthly_budget: Decimal = Decimal(0),
        person: str | None = None,
        also: Also = nothing_else,
    ) -> str:
        """Issue a token of 256 random bits, and return the token. Raises NameTaken.

        Only the token's digest is stored, so the token cannot be read again later. A token of a
        ``person`` has the person as its owner. ``also`` is done in the same transaction, here and
        in the other changes.
        """
        token = secrets.token_urlsafe(32)
        now = self._clock()
        try:
            with self._database.writing() as db:
                issued = Issued(
                    name=name,
                    digest=digest(token),
                    owner=person or secrets.token_hex(32),
                    scopes=scopes,
                    daily_limit=daily_limit,
                    monthly_budget=monthly_budget,
                    created_at=now,
                    expires_at=now + lifetime_s if lifetime_s is not None else None,
                    revoked_at=None,
                    namespace=self._namespace,
                    person=person,
                )
                _insert(db, issued)
                also(db)
        except IntegrityError:
            raise NameTaken(name) from None
        return token

    def revoke(self, name: str, also: Also = nothing_else) -> bool:
        """Revoke a token. Return whether an unrevoked token of this name existed."""
        with self._database.writing() as db:
            is_revoked = self._change(db, name, {"revoked_at": self._clock()}, also)
        self._forget_cached()
        return is_revoked

    def change(self, name: str, change: TokenChange, also: Also = nothing_else) -> bool:
        """Change a token. Return whether an unrevoked token of this name existed.

        Everything that its owner has stored stays. An expired token is valid again with a new end.
        """
        values: dict[str, Any] = {}
        if change.scopes is not None:
            values["scopes"] = ",".join(sorted(change.scopes))
        if change.lifetime_s is not None:
            values["expires_at"] = self._end_of(change.lifetime_s)
        if change.daily_limit is not None:
            values["daily_limit"] = change.daily_limit
        if change.monthly_budget is not None:
            values["monthly_budget"] = str(change.monthly_budget)
        with self._database.writing() as db:
            is_changed = self._change(db, name, values, also)
        self._forget_cached()
        return is_changed

    def rotate(self, name: str, overlap_s: float, also: Also = nothing_else) -> str | None:
        """Replace a token, and return the new one, or None if no unrevoked token has this name.

        The new token has the owner, the scopes, the limits and the lifetime of the former one, and
        the name. The former one gets another name, and ends after ``overlap_s`` seconds. Both share
        their limits until then.
        """
        token, now = secrets.token_urlsafe(32), self._clock()
        with self._database.writing() as db:
            row = db.execute(select(*_COLUMNS).where(self._is_unrevoked(name))).first()
            if row is None:
                return None
            former = _issued(row)
            is_former = (table.c.namespace == self._namespace) & table.c.name.startswith(
                f"{name}{_REPLACED}", autoescape=True
            )
            count = db.execute(select(func.count()).where(is_former)).scalar_one()
            end = min(now + overlap_s, former.expires_at or math.inf)
            replaced = {"name": f"{name}{_REPLACED}{count + 1}", "expires_at": end}
            if overlap_s <= 0:
                replaced["revoked_at"] = now
            self._change(db, name, replaced, nothing_else)
            lifetime_s = math.inf
            if former.expires_at is not None:
                lifetime_s = former.expires_at - former.created_at
            later = replace(
                former,
                digest=digest(token),
                created_at=now,
                expires_at=self._end_of(lifetime_s),
            )
            _insert(db, later)
            also(db)
        self._forget_cached()
        return token

    def _change(self, db: Connection, name: str, values: Mapping[str, Any], also: Also) -> bool:
        """Change a token, and return whether an unrevoked token of this name existed."""
        is_meant = self._is_unrevoked(name)
        digest = db.execute(select(table.c.digest).where(is_meant)).scalar()
        if digest is None:
            return False
        if values:
            db.execute(update(table).where(is_meant).values(**values))
            note_end(db, "token", {"digest": digest}, self._clock())
        also(db)
        return True

    def _is_unrevoked(self, name: str) -> ColumnElement[bool]:
        is_named = (table.c.namespace == self._namespace) & (table.c.name == name)
        return is_named & table.c.revoked_at.is_(None)

    def _end_of(self, lifetime_s: float) -> float | None:
        return None if math.isinf(lifetime_s) else self._clock() + lifetime_s

    def _forget_cached(self) -> None:
        with self._lock:
            self._cached.clear()

    def listed(self) -> list[Issued]:
        """Return the namespace's tokens, the oldest first."""
        query = select(*_COLUMNS).where(table.c.namespace == self._namespace)
        with self._database.reading() as db:
            return [*map(_issued, db.execute(query.order_by(table.c.created_at)))]

    def of_person(self, person: str) -> list[Issued]:
        """Return a person's own tokens, the newest first. Raises SQLAlchemyError."""
        is_own = (table.c.person == person) & (table.c.namespace == self._namespace)
        query = select(*_COLUMNS).where(is_own, table.c.person.is_not(None))
        with self._database.reading() as db:
            return [*map(_issued, db.execute(query.order_by(table.c.created_at.desc())))]

    def expires_at(self, token_digest: str) -> float | None:
        """Return when a token ends. None for one without an end, and while it is not known."""
        if token_digest in self._configured:
            return None
        try:
            issued = self._find(token_digest)
        except TokensUnavailable:
            return None
        return None if issued is None else issued.expires_at

    def overview(
        self, after: str, most: int, most_ended: int, within_s: float, most_named: int
    ) -> "TokenOverview":
        """Return the tokens that the operator's page shows (see TokenOverview).

        ``most`` limits ``valid``, which begins after the name ``after``. ``most_named`` limits
        ``full`` and ``ending``, which expire within ``within_s`` seconds.
        """
        now, columns = self._clock(), table.c
        is_kept, expiry = columns.revoked_at.is_(None), columns.expires_at

        def first(kind: str, limit: int, order: Any, *where: Any) -> Any:
            query = select(literal(kind).label("kind"), *_COLUMNS)
            query = query.where(columns.namespace == self._namespace, *where)
            return select(query.order_by(order).limit(limit).subquery())

        is_valid = expiry.is_(None) | (expiry > now)
        is_near = (expiry > now) & (expiry < now + within_s)
        query = union_all(
            first("valid", most, columns.name, is_kept, columns.name > after, is_valid),
            first("ended", most_ended, columns.revoked_at.desc(), columns.revoked_at.is_not(None)),
            first("ended", most_ended, expiry.desc(), is_kept, expiry <= now),
            first("full", most_named, columns.name, is_kept, columns.full_on == iso_day(now)),
            first("ending", most_named, expiry, is_kept, is_near),
        )
        by_state: defaultdict[str, list[Issued]] = defaultdict(list)
        with self._database.reading() as db:
            for kind, *values in db.execute(query):
                by_state[kind].append(_issued(values))
        ended = sorted(by_state["ended"], key=lambda token: -token.ended_at)[:most_ended]
        return TokenOverview(by_state["valid"], ended, by_state["full"], by_state["ending"])

    def _find(self, token_digest: str) -> Issued | None:
        now = self._monotonic()
        cached = self._cached.get(token_digest)
        if cached is not None and now - cached[0] < REMEMBERED_S:
            return cached[1]
        try:
            with self._breaker.guard(), self._database.reading() as db:
                row = db.execute(select(*_COLUMNS).where(table.c.digest == token_digest)).first()
        except (SQLAlchemyError, BreakerOpen):
            return self._last_known(cached)
        issued = _issued(row) if row is not None else None
        with self._lock:
            if len(self._cached) >= MOST_CACHED:
                self._cached.clear()  # limits the memory that wrong tokens can fill
            self._cached[token_digest] = (now, issued)
        return issued

    def _ping(self) -> None:
        with self._database.reading() as db:
            db.execute(select(table.c.digest).limit(1)).first()

    def _last_known(self, cached: tuple[float, Issued | None] | None) -> Issued:
        """Return the cached row of a token.

        Raises TokensUnavailable if no row is cached, or if the cached row is at least LAST_KNOWN_S
        seconds old.
        """
        read_at, issued = cached or (-math.inf, None)
        if issued is None or self._monotonic() - read_at >= LAST_KNOWN_S:
            raise TokensUnavailable("the database cannot be read")
        return issued


def is_token_name(text: str) -> bool:
    """Return whether a text is a valid token name.

    A name has 1 to 80 ASCII letters, digits or ``. _ @ -``, and begins with a letter or digit.
    """
    return _NAME.fullmatch(text) is not None


def digest(token: str) -> str:
    """Return the SHA-256 of a token in hex.

    A slow hash would not add safety, because an issued token's 256 random bits cannot be guessed.
    """
    return hashlib.sha256(token.encode()).hexdigest()


DEMO_TOKEN = "demo"  # noqa: S105 not a secret, because it gives access to fictitious data only
_DEMO_DIGEST = digest(DEMO_TOKEN)


class Gatekeeper:
    """Turns a credential into an Identity.

    In demo and managed mode, a credential is a token that the portal knows. In pass-through mode,
    the portal sends the credential to the upstream, and the upstream verifies the credential. In
    this mode, the portal rejects only its own tokens, which must not be sent to the upstream.

    In pass-through mode, a caller's data is stored under an HMAC of the credential. ``secret`` is
    the key of this HMAC.
    """

    def __init__(self, mode: Mode, tokens: Tokens, secret: bytes) -> None:
        self.mode = mode
        self._tokens = tokens
        self._secret = secret

    def authenticate(self, credential: str) -> Identity:
        """Return the identity of a credential.

        Raises UnknownToken (401), RefusedToken (403) or TokensUnavailable (503).
        """
        if self.mode == "pass-through":
            # An issued token must not be sent upstream. After the operator has switched from
            # managed to pass-through mode, callers may still send issued tokens.
            if self._tokens.was_issued(digest(credential)):
                raise UnknownToken
            keyed = keyed_hash(self._secret, b"credential", credential.encode())
            name = f"credential:{keyed[:12]}"
            return Identity(name, keyed, keyed, SCOPES - {"admin"}, credential=credential)
        return self.authenticate_digest(digest(credential))

    def authenticate_digest(self, token_digest: str) -> Identity:
        """Return the identity of the token with this digest.

        Requests of a browser session use this method, because a session stores no token, but only
        the token's digest.
        """
        if self.mode == "demo" and token_digest == _DEMO_DIGEST:
            return self.visitor()
        return self._tokens.identify(token_digest)

    def expires_at(self, identity: Identity) -> float | None:
        """Return when the caller's token ends, or None if it has no end."""
        if self.mode == "pass-through" or identity.is_person or identity.digest == _DEMO_DIGEST:
            return None
        return self._tokens.expires_at(identity.digest)

    def callers(self, person: PersonLimits) -> list[str]:
        """Return the names of a person's calls: that of the pages and those of own tokens.

        Raises SQLAlchemyError.
        """
        return [person.caller, *(token.name for token in self._tokens.of_person(person.id))]

    def authenticate_owner(self, owner: str) -> Identity:
        """Return the identity of an owner who is not present, such as the owner of a batch.

        Raises UnknownToken, RefusedToken or TokensUnavailable.
        """
        if self.mode == "demo" and owner == _DEMO_DIGEST:
            return self.visitor()
        return self._tokens.identify_owner(owner)

    def visitor(self) -> Identity:
        """Return the identity that all visitors of the demo mode share."""
        return Identity(DEMO_TOKEN, _DEMO_DIGEST, _DEMO_DIGEST, SCOPES - {"admin"})


def _insert(db: Connection, token: Issued) -> None:
    row = {name: getattr(token, name) for name in _NAMES}
    row |= {"scopes": ",".join(sorted(token.scopes)), "monthly_budget": str(token.monthly_budget)}
    db.execute(insert(table).values(**row))


def _issued(values: Sequence[Any]) -> Issued:
    members = dict(zip(_NAMES, values, strict=True))
    members["owner"] = members["owner"] or members["digest"]
    members["scopes"] = frozenset(members["scopes"].split(","))
    members["monthly_budget"] = Decimal(members["monthly_budget"])
    return Issued(**members)
