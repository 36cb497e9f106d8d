"""The privacy page, which states what the portal stores, for how long, and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from portal.dossier.lookups import OperationTexts
from portal.system.caller_credentials import Mode


@dataclass(frozen=True, slots=True)
class PrivacyPage:
    """The privacy page. A member ``…_s`` is a storage time in seconds.

    ``answers`` has the storage times of an operation's answers, 0 if they are not stored: the usual
    time, and the time of an empty list (None if the answers are no lists).

    ``rejected_s`` is for lookups that the upstream rejected, ``session_s`` for the session cookie,
    and ``tries_s`` for the number of sign-in attempts of an IP address. ``ended_dossier_s`` seconds
    after a dossier expires, the portal deletes the dossier's number. ``counts_requests`` is true if
    the portal has rate limits.
    """

    template: ClassVar[str] = "pages/privacy.html"
    mode: Mode
    answers: Mapping[OperationTexts, tuple[int, int | None]]
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
