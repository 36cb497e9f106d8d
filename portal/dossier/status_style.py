"""The icon, word and colour (tone) of each status. No status is shown by colour alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from portal.law.act_answers import Act, Mark
from portal.law.orders import AssessedOrder
from portal.law.verdict import Level

# "plain", the colour of ordinary text, is for a finding that is neither good nor bad.
Tone = Literal["ok", "warn", "danger", "unknown", "plain"]


@dataclass(frozen=True, slots=True)
class StatusStyle:
    """The style of a status. ``icon`` is the name of a shape in ``icons.toml``."""

    tone: Tone
    icon: Literal["check", "alert", "cross", "question"]
    word: str


LOOKS: Final[Mapping[Mark | Level, StatusStyle]] = {
    # "yes" means that the portal found no record that prevents an act, such as the vehicle's sale.
    # The tone of "yes" is not "ok" (green), because the portal does not check everything that can
    # prevent the act.
    "yes": StatusStyle("plain", "check", "Nada encontrado"),
    "careful": StatusStyle("warn", "alert", "Com ressalva"),
    "no": StatusStyle("danger", "cross", "Não"),
    "unknown": StatusStyle("unknown", "question", "Não se sabe"),
    # "clear" may be green, because its words "nos registros" ("in the records") limit the verdict
    # to the records that the portal has checked.
    "clear": StatusStyle("ok", "check", "Nada encontrado nos registros"),
    "caution": StatusStyle("warn", "alert", "Atenção"),
    "blocked": StatusStyle("danger", "cross", "Impedimento"),
    "incomplete": StatusStyle("unknown", "question", "Incompleto"),
    # "limited" means that the user did not choose all lookups. This verdict is not green, because
    # the omitted lookups could have found a problem.
    "limited": StatusStyle("plain", "question", "Só o que foi pedido"),
}
_REMOVAL_WORDS: Final[Mapping[Mark, str]] = {
    "yes": "Sem ordem de remoção",
    "careful": "Risco possível",
    "no": "Risco de remoção",
    "unknown": "Não se sabe",
}


def act_word(mark: Mark, act: Act) -> str:
    """Return the word of a mark. That of a removal names its risk."""
    return _REMOVAL_WORDS[mark] if act == "removal" else LOOKS[mark].word


def acts_by_word(order: AssessedOrder) -> list[tuple[StatusStyle, str, tuple[Act, ...]]]:
    """Group the acts of a court order by what it says of them, in the order of the acts."""
    groups: dict[str, tuple[StatusStyle, str, list[Act]]] = {}
    for act, answer in order.effect.answers.items():
        word = act_word(answer.mark, act)
        groups.setdefault(word, (LOOKS[answer.mark], word, []))[2].append(act)
    return [(look, word, tuple(acts)) for look, word, acts in groups.values()]
