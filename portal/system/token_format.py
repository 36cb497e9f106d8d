"""What a token looks like: the one rule for those an operator sets and those a request brings."""

LONGEST = 4096


def is_token(text: str) -> bool:
    """Printable ASCII without spaces (so no scheme word), commas, 1 to 4,096 characters."""
    return (
        0 < len(text) <= LONGEST
        and text.isascii()
        and text.isprintable()
        and " " not in text
        and "," not in text
    )
