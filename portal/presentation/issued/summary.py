"""The summary of an issued dossier, shown to everyone who has the dossier's link."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import msgspec

from portal.dossier import figures
from portal.dossier.dossier import Dossier
from portal.dossier.figures import Figure
from portal.dossier.moment import Moment
from portal.dossier.status_style import LOOKS, StatusStyle
from portal.issued.issuer import Issuer
from portal.issued.model import IssuedDossier
from portal.law.act_answers import Act
from portal.law.act_matrix import Row
from portal.phrasebook import acts
from portal.phrasebook.findings import sentence
from portal.phrasebook.verdict import finding, headline
from portal.presentation.paper.dossier import DossierPage
from portal.vehicle.operation_name import LOOKUPS
from portal.vehicle.plate import Plate

_FIGURES = (figures.fines, figures.orders, figures.price)

Changed = tuple[str, str, str]  # a label, and what the dossier said and the answers say now


@dataclass(frozen=True, slots=True)
class IssuedAct:
    """Whether an act, such as a transfer, was possible when the dossier was issued."""

    act: Act
    label: str
    look: StatusStyle
    short: str
    why: str
    brief: str = ""


@dataclass(frozen=True, slots=True)
class IssuedFigure:
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class IssuedNumber:
    """One of the three answers above the acts. The first has a look."""

    label: str
    value: str
    note: str
    is_known: bool
    look: StatusStyle | None = None


@dataclass(frozen=True, slots=True)
class IssuedSummary:
    """The summary of an issued dossier.

    The verdict is the portal's conclusion about the vehicle. ``finding``, ``headline`` and
    ``reasons`` are the verdict's sentences, word for word as in the dossier. ``headline`` is "" and
    ``reasons`` is empty if an older version of the portal stored the summary. ``missing`` has a
    title for each lookup without a readable answer. ``unverified`` is the number of open lines of
    the checklist, and ``lines`` that of all lines. A summary of an older version has 0 lines, and
    ``ticked`` is the number of lines that its issuer had ticked. ``moment`` is
    what was found if the dossier proves the moment of a payment. ``numbers`` answers whether the
    vehicle could be transferred, what was owed and what it was worth; a summary of an older version
    has none.
    """

    plate: str
    name: str
    line: str
    look: StatusStyle
    finding: str
    acts: tuple[IssuedAct, ...]
    figures: tuple[IssuedFigure, ...]
    missing: tuple[str, ...]
    unverified: int
    issued_at: datetime
    issuer: Issuer | None
    reasons: tuple[str, ...] = ()
    more_reasons: int = 0
    headline: str = ""
    ticked: int = 0
    moment: Moment | None = None
    lines: int = 0
    numbers: tuple[IssuedNumber, ...] = ()

    @property
    def checked(self) -> int:
        """The number of lines that are not open. An older version counted answers instead."""
        if self.lines:
            return self.lines - self.unverified
        return len(LOOKUPS) - len(self.missing) + self.ticked

    @property
    def quoted(self) -> str:
        """The sentence in the bar of the dossier's first sheet."""
        return self.headline or self.finding

    @property
    def subject(self) -> Plate:
        return Plate.parse(self.plate)


def issued_summary(page: DossierPage, issuer: Issuer | None) -> IssuedSummary:
    dossier, verdict = page.dossier, page.dossier.verdict
    return IssuedSummary(
        plate=page.plate.text,
        name=str(dossier.name),
        line=dossier.line,
        look=LOOKS[verdict.level],
        finding=finding(verdict),
        headline=headline(verdict),
        acts=tuple(_issued_act(row) for row in verdict.matrix),
        figures=tuple(_issued(figure(dossier)) for figure in _FIGURES),
        missing=tuple(gap.title for gap in dossier.missing),
        unverified=dossier.open_lines,
        lines=len(dossier.lines),
        issued_at=page.made_at,
        issuer=issuer,
        reasons=tuple(map(sentence, verdict.first_reasons)),
        more_reasons=verdict.more_reasons,
        moment=page.moment,
        numbers=tuple(_numbers(dossier)),
    )


def _numbers(dossier: Dossier) -> Iterator[IssuedNumber]:
    look = LOOKS[dossier.verdict.row("transfer").mark]
    shown = ((figures.transfer, look), (figures.owed, None), (figures.worth, None))
    for figure, its_look in shown:
        one = figure(dossier)
        yield IssuedNumber(one.label, one.value, one.note, one.is_known, its_look)


def _issued_act(row: Row) -> IssuedAct:
    look = LOOKS[row.mark]
    return IssuedAct(
        row.act, acts.label(row), look, acts.short(row), acts.why(row), acts.brief(row)
    )


def summary_of(dossier: IssuedDossier) -> IssuedSummary | None:
    """Return the stored summary of a dossier, or None if the dossier is expired or revoked."""
    if dossier.snapshot is None:
        return None
    return msgspec.json.decode(dossier.snapshot.summary, type=IssuedSummary)


def since_issued(summary: IssuedSummary, now: Dossier) -> tuple[datetime | None, Sequence[Changed]]:
    """Return the time of the newest answer since the issue, and the figures that have changed.

    The time is None without a newer answer.
    """
    times = [panel.fetched_at for panel in now.answers.all if panel.fetched_at]
    newest = max(times, default=summary.issued_at)
    if newest <= summary.issued_at:
        return None, ()
    return newest, changed_since(summary, now)


def changed_since(summary: IssuedSummary, now: Dossier) -> list[Changed]:
    """Compare a summary with what the stored answers say now."""
    values = [("Conclusão", summary.quoted, headline(now.verdict))]
    before = {figure.label: figure.text for figure in summary.figures}
    for figure in (read(now) for read in _FIGURES):
        if figure.is_known and figure.label in before:
            values.append((figure.label, before[figure.label], _issued(figure).text))
    return [value for value in values if value[1] != value[2]]


def _issued(figure: Figure) -> IssuedFigure:
    if not figure.is_known and figure.note:
        return IssuedFigure(figure.label, f"{figure.value} na emissão: {figure.note}")
    return IssuedFigure(figure.label, " · ".join(filter(None, (figure.value, figure.note))))
