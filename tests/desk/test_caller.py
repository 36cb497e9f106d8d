"""Callers: of a token, of a session and of a command."""

from portal.access.tokens import Identity
from portal.desk.caller import COMMAND_IDENTITY, Caller

IDENTITY = Identity("ana", "digest", "owner", frozenset({"renainf"}))


def test_token_owns_under_its_owner() -> None:
    caller = Caller.of_token(IDENTITY)
    assert caller.owner == "owner"
    assert not caller.by_session
    assert caller.may("renainf")
    assert not caller.may("decode")


def test_session_finds_its_owner_only_when_asked() -> None:
    """A new visitor gets a cookie only where something is stored or read."""
    found: list[str] = []

    def find_owner() -> str:
        found.append("visitor")
        return "visitor"

    caller = Caller.of_session(IDENTITY, find_owner, lambda: "")
    assert caller.by_session
    assert caller.known_owner == ""
    assert not found
    assert caller.owner == "visitor"
    assert found


def test_own_credential_pays_alone() -> None:
    own = Identity("c", "hmac", "hmac", frozenset(), credential="secret")
    assert Caller.of_command(own).pays_alone
    assert not Caller.of_command().pays_alone
    assert Caller.of_command().owner == COMMAND_IDENTITY.owner
