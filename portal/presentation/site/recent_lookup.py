"""One line about a vehicle in a list: name, verdict, price and age.

To save time, only the first fines and court orders are read. A vehicle with more of them has no
verdict in a list.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from portal import formats
from portal.dossier.answers import Panel, Panels
from portal.dossier.dossier import Dossier
from portal.dossier.status_style import LOOKS, StatusStyle
from portal.law.act_matrix import Missing
from portal.law.standing import Standing
from portal.law.verdict import Cause, Level, Verdict
from portal.presentation.paths import subject_path
from portal.presentation.render_context import RenderContext
from portal.vehicle.plate import Plate, Renavam
from portal.wording import listed

NOTHING_STORED: Final = "Sem resposta guardada"
NO_ANSWER: Final = "A fonte não respondeu"
NOTHING_FOUND: Final = "Nada encontrado em multas e Justiça"
NOTHING_FOUND_BEFORE: Final = "Nada encontrado, em resposta antiga"
AFTER_PAYING: Final = "Só após pagar as multas"
OPEN_FINE: Final = "Multa em aberto a confirmar"
CALLED_OFF: Final = "Multa cancelada, a confirmar"
UNCERTAIN_ORDER: Final = "Restrição judicial a confirmar"
TOO_MANY: Final = "Registros demais para a lista"
# A line reads at most this many fines and restrictions, because a list has many lines.
MOST_READ: Final = 300
_CAUTION_WORDS: Final[Mapping[Cause, str]] = {
    "identification": "Identificação do veículo em dúvida",
    "condition": "Situação do veículo a confirmar",
    "order_in_doubt": UNCERTAIN_ORDER,
    "enforceable": AFTER_PAYING,
    "open_fine": OPEN_FINE,
    "notice": OPEN_FINE,
    "called_off": CALLED_OFF,
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
    dossier = context.dossier(subject, _shortened(panels))
    look, words = _verdict(dossier, panels)
    price = dossier.prices.price_summary if dossier.prices else None
    return RecentLookup(
        subject=subject,
        path=subject_path(subject),
        name=str(dossier.name),
        look=look,
        verdict=words,
        price=price.words if price else "",
        note=note if looked_at is None else formats.age(context.now - looked_at),
        looked_at=looked_at,
    )


def _shortened(panels: Panels) -> Panels:
    """Return the answers with at most MOST_READ fines and court orders."""
    lists = (panels.renainf, panels.renajud)
    return Panels(
        panels.decode,
        *(
            replace(panel, result=panel.result[:MOST_READ])
            if isinstance(panel.result, list) and len(panel.result) > MOST_READ
            else panel
            for panel in lists
        ),
    )


def _verdict(dossier: Dossier, panels: Panels) -> tuple[StatusStyle, str]:
    """Return the look and the words of the verdict. ``panels`` are the whole answers."""
    wanted = [panels.of(name) for name in dossier.asked]
    if not any(panel.has_answer for panel in wanted) and not dossier.unconfirmed:
        asked = any(panel.state != "unasked" for panel in wanted)
        return LOOKS["incomplete"], NO_ANSWER if asked else NOTHING_STORED
    verdict = dossier.verdict
    # What is not read cannot lift an order that blocks, nor settle an enforceable fine.
    is_enforceable = any(fine.standing is Standing.ENFORCEABLE for fine in dossier.fines or ())
    is_blocked = verdict.level == "blocked"
    if not is_blocked and (
        _has_more(panels.renajud) or (_has_more(panels.renainf) and not is_enforceable)
    ):
        return LOOKS["incomplete"], TOO_MANY
    return _words(verdict, dossier.unconfirmed)


def _has_more(panel: Panel) -> bool:
    return isinstance(panel.result, list) and len(panel.result) > MOST_READ


def _words(verdict: Verdict, unconfirmed: Collection[Missing] = ()) -> tuple[StatusStyle, str]:
    words: Mapping[Level, str] = {
        "blocked": verdict.headline,
        "incomplete": _incomplete_words(verdict, unconfirmed),
        "clear": NOTHING_FOUND,
        "caution": _CAUTION_WORDS.get(verdict.cause, verdict.headline),
    }
    return LOOKS[verdict.level], words[verdict.level]


def _incomplete_words(verdict: Verdict, unconfirmed: Collection[Missing]) -> str:
    """Name the missing lookups, but not the unconfirmed ones.

    If no lookup is left, return the verdict's headline, which says what is in doubt.
    """
    parts = [one for one in verdict.missing if one not in unconfirmed]
    missing = listed([_MISSING_WORDS[one] for one in parts])
    return f"Falta consultar {missing}" if missing else verdict.headline
