"""Hints about search texts that are neither a plate nor a Renavam."""

from typing import Final

_PLATE_LENGTH: Final = 7
_RENAVAM_LENGTH: Final = 11
_LONGEST_SHOWN: Final = 20
_SHAPE: Final = (
    "Uma placa tem três letras, um algarismo, uma letra ou um algarismo, e mais dois algarismos: "
    "ABC1D23 ou ABC1234."
)
_SIGNS: Final = "Uma placa só tem letras de A a Z, sem acento, e algarismos."


def what_is_wrong(text: str) -> str:
    """The hint after the contract's error message; "" if no letter or digit was typed."""
    typed = "".join(c for c in text if c.isalnum())
    count = len(typed)
    if not typed:
        return ""
    if not typed.isascii():
        return _SIGNS
    if typed.isdecimal() and count != _RENAVAM_LENGTH:
        return f"Um Renavam tem {_RENAVAM_LENGTH} algarismos; aqui há {count}."
    if count < _PLATE_LENGTH:
        return f"“{typed}” tem {count} dos {_PLATE_LENGTH} caracteres de uma placa."
    if count > _PLATE_LENGTH:
        shown = typed if count <= _LONGEST_SHOWN else f"{typed[:_LONGEST_SHOWN]}…"
        return f"“{shown}” tem {count} caracteres; uma placa tem {_PLATE_LENGTH}."
    return _SHAPE
