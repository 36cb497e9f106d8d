"""The name under which pages show an access token."""

from typing import Final

# The tokens in the setting PORTAL_ACCESS_TOKENS have the names ``settings:1``, ``settings:2`` and
# so on. The names of all other tokens contain no colon.
_CONFIGURED: Final = "settings:"
_PERSON: Final = "person:"  # people who have signed in


def shown_caller(name: str) -> str:
    """Return ``token 1 da configuração`` (token 1 of the settings) for ``settings:1``.

    A person's name is returned without its mark. Any other name is returned unchanged.
    """
    if name.startswith(_PERSON):
        return name.removeprefix(_PERSON)
    number = name.removeprefix(_CONFIGURED)
    return name if number == name else f"token {number} da configuração"
