"""Access tokens on the operator's pages: list, form and revocation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Final, Literal

from portal.presentation import formats
from portal.presentation.operation_names import OPERATION_TEXTS
from portal.system.local_time import from_epoch
from portal.vehicle import OPERATION_NAMES
from portal.wording import grouped, listed

# The scopes in the order of the form. Each scope has a label for the form and a word for token
# lists.
SCOPE_LABELS: Final[Mapping[str, tuple[str, str]]] = {
    **{name: (texts.long_title, texts.scope_word) for name, texts in OPERATION_TEXTS.items()},
    "refresh": ("Atualizar: consultar de novo o que está guardado", "atualizar"),
    "admin": ("Operação: esta página, e emitir e revogar tokens", "operação"),
}
FIELDS: Final = ("name", "scopes", "days", "limit", "token")
SOON_DAYS: Final = 7
MOST_ENDED: Final = 50


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """The facts about an issued token, without its secret. Times are epoch seconds."""

    name: str
    scopes: frozenset[str]
    daily_limit: int
    expires_at: float | None
    revoked_at: float | None
    state: Literal["valid", "expired", "revoked"]


@dataclass(frozen=True, slots=True)
class ListedToken:
    name: str
    scopes: str
    today: str
    limit_is_used: bool
    end: str
    ends_soon: bool
    revoke_path: str


@dataclass(frozen=True, slots=True)
class ScopeChoice:
    name: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class IssueForm:
    """The form for a new token, with the texts that the operator has typed.

    ``problems`` maps each name in FIELDS to an error message, or to "" if the field is valid.
    ``asks_token`` is true if the operator's last sign-in is too old. The form then also asks for
    the operator's own token, to confirm the operator's identity.
    """

    template: ClassVar[str] = "pages/token_issue.html"
    name: str
    scopes: tuple[ScopeChoice, ...]
    days: str
    daily_limit: str
    asks_token: bool
    problems: Mapping[str, str]

    @property
    def is_refused(self) -> bool:
        return any(self.problems.values())


@dataclass(frozen=True, slots=True)
class NewTokenPage:
    """The only page that shows a new token, so the operator must copy the token here."""

    template: ClassVar[str] = "pages/token_issued.html"
    name: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class RevokePage:
    """The page that asks for confirmation before a token is revoked.

    The page asks for the operator's own token if ``asks_token`` is true. ``problem`` is an error
    message about the operator's token, or "" if there is no error.
    """

    template: ClassVar[str] = "pages/token_revoke.html"
    name: str
    path: str
    is_own: bool
    asks_token: bool
    problem: str


def issue_form(
    *,
    asks_token: bool,
    name: str = "",
    scopes: Sequence[str] = OPERATION_NAMES,
    days: str = "",
    daily_limit: str = "",
    problems: Mapping[str, str] | None = None,
) -> IssueForm:
    return IssueForm(
        name=name,
        scopes=tuple(
            ScopeChoice(scope, label, scope in scopes) for scope, (label, _) in SCOPE_LABELS.items()
        ),
        days=days,
        daily_limit=daily_limit,
        asks_token=asks_token,
        problems=dict.fromkeys(FIELDS, "") | dict(problems or {}),
    )


def revoke_path(name: str) -> str:
    """Return the path that revokes a token.

    The name needs no escaping, because it consists of ASCII letters, digits and the characters
    ``._@-``.
    """
    return f"/operacao/tokens/{name}/revogar"


def listed_tokens(
    tokens: Sequence[TokenFacts], calls: Mapping[str, int], now: datetime
) -> tuple[tuple[ListedToken, ...], tuple[ListedToken, ...]]:
    """Return the valid tokens, and the newest revoked or expired tokens.

    There are at most MOST_ENDED revoked or expired tokens in the result. ``tokens`` must be sorted
    by age, the oldest first. ``calls`` maps a token's name to the token's number of calls today.
    """
    at = now.timestamp()
    valid = [_listed(each, calls, at) for each in tokens if each.state == "valid"]
    ended = [_listed(each, calls, at) for each in reversed(tokens) if each.state != "valid"]
    return tuple(valid), tuple(ended[:MOST_ENDED])


def _listed(token: TokenFacts, calls: Mapping[str, int], at: float) -> ListedToken:
    used, state = calls.get(token.name, 0), token.state
    of = f" de {grouped(token.daily_limit)}" if token.daily_limit else ""
    return ListedToken(
        name=token.name,
        scopes=_scopes(token.scopes),
        today=f"{grouped(used)}{of}",
        limit_is_used=0 < token.daily_limit <= used,
        end=_end(token),
        ends_soon=state == "valid"
        and token.expires_at is not None
        and token.expires_at - at < SOON_DAYS * 86400,
        revoke_path=revoke_path(token.name) if state == "valid" else "",
    )


def _end(token: TokenFacts) -> str:
    if token.state == "revoked" and token.revoked_at is not None:
        return f"revogado em {formats.short_date(from_epoch(token.revoked_at).date())}"
    if token.expires_at is None:
        return "não vence"
    verb = "venceu" if token.state == "expired" else "vence"
    return f"{verb} em {formats.short_date(from_epoch(token.expires_at).date())}"


def _scopes(scopes: frozenset[str]) -> str:
    words = [word for scope, (_, word) in SCOPE_LABELS.items() if scope in scopes]
    return listed(words)
