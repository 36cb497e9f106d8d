"""What a page or a paper shows of a field, and of a list of labelled fields.

A vehicle has a hundred labelled fields. Their rows are drawn here and not by a template, which
would escape each text by two calls of markupsafe.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Final

from markupsafe import Markup, escape

from portal import formats, wording
from portal.dossier.details import Detail
from portal.vehicle.field import Field, State

_WITHOUT_VALUE: Final[Mapping[State, Markup]] = {
    "hidden": Markup('<span class="badge">oculto pela fonte</span>'),
    "unread": Markup('<span class="empty">indisponível na fonte</span>'),
    "empty": Markup('<span class="empty">não informado</span>'),
}
_BETWEEN: Final = "\0"


def value(field: Field) -> str:
    """Return a field's text. The states without one look different from it and each other."""
    return field.value if field.state == "known" else _WITHOUT_VALUE[field.state]


def amount(value: Decimal | None) -> str:
    """Return an amount in R$, or the words in place of a field that is empty."""
    return _WITHOUT_VALUE["empty"] if value is None else formats.brl(value)


def definitions(details: Iterable[Detail], today: date | None = None) -> Markup:
    """Return the rows of a definition list.

    A deadline that has passed is muted. On screen, where ``today`` is known, it says since when.
    """
    rows = tuple(details)
    labels = _escaped([one.label for one in rows])
    texts = _escaped([one.field.value for one in rows])
    drawn = []
    for (_, field, passed_on), label, text in zip(rows, labels, texts, strict=True):
        shown = text if field.state == "known" else _WITHOUT_VALUE[field.state]
        style = ' class="past"' if passed_on else ""
        since = f", {wording.since(passed_on, today)}" if passed_on and today else ""
        drawn.append(f"<div><dt>{label}</dt><dd{style}>{shown}{since}</dd></div>")
    return Markup("\n".join(drawn))  # noqa: S704 all texts are escaped


def _escaped(texts: Sequence[str]) -> Sequence[str]:
    """Escape texts at once, or one by one if one of them has the character that parts them."""
    parts = str(escape(_BETWEEN.join(texts))).split(_BETWEEN)
    return parts if len(parts) == len(texts) else [str(escape(text)) for text in texts]
