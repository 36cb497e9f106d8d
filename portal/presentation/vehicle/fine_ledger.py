"""The fines panel: totals, a bar of the payment states, and the list of fines."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from portal import formats
from portal.dossier.details import deadline_rules, discount_sentence, multiplier_of, sum_of
from portal.dossier.dossier import Dossier
from portal.law import AssessedFine, Standing, Totals, fines_in_words
from portal.presentation.paths import subject_path
from portal.presentation.vehicle.fine_choice import (
    FINE_SITUATIONS,
    NO_STATE,
    OPEN,
    ORDERS,
    FineChoice,
    Order,
    matches,
)
from portal.vehicle import STATES, Field, Fine, Plate, fold
from portal.vehicle.source_text import named
from portal.wording import counted

# A list with fewer than FEWEST_TO_CHOOSE fines has no controls (search, filters, sort order and
# checkboxes). A list with more than MOST_ROOMY fines has smaller text.
FEWEST_TO_CHOOSE: Final = 5
MOST_ROOMY: Final = 10
# Narrower segments of the bar are widened to this percentage, so that a small sum stays visible.
# All widths are then scaled to a total of 100.
_NARROWEST: Final = 1.5

_ORDER_WORDS: Final[dict[Order, str]] = {
    "data": "Ordem: mais recentes",
    "valor": "Ordem: maior valor",
    "gravidade": "Ordem: mais graves",
}
_BY_KEY: Final = {standing.key: standing for standing in Standing}
_RANKS: Final = {"gravissima": 4, "grave": 3, "media": 2, "leve": 1}
_UNDATED: Final = "Sem data"
# Abbreviations of issuing bodies for the list of fines. An expanded line shows the full name.
_ABBREVIATIONS: Final = (
    (re.compile(r"^prefeitura (municipal )?d[aeo]s? ", re.IGNORECASE), "Pref. "),
    (re.compile(r"^pol[ií]cia rodovi[aá]ria federal$", re.IGNORECASE), "PRF"),
    (re.compile(r"^departamento (estadual )?de tr[aâ]nsito\b", re.IGNORECASE), "Detran"),
)


@dataclass(frozen=True, slots=True)
class Tile:
    label: str
    value: str
    note: str


@dataclass(frozen=True, slots=True)
class Segment:
    """The part of the bar for one payment state.

    ``start`` and ``width`` are in per cent.
    """

    standing: Standing
    amount: str
    words: str
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Option:
    key: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """One fine in the list.

    The list is sorted by ``moment``, ``cents`` or ``rank``. The visitor's search looks in ``text``.
    ``is_shown`` is False if a filter or the search hides the fine. ``is_picked`` is true if the
    visitor has selected the fine and the fine is unpaid.
    """

    fine: AssessedFine
    state: str
    word: str
    authority: Field
    multiplier: str
    moment: str
    cents: int | None
    rank: int
    text: str
    is_shown: bool
    is_picked: bool


@dataclass(frozen=True, slots=True)
class LedgerYear:
    """The fines of a year.

    ``all_words`` states the number of fines. ``all_amount`` states the sum of the unpaid fines.
    If a filter hides some of the fines, ``words`` and ``amount`` also state the number and the sum
    of the fines that are shown.
    """

    key: str
    label: str
    words: str
    amount: str
    all_words: str
    all_amount: str
    is_shown: bool
    lines: tuple[LedgerLine, ...]


@dataclass(frozen=True, slots=True)
class FineLedger:
    """The content of the fines panel.

    If the list has controls, such as filters, and is sorted by date, the fines are in ``years``.
    Otherwise the fines are in ``lines``. Each of ``rules`` is a pair of a label, such as "Desconto"
    ("discount"), and a legal rule for several fines. ``negotiation`` is the path of the negotiation
    page, or "" for a Renavam (registration number), because only a plate has such a page.
    """

    count: int
    heading: str
    tiles: tuple[Tile, ...]
    discount: str
    identical_note: str
    bar: tuple[Segment, ...]
    has_controls: bool
    is_dense: bool
    choice: FineChoice
    action: str
    orders: tuple[Option, ...]
    situations: tuple[Option, ...]
    states: tuple[Option, ...]
    years: tuple[LedgerYear, ...]
    lines: tuple[LedgerLine, ...]
    omitted: int
    shown_words: str
    all_words: str
    picked_count: int
    picked_words: str
    negotiation: str
    gravities: tuple[str, ...]
    rules: tuple[tuple[str, str], ...]


def fine_ledger(dossier: Dossier, choice: FineChoice) -> FineLedger | None:
    """Build the content of the fines panel, or return None without a readable answer.

    A list with fewer than FEWEST_TO_CHOOSE fines has no controls. It ignores the sort order, the
    filters and the selection in ``choice``, because the visitor could not undo them.
    """
    fines, sums = dossier.fines, dossier.totals
    if fines is None or sums is None:
        return None
    path, can_negotiate = subject_path(dossier.subject), isinstance(dossier.subject, Plate)
    has_controls = len(fines) >= FEWEST_TO_CHOOSE
    if not has_controls:
        choice = FineChoice(others=choice.others)
    lines = [_line(fine, choice) for fine in dossier.listed_fines]
    lines.sort(key=lambda line: line.moment, reverse=True)  # undated fines come last
    by_year = has_controls and choice.order == "data"
    picked = [line for line in lines if line.is_picked]
    return FineLedger(
        count=len(fines),
        heading=_heading(fines),
        tiles=_tiles(fines, sums),
        discount=discount_sentence(fines),
        identical_note=sums.identical_note,
        bar=_bar(fines),
        has_controls=has_controls,
        is_dense=len(lines) > MOST_ROOMY,
        choice=choice,
        action=f"{path}#multas",
        orders=tuple(Option(key, _ORDER_WORDS[key], key == choice.order) for key in ORDERS),
        situations=tuple(_situations(lines, choice)),
        states=tuple(_states(lines, choice)),
        years=tuple(_years(lines, with_lines=by_year)) if has_controls else (),
        lines=()
        if by_year
        else tuple(sorted(lines, key=lambda line: _weight(line, choice.order), reverse=True)),
        omitted=len(fines) - len(dossier.listed_fines),
        shown_words=_shown_words(lines),
        all_words=_all_words(lines),
        picked_count=len(picked),
        picked_words=_picked_words(picked),
        negotiation=_negotiation(path, picked) if can_negotiate else "",
        gravities=sums.gravities,
        rules=tuple(_rules(fines)),
    )


def _weight(line: LedgerLine, order: Order) -> int:
    """Return the number to sort by. Lines with equal numbers keep their order by date."""
    if order == "valor":
        return -1 if line.cents is None else line.cents
    return line.rank if order == "gravidade" else 0


def _line(fine: AssessedFine, choice: FineChoice) -> LedgerLine:
    state, standing = _state(fine.record), fine.standing
    authority = short_authority(named(fine.record.authority))
    word = standing.of_one if fine.status.word == Standing.DUE.word else fine.status.word
    text = _search_text(fine, authority, word)
    return LedgerLine(
        fine=fine,
        state=state,
        word=word,
        authority=authority,
        multiplier=multiplier_of(fine.infraction),
        moment=_moment(fine.record),
        cents=_cents(fine.amount.value),
        rank=_rank(fine),
        text=text,
        is_shown=_is_shown(choice, standing.key, state, text),
        is_picked=fine.number in choice.picked and fine.is_open,
    )


def _state(fine: Fine) -> str:
    state = fine.authority_state.value.strip().upper()
    return state if state in STATES else NO_STATE


def _moment(fine: Fine) -> str:
    if fine.committed_on is None:
        return ""
    clock = "00:00" if fine.committed_at is None else f"{fine.committed_at:%H:%M}"
    return f"{fine.committed_on.isoformat()}T{clock}"


def _cents(amount: Decimal | None) -> int | None:
    return None if amount is None or not amount.is_finite() else int(amount * 100)


def _rank(law: AssessedFine) -> int:
    """Return a sort key: first the infraction's gravity, then the fine's multiplier."""
    if law.infraction is None:
        return 0
    factor = law.infraction.multiplier
    return _RANKS.get(law.infraction.gravity or "", 0) * 1000 + min(int((factor or 0) * 10), 999)


def _search_text(law: AssessedFine, authority: Field, word: str) -> str:
    fine = law.record
    parts = (
        law.description or fine.description.value,
        fine.authority.value,
        authority.value,
        fine.authority_state.value,
        fine.place.value,
        fine.notice.value,
        law.infraction.printed if law.infraction else str(fine.code),
        word,
        formats.short_date(fine.committed_on) if fine.committed_on else "",
        formats.brl(law.amount.value) if law.amount.value is not None else "",
    )
    return " ".join(part for part in parts if part)


def _is_shown(choice: FineChoice, situation: str, state: str, text: str) -> bool:
    if choice.situation == "aberto" and situation == "paga":
        return False
    if choice.situation not in ("", "aberto", situation):
        return False
    if choice.state not in ("", state):
        return False
    return not choice.text or matches(choice.text, fold(text))


def short_authority(authority: Field) -> Field:
    """Abbreviate an issuing body's name, for example to ``PRF`` (the federal highway police)."""
    if not authority:
        return authority
    text = authority.value
    for pattern, short in _ABBREVIATIONS:
        text = pattern.sub(short, text)
    state = text.removeprefix("Detran ")
    return Field("Detran" if text != state and len(state) == 2 else text, "known")


