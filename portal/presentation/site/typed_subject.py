"""Hints about search texts that are neither a plate nor a Renavam."""

from typing import Final

_PLATE_LENGTH: Final = 7
_RENAVAM_LENGTH: Final = 11
_LONGEST_SHOWN: Final = 20
_SHAPE: Final = "Uma placa tem 3 letras e 4 números (ABC1234) ou a forma Mercosul (ABC1D23)."
_SIGNS: Final = "Uma placa só tem letras de A a Z, sem acento, e algarismos."


def what_is_wrong(text: str) -> str:
    """The hint after the contract's error message; "" without letters or digits."""
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
