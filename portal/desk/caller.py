"""Who asks: a caller of a desk, of a token, of a session, or of a command."""

from dataclasses import dataclass
from typing import Final

from portal.access.tokens import Identity
from portal.vehicle.operation_name import LOOKUPS

# Makes the lookups of ``flask batch``. All other owners have a hexadecimal digest or session id as
# their name, so none is "command".
COMMAND_IDENTITY: Final = Identity("command", "command", "command", frozenset(LOOKUPS))


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, what they own, and how they pay.

    ``identity`` has the scopes, the daily limit and the credential that pays. ``owner`` is the key
    of what the caller stores: batches, issued dossiers, the history. ``by_session`` is true if the
    cookie of a browser authenticates the caller. A browser sends this cookie even with requests
    that no user intended.
    """

    identity: Identity
    owner: str
    by_session: bool = False

    @classmethod
    def of_token(cls, identity: Identity) -> "Caller":
        """Return the caller that a token or an upstream credential authenticates."""
        return cls(identity, identity.owner)

    @classmethod
    def of_session(cls, identity: Identity, owner: str) -> "Caller":
        """Return the visitor of a session. ``owner`` is ``Sessions.history_key``."""
        return cls(identity, owner, by_session=True)

    @classmethod
    def of_command(cls, identity: Identity = COMMAND_IDENTITY) -> "Caller":
        """Return who runs a command. Without a credential, the operator pays."""
        return cls(identity, identity.owner)

    @property
    def name(self) -> str:
        return self.identity.name

    @property
    def may_spend(self) -> bool:
        """Whether a lookup of the caller may reach the upstream."""
        return self.identity.may_spend

    @property
    def pays_alone(self) -> bool:
        """Whether the caller's own upstream credential pays for the lookups."""
        return self.identity.credential is not None

    def may(self, scope: str) -> bool:
        return self.identity.has_scope(scope)
