"""The fines panel: totals, a bar of the payment states, and the list of fines."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from functools import cached_property
from typing import Final

from portal import formats
from portal.charts.bars import Part, row_parts
from portal.dossier.details import (
    Detail,
    deadline_rules,
    expired_points,
    other_of_fine,
    untold_in_all,
)
from portal.dossier.dossier import Dossier
from portal.dossier.figures import Figure
from portal.dossier.fined_places import whom_to_ask
from portal.law.assessment import (
    AssessedFine,
    Totals,
    known_sum,
    one_per_notice,
    sum_of,
)
from portal.law.standing import Standing
from portal.phrasebook import sums
from portal.phrasebook.fines import discount_note, status_word
from portal.phrasebook.standings import WORDS
from portal.presentation.authority import short_authority
from portal.presentation.choice import Choice
from portal.presentation.paths import subject_path
from portal.presentation.query import Query
from portal.presentation.vehicle.due_axis import DueAxis
from portal.presentation.vehicle.fine_choice import (
    FINE_SITUATIONS,
    NO_STATE,
    OPEN,
    FineChoice,
    Order,
    fine_choice,
    matches,
)
from portal.vehicle.field import fold
from portal.vehicle.plate import STATES, Plate
from portal.wording import counted

# A list with fewer than FEWEST_TO_CHOOSE fines has no controls (search, filters, sort order and
# checkboxes). A list with more than MOST_ROOMY fines has smaller text.
FEWEST_TO_CHOOSE: Final = 5
MOST_ROOMY: Final = 10
# Narrower segments of the bar are widened to this percentage, so that a small sum stays visible.
_NARROWEST: Final = 1.5

_ORDER_WORDS: Final[dict[Order, str]] = {
    "data": "Mais recentes",
    "valor": "Maior valor",
    "gravidade": "Mais graves",
}
_BY_KEY: Final = {standing.key: standing for standing in Standing}
_RANKS: Final = {"gravissima": 4, "grave": 3, "media": 2, "leve": 1}
# Abbreviations of issuing bodies for the list of fines. An expanded line shows the full name.


@dataclass(frozen=True)
class FineLedger:
    """The content of the fines panel, in the order and with the filters of ``choice``.

    ``listed`` are the fines that the panel lists, of all ``fines``.
    """

    dossier: Dossier
    fines: tuple[AssessedFine, ...]
    listed: tuple[AssessedFine, ...]
    totals: Totals
    choice: FineChoice

    @property
    def heading(self) -> str:
        """The heading: ``30 multas e 1 autuação em aberto, 14 pagas``.

        In English: 30 fines and 1 notice of infraction unpaid, 14 fines paid.
        """
        is_open, paid = sums.open_words(self.totals), self.totals.paid_count
        ended = sums.called_off_words(self.totals)
        if not is_open and not ended:
            return counted(paid, "multa, paga", "multas, todas pagas") if paid else ""
        words = (
            f"{is_open} em aberto" if is_open else "nenhuma em aberto",
            counted(paid, "paga", "pagas") if paid else "",
            ended,
        )
        return ", ".join(filter(None, words))

    @property
    def tiles(self) -> tuple[Figure, ...]:
        owed, totals = sums.owed(self.totals), self.totals
        if totals.called_off_count:
            ended = (
                f"{sums.called_off_words(totals)}, à parte: {formats.brl(totals.called_off_amount)}"
            )
            owed = owed._replace(note="; ".join(filter(None, (owed.note, ended))))
        return (
            Figure(*owed),
            Figure(*sums.enforceable(totals)),
            Figure(*sums.points(totals)),
        )

    @cached_property
    def due_axis(self) -> DueAxis:
        return DueAxis(self.fines, self.dossier.today)

    @cached_property
    def _others(self) -> Mapping[int, tuple[Detail, ...]]:
        """The fields of each fine that its line does not show, by the fine's number."""
        return {fine.number: tuple(other_of_fine(fine)) for fine in self.listed}

    @cached_property
    def untold(self) -> tuple[Detail, ...]:
        """The fields that no fine tells, which the page names once."""
        return untold_in_all(self._others.values()) if self.listed else ()

    def others(self, fine: AssessedFine) -> tuple[Detail, ...]:
        """Return the fields that the fine's line does not show, without those named once."""
        return tuple(one for one in self._others[fine.number] if one not in self.untold)

    @property
    def calendar(self) -> str:
        """The path of the calendar file. Only a plate has one."""
        if not isinstance(self.dossier.subject, Plate):
            return ""
        return f"{subject_path(self.dossier.subject)}/prazos.ics"

    @property
    def has_controls(self) -> bool:
        return len(self.fines) >= FEWEST_TO_CHOOSE

    @property
    def is_dense(self) -> bool:
        return len(self.listed) > MOST_ROOMY

    @property
    def action(self) -> str:
        return f"{subject_path(self.dossier.subject)}#multas"

    @property
    def orders(self) -> Iterator[Choice]:
        for key, words in _ORDER_WORDS.items():
            yield Choice(words, "", key == self.choice.order, key)

    @property
    def situations(self) -> Iterator[Choice]:
        counts = Counter(fine.standing.key for fine in self.listed)
        counts[OPEN] = sum(fine.is_open for fine in self.listed)
        chosen = self.choice.situation
        yield Choice("Todas", "", not chosen, "", len(self.listed))
        for key in FINE_SITUATIONS:
            if counts[key] or key == chosen:
                words = "em aberto" if key == OPEN else WORDS[_BY_KEY[key]].of_many
                yield Choice(words[0].upper() + words[1:], "", key == chosen, key, counts[key])

    @property
    def states(self) -> Iterator[Choice]:
        """Yield the filter by state, or nothing if all fines are of one state."""
        counts = Counter(map(_state, self.listed))
        chosen = self.choice.state
        if chosen:
            counts.setdefault(chosen, 0)
        if len(counts) < 2:
            return
        yield Choice("Estado: todos", "", not chosen)
        for key in sorted(counts, key=lambda key: (key == NO_STATE, key)):
            label = "Não informado" if key == NO_STATE else key
            yield Choice(label, "", key == chosen, key, counts[key])

    @cached_property
    def groups(self) -> tuple[tuple[str, tuple[AssessedFine, ...]], ...]:
        """The fines in their order, each group with its heading.

        A list with controls that is sorted by date has a group for each year. Any other list is one
        group without a heading.
        """
        newest = sorted(self.listed, key=_moment, reverse=True)  # undated fines come last
        if not self.has_controls or self.choice.order != "data":
            return (("", tuple(sorted(newest, key=self._weight, reverse=True))),)
        years: dict[str, list[AssessedFine]] = {}
        for fine in newest:
            on = fine.record.committed_on
            years.setdefault("Sem data" if on is None else str(on.year), []).append(fine)
        return tuple((year, tuple(fines)) for year, fines in years.items())

    def _weight(self, fine: AssessedFine) -> Decimal | int:
        """Return the number to sort by. Fines with equal numbers keep their order by date."""
        if self.choice.order == "valor":
            return -1 if fine.amount.value is None else fine.amount.value
        if self.choice.order != "gravidade" or fine.infraction is None:
            return 0
        factor = min(int((fine.infraction.multiplier or 0) * 10), 999)
        return _RANKS.get(fine.infraction.gravity, 0) * 1000 + factor

    @cached_property
    def shown(self) -> frozenset[int]:
        """The numbers of the fines that no filter hides."""
        return frozenset(fine.number for fine in self.listed if self._is_shown(fine))

    def _is_shown(self, fine: AssessedFine) -> bool:
        situation, choice = fine.standing.key, self.choice
        if choice.situation == OPEN and not fine.is_open:
            return False
        if choice.situation not in ("", OPEN, situation):
            return False
        if choice.state not in ("", _state(fine)):
            return False
        return not choice.text or matches(choice.text, fold(_search_text(fine)))

    @cached_property
    def picked(self) -> tuple[AssessedFine, ...]:
        """The open fines that the visitor has selected."""
        return tuple(one for one in self.listed if one.number in self.choice.picked and one.is_open)

    @property
    def negotiation(self) -> str:
        """The path of the negotiation page. Only a plate has such a page."""
        if not isinstance(self.dossier.subject, Plate):
            return ""
        numbers = ",".join(str(fine.number) for fine in self.picked)
        chosen = f"?multas={numbers}" if numbers else ""
        return f"{subject_path(self.dossier.subject)}/negociacao{chosen}"

    @property
    def whom_to_ask(self) -> str:
        return whom_to_ask(self.fines)

    @property
    def rules(self) -> Iterator[tuple[str, str]]:
        """Yield the legal rules for several fines, each with a label such as "Desconto"."""
        owed = [fine for fine in self.fines if fine.is_open]
        if deadlines := deadline_rules(owed):
            yield "Prazos", deadlines
        for has_discount, label in ((True, "Desconto"), (False, "Sem desconto")):
            rules = (discount_note(fine) for fine in owed if fine.has_discount is has_discount)
            for rule in dict.fromkeys(rules):
                yield label, rule
        for note in dict.fromkeys(filter(None, map(expired_points, self.fines))):
            yield "Pontos", note
        yield "Pontos", "Contam com a multa paga ou não, na CNH de quem dirigia ou do proprietário."


