"""Sanitise typed text that a form shows again."""


def sanitise_echo(text: str, longest: int) -> str:
    """The text without control and invisible characters, cut to ``longest``.

    HTML forbids some of these characters, and others make a text look like a different one.
    """
    return "".join(c for c in text[: 4 * longest] if c.isprintable()).strip()[:longest]
