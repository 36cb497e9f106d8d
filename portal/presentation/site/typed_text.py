"""Sanitise typed text before a form shows it again."""


def sanitise_echo(text: str, longest: int) -> str:
    """Remove control and invisible characters, and cut the text to ``longest`` characters.

    HTML forbids some of these characters, and others make a text look like a different one.
    """
    return "".join(c for c in text[: 4 * longest] if c.isprintable()).strip()[:longest]
