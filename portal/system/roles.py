"""Roles: which scopes the members of a company's groups have."""

from collections.abc import Collection, Iterable
from typing import Final

# The scopes of the lookups. A test compares them with the portal's operations.
_LOOKUPS: Final = frozenset({"decode", "renainf", "renajud", "report"})
# In a role, this scope stands alone: who has it reads what is stored, and never spends.
_STORED: Final = "stored"
GRANTABLE: Final = _LOOKUPS | {"refresh", "admin", _STORED}
# The groups of the setting ROLES with their scopes, in the order of the setting.
Roles = tuple[tuple[str, frozenset[str]], ...]


class InvalidRoles(ValueError):
    """The text names no roles. The message says why, for the operator."""


def parse_roles(text: str) -> Roles:
    """Read roles such as ``admins=admin,decode; vendas=decode,renainf``. Raises InvalidRoles.

    A group's name may contain "=", as those of a directory do (``cn=vendas,ou=loja``).
    """
    roles: dict[str, frozenset[str]] = {}
    for part in text.replace("\n", ";").split(";"):
        if not part.strip():
            continue
        group, is_given, listed = (text.strip() for text in part.rpartition("="))
        scopes = frozenset(scope.strip() for scope in listed.split(",") if scope.strip())
        if not is_given or not group or not scopes:
            raise InvalidRoles("a role is group=scope,scope; roles are separated by semicolons")
        if unknown := sorted(scopes - GRANTABLE):
            raise InvalidRoles(
                f"{unknown[0]!r} is no scope; there are {', '.join(sorted(GRANTABLE))}"
            )
        if _STORED in scopes and len(scopes) > 1:
            raise InvalidRoles(f"in the role of {group!r}, {_STORED} stands alone: it never spends")
        if group in roles:
            raise InvalidRoles(f"the group {group!r} is named twice")
        roles[group] = scopes
    return tuple(roles.items())


def scopes_of(
    groups: Collection[str], roles: Iterable[tuple[str, frozenset[str]]]
) -> frozenset[str]:
    """Return all scopes that the groups of a person give, or none.

    A person with a lookup from one group, and ``stored`` from another, may spend.
    """
    given: frozenset[str] = frozenset().union(
        *(scopes for group, scopes in roles if group in groups)
    )
    return given - {_STORED} if given & _LOOKUPS else given