def _heading(laws: Sequence[AssessedFine]) -> str:
    """Return the heading: ``30 multas e 1 autuação em aberto, 14 pagas``.

    In English: 30 fines and 1 notice of infraction unpaid, 14 fines paid.
    """
    is_open = fines_in_words(law for law in laws if law.is_open)
    paid = sum(law.is_paid for law in laws)
    if not is_open:
        return counted(paid, "multa, paga", "multas, todas pagas") if paid else ""
    rest = f", {counted(paid, 'paga', 'pagas')}" if paid else ""
    return f"{is_open} em aberto{rest}"


def _tiles(laws: Sequence[AssessedFine], sums: Totals) -> tuple[Tile, ...]:
    open_words = fines_in_words(law for law in laws if law.is_open) or "todas pagas"
    if sums.without_amount:
        open_words += f"; {formats.integer(sums.without_amount)} sem valor informado, fora da soma"
    due = counted(sums.enforceable_count, "multa", "multas") if sums.enforceable_count else ""
    if sums.unclear_count:
        more = "e talvez mais " if due else ""
        due = f"{due} {more}{counted(sums.unclear_count, 'multa', 'multas')} de situação incerta"
    enforceable = _sum_words(sums.enforceable_amount, sums.enforceable_count)
    if sums.unclear_count and not sums.enforceable_count:
        enforceable = "não é possível dizer"
    points = "de quem dirigia"
    if sums.points_to_come:
        points += f"; mais {formats.integer(sums.points_to_come)}, se as autuações virarem multa"
    if sums.points_unknown:
        unknown = counted(sums.points_unknown, "multa", "multas")
        points += f"; mais os de {unknown} que não se pode dizer"
    return (
        Tile("Em aberto, valor cheio", _sum_words(sums.amount, sums.open_count), open_words),
        Tile("Em regra já exigíveis", enforceable, due.strip()),
        Tile("Pontos que contam", formats.integer(sums.points), points),
    )


