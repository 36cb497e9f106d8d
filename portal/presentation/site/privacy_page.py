"""What the portal keeps, for how long and why: out of the settings it runs with."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

Mode = Literal["demo", "managed", "pass-through"]
Kind = Literal["decode", "renainf", "renajud", "report"]


@dataclass(frozen=True, slots=True)
class Kept:
    """Seconds until one operation's answers are deleted, 0 = never stored.

    ``empty_s`` is an empty list's; None where the answer is no list.
    """

    answer_s: int
    empty_s: int | None = None


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """One kind of answer, by the name that pages give it."""

    label: str
    answer_s: int
    empty_s: int | None


@dataclass(frozen=True, slots=True)
class PrivacyPage:
    """Times in seconds: answers, a rejected question, recent lookups, the session's cookie, the
    count of an address's attempts to sign in. ``counts_requests``: whether requests are limited.
    """

    template: ClassVar[str] = "pages/privacy.html"
    mode: Mode
    answers: tuple[KeptAnswer, ...]
    rejected_s: int
    history_s: int
    session_s: int
    tries_s: int
    counts_requests: bool
    mask_names: bool


_LABELS: Final[Mapping[Kind, str]] = {
    "decode": "Ficha do veículo",
    "renainf": "Multas",
    "renajud": "Restrições judiciais",
    "report": "Laudo",
}


def privacy_page(
    mode: Mode,
    kept: Mapping[Kind, Kept],
    *,
    rejected_s: int,
    history_s: int,
    session_s: int,
    tries_s: int,
    counts_requests: bool,
    mask_names: bool,
) -> PrivacyPage:
    """The page of one portal; ``kept`` names every operation."""
    answers = tuple(
        KeptAnswer(label, kept[kind].answer_s, kept[kind].empty_s)
        for kind, label in _LABELS.items()
    )
    return PrivacyPage(
        mode=mode,
        answers=answers,
        rejected_s=rejected_s,
        history_s=history_s,
        session_s=session_s,
        tries_s=tries_s,
        counts_requests=counts_requests,
        mask_names=mask_names,
    )
