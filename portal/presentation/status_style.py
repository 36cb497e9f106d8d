"""How a status looks: an icon, a word and a tone, never the colour alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from portal.law import Level, Mark

Tone = Literal["ok", "warn", "danger", "unknown"]


@dataclass(frozen=True, slots=True)
class Look:
    """``icon`` is a shape of components/icon.html; ``word`` reads without the icon."""

    tone: Tone
    icon: Literal["check", "alert", "cross", "question"]
    word: str


ANSWER_LOOKS: Final[Mapping[Mark, Look]] = {
    "yes": Look("ok", "check", "Sim"),
    "careful": Look("warn", "alert", "Com ressalva"),
    "no": Look("danger", "cross", "Não"),
    "unknown": Look("unknown", "question", "Não é possível dizer"),
}
LEVEL_LOOKS: Final[Mapping[Level, Look]] = {
    "clear": Look("ok", "check", "Sem impedimento nos registros"),
    "caution": Look("warn", "alert", "Atenção"),
    "blocked": Look("danger", "cross", "Impedimento"),
    "incomplete": Look("unknown", "question", "Incompleto"),
}
REMOVAL_WORDS: Final[Mapping[Mark, str]] = {
    "yes": "Sem ordem de remoção",
    "careful": "Risco possível",
    "no": "Risco de remoção",
    "unknown": "Não é possível dizer",
}
