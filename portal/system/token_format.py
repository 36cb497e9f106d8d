"""Format of tokens, both in the settings and in requests."""

MAX_LENGTH = 4096


def is_token(text: str) -> bool:
    """Whether a text is 1 to 4,096 characters of printable ASCII without spaces or commas.

    Without spaces it cannot include the scheme word of an Authorization header.
    """
    return (
        0 < len(text) <= MAX_LENGTH
        and text.isascii()
        and text.isprintable()
        and " " not in text
        and "," not in text
    )
