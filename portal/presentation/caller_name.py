"""The display name of a caller."""

from typing import Final

# The tokens of PORTAL_ACCESS_TOKENS have the names ``settings:1``, ``settings:2`` and so on. Issued
# tokens have names without a colon.
_CONFIGURED: Final = "settings:"


def shown_caller(name: str) -> str:
    """Return ``token 1 da configuração`` for ``settings:1``, and any other name as it is."""
    number = name.removeprefix(_CONFIGURED)
    return name if number == name else f"token {number} da configuração"