def fine_ledger(dossier: Dossier, query: Query) -> FineLedger | None:
    """Build the content of the fines panel, or return None without a readable answer.

    A list with fewer than FEWEST_TO_CHOOSE fines has no controls. It ignores the sort order, the
    filters and the selection in ``query``, because the visitor could not undo them.
    """
    if dossier.fines is None or dossier.totals is None:
        return None
    choice = fine_choice(query)
    if len(dossier.fines) < FEWEST_TO_CHOOSE:
        choice = FineChoice(others=choice.others)
    return FineLedger(dossier, dossier.fines, dossier.listed_fines, dossier.totals, choice)


def open_sum(fines: Sequence[AssessedFine]) -> tuple[Decimal | None, int]:
    """Return the known sum of the open fines, and the number of fines that it leaves out.

    The sum is None if fines are open and the amount of none is known.
    """
    amounts = [fine.amount.value for fine in one_per_notice(fines) if fine.is_open]
    return known_sum(amounts), amounts.count(None)


def standing_bar(fines: Sequence[AssessedFine]) -> Iterator[tuple[Part, Standing, Figure]]:
    """Yield the segment of each payment state.

    The segments are sized by amount, or by the number of fines if no amount is known.
    """
    groups = {
        standing: of_standing
        for standing in Standing
        if (of_standing := [fine for fine in one_per_notice(fines) if fine.standing is standing])
    }
    amounts = [sum_of(fine.amount.value for fine in group) for group in groups.values()]
    sizes = [float(amount) for amount in amounts]
    if not any(sizes):
        sizes = [float(len(group)) for group in groups.values()]
    widths = [max(100 * size / sum(sizes), _NARROWEST) for size in sizes]
    parts = row_parts(widths, sum(widths))
    for part, amount, (standing, group) in zip(parts, amounts, groups.items(), strict=True):
        words = f"em {_segment_words(standing, group)}"
        yield part, standing, Figure(words, sums.amount_words(amount, len(group)))


