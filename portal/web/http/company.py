"""The sign-in of a company's people, by its proxy or its OpenID Connect provider."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, cast

from flask import g, request, session

from portal.access.people import PROXY, Claims, People, Person
from portal.access.tokens import Identity, RefusedToken
from portal.desk.hand_over import HandOver
from portal.desk.own_tokens import OwnTokens
from portal.oidc.provider import OidcProvider
from portal.web.http.proxy_sign_in import ProxySignIn

SESSION_KEY: Final = "person"
_BEGAN_AT: Final = "began_at"


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
        """Begin the session of a person who has signed in at the provider."""
        session.clear()  # prevents session fixation
        session[SESSION_KEY] = person.id
        session[_BEGAN_AT] = self.clock()
        session["entered_at"] = int(self.clock())

    def of_session(self) -> Identity:
        """Return the identity of the session's person.

        Raises UnknownToken, RefusedToken or TokensUnavailable.
        """
        began_at = float(session.get(_BEGAN_AT, 0))
        person = self.people.of_session(str(session[SESSION_KEY]), began_at)
        if person.issuer == PROXY:  # only the header signs in
            raise RefusedToken
        return self.people.identity(person)
