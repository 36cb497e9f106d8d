"""The privacy page, which states what the portal stores, for how long, and why."""

from dataclasses import dataclass
from typing import ClassVar

from portal.dossier.lookups import OPERATION_TEXTS
from portal.system.caller_credentials import Mode
from portal.vehicle.operation_name import OperationName


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """How long the portal stores an operation's answers.

    ``answer_s`` is a time in seconds, or 0 if the portal does not store the answers. ``empty_s`` is
    the time for an answer that is an empty list, for example no fines. ``empty_s`` is None if the
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
    """The privacy page. A member ``…_s`` is a storage time in seconds.

    ``rejected_s`` is for lookups that the upstream rejected, ``session_s`` for the session cookie,
    and ``tries_s`` for the number of sign-in attempts of an IP address. ``ended_dossier_s`` seconds
    after a dossier expires, the portal deletes the dossier's number. ``counts_requests`` is true if
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
    batch_s: int  # counted from the end or pause of the batch
    draft_s: int  # for a batch that is never started
    counts_requests: bool
    mask_names: bool
