"""The people who sign in at their company: who they are, what they may do, and until when.

A person is an issuer and a subject: the URL of an OpenID Connect provider and its ``sub``, or PROXY
and the name in the proxy's header. The groups of a person give scopes (``portal.system.roles``).
Without a scope, a person is not admitted.

What ends a person's access:

- The provider no longer confirms the person. The portal asks again with the refresh token, at the
  first use after RENEW_AFTER_S seconds. Without an answer, access ends after CONFIRMED_S seconds.
- The proxy no longer names the person: pages end at once. Own tokens, for scripts, have no proxy,
  so they end OWN_TOKENS_S seconds after the person's last page.
- An operator, or the person, ends the sessions that have begun so far. Own tokens then rest until
  the next sign-in. The person may also end a single session (``portal.access.own_sessions``).
"""

import json
import re
import secrets
import threading
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final, Protocol

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from portal.access.own_sessions import (
    OwnSession,
    UserAgent,
    opened,
    read_sessions,
    seen,
    without,
    written,
)
from portal.access.sealing import SubjectKeys, keyed_hash
from portal.access.tokens import (
    LAST_KNOWN_S,
    MOST_CACHED,
    OPERATION_SCOPES,
    PERSON,
    REMEMBERED_S,
    STORED,
    Identity,
    PersonLimits,
    RefusedToken,
    TokensUnavailable,
    UnknownToken,
)
from portal.storage.database import Also, Database, nothing_else
from portal.storage.ends import note_end
from portal.storage.tables import people as table
from portal.system.dependency_breaker import BreakerOpen, DependencyBreaker
from portal.system.roles import Roles, scopes_of

PROXY: Final = "proxy"  # the issuer of people whom a header of the proxy names
RENEW_AFTER_S: Final = 300.0
CONFIRMED_S: Final = 900.0
OWN_TOKENS_S: Final = 12 * 3600.0
# Seconds after which another process may ask the provider, if the first has not had an answer.
ASKED_S: Final = 30.0
SEEN_EVERY_S: Final = 60.0
LONGEST_NAME: Final = 60
_MOST_NAMESAKES: Final = 99
_PURPOSE: Final = b"person"
_NO_NAME: Final = re.compile(r"[^\w.@+'() -]", re.UNICODE)


@dataclass(frozen=True, slots=True)
class Claims:
    """What a provider or a proxy says of a person. ``name`` is for people to read."""

    issuer: str
    subject: str
    name: str
    groups: Sequence[str]


@dataclass(frozen=True, slots=True)
class Confirmed:
    """What the provider says of a person who has signed in before, and its next refresh token."""

    claims: Claims
    refresh_token: str | None


class NotConfirmed(Exception):
    """The provider no longer knows the person, or has ended the sign-in."""


class ProviderAway(Exception):
    """The provider gave no answer."""


class Provider(Protocol):
    """The company's OpenID Connect provider."""

    @property
    def issuer(self) -> str: ...

    def confirm(self, refresh_token: str, subject: str) -> Confirmed:
        """Ask whether a person may still sign in. Raises NotConfirmed or ProviderAway."""
        ...


@dataclass(frozen=True, slots=True)
class Person:
    """A row of the table ``people``. Times are in epoch seconds."""

    id: str
    caller: str
    issuer: str
    subject: str
    groups: tuple[str, ...]
    scopes: frozenset[str]
    refresh_token: str | None
    entered_at: float
    seen_at: float
    checked_at: float
    ended_at: float | None
    refused_at: float | None
    sessions: tuple[OwnSession, ...] = ()

    @property
    def name(self) -> str:
        return self.caller.removeprefix(PERSON)

    def has_ended(self, began_at: float, session: str = "") -> bool:
        """Return whether a session that began at ``began_at`` was ended.

        A cookie of a version before schema revision 0027 names no ``session``.
        """
        if self.ended_at is not None and began_at <= self.ended_at:
            return True
        return bool(session) and self.session(session) is None

    def session(self, session: str) -> OwnSession | None:
        return next((own for own in self.sessions if own.id == session), None)


