"""How the wire writes words: capitals without accents."""

import unicodedata


def capitals(text: str) -> str:
    """``Tribunal de Justiça`` → ``TRIBUNAL DE JUSTICA``; the key by which texts are compared."""
    decomposed = unicodedata.normalize("NFKD", text)
    plain = "".join(c for c in decomposed if not unicodedata.combining(c))
    return " ".join(plain.upper().split())
