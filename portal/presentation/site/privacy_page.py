"""The privacy page, which states what the portal stores, for how long, and why."""

from dataclasses import dataclass
from typing import ClassVar

from portal.presentation.operation_names import OPERATION_TEXTS
from portal.system.mode import Mode
from portal.vehicle import OperationName


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """How long the portal stores an operation's answers, in seconds. 0 means not at all.

    ``empty_s`` applies to an answer that is an empty list, for example no fines. It is None if the
    operation's answers are not lists.
    """

    operation: OperationName
    answer_s: int
    empty_s: int | None = None

    @property
    def label(self) -> str:
        return OPERATION_TEXTS[self.operation].stored_title


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