def _sum_words(amount: Decimal, count: int) -> str:
    if not count:
        return "nenhuma"
    return formats.brl(amount) if amount else formats.MISSING


def _bar(laws: Sequence[AssessedFine]) -> tuple[Segment, ...]:
    """Return a segment for each payment state.

    The segments are sized by amount, or by the number of fines if no amount is known.
    """
    groups: dict[Standing, list[AssessedFine]] = {}
    for law in laws:
        groups.setdefault(law.standing, []).append(law)
    sums = {key: sum_of(law.amount.value for law in group) for key, group in groups.items()}
    by_amount = any(sums.values())
    sizes = {
        key: max(float(sums[key] if by_amount else len(group)), 0.0)
        for key, group in groups.items()
    }
    whole = sum(sizes.values()) or 1.0
    shares = {key: max(100 * size / whole, _NARROWEST) for key, size in sizes.items()}
    total = sum(shares.values()) or 1.0
    segments: list[Segment] = []
    start = 0.0
    for standing in Standing:
        if standing not in groups:
            continue
        width = 100 * shares[standing] / total
        segments.append(
            Segment(
                standing=standing,
                amount=_sum_words(sums[standing], len(groups[standing])),
                words=f"em {_segment_words(standing, groups[standing])}",
                start=round(start, 2),
                width=round(width, 2),
            )
        )
        start += width
    return tuple(segments)


def _segment_words(standing: Standing, laws: Sequence[AssessedFine]) -> str:
    """Describe a segment: ``28 multas exigíveis``, ``1 autuação, ainda não é multa``.

    In English: 28 enforceable fines; 1 notice of infraction, not yet a fine.
    """
    is_one = len(laws) == 1
    if standing is Standing.NOTICE:
        return f"{fines_in_words(laws)}, ainda não {'é multa' if is_one else 'são multas'}"
    return f"{fines_in_words(laws)} {standing.of_one if is_one else standing.of_many}"


def _situations(lines: Sequence[LedgerLine], choice: FineChoice) -> Iterator[Option]:
    counts = Counter(line.fine.standing.key for line in lines)
    counts[OPEN] = len(lines) - counts[Standing.PAID.key]
    yield Option("", f"Situação: todas ({len(lines)})", not choice.situation)
    for key in FINE_SITUATIONS:
        if counts[key] or key == choice.situation:
            words = "em aberto" if key == OPEN else _BY_KEY[key].of_many
            label = f"{words[0].upper()}{words[1:]} ({counts[key]})"
            yield Option(key, label, key == choice.situation)


