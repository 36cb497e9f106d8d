"""What a page says of the lookups that brought nothing, or only an answer from before.

One notice for all of a panel's gaps, one for all kept answers of one moment: a reader has to get
past them to the verdict.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from portal.law import listed
from portal.presentation import formats
from portal.presentation.panels import Cause
from portal.vehicle import Plate, Renavam

_AT_ONCE: Final = timedelta(minutes=1)
# The source knows no such subject, or would not have it: to ask the same again brings the same.
_UNKNOWN_SUBJECT: Final[tuple[Cause, ...]] = ("not_found", "rejected")
_ASKING_AGAIN_IS_VAIN: Final[tuple[Cause, ...]] = (
    *_UNKNOWN_SUBJECT,
    "out_of_scope",
    "not_for_renavam",
)
_NO_CLEAN_RECORD: Final = "não significa “nada consta”"


@dataclass(frozen=True, slots=True)
class Unavailable:
    """A lookup that brought nothing, and why; ``what`` is one of LOOKUP_WORDS, all plural."""

    what: str
    reason: str
    cause: Cause = ""

    @property
    def can_retry(self) -> bool:
        return self.cause not in _ASKING_AGAIN_IS_VAIN

    @property
    def title(self) -> str:
        """``Multas: indisponíveis — não significa “nada consta”``."""
        return f"{self.what.capitalize()}: indisponíveis — {_NO_CLEAN_RECORD}"


@dataclass(frozen=True, slots=True)
class Gap:
    """A panel's gaps as one notice. ``can_retry``: asking again may help; ``search_again``:
    another plate or Renavam has to be asked for."""

    title: str
    lines: tuple[str, ...]
    can_retry: bool
    search_again: bool


def gap_of(missing: Sequence[Unavailable], subject: Plate | Renavam, *, is_all: bool) -> Gap | None:
    """The notice about all of them, None where nothing is missing; ``is_all``: nothing else was
    asked about the subject."""
    if not missing:
        return None
    lookup_labels = named([one.what for one in missing])
    title = f"{lookup_labels}: indisponíveis — {_NO_CLEAN_RECORD}"
    is_unknown = all(one.cause in _UNKNOWN_SUBJECT for one in missing)
    if is_unknown:
        verb = "conhece" if any(one.cause == "not_found" for one in missing) else "aceitou"
        who = "A fonte" if is_all else f"{lookup_labels}: a fonte"
        title = f"{who} não {verb} {subject_phrase(subject)} — {_NO_CLEAN_RECORD}"
    can_retry = any(one.can_retry for one in missing)
    has_unknown = any(one.cause in _UNKNOWN_SUBJECT for one in missing)
    return Gap(
        title,
        tuple(_lines(missing)),
        can_retry=can_retry,
        search_again=has_unknown and not can_retry,
    )


def reason_about(reason: str, cause: Cause, subject: Plate | Renavam) -> str:
    """A lookup's reason; where the subject is the trouble, what to look at in the papers."""
    if cause not in _UNKNOWN_SUBJECT:
        return reason
    signs = "as letras e os números" if isinstance(subject, Plate) else "os algarismos"
    return f"{reason} Confira {signs} no documento."


def kept_titles(kept: Sequence[tuple[str, datetime]]) -> tuple[str, ...]:
    """A title for each moment from which answers are kept, naming them all; the moments of
    lookups that were made side by side count as one, the oldest."""
    groups: list[tuple[datetime, list[str]]] = []
    for what, moment in sorted(kept, key=lambda one: one[1]):
        if groups and moment - groups[-1][0] < _AT_ONCE:
            groups[-1][1].append(what)
        else:
            groups.append((moment, [what]))
    order = [what for what, _ in kept]
    return tuple(
        f"{named(sorted(lookup_labels, key=order.index))}: "
        f"{'respostas guardadas' if len(lookup_labels) > 1 else 'resposta guardada'} de "
        f"{formats.moment(moment)}"
        for moment, lookup_labels in groups
    )


def named(lookup_labels: Sequence[str]) -> str:
    """``Dados do veículo, multas e restrições judiciais``."""
    text = listed(lookup_labels)
    return text[:1].upper() + text[1:]


def group_by_reason(missing: Sequence[Unavailable]) -> Iterator[tuple[str, str]]:
    """Each reason once, with the names of what is missing for it."""
    by_reason: dict[str, list[str]] = {}
    for one in missing:
        by_reason.setdefault(one.reason, []).append(one.what)
    for reason, lookup_labels in by_reason.items():
        yield named(lookup_labels), reason


def _lines(missing: Sequence[Unavailable]) -> Iterator[str]:
    told = list(group_by_reason(missing))
    for lookup_labels, reason in told:
        yield reason if len(told) == 1 else f"{lookup_labels}: {reason}"


def subject_phrase(subject: Plate | Renavam) -> str:
    """``esta placa``, ``este Renavam``."""
    return "esta placa" if isinstance(subject, Plate) else "este Renavam"
