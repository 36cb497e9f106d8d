"""Sanitises typed text before a form shows it again."""


def sanitise_echo(text: str, longest: int) -> str:
    """Remove invisible characters, and cut the text to ``longest`` characters.

    HTML forbids control characters. Other invisible characters can make different texts look equal.
    """
    return "".join(c for c in text[: 4 * longest] if c.isprintable()).strip()[:longest]
