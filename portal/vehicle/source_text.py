"""Converts the upstream's texts from capital letters to normal spelling."""

from collections.abc import Callable

from portal.vehicle.field import Field
from portal.vehicle.spelling import name_case, sentence_case


def sentence(field: Field) -> Field:
    """Respell a field as a sentence: "NAO EXIGIVEL" → "Não exigível"."""
    return _spelled(field, sentence_case)


def named(field: Field) -> Field:
    """Respell a field as a name: "POLICIA RODOVIARIA FEDERAL" → "Polícia Rodoviária Federal"."""
    return _spelled(field, name_case)


def _spelled(field: Field, spell: Callable[[str], str]) -> Field:
    return Field(spell(field.value)) if field else field
