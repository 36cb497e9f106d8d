"""Notices about lookups without an answer, and about stale (old) answers.

To keep the list of notices short, one notice covers all failed lookups of a panel. Stale answers
that were fetched within one minute share one notice too.
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from portal import formats
from portal.dossier.answers import Cause, Panel, Panels, is_readable
from portal.dossier.lookups import LOOKUP_WORDS
from portal.gateway.lookup import BUDGETS, DAILY_LIMITS
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import Plate, Renavam
from portal.vehicle.wire import MOST_RECORDS, MOST_VALUES, OVERSIZED
from portal.wording import grouped, listed

_SAME_MOMENT: Final = timedelta(minutes=1)
# If a lookup fails with one of these causes, the source does not know, or does not accept, the
# plate or the Renavam.
_UNKNOWN_SUBJECT: Final[tuple[Cause, ...]] = ("not_found", "rejected")
_NOT_RETRYABLE: Final[tuple[Cause, ...]] = (
    *_UNKNOWN_SUBJECT,
    "unconfirmed",
    "out_of_scope",
    "not_for_renavam",
    "not_stored",  # the caller never spends
    "no_credit",
    "operator_refused",
    *DAILY_LIMITS,
    *BUDGETS,
)
# What is said if each lookup failed with one of the causes.
_FINDINGS: Final[tuple[tuple[Set[Cause], str], ...]] = (
    ({"out_of_scope"}, "O seu acesso não inclui estas consultas"),
    ({"not_stored"}, "Não há resposta guardada"),
    (DAILY_LIMITS, "O limite de consultas de hoje foi atingido"),
    (BUDGETS, "O orçamento do mês acabou"),
    ({"no_credit"}, "Consulta suspensa: falta saldo na fonte"),
    ({"no_credit", "operator_refused"}, "Consulta suspensa: a fonte não aceitou o acesso"),
)
UNREADABLE: Final = "A fonte respondeu em um formato que o portal não reconhece."
TOO_LARGE: Final = (
    "A resposta da fonte é grande demais para o portal mostrar: mais de "
    f"{grouped(MOST_RECORDS)} registros, ou de {grouped(MOST_VALUES)} valores."
)
NO_REASON: Final = "A fonte de dados não respondeu."
_NO_CLEAN_RECORD: Final = "não significa “nada consta”"


@dataclass(frozen=True, slots=True)
class Unavailable:
    """A lookup without a readable answer. ``what`` is the lookup's Portuguese name."""

    what: str
    reason: str
    cause: Cause = ""

    @property
    def can_retry(self) -> bool:
        return self.cause not in _NOT_RETRYABLE

    @property
    def title(self) -> str:
        """The notice's title: ``Multas: indisponíveis — não significa “nada consta”``.

        In English: Fines: unavailable. This does not mean "nothing on record".
        """
        return f"{self.what.capitalize()}: {_state([self])} — {_NO_CLEAN_RECORD}"


@dataclass(frozen=True, slots=True)
class Gap:
    """One notice about all of a panel's lookups that have no readable answer.

    ``search_again`` is true if only a search for another plate or Renavam can help, and
    ``needs_operator`` if only who runs the portal can.
    """

    finding: str
    lines: tuple[str, ...]
    can_retry: bool
    search_again: bool
    needs_operator: bool = False

    @property
    def title(self) -> str:
        return f"{self.finding} — {_NO_CLEAN_RECORD}"


def gap_of(missing: Sequence[Unavailable], subject: Plate | Renavam, *, is_all: bool) -> Gap | None:
    """Build the notice about the lookups in ``missing``, or return None if there are none.

    ``is_all`` is true if no lookup about ``subject`` has a readable answer.
    """
    if not missing:
        return None
    groups = list(group_by_reason(missing))
    can_retry = any(one.can_retry for one in missing)
    has_unknown = any(one.cause in _UNKNOWN_SUBJECT for one in missing)
    return Gap(
        _finding_on_all(missing, subject) if is_all else _finding(missing, subject),
        tuple(f"{labels}: {reason}" if len(groups) > 1 else reason for labels, reason in groups),
        can_retry=can_retry,
        search_again=has_unknown and not can_retry,
        needs_operator={one.cause for one in missing} <= {"no_credit", "operator_refused"},
    )


def _finding(missing: Sequence[Unavailable], subject: Plate | Renavam) -> str:
    lookup_labels = capitalised_list([one.what for one in missing])
    if all(one.cause in _UNKNOWN_SUBJECT for one in missing):
        return f"{lookup_labels}: a fonte {_verb(missing)} {subject_phrase(subject)}"
    return f"{lookup_labels}: {_state(missing)}"


