"""The tokens that people issue themselves, for their scripts."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from portal.access.people import bounded
from portal.access.tokens import Identity, Issued, Tokens
from portal.storage.database import Also

MOST_TOKENS = 20  # that one person may hold at a time


class TooManyTokens(Exception):
    """The person holds MOST_TOKENS tokens."""


@dataclass(frozen=True, slots=True)
class OwnTokens:
    """The own tokens of people. No token has more than its person may do and spend."""

    tokens: Tokens

    def of(self, person: Identity) -> Sequence[Issued]:
        """Return a person's tokens, the newest first. Raises SQLAlchemyError."""
        return self.tokens.of_person(person.owner)

    def fits(self, person: Identity, scopes: Collection[str], daily_limit: int) -> bool:
        """Return whether a token would have at most the person's scopes and daily limit."""
        wanted, most = frozenset(scopes), person.least_daily_limit
        is_within = not most or 0 < daily_limit <= most
        return bool(wanted) and bounded(wanted, person.scopes) == wanted and is_within

    def issue(
        self,
        person: Identity,
        name: str,
        scopes: Collection[str],
        lifetime_s: float,
        daily_limit: int,
        now: float,
        also: Also,
    ) -> str:
        """Return a new token, which is shown once. Raises NameTaken, TooManyTokens, ValueError.

        ``also`` writes the act to the trail in the same transaction, here and in ``revoke``.
        """
        if not self.fits(person, scopes, daily_limit):
            raise ValueError("a token may have at most what its person has")
        if sum(token.state(now) == "valid" for token in self.of(person)) >= MOST_TOKENS:
            raise TooManyTokens
        return self.tokens.issue(
            name, frozenset(scopes), lifetime_s, daily_limit, person=person.owner, also=also
        )

    def revoke(self, person: Identity, name: str, also: Also) -> bool:
        """Revoke a token of this person. Return whether it was one, and valid."""
        is_own = any(token.name == name for token in self.of(person))
        return is_own and self.tokens.revoke(name, also)
