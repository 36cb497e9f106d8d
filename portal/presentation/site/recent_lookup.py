"""One line about a vehicle in a list: name, verdict, price and age.

To save time, this module does not read price histories. It stops assessing fines as soon as one
fine decides the verdict.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from portal.gateway import DECODE, lookups_of
from portal.law import FineAssessment, Level, Missing, Verdict, assess, effect_of, judge
from portal.presentation import formats
from portal.presentation.panels import Panel, Panels, is_readable
from portal.presentation.paths import subject_path
from portal.presentation.render_context import RenderContext
from portal.presentation.status_style import LEVEL_LOOKS, StatusStyle
from portal.presentation.vehicle.contents import check_digit_holds, stale_moments
from portal.vehicle import (
    Decoded,
    Plate,
    Renavam,
    Restriction,
    rank,
    read_decode,
    read_fines,
    read_restrictions,
    vehicle_name,
)
from portal.wording import listed

NOTHING_STORED: Final = "Sem resposta guardada"
NO_ANSWER: Final = "A fonte não respondeu"
NOTHING_FOUND: Final = "Nada encontrado em multas e Justiça"
NOTHING_FOUND_BEFORE: Final = "Nada encontrado, em resposta antiga"
AFTER_PAYING: Final = "Só após pagar as multas"
OPEN_FINE: Final = "Multa em aberto a confirmar"
UNCERTAIN_ORDER: Final = "Restrição judicial a confirmar"
_MISSING_WORDS: Final[Mapping[Missing, str]] = {
    "decode": "o veículo",
    "fines": "as multas",
    "restrictions": "a Justiça",
}
_FINES_AT_A_TIME: Final = 4


@dataclass(frozen=True, slots=True)
class RecentLookup:
    """A vehicle in a list. ``name``, ``price`` and ``note`` are "" if unknown."""

    subject: Plate | Renavam
    path: str
    name: str
    look: StatusStyle
    verdict: str
    price: str
    note: str
    looked_at: datetime | None

    @property
    def is_plate(self) -> bool:
        return isinstance(self.subject, Plate)


def recent_lookup(
    subject: Plate | Renavam,
    panels: Panels,
    looked_at: datetime | None,
    context: RenderContext,
    *,
    note: str = "",
) -> RecentLookup:
    """Build the line of a vehicle from the answers that are available.

    The line shows the time since ``looked_at``, or ``note`` if ``looked_at`` is None.
    """
    decoded = _decoded(panels.decode, context)
    look, words = _verdict(subject, panels, decoded, context)
    return RecentLookup(
        subject=subject,
        path=subject_path(subject),
        name=str(vehicle_name(decoded)) if decoded else "",
        look=look,
        verdict=words,
        price=_price(decoded) if decoded else "",
        note=note if looked_at is None else formats.age(context.now - looked_at),
        looked_at=looked_at,
    )


def _decoded(panel: Panel, context: RenderContext) -> Decoded | None:
    """Read the vehicle's data, but not the price histories, because they are long."""
    result = panel.result
    if panel.body is None or not isinstance(result, dict):
        return None
    entries = result.get("informacoesFipe")
    if isinstance(entries, list):
        short = [
            {key: value for key, value in entry.items() if key != "historicoPreco"}
            if isinstance(entry, dict)
            else entry
            for entry in entries
        ]
        result = {**result, "informacoesFipe": short}
    return read_decode(result, context.marker)


def _verdict(
    subject: Plate | Renavam, panels: Panels, decoded: Decoded | None, context: RenderContext
) -> tuple[StatusStyle, str]:
    wanted = [panels.of(name) for name in lookups_of(subject)]
    unknown = LEVEL_LOOKS["incomplete"]
    if not any(panel.has_answer for panel in wanted):
        asked = any(panel.state != "unasked" for panel in wanted)
        return unknown, NO_ANSWER if asked else NOTHING_STORED
    restrictions = None
    if is_readable(panels.renajud.result, "renajud"):
        restrictions = read_restrictions(panels.renajud.result, context.marker)
    stale = stale_moments(panels, lookups_of(subject))

    def judged(fines: tuple[FineAssessment, ...] | None) -> Verdict:
        return judge(
            decoded is not None or not DECODE.takes(subject),
            fines,
            restrictions,
            is_described=decoded is None or _describes(decoded),
            check_digit_holds=check_digit_holds(subject),
            stale=stale,
        )

    verdict = judged(None)
    if verdict.level == "blocked" or not is_readable(panels.renainf.result, "renainf"):
        return _words(verdict, (), restrictions or ())
    fines: tuple[FineAssessment, ...] = ()
    for fine in _assessed(panels.renainf, context):
        fines = (*fines, fine)
        if fine.standing == "enforceable":
            break
    return _words(judged(fines), fines, restrictions or ())


def _assessed(panel: Panel, context: RenderContext) -> Iterator[FineAssessment]:
    assert isinstance(panel.result, list)
    for at in range(0, len(panel.result), _FINES_AT_A_TIME):
        for fine in read_fines(panel.result[at : at + _FINES_AT_A_TIME], context.marker):
            yield assess(fine, context.today)


def _words(
    verdict: Verdict, fines: tuple[FineAssessment, ...], restrictions: tuple[Restriction, ...]
) -> tuple[StatusStyle, str]:
    look = LEVEL_LOOKS[verdict.level]
    levels: Mapping[Level, str] = {
        "blocked": verdict.headline,
        "incomplete": _incomplete_words(verdict),
        "clear": NOTHING_FOUND,
    }
    if verdict.level != "caution":
        return look, levels[verdict.level]
    return look, caution_words(
        enforceable=any(fine.standing == "enforceable" for fine in fines),
        open_fines=any(fine.is_open for fine in fines),
        restrictions=any(effect_of(restriction).in_force for restriction in restrictions),
    )


def _incomplete_words(verdict: Verdict) -> str:
    """Name the missing lookups.

    If no lookup is missing, return the verdict's headline, which says what is in doubt.
    """
    missing = listed([_MISSING_WORDS[one] for one in verdict.missing])
    return f"Falta consultar {missing}" if missing else verdict.headline


def caution_words(*, enforceable: object, open_fines: object, restrictions: object) -> str:
    """Return the reason for the verdict "caution".

    The arguments are truthy if the vehicle has enforceable fines, open fines, or restrictions in
    force.
    """
    if enforceable:
        return AFTER_PAYING
    if open_fines:
        return OPEN_FINE
    return UNCERTAIN_ORDER if restrictions else NOTHING_FOUND_BEFORE


def _describes(decoded: Decoded) -> bool:
    named = any(entry.model or entry.version for entry in decoded.fipe)
    return named or bool(str(vehicle_name(decoded)))


def _price(decoded: Decoded) -> str:
    """Return the price of the version that matches the registration best.

    If several versions match equally well, return a range such as ``R$ 12.809 a R$ 14.802``.
    """
    ranked = rank(decoded.fipe, decoded)
    known: list[Decimal] = [
        one.entry.current
        for one in ranked
        if one.score == ranked[0].score and one.entry.current is not None
    ]
    return formats.price_range(known) if known else ""
