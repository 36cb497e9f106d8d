"""One line about a vehicle in a list: name, verdict, price and age.

To save time, this module does not read price histories. It stops assessing fines after the first
enforceable one, because no other fine changes the verdict.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from portal.gateway import DECODE, lookups_of
from portal.law import (
    Cause,
    FineAssessment,
    Level,
    Missing,
    Verdict,
    assess,
    identification_reasons,
    judge,
)
from portal.presentation import formats
from portal.presentation.panels import Panel, Panels, is_readable
from portal.presentation.paths import subject_path
from portal.presentation.render_context import RenderContext
from portal.presentation.status_style import LEVEL_LOOKS, StatusStyle
from portal.presentation.vehicle.contents import (
    check_digit_holds,
    stale_moments,
    unconfirmed_parts,
)
from portal.presentation.vehicle.prices import prices_of
from portal.vehicle import (
    Decoded,
    Plate,
    Renavam,
    identity_of,
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
TOO_MANY: Final = "Registros demais para a lista"
# A line reads at most this many fines and restrictions, because a list has many lines.
MOST_READ: Final = 300
_CAUTION_WORDS: Final[Mapping[Cause, str]] = {
    "identification": "Identificação do veículo em dúvida",
    "order_in_doubt": UNCERTAIN_ORDER,
    "enforceable": AFTER_PAYING,
    "open_fine": OPEN_FINE,
    "notice": OPEN_FINE,
    "stale": NOTHING_FOUND_BEFORE,
}
_MISSING_WORDS: Final[Mapping[Missing, str]] = {
    "decode": "o veículo",
    "fines": "as multas",
    "restrictions": "a Justiça",
}


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
        price=_price(decoded, context) if decoded else "",
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
    unconfirmed = unconfirmed_parts(panels)
    unknown = LEVEL_LOOKS["incomplete"]
    if not any(panel.has_answer for panel in wanted) and not unconfirmed:
        asked = any(panel.state != "unasked" for panel in wanted)
        return unknown, NO_ANSWER if asked else NOTHING_STORED
    restrictions = None
    if is_readable(panels.renajud.result, "renajud"):
        restrictions = read_restrictions(_first(panels.renajud), context.marker)
    records = None
    if is_readable(panels.renainf.result, "renainf"):
        records = read_fines(_first(panels.renainf), context.marker)
    stale = stale_moments(panels, lookups_of(subject))
    identification = identification_reasons(
        records or (), restrictions or (), identity_of(decoded) if decoded else None
    )

    def judged(fines: tuple[FineAssessment, ...] | None) -> Verdict:
        return judge(
            decoded is not None or not DECODE.takes(subject),
            fines,
            restrictions,
            today=context.today,
            is_described=decoded is None or _describes(decoded),
            check_digit_holds=check_digit_holds(subject),
            identification=identification,
            stale=stale,
            unconfirmed=unconfirmed,
        )

    verdict = judged(None)
    if verdict.level == "blocked":
        return _words(verdict, unconfirmed)
    if _has_more(panels.renajud):
        return unknown, TOO_MANY
    if records is None:
        return _words(verdict, unconfirmed)
    fines: list[FineAssessment] = []
    for record in records:
        fines.append(assess(record, context.today))
        if fines[-1].standing == "enforceable":
            break
    else:
        if _has_more(panels.renainf):
            return unknown, TOO_MANY
    return _words(judged(tuple(fines)), unconfirmed)


def _first(panel: Panel) -> list[object]:
    return panel.result[:MOST_READ] if isinstance(panel.result, list) else []


def _has_more(panel: Panel) -> bool:
    return isinstance(panel.result, list) and len(panel.result) > MOST_READ


def _words(verdict: Verdict, unconfirmed: Collection[Missing] = ()) -> tuple[StatusStyle, str]:
    words: Mapping[Level, str] = {
        "blocked": verdict.headline,
        "incomplete": _incomplete_words(verdict, unconfirmed),
        "clear": NOTHING_FOUND,
        "caution": _CAUTION_WORDS.get(verdict.cause, verdict.headline),
    }
    return LEVEL_LOOKS[verdict.level], words[verdict.level]


def _incomplete_words(verdict: Verdict, unconfirmed: Collection[Missing]) -> str:
    """Name the missing lookups, but not the unconfirmed ones.

    If no lookup is left, return the verdict's headline, which says what is in doubt.
    """
    parts = [one for one in verdict.missing if one not in unconfirmed]
    missing = listed([_MISSING_WORDS[one] for one in parts])
    return f"Falta consultar {missing}" if missing else verdict.headline


def _describes(decoded: Decoded) -> bool:
    named = any(entry.model or entry.version for entry in decoded.fipe)
    return named or bool(str(vehicle_name(decoded)))


def _price(decoded: Decoded, context: RenderContext) -> str:
    price = prices_of(decoded, context.today).price_summary
    return price.words if price else ""