def short_word(fine: AssessedFine) -> str:
    """Return the words on the payment state for a narrow column."""
    return WORDS[Standing.DUE].of_one if fine.standing is Standing.DUE else status_word(fine.status)


def _state(fine: AssessedFine) -> str:
    state = fine.record.authority_state.value.strip().upper()
    return state if state in STATES else NO_STATE


def _moment(fine: AssessedFine) -> tuple[date, time]:
    return fine.record.committed_on or date.min, fine.record.committed_at or time.min


def _search_text(fine: AssessedFine) -> str:
    record = fine.record
    parts = (
        fine.description or record.description.value,
        record.authority.value,
        short_authority(fine.issuer).value,
        record.authority_state.value,
        record.place.value,
        record.notice.value,
        fine.infraction.printed if fine.infraction else str(record.code),
        short_word(fine),
        formats.short_date(record.committed_on) if record.committed_on else "",
        formats.brl(fine.amount.value) if fine.amount.value is not None else "",
    )
    return " ".join(part for part in parts if part)


def _segment_words(standing: Standing, fines: list[AssessedFine]) -> str:
    """Describe a segment: ``28 multas exigíveis``, ``1 autuação, ainda não é multa``.

    In English: 28 enforceable fines; 1 notice of infraction, not yet a fine.
    """
    is_one, words = len(fines) == 1, WORDS[standing]
    if standing is Standing.NOTICE:
        return f"{sums.fines_in_words(fines)}, ainda não {'é multa' if is_one else 'são multas'}"
    return f"{sums.fines_in_words(fines)} {words.of_one if is_one else words.of_many}"
