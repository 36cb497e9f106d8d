"""Checks the format of tokens in the settings and in requests."""

MAX_LENGTH = 4096


def is_token(text: str) -> bool:
    """Return whether a text is 1 to 4,096 printable ASCII characters except spaces and commas.

    Because a token has no space, it cannot contain a scheme such as "Bearer " from an Authorization
    header.
    """
    return (
        0 < len(text) <= MAX_LENGTH
        and text.isascii()
        and text.isprintable()
        and " " not in text
        and "," not in text
    )
