"""The operator's page of the people who sign in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Protocol

from portal.presentation.operations.tokens import SCOPE_LABELS


class SignedInPerson(Protocol):
    """A person who has signed in. Times are epoch seconds."""

    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def issuer(self) -> str: ...

    @property
    def scopes(self) -> frozenset[str]: ...

    @property
    def seen_at(self) -> float: ...

    @property
    def ended_at(self) -> float | None: ...

    @property
    def refused_at(self) -> float | None: ...

    @property
    def entered_at(self) -> float: ...


@dataclass(frozen=True, slots=True)
class PeoplePage:
    """The people by name, and the forms that end sessions and hand over what somebody owned.

    ``owners`` are the names of people and tokens, by the name that the form sends. ``problem`` is
    why nothing was handed over, or "". ``asks_token`` is true if the operator's sign-in is too old.
    """

    template: ClassVar[str] = "pages/people.html"
    now: datetime
    people: Sequence[SignedInPerson]
    owners: Mapping[str, str]
    asks_token: bool
    problem: str = ""

    def words_of(self, person: SignedInPerson) -> str:
        words = [label[1] for scope, label in SCOPE_LABELS.items() if scope in person.scopes]
        return ", ".join(words)

    def state_of(self, person: SignedInPerson) -> str:
        """Say whether a person gets in."""
        if person.refused_at is not None:
            return "a empresa não confirma mais"
        if not person.scopes:
            return "nenhum grupo com acesso"
        if person.ended_at is not None and person.entered_at <= person.ended_at:
            return "sessões encerradas"
        return "com acesso"
