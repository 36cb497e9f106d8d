"""Who asks: the caller of a desk, by a token, a session or a command."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from portal.access.tokens import PERSON, Identity
from portal.access.trail import Face, Kind
from portal.vehicle.operation_name import LOOKUPS

# Makes the lookups of ``flask batch``. All other owners have a hexadecimal digest or session id as
# their name, so none is "command".
COMMAND_IDENTITY: Final = Identity("command", "command", "command", frozenset(LOOKUPS))


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, what they own, and how they pay.

    ``identity`` has the scopes, the daily limit and the credential that pays. ``find_owner``
    returns the key of what the caller stores: batches, issued dossiers, the history. A session
    finds it only when something is stored or read, because a new visitor then gets a cookie.
    ``find_known_owner`` returns the same key, or "" for a visitor who has stored nothing yet.
    ``by_session`` is true if the cookie of a browser authenticates the caller. A browser sends this
    cookie even with requests that no user intended. ``face`` is where the caller comes in, and
    ``purpose`` what a person has named at sign-in: both stand in the trail.
    """

    identity: Identity
    find_owner: Callable[[], str]
    find_known_owner: Callable[[], str]
    by_session: bool = False
    face: Face = "api"
    purpose: str = ""

    @classmethod
    def of_token(cls, identity: Identity, face: Face = "api") -> "Caller":
        """Return the caller that a token or an upstream credential authenticates."""
        return cls._of_identity(identity, face)

    @classmethod
    def of_session(
        cls,
        identity: Identity,
        find_owner: Callable[[], str],
        find_known_owner: Callable[[], str],
        purpose: str = "",
    ) -> "Caller":
        """Return the visitor of a session. In demo mode, all visitors share one identity."""
        owners = find_owner, find_known_owner
        return cls(identity, *owners, by_session=True, face="page", purpose=purpose)

    @classmethod
    def of_command(cls, identity: Identity = COMMAND_IDENTITY) -> "Caller":
        """Return who runs a command. Without a credential, the operator pays."""
        return cls._of_identity(identity, "command")

    @classmethod
    def _of_identity(cls, identity: Identity, face: Face) -> "Caller":
        return cls(identity, lambda: identity.owner, lambda: identity.owner, face=face)

    @property
    def who(self) -> str:
        """The name in the trail, of which ``kind`` says what it names."""
        return self.identity.name.removeprefix(PERSON)

    @property
    def kind(self) -> Kind:
        if self.identity.is_person:
            return "person"
        return "command" if self.identity is COMMAND_IDENTITY else "token"

    @property
    def owner(self) -> str:
        return self.find_owner()

    @property
    def known_owner(self) -> str:
        return self.find_known_owner()

    @property
    def pays_alone(self) -> bool:
        """Whether the caller's own upstream credential pays for the lookups."""
        return self.identity.credential is not None

    def may(self, scope: str) -> bool:
        return self.identity.has_scope(scope)
