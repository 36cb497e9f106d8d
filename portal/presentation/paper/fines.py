"""The fines as they stand on paper: a line of facts each, and what many share said once.

A printed page has no folds. What the law makes of a fine is mostly the same sentence for many of
them, so a sentence that two fines need becomes a lettered note below the table; what is a fine's
own stays in its row.
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
# What the law room says of one fine with its days, said of all that stand alike: the rows have
# the days.
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
_POINTS_LEFT: Final = "Os pontos contam por 12 meses da infração; em regra, já saíram da contagem."


@dataclass(frozen=True, slots=True)
class PaperFine:
    """One row. ``discounts`` are lines, ``marks`` letters of the notes below; "" where none."""

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
    """A sentence that several fines share, under the letter that their rows carry."""

    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class PaperFines:
    """The table and its notes. ``rules`` hold for every open fine, "" where there is none;
    ``discounts`` are pairs of a standing and what it means for the discounts."""

    rows: tuple[PaperFine, ...]
    omitted: int
    notes: tuple[PaperNote, ...]
    rules: str
    discounts: tuple[tuple[str, str], ...]


def paper_fines(fines: FineList, today: date) -> PaperFines:
    """The rows of a list of fines, in its order, as they stand on ``today``."""
    said = [tuple(_sentences(row, today)) for row in fines.rows]
    counted = Counter(text for texts in said for text in texts)
    shared = [text for text, count in counted.items() if count > 1]
    marks = dict(zip(shared, ascii_lowercase, strict=False))
    owed = [row.law for row in fines.rows if row.law.is_open]
    return PaperFines(
        rows=tuple(_row(row, texts, marks) for row, texts in zip(fines.rows, said, strict=True)),
        omitted=fines.omitted,
        notes=tuple(PaperNote(mark, text) for text, mark in marks.items()),
        rules=_rules(owed),
        discounts=tuple(
            {
                law.standing_word: law.discount_note for law in owed if law.amount.value is not None
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
    timed = law.is_open
    notified = _day(fine.notified_on, fine.notified_on_text)
    yield f"Notificação: {notified}{_used(law.notice) if timed else ''}."
    penalty = _day(fine.penalty_on, fine.penalty_on_text)
    yield f"Penalidade: {penalty}{_used(law.penalty) if timed else ''}."
    for clock in _clocks(law):
        if clock in law.remedies:
            yield from _last_day(clock)
    if timed:
        yield from _prescription(law.prescription)
    if fine.paid_on_text and not law.is_paid:
        yield f"Pagamento: {_day(fine.paid_on, fine.paid_on_text)}."
    if fine.paid_on_text or law.is_paid:
        yield f"Valor pago: {law.paid.words or _words(fine.paid_amount_text)}."
    if fine.measured or fine.limit:
        yield f"Limite: {_words(fine.limit)}. Medição: {_words(fine.measured)}."
        yield f"Medição considerada: {_words(fine.considered)}."


def _sentences(row: FineRow, today: date) -> Iterator[str]:
    """What has to be explained about a fine, in the same words for fines that stand alike."""
    law = row.law
    yield _standing(row.fine, law, today)
    if law.is_open:
        yield from _doubts(law)
    if law.amount.note:
        yield law.amount.note
    if law.points.note:
        yield _POINTS_LEFT if _has_left_the_count(law) else law.points.note


def _standing(fine: Fine, law: FineAssessment, today: date) -> str:
    if fine.kind:
        return law.standing_note  # it quotes the source's own word
    if law.standing in _AFTER_PENALTY and fine.penalty_on is not None:
        return _AFTER_PENALTY[law.standing]
    return _OLD_NOTICE if _is_old_notice(fine, law, today) else law.standing_note


def _is_old_notice(fine: Fine, law: FineAssessment, today: date) -> bool:
    """Nothing but a notice of long ago is on record: neither a penalty nor a payment, nor that
    the source hides one."""
    silent = fine.penalty_on_text.state == fine.paid_on_text.state == "empty"
    if law.standing not in ("notice", "unknown") or not silent:
        return False
    if fine.notified_on is None or fine.notified_on > today:
        return False
    return (today - (fine.committed_on or fine.notified_on)).days > _OLD_NOTICE_DAYS


def _doubts(law: FineAssessment) -> Iterator[str]:
    """What may be worth a defence; in time, and "cannot be said", are told in the row."""
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


def _has_left_the_count(law: FineAssessment) -> bool:
    """Points that the law counts, and that count no more: only time takes them away."""
    counts = law.infraction is not None and bool(law.infraction.points_counted)
    return counts and law.points.counted == 0


def _used(clock: Clock) -> str:
    if clock.days_used is None:
        return ""
    if clock.verdict == "in_time":
        return f", {clock.days_used} dos {clock.limit_days} dias"
    return f", {formats.integer(clock.days_used)} dias depois da infração"


def _clocks(law: FineAssessment) -> tuple[Clock, ...]:
    """What paper has room for: of remedies that are over the appeal alone, whose last day is
    the due date."""
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