class People:
    """The people of one namespace (an upstream's name).

    ``by_proxy`` says whether a proxy may name people. Without it, or without the ``provider`` at
    which they signed in, nobody of that issuer is admitted any more.
    """

    def __init__(
        self,
        database: Database,
        keys: SubjectKeys,
        roles: Roles,
        *,
        by_proxy: bool = False,
        provider: Provider | None = None,
        daily_limit: int = 0,
        monthly_budget: Decimal = Decimal(0),
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._keys = keys
        self._roles = roles
        self._by_proxy = by_proxy
        self._provider = provider
        self._limits = daily_limit, monthly_budget
        self._clock = clock
        self._monotonic = monotonic
        self._cached: dict[str, tuple[float, Person | None]] = {}
        self._lock = threading.Lock()
        self._breaker = DependencyBreaker("the database of people", self._ping, (SQLAlchemyError,))

    def stop(self) -> None:
        """Look no more for a database that is away."""
        self._breaker.stop()

    # Sign-in

    def scopes(self, groups: Sequence[str]) -> frozenset[str]:
        """Return what a person in these groups may do. Nothing means that they may not sign in."""
        return scopes_of(groups, self._roles)

    def enter(self, claims: Claims, refresh_token: str | None = None) -> Person:
        """Record a sign-in. Raises RefusedToken without a role, or TokensUnavailable."""
        if not self.scopes(claims.groups):
            self._drop_groups(claims)
            raise RefusedToken
        now = self._clock()
        values: dict[str, Any] = {
            **self._sealed(claims, refresh_token),
            "entered_at": now,
            "seen_at": now,
            "checked_at": now,
            "refused_at": None,
        }
        with _available():
            return self._put(claims, values, now)

    def meet(self, claims: Claims) -> Person:
        """Return the person whom the proxy names in a request, who thereby signs in.

        Writes only if the groups have changed, or once a minute. Raises as ``enter``.
        """
        person = self._find(self._id(claims.issuer, claims.subject), REMEMBERED_S)
        if (
            person is None
            or person.groups != tuple(claims.groups)
            or person.has_ended(person.entered_at)
        ):
            return self.enter(claims)
        if not person.scopes:
            raise RefusedToken
        if self._clock() - person.seen_at >= SEEN_EVERY_S:
            with suppress(TokensUnavailable):  # a page needs no write
                return self.enter(claims)
        return person

    def _drop_groups(self, claims: Claims) -> None:
        """Take the access from a person who has lost every role, and with it from own tokens."""
        person_id = self._id(claims.issuer, claims.subject)
        person = self._find(person_id, 0)
        if person is not None and person.scopes:
            with _available(), self._database.writing() as db:
                self._update(db, person_id, self._sealed(claims, None))
            self._forget(person_id)

    def open_session(self, person_id: str, agent: UserAgent) -> OwnSession:
        """Record a session of a person who has signed in. Raises TokensUnavailable."""
        now = self._clock()
        with _available(), self._database.writing() as db:
            new, sessions = opened(self._locked_sessions(db, person_id), agent, now)
            self._put_sessions(db, person_id, sessions)
        self._forget(person_id)
        return new

    # Later requests

    def of_session(self, person_id: str, began_at: float, session: str = "") -> Person:
        """Return the person of a session. Raises UnknownToken, RefusedToken, TokensUnavailable."""
        person = self._find(person_id, 0)
        if person is None:
            raise UnknownToken
        if person.has_ended(began_at, session):
            raise RefusedToken
        person, now = self._confirmed(person), self._clock()
        own = person.session(session)
        if now - (own.seen_at if own else person.seen_at) >= SEEN_EVERY_S:
            with suppress(TokensUnavailable), _available(), self._database.writing() as db:
                if own is not None:
                    sessions = self._locked_sessions(db, person_id)
                    self._put_sessions(db, person_id, seen(sessions, session, now))
                self._update(db, person_id, {"seen_at": now})
        return person

    def identity(self, person: Person) -> Identity:
        """Return the identity of a person on pages."""
        limits = self._limits_of(person)
        return Identity(person.caller, person.id, person.id, person.scopes, person=limits)

    def bound(self, identity: Identity, person: str) -> Identity:
        """Return a token's identity with at most what its person may do.

        Raises RefusedToken or TokensUnavailable.
        """
        holder = self._absent(person)
        if holder is None:
            raise RefusedToken
        scopes = bounded(identity.scopes, holder.scopes)
        if not scopes:
            raise RefusedToken
        return replace(identity, scopes=scopes, person=self._limits_of(holder))

    def of_owner(self, owner: str) -> Identity | None:
        """Return the identity of the person who is this owner, or None.

        Raises RefusedToken or TokensUnavailable.
        """
        person = self._absent(owner)
        return None if person is None else self.identity(person)

    @property
    def limits(self) -> tuple[int, Decimal]:
        """The limits of each person: calls a day and R$ a month. 0 means no limit."""
        return self._limits

    def still_admitted(self, person_ids: Iterable[str]) -> Iterator[Person]:
        """Yield those of some people whose access has not ended. Raises TokensUnavailable."""
        for person_id in person_ids:
            person = self._find(person_id, REMEMBERED_S)
            if person is None or person.has_ended(person.entered_at):
                continue
            if person.scopes and person.refused_at is None:
                yield person

    def _absent(self, person_id: str) -> Person | None:
        """Return a person who may still act by a token or a batch. Raises RefusedToken."""
        person = self._find(person_id, REMEMBERED_S)
        if person is None:
            return None
        is_away = person.issuer == PROXY and self._clock() - person.seen_at > OWN_TOKENS_S
        if is_away or person.has_ended(person.entered_at):
            raise RefusedToken
        return self._confirmed(person)

    def _confirmed(self, person: Person) -> Person:
        """Return a person whom the provider has confirmed lately, and who has a role.

        Raises RefusedToken, or TokensUnavailable if the provider gives no answer.
        """
        if person.issuer == PROXY:
            if not self._by_proxy or not person.scopes:
                raise RefusedToken
            return person
        provider = self._provider
        if provider is None or person.issuer != provider.issuer or person.refused_at is not None:
            raise RefusedToken
        age_s = self._clock() - person.checked_at
        if age_s >= RENEW_AFTER_S and person.refresh_token is not None:
            person = self._renewed(provider, person, person.refresh_token)
            age_s = self._clock() - person.checked_at
        if age_s >= CONFIRMED_S:
            if person.refresh_token is None:
                raise RefusedToken
            raise TokensUnavailable("the provider gives no answer")
        if not person.scopes:
            raise RefusedToken
        return person

    def _renewed(self, provider: Provider, person: Person, refresh_token: str) -> Person:
        """Ask the provider again, unless another request or process is asking."""
        now = self._clock()
        is_free = (table.c.id == person.id) & (table.c.asked_at < now - ASKED_S)
        with _available(), self._database.writing() as db:
            asked = db.execute(update(table).where(is_free).values(asked_at=now))
        if not asked.rowcount:
            return self._find(person.id, 0) or person
        try:
            confirmed = provider.confirm(refresh_token, person.subject)
        except ProviderAway:
            return person
        except NotConfirmed:
            with _available(), self._database.writing() as db:
                gone = {"refused_at": self._clock(), "sealed_refresh": None}
                self._update(db, person.id, gone)
            self._forget(person.id)
            raise RefusedToken from None
        values: dict[str, Any] = {
            **self._sealed(confirmed.claims, confirmed.refresh_token or refresh_token),
            "checked_at": self._clock(),
            "asked_at": 0.0,
        }
        with _available(), self._database.writing() as db:
            self._update(db, person.id, values)
        self._forget(person.id)
        return self._find(person.id, 0) or person

    # What operators and people do

    def listed(self) -> list[Person]:
        """Return all people, by name. Raises SQLAlchemyError."""
        query = select(table).where(table.c.namespace == self._keys.namespace)
        with self._database.reading() as db:
            return [*map(self._person, db.execute(query.order_by(table.c.caller)))]

    def find(self, person_id: str) -> Person | None:
        """Return a person, also one who may not sign in any more. Raises TokensUnavailable."""
        return self._find(person_id, 0)

    def end_sessions(self, person_id: str, also: Also = nothing_else) -> bool:
        """End all sessions of a person. Return whether there is such a person.

        ``also`` writes the act to the trail in the same transaction.
        """
        is_meant = (table.c.id == person_id) & (table.c.namespace == self._keys.namespace)
        with self._database.writing() as db:
            values = {"ended_at": self._clock(), "sealed_sessions": None}
            ended = db.execute(update(table).where(is_meant).values(**values))
            if ended.rowcount:
                note_end(db, "sessions", {"id": person_id}, self._clock())
                also(db)
        self._forget(person_id)
        return bool(ended.rowcount)

    def end_session(self, person_id: str, session: str, also: Also = nothing_else) -> bool:
        """End one session of a person. Return whether there was such a session.

        ``also`` writes the act to the trail in the same transaction. Raises SQLAlchemyError.
        """
        with self._database.writing() as db:
            before = self._locked_sessions(db, person_id)
            after = without(before, session)
            if was_there := len(after) < len(before):
                self._put_sessions(db, person_id, after)
                note_end(db, "session", {"id": person_id}, self._clock())
                also(db)
        self._forget(person_id)
        return was_there

    # Rows

    def _locked_sessions(self, db: Connection, person_id: str) -> tuple[OwnSession, ...]:
        query = select(table.c.sealed_sessions).where(table.c.id == person_id).with_for_update()
        return self._sessions(db.execute(query).scalar())

    def _sessions(self, sealed: bytes | None) -> tuple[OwnSession, ...]:
        content = None if sealed is None else self._keys.decrypt(_PURPOSE, sealed)
        return read_sessions(content, self._clock())

    def _put_sessions(self, db: Connection, person_id: str, sessions: Sequence[OwnSession]) -> None:
        sealed = self._keys.encrypt(_PURPOSE, written(sessions))
        self._update(db, person_id, {"sealed_sessions": sealed})

    def _limits_of(self, person: Person) -> PersonLimits:
        return PersonLimits(person.id, person.caller, *self._limits)

    def _id(self, issuer: str, subject: str) -> str:
        content = json.dumps([self._keys.namespace, issuer, subject]).encode()
        return keyed_hash(self._keys.secret, _PURPOSE, content)

    def _sealed(self, claims: Claims, refresh_token: str | None) -> dict[str, bytes | None]:
        content = json.dumps({"subject": claims.subject, "groups": [*claims.groups]})
        refresh = refresh_token and self._keys.encrypt(_PURPOSE, refresh_token.encode())
        return {
            "sealed": self._keys.encrypt(_PURPOSE, content.encode()),
            "sealed_refresh": refresh or None,
        }

    def _put(self, claims: Claims, values: dict[str, Any], now: float) -> Person:
        """Write a person's row. The first sign-in finds a name that no other person has."""
        person_id = self._id(claims.issuer, claims.subject)
        shown = shown_name(claims.name) or shown_name(claims.subject) or secrets.token_hex(4)
        with self._database.writing() as db:
            is_known = self._update(db, person_id, values)
        for number in range(0 if is_known else _MOST_NAMESAKES):
            caller = f"{PERSON}{shown}" + (f" ({number + 1})" if number else "")
            row = {
                "id": person_id,
                "namespace": self._keys.namespace,
                "caller": caller,
                "issuer": claims.issuer,
                "created_at": now,
                **values,
            }
            try:
                with self._database.writing() as db:
                    db.execute(insert(table).values(**row))
                break
            except IntegrityError:  # the name of another person, or this person's second request
                with self._database.writing() as db:
                    if self._update(db, person_id, values):
                        break
        self._forget(person_id)
        person = self._find(person_id, 0)
        if person is None:
            raise TokensUnavailable("too many people have one name")
        return person

    def _update(self, db: Connection, person_id: str, values: dict[str, Any]) -> bool:
        changed = db.execute(update(table).where(table.c.id == person_id).values(**values))
        return bool(changed.rowcount)

    def _find(self, person_id: str, within_s: float) -> Person | None:
        """Return a person's row, as it was at most ``within_s`` seconds ago.

        Raises TokensUnavailable. While the database is away, a row of the last seconds is used.
        """
        now, cached = self._monotonic(), self._cached.get(person_id)
        if cached is not None and now - cached[0] < within_s:
            return cached[1]
        is_meant = (table.c.id == person_id) & (table.c.namespace == self._keys.namespace)
        try:
            with self._breaker.guard(), self._database.reading() as db:
                row = db.execute(select(table).where(is_meant)).first()
        except (SQLAlchemyError, BreakerOpen):
            if cached is not None and now - cached[0] < LAST_KNOWN_S:
                return cached[1]
            raise TokensUnavailable("the database cannot be read") from None
        person = None if row is None else self._person(row)
        with self._lock:
            if len(self._cached) >= MOST_CACHED:
                self._cached.clear()
            self._cached[person_id] = now, person
        return person

    def _person(self, row: Any) -> Person:
        content = json.loads(self._keys.decrypt(_PURPOSE, row.sealed) or b'{"groups": []}')
        refresh = row.sealed_refresh and self._keys.decrypt(_PURPOSE, row.sealed_refresh)
        groups = tuple(content["groups"])
        return Person(
            id=row.id,
            caller=row.caller,
            issuer=row.issuer,
            subject=content.get("subject", ""),
            groups=groups,
            scopes=self.scopes(groups),
            refresh_token=refresh.decode() if refresh else None,
            entered_at=row.entered_at,
            seen_at=row.seen_at,
            checked_at=row.checked_at,
            ended_at=row.ended_at,
            refused_at=row.refused_at,
            sessions=self._sessions(row.sealed_sessions),
        )

    def _forget(self, person_id: str) -> None:
        with self._lock:
            self._cached.pop(person_id, None)

    def _ping(self) -> None:
        with self._database.reading() as db:
            db.execute(select(table.c.id).limit(1)).first()


@contextmanager
def _available() -> Iterator[None]:
    """Raise TokensUnavailable for an error of the database in the block."""
    try:
        yield
    except SQLAlchemyError:
        raise TokensUnavailable("the database cannot be written") from None


def bounded(wanted: frozenset[str], own: frozenset[str]) -> frozenset[str]:
    """Return the scopes of a person's own token: what it has, and the person too.

    A token for stored answers alone reads the answers of every lookup, so that its person needs the
    scopes of all of them, or the same.
    """
    if STORED in wanted:
        return wanted if STORED in own or own >= OPERATION_SCOPES else frozenset()
    return wanted & own


def shown_name(text: str) -> str:
    """Return a person's name for pages and the ledger, without signs that mislead."""
    plain = _NO_NAME.sub("", unicodedata.normalize("NFC", text))
    return " ".join(plain.split())[:LONGEST_NAME].strip()
