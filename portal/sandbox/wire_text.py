"""The upstream's spelling of words: capitals without accents."""

import unicodedata


def capitals(text: str) -> str:
    """Convert ``Justiça`` to ``JUSTICA``; also the key to compare texts."""
    decomposed = unicodedata.normalize("NFKD", text)
    plain = "".join(c for c in decomposed if not unicodedata.combining(c))
    return " ".join(plain.upper().split())
