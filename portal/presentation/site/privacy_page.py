"""The privacy page, which states what the portal stores, for how long, and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from portal.system.mode import Mode

Kind = Literal["decode", "renainf", "renajud", "report"]


@dataclass(frozen=True, slots=True)
class Kept:
    """How long the portal stores an operation's answers, in seconds. 0 means not at all.

    ``empty_s`` applies to an answer that is an empty list, for example no fines. It is None if the
    operation's answers are not lists.
    """

    answer_s: int
    empty_s: int | None = None


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    label: str
    answer_s: int
    empty_s: int | None


@dataclass(frozen=True, slots=True)
class PrivacyPage:
    """The privacy page. Each member ``…_s`` is the time for which something is stored, in seconds.

    ``rejected_s`` is for lookups that the upstream rejected, ``session_s`` for the session cookie,
    and ``tries_s`` for the number of sign-in attempts of an IP address. A dossier's number is
    deleted ``ended_dossier_s`` seconds after the dossier expires. ``counts_requests`` is true if
    the portal has rate limits.
    """

    template: ClassVar[str] = "pages/privacy.html"
    mode: Mode
    answers: tuple[KeptAnswer, ...]
    rejected_s: int
    history_s: int
    session_s: int
    tries_s: int
    dossier_s: int
    ended_dossier_s: int
    batch_s: int  # counted from the end or the last pause of the batch
    draft_s: int  # for a batch that is never started
    counts_requests: bool
    mask_names: bool


_LABELS: Final[Mapping[Kind, str]] = {
    "decode": "Ficha do veículo",
    "renainf": "Multas",
    "renajud": "Restrições judiciais",
    "report": "Análise escrita",
}


def privacy_page(
    mode: Mode,
    kept: Mapping[Kind, Kept],
    *,
    rejected_s: int,
    history_s: int,
    session_s: int,
    tries_s: int,
    dossier_s: int,
    ended_dossier_s: int,
    batch_s: int,
    draft_s: int,
    counts_requests: bool,
    mask_names: bool,
) -> PrivacyPage:
    """Build the privacy page. ``kept`` must have an entry for every operation."""
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
        dossier_s=dossier_s,
        ended_dossier_s=ended_dossier_s,
        batch_s=batch_s,
        draft_s=draft_s,
        counts_requests=counts_requests,
        mask_names=mask_names,
    )
