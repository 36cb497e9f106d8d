"""The name of a caller as people read it."""

from typing import Final

# How the ledger names the tokens of PORTAL_ACCESS_TOKENS; no issued token's name has a colon.
_CONFIGURED: Final = "settings:"


def shown_caller(name: str) -> str:
    """Return ``token 1 da configuração`` for ``settings:1``, and any other name as it is."""
    number = name.removeprefix(_CONFIGURED)
    return name if number == name else f"token {number} da configuração"
