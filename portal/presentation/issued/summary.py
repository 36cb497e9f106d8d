"""What an issued dossier says in short, kept with it: the page behind its link."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from portal.law import Totals
from portal.presentation import formats
from portal.presentation.paper.dossier import DossierPage
from portal.presentation.paper.issuer import Issuer
from portal.presentation.status_style import StatusStyle
from portal.presentation.vehicle.summary import Summary
from portal.wording import NO_BREAK_SPACE

_UNAVAILABLE: Final = "{} na emissão: não significa “nada consta”"
# The verdict's phrases and their past, longest first. A test applies them to every headline.
_PAST: Final = (
    ("falta verificar", "faltava verificar"),
    ("Não pode ", "Não podia "),
    ("não pode ser", "não podia ser"),
    ("só pode ser", "só podia ser"),
    ("Há ", "Havia "),
    (" agora", " na data da emissão"),
    ("confirme com o juízo", "era preciso confirmar com o juízo"),
    ("confirme a situação", "era preciso confirmar a situação"),
)


@dataclass(frozen=True, slots=True)
class IssuedAct:
    """One of the four acts with its answer on the day of issue."""

    label: str
    look: StatusStyle
    short: str


@dataclass(frozen=True, slots=True)
class IssuedFigure:
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class IssuedSummary:
    """The summary of an issued dossier, in the past tense.

    ``missing`` are titles of the lookups that had no answer. ``unverified`` is the number of
    subjects that no lookup covers. ``issued_at`` is aware.
    """

    plate: str
    name: str
    line: str
    look: StatusStyle
    headline: str
    acts: tuple[IssuedAct, ...]
    figures: tuple[IssuedFigure, ...]
    missing: tuple[str, ...]
    unverified: int
    issued_at: datetime
    issuer: Issuer | None


def issued_summary(page: DossierPage, issuer: Issuer | None) -> IssuedSummary:
    """The summary of a dossier that is being issued."""
    summary = page.contents.summary
    return IssuedSummary(
        plate=page.plate.text,
        name=summary.name,
        line=summary.line,
        look=summary.look,
        headline=in_the_past(summary.verdict.headline),
        acts=tuple(IssuedAct(row.row.label, row.look, row.row.short) for row in summary.matrix),
        figures=_figures(summary),
        missing=tuple(gap.title for gap in page.missing),
        unverified=len(page.unverified),
        issued_at=page.issued_at,
        issuer=issuer,
    )


def in_the_past(headline: str) -> str:
    """A verdict's headline as of a day gone by."""
    for now, then in _PAST:
        headline = re.sub(rf"(?<!\w){re.escape(now)}(?!\w)", then, headline)
    return headline


def _figures(summary: Summary) -> tuple[IssuedFigure, ...]:
    return (
        IssuedFigure("Multas em aberto", _fines(summary.fines)),
        IssuedFigure("Restrições judiciais", _restrictions(summary.restrictions)),
        IssuedFigure("Preço FIPE", _price(summary)),
    )


def _fines(totals: Totals | None) -> str:
    if totals is None:
        return _UNAVAILABLE.format("indisponíveis")
    if not totals.open_count:
        return "nenhuma nos registros"
    amount = formats.brl(totals.amount) if totals.amount else "valor não informado"
    return f"{amount} · {formats.integer(totals.open_count)}"


def _restrictions(number: int | None) -> str:
    if number is None:
        return _UNAVAILABLE.format("indisponíveis")
    return f"{number}{NO_BREAK_SPACE}em vigor" if number else "nenhuma nos registros"


def _price(summary: Summary) -> str:
    if not summary.price_is_known:
        return _UNAVAILABLE.format("indisponível")
    return summary.told_price.text if summary.told_price else "sem preço na fonte"
