"""Access tokens on the operator's pages: form and revocation."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import ClassVar, Final, Literal, Protocol

from portal.dossier.lookups import OPERATION_TEXTS
from portal.vehicle.operation_name import LOOKUPS

# The scopes in the order of the form. Each scope has a label for the form and a word for token
# lists.
SCOPE_LABELS: Final[Mapping[str, tuple[str, str]]] = {
    **{name: (texts.long_title, texts.scope_word) for name, texts in OPERATION_TEXTS.items()},
    "refresh": ("Atualizar: consultar de novo o que está guardado", "atualizar"),
    "stored": ("Só o que está guardado, sem nunca consultar (sozinha)", "só o guardado"),
    "admin": ("Operação: ver /operacao, e emitir e revogar tokens", "operação"),
}


class IssuedToken(Protocol):
    """An issued token, without its secret. Times are epoch seconds."""

    @property
    def name(self) -> str: ...

    @property
    def scopes(self) -> frozenset[str]: ...

    @property
    def daily_limit(self) -> int: ...

    @property
    def expires_at(self) -> float | None: ...

    @property
    def revoked_at(self) -> float | None: ...

    @property
    def person(self) -> str | None: ...

    def state(self, now: float) -> Literal["valid", "expired", "revoked"]: ...


class IssuedTokens(Protocol):
    """Issued tokens by what the operator's page says of them."""

    @property
    def valid(self) -> Sequence[IssuedToken]: ...

    @property
    def ended(self) -> Sequence[IssuedToken]: ...

    @property
    def full(self) -> Sequence[IssuedToken]: ...

    @property
    def ending(self) -> Sequence[IssuedToken]: ...


@dataclass(frozen=True, slots=True)
class IssueForm:
    """The form for a new token, with the texts that the operator has typed.

    A new form proposes the lookups of a vehicle, 90 days and 50 calls a day.

    ``problems`` maps "name", "scopes", "days", "limit", "budget" and "token" to an error message,
    if the field is wrong. ``asks_token`` is true if the operator's last sign-in is too old. The
    form then also asks for the operator's own token, to confirm the operator's identity.
    """

    template: ClassVar[str] = "pages/token_issue.html"
    scope_labels: ClassVar[Mapping[str, tuple[str, str]]] = SCOPE_LABELS
    asks_token: bool
    name: str = ""
    scopes: Sequence[str] = LOOKUPS
    days: str = "90"
    daily_limit: str = "50"
    monthly_budget: str = ""
    problems: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChangeForm:
    """The form that changes a token, or replaces it, with the texts that the operator has typed.

    ``problems`` and ``asks_token`` are as in ``IssueForm``. A blank ``days`` leaves the end.
    """

    template: ClassVar[str] = "pages/token_change.html"
    scope_labels: ClassVar[Mapping[str, tuple[str, str]]] = SCOPE_LABELS
    asks_token: bool
    name: str
    scopes: Collection[str]
    daily_limit: str
    monthly_budget: str
    ends_at: datetime | None
    days: str = ""
    problems: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NewTokenPage:
    """The only page that shows a new token, so the operator must copy the token here."""

    template: ClassVar[str] = "pages/token_issued.html"
    name: str
    token: str = field(repr=False)
    until: datetime | None
    daily_limit: int
    monthly_budget: Decimal


@dataclass(frozen=True, slots=True)
class RevokePage:
    """The page that asks for confirmation before a token is revoked.

    The page asks for the operator's own token if ``asks_token`` is true. ``problem`` is an error
    message about the operator's token, or "" if there is no error.
    """

    template: ClassVar[str] = "pages/token_revoke.html"
    name: str
    is_own: bool
    asks_token: bool
    problem: str
