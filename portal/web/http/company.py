"""The sign-in of a company's people, by its proxy or its OpenID Connect provider."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, cast

from flask import g, request, session
from sqlalchemy.exc import SQLAlchemyError

from portal.access.own_sessions import user_agent
from portal.access.people import PROXY, Claims, People, Person
from portal.access.tokens import Identity, RefusedToken
from portal.desk.hand_over import HandOver
from portal.desk.own_tokens import OwnTokens
from portal.oidc.provider import OidcProvider
from portal.web.http.proxy_sign_in import ProxySignIn

SESSION_KEY: Final = "person"
_BEGAN_AT: Final = "began_at"
_ID: Final = "session"


@dataclass(frozen=True, slots=True)
class Company:
    """The people of a company, what they hold, and the ways in which they sign in."""

    people: People
    own_tokens: OwnTokens
    hand_over: HandOver
    proxy: ProxySignIn | None = None
    provider: OidcProvider | None = None
    clock: Callable[[], float] = time.time

    @property
    def named(self) -> Claims | None:
        """The person whom the proxy names in this request."""
        if "named_person" not in g:
            g.named_person = self.proxy and self.proxy.person_in(request.environ)
        return cast("Claims | None", g.named_person)

    def met(self) -> Identity | None:
        """Return the identity of the person whom the proxy names, if they have a role.

        Raises TokensUnavailable.
        """
        if (named := self.named) is None:
            return None
        try:
            return self.people.identity(self.people.meet(named))
        except RefusedToken:
            return None

    def begin(self, person: Person) -> None:
        """Begin the session of a person who has signed in at the provider.

        Raises TokensUnavailable.
        """
        agent = user_agent(request.headers.get("User-Agent", ""))
        opened = self.people.open_session(person.id, agent)
        session.clear()  # prevents session fixation
        session[_ID] = opened.id
        session[SESSION_KEY] = person.id
        session[_BEGAN_AT] = self.clock()
        session["entered_at"] = int(self.clock())

    def leave(self) -> None:
        """End this browser's session in the database too. The cookie ends also without it."""
        if SESSION_KEY in session:
            with suppress(SQLAlchemyError):
                self.people.end_session(str(session[SESSION_KEY]), self.session_id)

    @property
    def session_id(self) -> str:
        """The id of this browser's session, or ""."""
        return str(session.get(_ID, ""))

    def of_session(self) -> Identity:
        """Return the identity of the session's person.

        Raises UnknownToken, RefusedToken or TokensUnavailable.
        """
        began_at = float(session.get(_BEGAN_AT, 0))
        person = self.people.of_session(str(session[SESSION_KEY]), began_at, self.session_id)
        if person.issuer == PROXY:  # only the header signs in
            raise RefusedToken
        return self.people.identity(person)
