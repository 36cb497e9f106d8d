"""Text that somebody typed, as it may be shown again in its form."""


def sanitise_echo(text: str, longest: int) -> str:
    """The text on one line and cut, without controls and invisible characters: HTML forbids some
    of them, and others make a text look like another one."""
    return "".join(c for c in text[: 4 * longest] if c.isprintable()).strip()[:longest]
