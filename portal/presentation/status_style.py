"""The icon, word and tone of each status. No status is shown by colour alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from portal.law import Level, Mark

# "plain" is the colour of ordinary text, for a finding that is neither good nor bad.
Tone = Literal["ok", "warn", "danger", "unknown", "plain"]


@dataclass(frozen=True, slots=True)
class StatusStyle:
    """A status's style.

    ``icon`` is a shape of components/icon.html; ``word`` is clear without the icon.
    """

    tone: Tone
    icon: Literal["check", "alert", "cross", "question"]
    word: str


ANSWER_LOOKS: Final[Mapping[Mark, StatusStyle]] = {
    # No answer is green, because a sale can still fail where no record was found.
    "yes": StatusStyle("plain", "check", "Nada encontrado"),
    "careful": StatusStyle("warn", "alert", "Com ressalva"),
    "no": StatusStyle("danger", "cross", "Não"),
    "unknown": StatusStyle("unknown", "question", "Não se sabe"),
}
LEVEL_LOOKS: Final[Mapping[Level, StatusStyle]] = {
    # "clear" is green, because fines and courts were checked. The page lists what was not checked.
    "clear": StatusStyle("ok", "check", "Nada encontrado nos registros"),
    "caution": StatusStyle("warn", "alert", "Atenção"),
    "blocked": StatusStyle("danger", "cross", "Impedimento"),
    "incomplete": StatusStyle("unknown", "question", "Incompleto"),
}
REMOVAL_WORDS: Final[Mapping[Mark, str]] = {
    "yes": "Sem ordem de remoção",
    "careful": "Risco possível",
    "no": "Risco de remoção",
    "unknown": "Não se sabe",
}