def _state(missing: Sequence[Unavailable]) -> str:
    match {one.cause for one in missing}:
        case causes if causes == {"unconfirmed"}:
            return "não confirmado"
        case causes if causes == {"not_stored"}:
            return "sem resposta guardada"
        case _:
            return "indisponíveis"


def _finding_on_all(missing: Sequence[Unavailable], subject: Plate | Renavam) -> str:
    causes = {one.cause for one in missing}
    if causes <= {*_UNKNOWN_SUBJECT}:
        return f"A fonte {_verb(missing)} {subject_phrase(subject)}"
    if causes <= {"unconfirmed"}:
        return f"A fonte de dados respondeu: {_state(missing)}"
    sentences = (finding for of_all, finding in _FINDINGS if causes <= of_all)
    return next(sentences, "A fonte de dados não respondeu")


def _verb(missing: Sequence[Unavailable]) -> str:
    return "não conhece" if any(one.cause == "not_found" for one in missing) else "não aceitou"


def kept_titles(kept: Sequence[tuple[str, datetime]]) -> tuple[str, ...]:
    """Return a title for each group of stale answers fetched within one minute."""
    groups: list[tuple[datetime, list[str]]] = []
    for what, moment in sorted(kept, key=lambda one: one[1]):
        if groups and moment - groups[-1][0] < _SAME_MOMENT:
            groups[-1][1].append(what)
        else:
            groups.append((moment, [what]))
    order = [what for what, _ in kept]
    return tuple(
        f"{capitalised_list(sorted(lookup_labels, key=order.index))}: "
        f"{'respostas guardadas' if len(lookup_labels) > 1 else 'resposta guardada'} de "
        f"{formats.moment(moment)}"
        for moment, lookup_labels in groups
    )


def capitalised_list(lookup_labels: Sequence[str]) -> str:
    """Join labels and capitalise the first letter: ``Multas e restrições judiciais``."""
    text = listed(lookup_labels)
    return text[:1].upper() + text[1:]


def group_by_reason(missing: Sequence[Unavailable]) -> Iterator[tuple[str, str]]:
    """Yield pairs: the names of the lookups that failed for a reason, and this reason."""
    by_reason: dict[str, list[str]] = {}
    for one in missing:
        by_reason.setdefault(one.reason, []).append(one.what)
    for reason, lookup_labels in by_reason.items():
        yield capitalised_list(lookup_labels), reason


def subject_phrase(subject: Plate | Renavam) -> str:
    """Return ``esta placa`` (this plate) or ``este Renavam`` (this Renavam)."""
    return "esta placa" if isinstance(subject, Plate) else "este Renavam"


def missing_of(
    panels: Panels, subject: Plate | Renavam, lookups: Sequence[LookupName] = LOOKUPS
) -> tuple[Unavailable, ...]:
    """Return the lookups that were made but have no readable answer, or one that is in doubt."""
    return tuple(
        Unavailable(LOOKUP_WORDS[lookup], _why(panel, subject), panel.cause)
        for lookup in lookups
        if (panel := panels.of(lookup)).state != "unasked"
        and (panel.cause == "unconfirmed" or not is_readable(panel.result, lookup))
    )


def has_readable(panels: Panels, lookups: Sequence[LookupName] = LOOKUPS) -> bool:
    """Return whether a lookup has a readable answer, be it in doubt or not."""
    return any(is_readable(panels.of(lookup).result, lookup) for lookup in lookups)


def _why(panel: Panel, subject: Plate | Renavam) -> str:
    if panel.has_answer and panel.cause != "unconfirmed":
        return TOO_LARGE if panel.result is OVERSIZED else UNREADABLE
    reason = panel.reason or NO_REASON
    if panel.cause not in _UNKNOWN_SUBJECT:
        return reason
    signs = "as letras e os números" if isinstance(subject, Plate) else "os algarismos"
    return f"{reason} Confira {signs} no documento."


def not_refreshed(panels: Panels, subject: Plate | Renavam) -> str:
    """Name the lookups without a new answer after a refresh, or return "".

    The text gives the reason for each lookup without a readable answer. For a lookup with a stored
    answer it gives no reason, because a panel with an answer contains no reason.
    """
    sentences = [
        f"{lookup_labels}: {reason}"
        for lookup_labels, reason in group_by_reason(missing_of(panels, subject))
    ]
    made = (one for one in LOOKUPS if panels.of(one).state != "unasked")
    stored = [LOOKUP_WORDS[one] for one in made if panels.of(one).from_cache]
    if stored:
        sentences.append(f"{capitalised_list(stored)}: não veio resposta nova.")
    if sentences:
        sentences.append("O que estiver guardado vale ainda, com a sua data.")
    return " ".join(sentences)
