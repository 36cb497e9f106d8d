"""The fines in print: one row of facts per fine, and shared sentences as notes.

A printed page has no collapsible sections, and the legal assessments of many fines have the same
sentences. A sentence that two or more fines need becomes a lettered note below the table; a
sentence that only one fine needs stays in its row.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from string import ascii_lowercase
from typing import Final

from portal.law import Clock, FineAssessment, Standing
from portal.presentation import formats
from portal.presentation.vehicle.fines import FineList, FineRow
from portal.vehicle import Field, Fine

_CONFIRM: Final = "Confirme com um profissional."
_AUTHORITY: Final = "Confirme com o órgão autuador."
# The sentences of portal.law without a fine's own dates, so that all fines of a standing can share
# them. The rows hold the dates.
_AFTER_PENALTY: Final[Mapping[Standing, str]] = {
    "due": (
        "O vencimento, em regra, não é antes de 30 dias da penalidade; até lá cabe recurso ou "
        "pagamento com desconto."
    ),
    "enforceable": (
        "O prazo mínimo de 30 dias da penalidade passou: em regra, exigível, salvo recurso que a "
        f"suspenda. {_AUTHORITY}"
    ),
}
_OLD_NOTICE: Final = (
    "Só há notificação da autuação no registro, sem penalidade, embora tenham passado mais de 360 "
    f"dias: a data pode faltar na fonte, e não é possível dizer se já é exigível. {_AUTHORITY}"
)
_OLD_NOTICE_DAYS: Final = 360
_NOTICE_LATE: Final = (
    "A notificação da autuação passou do limite de 30 dias: em regra, o registro deveria ser "
    f"arquivado. {_CONFIRM}"
)
_PENALTY_DOUBTFUL: Final = (
    "A penalidade saiu depois de 180 dias e até 360: dentro do prazo só se houve defesa "
    f"prévia, o que o registro não diz. {_CONFIRM}"
)
_PENALTY_LATE: Final = (
    "A penalidade saiu depois de 360 dias: em regra, o direito de aplicá-la já teria se perdido. "
    f"{_CONFIRM}"
)
_LAPSED: Final = (
    f"Os 5 anos da prescrição passaram: pode ter prescrito, se nada interrompeu o prazo. {_CONFIRM}"
)
_POINTS_EXPIRED: Final = (
    "Os pontos contam por 12 meses da infração; em regra, já saíram da contagem."
)


@dataclass(frozen=True, slots=True)
class PaperFine:
    """One row.

    ``discounts`` are lines, ``marks`` the letters of the notes; "" where there are none.
    """

    anchor: str
    when: str
    what: str
    details: str
    standing: str
    marks: str
    amount: str
    discounts: str


@dataclass(frozen=True, slots=True)
class PaperNote:
    """A sentence that several fines share, with the letter that marks their rows."""

    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class PaperFines:
    """The table and its notes.

    ``rules`` is a text about all open fines, "" where there is none. ``discounts`` are pairs of a
    standing and its note about discounts.
    """

    rows: tuple[PaperFine, ...]
    omitted: int
    notes: tuple[PaperNote, ...]
    rules: str
    discounts: tuple[tuple[str, str], ...]


def paper_fines(fines: FineList, today: date) -> PaperFines:
    """The rows of a list of fines, in its order, assessed on ``today``."""
    sentences = [tuple(_sentences(row, today)) for row in fines.rows]
    counted = Counter(text for texts in sentences for text in texts)
    shared = [text for text, count in counted.items() if count > 1]
    marks = dict(zip(shared, ascii_lowercase, strict=False))
    open_laws = [row.law for row in fines.rows if row.law.is_open]
    return PaperFines(
        rows=tuple(
            _row(row, texts, marks) for row, texts in zip(fines.rows, sentences, strict=True)
        ),
        omitted=fines.omitted,
        notes=tuple(PaperNote(mark, text) for text, mark in marks.items()),
        rules=_rules(open_laws),
        discounts=tuple(
            {
                law.standing_word: law.discount_note
                for law in open_laws
                if law.amount.value is not None
            }.items()
        ),
    )


def _row(row: FineRow, texts: Sequence[str], marks: Mapping[str, str]) -> PaperFine:
    fine, law = row.fine, row.law
    own = [text for text in texts if text not in marks]
    clock = f" {fine.committed_at:%H:%M}" if fine.committed_at is not None else ""
    amount = law.amount
    return PaperFine(
        anchor=row.anchor,
        when=f"{row.number}. {_day(fine.committed_on, fine.committed_on_text)}{clock}",
        what=(law.description or _words(fine.description)).rstrip("."),
        details=" ".join((*_facts(fine, law), *own)),
        standing=law.standing_word,
        marks=", ".join(sorted(marks[text] for text in texts if text in marks)),
        amount=formats.brl(amount.value),
        discounts=""
        if law.is_paid or amount.value is None
        else f"{formats.brl(amount.at_80)} a 80%\n{formats.brl(amount.at_60)} a 60%",
    )


def _facts(fine: Fine, law: FineAssessment) -> Iterator[str]:
    if law.infraction:
        article = f", {law.article}" if law.article else ""
        yield f"Código {law.infraction.printed}{article}."
    else:
        yield f"Código {_words(fine.code)}, fora da tabela do portal."
    points = law.points.by_gravity
    many = "" if points is None else f", {formats.plural(points, 'ponto', 'pontos')}"
    yield f"Gravidade: {law.gravity_word}{many}."
    state = f" ({fine.authority_state})" if fine.authority_state else ""
    yield f"{_words(fine.authority)}{state}."
    yield f"Local: {_words(fine.place)}."
    yield f"Auto de infração: {_words(fine.notice)}."
    if fine.kind.state != "empty":
        yield f"Situação na fonte: {_words(fine.kind)}."
    yield f"Cadastro: {_day(fine.registered_on, fine.registered_on_text)}."
    notified = _day(fine.notified_on, fine.notified_on_text)
    yield f"Notificação: {notified}{_days_used(law.notice) if law.is_open else ''}."
    penalty = _day(fine.penalty_on, fine.penalty_on_text)
    yield f"Penalidade: {penalty}{_days_used(law.penalty) if law.is_open else ''}."
    for clock in _clocks(law):
        if clock in law.remedies:
            yield from _last_day(clock)
    if law.is_open:
        yield from _prescription(law.prescription)
    if fine.paid_on_text and not law.is_paid:
        yield f"Pagamento: {_day(fine.paid_on, fine.paid_on_text)}."
    if fine.paid_on_text or law.is_paid:
        yield f"Valor pago: {law.paid.words or _words(fine.paid_amount_text)}."
    if fine.measured or fine.limit:
        yield f"Limite: {_words(fine.limit)}. Medição: {_words(fine.measured)}."
        yield f"Medição considerada: {_words(fine.considered)}."


def _sentences(row: FineRow, today: date) -> Iterator[str]:
    """The explanations of a fine, with the same wording for fines in the same state."""
    law = row.law
    yield _standing(row.fine, law, today)
    if law.is_open:
        yield from _doubts(law)
    if law.amount.note:
        yield law.amount.note
    if law.points.note:
        yield _POINTS_EXPIRED if _points_expired(law) else law.points.note


def _standing(fine: Fine, law: FineAssessment, today: date) -> str:
    if fine.kind:
        return law.standing_note  # quotes the status that the source sent
    if law.standing in _AFTER_PENALTY and fine.penalty_on is not None:
        return _AFTER_PENALTY[law.standing]
    return _OLD_NOTICE if _is_old_notice(fine, law, today) else law.standing_note


def _is_old_notice(fine: Fine, law: FineAssessment, today: date) -> bool:
    """Whether the record holds only a notice that is more than 360 days old.

    The result is False if there is a penalty or payment date, even a hidden one. The days count
    from the infraction, or from the notice where the infraction has no date.
    """
    has_notice_only = fine.penalty_on_text.state == fine.paid_on_text.state == "empty"
    if law.standing not in ("notice", "unknown") or not has_notice_only:
        return False
    if fine.notified_on is None or fine.notified_on > today:
        return False
    return (today - (fine.committed_on or fine.notified_on)).days > _OLD_NOTICE_DAYS


def _doubts(law: FineAssessment) -> Iterator[str]:
    """Exceeded deadlines that may be worth a defence.

    Clocks that are in time, or that cannot be judged, are described in the row only.
    """
    if law.notice.verdict == "late":
        yield _NOTICE_LATE
    if law.penalty.verdict == "late":
        yield _PENALTY_LATE
    elif law.penalty.verdict == "unknown" and law.penalty.days_used is not None:
        yield _PENALTY_DOUBTFUL
    if _has_lapsed(law.prescription):
        yield _LAPSED


def _has_lapsed(clock: Clock) -> bool:
    return clock.verdict == "unknown" and clock.ends_on is not None


def _points_expired(law: FineAssessment) -> bool:
    """Whether the infraction's points counted once and no longer do.

    Only the passage of time has this effect.
    """
    counts = law.infraction is not None and bool(law.infraction.points_counted)
    return counts and law.points.counted == 0


def _days_used(clock: Clock) -> str:
    if clock.days_used is None:
        return ""
    if clock.verdict == "in_time":
        return f", {clock.days_used} dos {clock.limit_days} dias"
    return f", {formats.integer(clock.days_used)} dias depois da infração"


def _clocks(law: FineAssessment) -> tuple[Clock, ...]:
    """The clocks to print.

    To save room, of the expired remedies only the appeal is printed, because its last day is the
    due date.
    """
    against_notice = (law.prior_defence, law.driver_nomination)
    return tuple(
        clock for clock in law.clocks if clock.verdict == "in_time" or clock not in against_notice
    )


def _last_day(clock: Clock) -> Iterator[str]:
    if clock.ends_on is None or clock.days_used is None:
        return
    until = "ao menos até" if clock.verdict == "in_time" else "prazo mínimo até"
    until = until if clock.at_least else "até"
    yield f"{clock.name}: {until} {formats.short_date(clock.ends_on)}."


def _prescription(clock: Clock) -> Iterator[str]:
    if clock.ends_on is not None:
        until = "os 5 anos passaram em" if _has_lapsed(clock) else "ao menos até"
        yield f"Prescrição: {until} {formats.short_date(clock.ends_on)}."


def _rules(laws: Sequence[FineAssessment]) -> str:
    articles = {clock.name: clock.article for law in laws for clock in _clocks(law)}
    if not articles:
        return ""
    return (
        "; ".join(f"{name}, {article}" for name, article in articles.items())
        + "; contados pelas datas que a fonte registra. Onde falta uma data, não é possível dizer "
        "se o prazo foi cumprido. A data exata do vencimento está na notificação e pode ser "
        "posterior. A prescrição pode ser interrompida por atos que o registro não traz. "
        "Confirme com um profissional."
    )


def _day(day: date | None, text: Field) -> str:
    return _words(text) if day is None else formats.short_date(day)


def _words(field: Field) -> str:
    if field:
        return str(field)
    return "oculto pela fonte" if field.is_hidden else formats.MISSING
