"""The icon, word and tone of each status. Colour is never the only signal."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from portal.law import Level, Mark

Tone = Literal["ok", "warn", "danger", "unknown"]


@dataclass(frozen=True, slots=True)
class StatusStyle:
    """``icon`` is a shape of components/icon.html; ``word`` is clear without it."""

    tone: Tone
    icon: Literal["check", "alert", "cross", "question"]
    word: str


ANSWER_LOOKS: Final[Mapping[Mark, StatusStyle]] = {
    "yes": StatusStyle("ok", "check", "Sim"),
    "careful": StatusStyle("warn", "alert", "Com ressalva"),
    "no": StatusStyle("danger", "cross", "Não"),
    "unknown": StatusStyle("unknown", "question", "Não é possível dizer"),
}
LEVEL_LOOKS: Final[Mapping[Level, StatusStyle]] = {
    # Not green: the verdict states what was found, not that the vehicle can be transferred.
    "clear": StatusStyle("unknown", "check", "Nada encontrado nos registros"),
    "caution": StatusStyle("warn", "alert", "Atenção"),
    "blocked": StatusStyle("danger", "cross", "Impedimento"),
    "incomplete": StatusStyle("unknown", "question", "Incompleto"),
}
REMOVAL_WORDS: Final[Mapping[Mark, str]] = {
    "yes": "Sem ordem de remoção",
    "careful": "Risco possível",
    "no": "Risco de remoção",
    "unknown": "Não é possível dizer",
}
