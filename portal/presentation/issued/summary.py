"""The summary of an issued dossier, shown to everyone who has the dossier's link."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from portal.law import Act, Totals
from portal.presentation import formats
from portal.presentation.paper.dossier import DossierPage, Issuer
from portal.presentation.status_style import StatusStyle
from portal.presentation.vehicle.summary import Summary
from portal.wording import NO_BREAK_SPACE

_UNAVAILABLE: Final = "{} na emissão: não significa “nada consta”"
# Phrases from the sentences of a verdict, such as "Há" (there is). Each phrase is followed by the
# text that replaces it in the past tense.
_PAST: Final = (
    ("Falta verificar", "Faltava verificar"),
    ("Não pode", "Não podia"),
    ("não pode ser", "não podia ser"),
    ("só pode ser", "só podia ser"),
    ("Há", "Havia"),
    (" agora", ""),
    ("Falta consultar", "Faltava consultar"),
    ("Confirme com o juízo", "Era preciso confirmar com o juízo"),
    ("Confirme a situação", "Era preciso confirmar a situação"),
)


@dataclass(frozen=True, slots=True)
class IssuedAct:
    """Whether an act, such as a transfer, was possible when the dossier was issued."""

    act: Act
    label: str
    look: StatusStyle
    short: str
    why: str


@dataclass(frozen=True, slots=True)
class IssuedFigure:
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class IssuedSummary:
    """The summary of an issued dossier.

    The verdict is the portal's conclusion about the vehicle. ``finding``, ``caveat`` and
    ``reasons`` are the verdict's sentences in the past tense. ``reasons`` is empty if an older
    version of the portal stored the summary. ``missing`` has a title for each lookup without a
    readable answer. ``unverified`` is the number of topics that no lookup covers, such as theft.
    """

    plate: str
    name: str
    line: str
    look: StatusStyle
    finding: str
    caveat: str
    acts: tuple[IssuedAct, ...]
    figures: tuple[IssuedFigure, ...]
    missing: tuple[str, ...]
    unverified: int
    issued_at: datetime
    issuer: Issuer | None
    reasons: tuple[str, ...] = ()
    more_reasons: int = 0


def issued_summary(page: DossierPage, issuer: Issuer | None) -> IssuedSummary:
    summary = page.contents.summary
    return IssuedSummary(
        plate=page.plate.text,
        name=summary.name,
        line=summary.line,
        look=summary.look,
        finding=in_the_past(summary.verdict.finding),
        caveat=in_the_past(_sentence(summary.verdict.caveat)),
        acts=tuple(
            IssuedAct(each.row.act, each.row.label, each.look, each.row.short, each.row.why)
            for each in summary.matrix
        ),
        figures=_figures(summary),
        missing=tuple(gap.title for gap in page.missing),
        unverified=summary.unverified_count,
        issued_at=page.made_at,
        issuer=issuer,
        reasons=tuple(in_the_past(reason.finding) for reason in summary.reasons),
        more_reasons=summary.more_reasons,
    )


def in_the_past(finding: str) -> str:
    """Put a verdict's sentence into the past tense.

    For example, ``Há`` (there is) becomes ``Havia`` (there was).
    """
    for now, then in _PAST:
        finding = re.sub(rf"{re.escape(now)}(?!\w)", then, finding)
    return finding


def _sentence(clause: str) -> str:
    return f"{clause[:1].upper()}{clause[1:]}." if clause else ""


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
    return f"{amount} · {totals.open_words}"


def _restrictions(number: int | None) -> str:
    if number is None:
        return _UNAVAILABLE.format("indisponíveis")
    return f"{number}{NO_BREAK_SPACE}em vigor" if number else "nenhuma nos registros"


def _price(summary: Summary) -> str:
    if not summary.price_is_known:
        return _UNAVAILABLE.format("indisponível")
    return summary.likely_price.text if summary.likely_price else summary.no_price