def _states(lines: Sequence[LedgerLine], choice: FineChoice) -> Iterator[Option]:
    counts = Counter(line.state for line in lines)
    if choice.state:
        counts.setdefault(choice.state, 0)
    if len(counts) < 2:
        return
    yield Option("", "Estado: todos", not choice.state)
    for state in sorted(counts, key=lambda key: (key == NO_STATE, key)):
        label = "Não informado" if state == NO_STATE else state
        yield Option(state, f"{label} ({counts[state]})", state == choice.state)


def _years(lines: Sequence[LedgerLine], *, with_lines: bool) -> Iterator[LedgerYear]:
    groups: dict[str, list[LedgerLine]] = {}
    for line in lines:
        groups.setdefault(line.moment[:4], []).append(line)
    for key, group in groups.items():
        shown = [line for line in group if line.is_shown]
        all_words = _year_words(group)
        is_open = any(line.fine.is_open for line in group)
        all_amount = f"{_open_sum(group)} em aberto" if is_open else ""
        is_part = len(shown) < len(group)
        yield LedgerYear(
            key=key,
            label=key or _UNDATED,
            words=f"{len(shown)} de {len(group)} registros" if is_part else all_words,
            amount=f"{_open_sum(shown)} de {all_amount}" if is_part and is_open else all_amount,
            all_words=all_words,
            all_amount=all_amount,
            is_shown=with_lines and bool(shown),
            lines=tuple(group) if with_lines else (),
        )


def _year_words(group: Sequence[LedgerLine]) -> str:
    """Describe the fines of a year.

    Returns, for example, ``5 multas, 3 em aberto`` (5 fines, 3 unpaid), ``5 multas`` if all are
    unpaid, or ``5 multas, pagas`` if all are paid.
    """
    laws = [line.fine for line in group]
    paid = sum(law.is_paid for law in laws)
    rest = ""
    if paid == len(laws):
        rest = ", paga" if paid == 1 else ", pagas"
    elif paid:
        rest = f", {len(laws) - paid} em aberto"
    return f"{fines_in_words(laws)}{rest}"


def _open_sum(lines: Sequence[LedgerLine]) -> str:
    """Return the sum of the open fines, such as ``ao menos R$ 130,16`` if an amount is unknown."""
    owed = [line.cents for line in lines if line.fine.is_open]
    known = [cents for cents in owed if cents is not None]
    if owed and not known:
        return "valor não informado"
    at_least = "ao menos " if len(known) < len(owed) else ""
    return f"{at_least}{formats.brl(Decimal(sum(known)) / 100)}"


def _shown_words(lines: Sequence[LedgerLine]) -> str:
    """Return ``12 de 45 registros; R$ 3.120,00 de R$ 10.622,57 em aberto``.

    In English: 12 of 45 records; R$ 3.120,00 of R$ 10.622,57 unpaid.
    """
    shown = [line for line in lines if line.is_shown]
    if len(shown) == len(lines):
        return _all_words(lines)
    part, whole = _open_sum(shown), _open_sum(lines)
    return f"{len(shown)} de {len(lines)} registros; {part} de {whole} em aberto"


def _all_words(lines: Sequence[LedgerLine]) -> str:
    return f"{len(lines)} registros; {_open_sum(lines)} em aberto"


def _picked_words(lines: Sequence[LedgerLine]) -> str:
    """Return ``3 multas: R$ 585,69`` for the selected fines."""
    if not lines:
        return ""
    without = sum(line.cents is None for line in lines)
    missing = f", e {without} sem valor informado" if 0 < without < len(lines) else ""
    total = _open_sum(lines).removeprefix("ao menos ")
    return f"{fines_in_words(line.fine for line in lines)}: {total}{missing}"


def _negotiation(path: str, picked: Sequence[LedgerLine]) -> str:
    numbers = sorted(line.fine.number for line in picked)
    chosen = f"?multas={','.join(map(str, numbers))}" if numbers else ""
    return f"{path}/negociacao{chosen}"


def _rules(laws: Sequence[AssessedFine]) -> Iterator[tuple[str, str]]:
    owed = [law for law in laws if law.is_open]
    if deadlines := deadline_rules(owed):
        yield "Prazos", deadlines
    for has_discount, label in ((True, "Desconto"), (False, "Sem desconto")):
        notes = dict.fromkeys(law.discount_note for law in owed if law.has_discount is has_discount)
        for note in notes:
            yield label, note
    for note in dict.fromkeys(law.points.shared_note for law in laws if law.points.dateless_note):
        yield "Pontos", note
    yield "Pontos", "Contam com a multa paga ou não, na CNH de quem dirigia ou do proprietário."
