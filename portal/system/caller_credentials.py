"""Who pays for upstream calls, and the format of the tokens that say who calls."""

from typing import Literal

# Who pays for upstream calls. "demo": nobody, because a simulated upstream inside the portal
# answers lookups. "managed": the operator's token. "pass-through": the caller's own credential.
Mode = Literal["demo", "managed", "pass-through"]
MAX_LENGTH = 4096


def is_token(text: str) -> bool:
    """Return whether a text is 1 to 4,096 printable ASCII characters without spaces and commas.

    A header value with a scheme, such as "Bearer abc", is therefore not a token.
    """
    return (
        0 < len(text) <= MAX_LENGTH
        and text.isascii()
        and text.isprintable()
        and " " not in text
        and "," not in text
    )
