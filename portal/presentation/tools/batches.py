"""The batch pages: form, highest cost, progress and results.

A batch is a list of plates or Renavams (registration numbers) that the portal looks up together.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import ClassVar, Final, Literal
from urllib.parse import urlencode

from portal import formats
from portal.batch import (
    Batch,
    Item,
    Preview,
    Reason,
    State,
    WrongEntry,
)
from portal.dossier.lookups import OPERATION_TEXTS
from portal.dossier.status_style import LOOKS, StatusStyle
from portal.gateway import Allowance, lookups_of
from portal.presentation.exports.batches import BatchRow, wrong_message
from portal.presentation.failure_texts import FAULTS
from portal.presentation.paths import subject_path
from portal.presentation.site.recent_lookup import RecentLookup
from portal.system.local_time import from_epoch
from portal.vehicle import LOOKUPS, LookupName, Plate, Renavam, parse_subject
from portal.wording import bare, counted, grouped, listed, sanitise_echo

PAGE_SIZE: Final = 50
REFRESH_S: Final = 10
MOST_WRONG: Final = 20
_STATES: Final[Mapping[State, str]] = {
    "draft": "a conferir",
    "running": "em andamento",
    "paused": "pausado",
    "done": "concluído",
    "cancelled": "cancelado",
}
_REASONS: Final[Mapping[Reason, str]] = {
    "owner": "Pausado por você",
    "day_limit": "O limite diário de consultas deste portal foi atingido",
    "token_limit": "O limite diário de consultas do seu acesso foi atingido",
    "price": "A próxima consulta passaria do valor confirmado",
    "unreachable": "A fonte de dados não pode ser consultada agora",
    "busy": "A fonte de dados pediu uma pausa",
    "portal": "O portal não conseguiu registrar as consultas",
    "access": "O acesso não é mais aceito",
    "operator_refused": "A fonte de dados não aceitou o acesso deste portal",
    "no_credit": "A fonte de dados exige pagamento ou saldo",
}
_OUT_OF_SCOPE: Final = "O seu acesso não inclui uma das consultas."
_REJECTED: Final = "A fonte de dados não aceitou a placa."
_NOT_ASKED: Final = "não pedida"
# What the buttons "Continuar" (continue) and "Consultar de novo" (look up again) may cost.
_AGAIN: Final = (
    "O que tem resposta guardada não é pago de novo. Uma consulta que falhou pode ter sido cobrada "
    "e, feita de novo, pode ser cobrada outra vez."
)
# The keys of ORDERS and FILTERS are values of URL parameters. These parameters sort and filter the
# table of results.
ORDERS: Final[Mapping[str, str]] = {
    "": "na ordem dada",
    "conclusao": "pior conclusão primeiro",
    "multas": "mais multas primeiro",
    "preco": "maior preço primeiro",
}
FILTERS: Final[Mapping[str, str]] = {
    "blocked": "Impedimento",
    "caution": "Atenção",
    "clear": "Nada encontrado",
    "incomplete": "Incompletas",
    "limited": "Só o que foi pedido",
    "failed": "Com falha",
    "pending": "Não consultadas",
}
LONGEST_SEARCH: Final = 40
_FULL: Final = 100  # per cent
_RESULT: Final = 3  # the last ``step`` of a BatchPage
_WORST_FIRST: Final = ("blocked", "caution", "incomplete", "limited", "clear", None)


@dataclass(frozen=True, slots=True)
class LookupChoice:
    """A lookup that a batch can make. ``price`` is per vehicle, "" for a free lookup."""

    name: LookupName
    label: str
    price: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class ListedBatch:
    path: str
    title: str
    state: str
    when: str
    cost: str


@dataclass(frozen=True, slots=True)
class RecentChoice:
    """A vehicle from the visitor's history that the form offers for the batch."""

    subject: Plate | Renavam
    name: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class BatchFormPage:
    """The form for a new batch. ``text`` is the typed list.

    ``problem`` is an error message about the list, or "" if there is no error. ``corrects`` is the
    id of an earlier batch whose list the form corrects, or "" for a new list. If the earlier batch
    was never started, the new batch replaces it.
    """

    template: ClassVar[str] = "pages/batches.html"
    title: str
    text: str
    problem: str
    corrects: str
    recent: tuple[RecentChoice, ...]
    choices: tuple[LookupChoice, ...]
    limit: int
    batches: tuple[ListedBatch, ...]


@dataclass(frozen=True, slots=True)
class Understood:
    """The number of entries of one kind in the typed list, such as repeated entries."""

    icon: Literal["check", "copy", "alert"]
    label: str
    count: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class TypedLine:
    """A plate or Renavam of a draft, with a checkbox. ``note`` is its text in the list, or ""."""

    subject: Plate | Renavam
    note: str


@dataclass(frozen=True, slots=True)
class ResultLine:
    """The row of a plate or Renavam in the table of results. "" means unknown."""

    subject: Plate | Renavam
    path: str
    vehicle: str
    year: str
    look: StatusStyle | None
    finding: str
    fines: str
    restrictions: str
    price: str
    age: str
    state: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A link to a page of the table of results. ``url`` is "" for the current page."""

    label: str
    url: str


@dataclass(frozen=True, slots=True)
class Filter:
    """A link that filters the table of results, for example by a verdict.

    ``url`` is "" for the filter in use. ``look`` is the style of the verdict, or None if the filter
    is not for a verdict.
    """

    label: str
    count: int
    url: str
    look: StatusStyle | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """A sort order of the table of results. ``key`` is a key of ORDERS."""

    key: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class BarPart:
    """A verdict's part of a bar that shows how often each verdict occurs.

    ``start`` and ``width`` are in per cent of the bar's width.
    """

    verdict: str
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class BatchPage:
    """The page of one batch.

    ``step`` is 1 (check the list), 2 (make the lookups) or 3 (see the results). The page refreshes
    every ``refresh_s`` seconds, or never if ``refresh_s`` is 0. ``start_label`` is the text of the
    button that starts, continues or repeats the batch, or "" if the page has no such button.
    ``confirmed`` is the R$ total that the batch may spend if this button is pressed.

    ``expired`` is the number of vehicles whose lookups have ended and whose answers have expired.
    The start button does not look up these vehicles again, but a new batch with the same list does.

    A draft's lines are ``doubtful`` (not ticked), ``within_text`` (found among other words) and
    ``plain``. ``wrong`` has the entries that cannot be ticked.

    ``limits_text`` says which lookups the batch does not make. ``wrong_title`` is the title of the
    list of invalid entries.
    """

    template: ClassVar[str] = "pages/batch.html"
    title: str
    path: str
    json_path: str
    correct_path: str
    step: int
    state: State
    pause_title: str
    pause_text: str
    understood: tuple[Understood, ...]
    doubtful: tuple[TypedLine, ...]
    within_text: tuple[TypedLine, ...]
    plain: tuple[TypedLine, ...]
    wrong: tuple[str, ...]
    more_wrong: int
    wrong_title: str
    correct_label: str
    choices: tuple[LookupChoice, ...]
    limits_text: str
    at_most: str
    cost_text: str
    start_label: str
    confirmed: str
    again_text: str
    cancel_text: str
    allowance: str
    total: int
    ended: int
    pending: int
    failed: int
    expired: int
    was_started: bool
    progress_text: str
    time_text: str
    refresh_s: int
    lines: tuple[ResultLine, ...]
    bar: tuple[BarPart, ...]
    filters: tuple[Filter, ...]
    chosen_filter: str
    orders: tuple[Order, ...]
    search: str
    shown_words: str
    pages: tuple[Choice, ...]
    has_dossiers: bool


def batch_form_page(
    prices: Mapping[LookupName, Decimal],
    limit: int,
    batches: Sequence[Batch],
    *,
    text: str,
    problem: str,
    corrects: str,
    ask: Sequence[str],
    recent: Sequence[RecentLookup],
    chosen: Sequence[str],
) -> BatchFormPage:
    """Build the form for a new batch.

    ``prices`` has the price in R$ of each lookup that the visitor may make. The form preselects the
    lookups ``ask``. It also offers the vehicles in ``recent``, and preselects a vehicle if its
    plate or Renavam is in ``chosen``.
    """
    return BatchFormPage(
        title="Lote de placas",
        text=text,
        problem=problem,
        corrects=corrects,
        recent=tuple(
            RecentChoice(one.subject, one.name, one.subject.text in chosen) for one in recent
        ),
        choices=_choices(prices, ask),
        limit=limit,
        batches=tuple(_listed(batch) for batch in batches if not _is_discarded(batch)),
    )


def typed_again(batch: Batch, items: Sequence[Item]) -> tuple[str, str]:
    """Return the text and the error message of a form that corrects a batch.

    The text begins with the invalid entries. The message explains the first three invalid entries,
    or is "" if all entries are valid. For a cancelled batch, the text has only the plates that were
    not looked up, and the message is "".
    """
    if batch.state == "cancelled":
        return "\n".join(item.subject.text for item in items if item.state == "pending"), ""
    wrong = [each.value for each in batch.wrong]
    reasons = " ".join(_wrong(each) for each in batch.wrong[:3])
    text = "\n".join([*wrong, *(item.subject.text for item in items), *batch.unticked])
    if not wrong:
        return text, ""
    if batch.more_wrong:
        more = counted(batch.more_wrong, "outra linha não está", "outras linhas não estão")
        reasons += (
            f" Mais {more} aqui: só {grouped(len(wrong))} das não reconhecidas ficam guardadas."
        )
    return text, f"Confira {'a linha' if len(wrong) == 1 else 'as linhas'} do começo. {reasons}"


def batch_page(
    batch: Batch,
    rows: Sequence[tuple[Item, BatchRow]],
    prices: Mapping[LookupName, Decimal],
    allowance: Allowance,
    now: datetime,
    *,
    left: Preview | None,
    only: str,
    order: str,
    search: str,
    number: int,
    page_count: int | None,
    drafted: Sequence[Item] = (),
) -> BatchPage:
    """Build the page of a batch. The table of results shows page ``number``.

    If ``page_count`` is given, ``rows`` has only the rows of page ``number``. If ``page_count`` is
    None, ``rows`` has all rows of the batch. A draft has its items in ``drafted`` and no rows.
    ``only`` and ``search`` select rows, and ``order`` sorts the selected rows. ``left`` is the
    preview of the lookups that the start button would make, or None if the page has no start
    button.
    """
    counts, path = batch.counts, f"/lote/{batch.id}"
    search = sanitise_echo(search.strip(), LONGEST_SEARCH)
    only = only if only in FILTERS else ""
    order = order if order in ORDERS else ""
    found = [pair for pair in rows if _contains(pair[1], search)]
    shown = _ordered([pair for pair in found if _matches(pair[1], only)], order)
    pages = page_count or page_count_of(len(shown))
    number = min(max(1, number), pages)
    first = 0 if page_count else (number - 1) * PAGE_SIZE
    ended = counts.total - counts.pending
    step = {"draft": 1, "running": 2, "paused": 2}.get(batch.state, _RESULT)
    wrong = [each for each in batch.wrong if step > 1 or not each.suggestion]
    certain = [TypedLine(item.subject, batch.typed.get(item.subject.text, "")) for item in drafted]

    def url(**changes: str | int) -> str:
        chosen = {"so": only, "ordem": order, "busca": search, "pagina": number} | changes
        kept = {key: value for key, value in chosen.items() if value not in ("", 1)}
        return path + ("?" + urlencode(kept) if kept else "")

    return BatchPage(
        title=f"Lote de {counted(counts.total, 'placa', 'placas')}"
        if counts.total
        else "Lote a conferir",
        path=path,
        json_path=f"/api/v1/batches/{batch.id}",
        correct_path=f"/lote?corrigir={batch.id}",
        step=step,
        state=batch.state,
        pause_title=_REASONS.get(batch.reason, ""),
        pause_text=_pause_text(batch),
        understood=_understood(batch, left),
        doubtful=tuple(_doubtful(batch)) if step == 1 else (),
        within_text=tuple(line for line in certain if _is_within_text(line)),
        plain=tuple(line for line in certain if not _is_within_text(line)),
        wrong=tuple(f"{_line_name(each)}: {_wrong(each)}" for each in wrong[:MOST_WRONG]),
        more_wrong=max(0, len(wrong) - MOST_WRONG) + batch.more_wrong,
        wrong_title=_wrong_title(len(batch.wrong) + batch.more_wrong),
        correct_label="Corrigir a lista" if batch.wrong else "Alterar a lista ou as consultas",
        choices=tuple(each for each in _choices(prices, batch.ask) if each.is_chosen),
        limits_text=_limits_text(batch.ask),
        at_most=formats.brl(left.at_most if left else batch.cost.at_most),
        cost_text=_cost_text(batch, left),
        start_label=_start_label(batch, left),
        confirmed=str(batch.cost.spent + left.at_most) if left else "",
        again_text=_again_text(batch),
        cancel_text=_cancel_text(counts.pending),
        allowance=_allowance_text(allowance.left, left.calls if left else 0),
        total=counts.total,
        ended=ended,
        pending=counts.pending,
        failed=counts.failed,
        expired=sum(item.state == "done" and bool(row.expired) for item, row in rows),
        was_started=batch.started_at is not None,
        progress_text=f"{grouped(ended)} de {counted(counts.total, 'placa', 'placas')}",
        time_text=_time_text(batch, ended, now),
        refresh_s=REFRESH_S
        if batch.state == "running" or batch.resume_at or _has_calls_under_way(batch)
        else 0,
        lines=tuple(_line(item, row, batch, now) for item, row in shown[first : first + PAGE_SIZE]),
        bar=tuple(_bar(rows)) if step == _RESULT else (),
        filters=tuple(_filters(found, only, url)) if step == _RESULT else (),
        chosen_filter=only,
        orders=tuple(Order(key, label, key == order) for key, label in ORDERS.items()),
        search=search,
        shown_words=_shown_words(len(shown), len(rows)),
        pages=tuple(
            Choice(str(each), "" if each == number else url(pagina=each))
            for each in range(1, pages + 1 if pages > 1 else 1)
        ),
        has_dossiers=any(
            isinstance(item.subject, Plate) and item.state != "pending" for item, _ in rows
        ),
    )


def page_count_of(rows: int) -> int:
    return max(1, -(-rows // PAGE_SIZE))


def _choices(prices: Mapping[LookupName, Decimal], ask: Sequence[str]) -> tuple[LookupChoice, ...]:
    return tuple(
        LookupChoice(
            name, OPERATION_TEXTS[name].long_title, formats.brl(price) if price else "", name in ask
        )
        for name, price in prices.items()
    )


def _is_discarded(batch: Batch) -> bool:
    """Return whether the visitor cancelled a batch before it was started."""
    return batch.state == "cancelled" and batch.started_at is None


def _listed(batch: Batch) -> ListedBatch:
    counts = batch.counts
    ended = counts.total - counts.pending
    progress = f", {grouped(ended)} consultadas" if batch.state in ("running", "paused") else ""
    return ListedBatch(
        path=f"/lote/{batch.id}",
        title=counted(counts.total, "placa", "placas"),
        state=_STATES[batch.state] + progress,
        when=formats.moment(from_epoch(batch.created_at)),
        cost=_cost(batch),
    )


def _cost(batch: Batch) -> str:
    spent, at_most = batch.cost.spent, batch.cost.at_most
    if not (spent or at_most):
        return "sem custo"
    if batch.state in ("running", "paused"):
        return f"{formats.brl(spent)}, no máximo {formats.brl(at_most)}"
    return f"até {formats.brl(at_most)}" if batch.state == "draft" else formats.brl(spent)


def _has_calls_under_way(batch: Batch) -> bool:
    """Return whether a cancelled batch has sent lookups that are not answered yet."""
    return batch.state == "cancelled" and batch.active > 0


def _cost_text(batch: Batch, left: Preview | None) -> str:
    spent, count = batch.cost.spent, batch.counts.pending
    if _has_calls_under_way(batch):
        under_way = counted(batch.active, "consulta já enviada", "consultas já enviadas")
        return f"Gasto até agora {formats.brl(spent)}; falta o fim de {under_way}."
    most = batch.cost.at_most - spent
    if left is not None:
        count, most = left.askable, left.at_most
    if batch.state in ("done", "cancelled"):
        return f"Custou {formats.brl(spent)}." if spent else "Sem custo."
    if not (spent or most):
        return ""
    text = f"Gasto até agora {formats.brl(spent)}"
    if not count:
        return f"{text}."
    rest = (
        "a placa que falta custa" if count == 1 else f"as {grouped(count)} placas que faltam custam"
    )
    return f"{text}; {rest} no máximo {formats.brl(most)}."


def _limits_text(ask: Sequence[LookupName]) -> str:
    """Say which lookups the batch does not make, or return "" if it makes all."""
    others = [OPERATION_TEXTS[name].long_title for name in LOOKUPS if name not in ask]
    if not others:
        return ""
    return (
        f"Consultas não pedidas neste lote: {listed(others)}. "
        "O resultado não diz nada sobre o que não foi pedido."
    )


def _wrong_title(count: int) -> str:
    return f"{counted(count, 'linha ficou', 'linhas ficaram')} de fora"


def _understood(batch: Batch, left: Preview | None) -> tuple[Understood, ...]:
    counts = batch.counts
    impossible = left.impossible if left else 0
    doubtful = sum(bool(each.suggestion) for each in batch.wrong)
    lines = [
        Understood("check", "A consultar", counts.total - counts.stored - impossible),
        Understood("check", "Com resposta guardada", counts.stored, "sem custo"),
        Understood(
            "alert",
            "Renavam sem consulta possível",
            impossible,
            "não há dados do veículo por Renavam: escolha multas ou restrições",
        ),
        Understood("copy", "Repetidas, contadas uma vez", batch.repeated),
        Understood("alert", "Duvidosas, desmarcadas", doubtful),
        Understood(
            "alert",
            "Não reconhecidas, ficam de fora",
            len(batch.wrong) + batch.more_wrong - doubtful,
        ),
    ]
    return tuple(line for line in lines if line.count or line is lines[0])


def _doubtful(batch: Batch) -> Iterator[TypedLine]:
    for text in batch.unticked:
        yield TypedLine(parse_subject(text), "Desmarcada por você.")
    for each in batch.wrong:
        if each.suggestion:
            note = f"{_line_name(each)}: {_wrong(each)}"
            yield TypedLine(parse_subject(each.suggestion), note)


def _is_within_text(line: TypedLine) -> bool:
    """Return whether the vehicle stood among other words. "= …" is another name of the vehicle."""
    return bool(line.note) and not line.note.startswith("=")


def _line_name(entry: WrongEntry) -> str:
    return f"Linha {entry.index + 1}{' do arquivo' if entry.in_file else ''}"


def _wrong(entry: WrongEntry) -> str:
    message = wrong_message(entry)
    return message if f"“{entry.value}”" in message else f"“{entry.value}”: {message}"


def _start_label(batch: Batch, left: Preview | None) -> str:
    if left is None or not left.askable:
        return ""
    verb = {"draft": "Consultar", "done": "Consultar de novo"}.get(batch.state, "Continuar com")
    price = f" por até {formats.brl(left.at_most)}" if left.at_most else ""
    return f"{verb} {counted(left.askable, 'placa', 'placas')}{price}"


def _again_text(batch: Batch) -> str:
    """Say which lookups the upstream may charge twice if the batch continues."""
    if batch.state != "paused" or not batch.counts.failed:
        return _AGAIN
    failed = counted(batch.counts.failed, "placa que falhou", "placas que falharam")
    return f"“Continuar” consulta de novo também {failed}. {_AGAIN}"


def _cancel_text(pending: int) -> str:
    what = "A placa que falta não é consultada"
    if pending != 1:
        what = f"As {grouped(pending)} placas que faltam não são consultadas"
    return f"{what}, e o lote não pode mais continuar. O que já foi respondido fica no resultado."


def _pause_text(batch: Batch) -> str:
    if batch.state != "paused":
        return ""
    if batch.resume_at is not None:
        return f"O lote continua sozinho em {formats.moment(from_epoch(batch.resume_at))}."
    if batch.reason == "operator_refused":
        return "Avise quem opera o portal. Continue o lote depois que o acesso for corrigido."
    if batch.reason == "no_credit":
        return "Avise quem contratou o acesso à fonte. Continue o lote depois que houver saldo."
    if batch.reason == "price":
        return "“Continuar” confirma o preço de agora para as placas que faltam."
    return "O lote continua quando você quiser."


def _allowance_text(room: int | None, needed: int) -> str:
    """Say whether today's limits still allow the calls that the batch needs."""
    if room is None or not needed:
        return ""
    resumes = "e continua sozinho depois da meia-noite, no horário de Brasília."
    if room <= 0:
        return f"O limite de consultas de hoje acabou: o lote começa em pausa {resumes}"
    needs = f"O lote precisa de até {counted(needed, 'consulta', 'consultas')}; "
    fits = f"no limite de hoje {'ainda cabe' if room == 1 else 'ainda cabem'} {grouped(room)}"
    return f"{needs}{fits}." if needed <= room else f"{needs}{fits}. Ali ele pausa {resumes}"


def _time_text(batch: Batch, ended: int, now: datetime) -> str:
    if batch.state != "running" or batch.started_at is None:
        return ""
    elapsed = max(1, round(now.timestamp() - batch.started_at))
    text = f"há {formats.duration(elapsed)}"
    if ended and batch.counts.pending:
        left = max(1, round(elapsed / ended * batch.counts.pending))
        text += f" · faltam cerca de {formats.duration(left)}"
    return text


def _contains(row: BatchRow, search: str) -> bool:
    """Return whether a row contains all words of ``search``.

    Hyphens, accents and letter case do not matter.
    """
    facts = (bare(fact).replace("-", "") for fact in (row.plate, row.vehicle, row.year) if fact)
    text = " ".join(form for fact in facts for form in (fact, fact.replace(" ", "")))
    return all(word in text for word in bare(search).replace("-", "").split())


def _shown_words(shown: int, total: int) -> str:
    return f"{grouped(shown)} de {counted(total, 'placa', 'placas')}" if shown < total else ""


def _bar(rows: Sequence[tuple[Item, BatchRow]]) -> Iterator[BarPart]:
    """Yield the bar's part for each verdict.

    A row counts as "incomplete" if its verdict is "limited" or None, because some of its lookups
    are missing.
    """
    shown = ("blocked", "caution", "clear")
    verdicts = [row.verdict if row.verdict in shown else "incomplete" for _, row in rows]
    start = 0.0
    for verdict in (*shown, "incomplete"):
        if count := verdicts.count(verdict):
            width = _FULL * count / len(rows)
            yield BarPart(verdict, round(start, 2), round(width, 2))
            start += width


def _matches(row: BatchRow, only: str) -> bool:
    if not only:
        return True
    return only in (row.state, row.verdict)


def _ordered(rows: list[tuple[Item, BatchRow]], order: str) -> list[tuple[Item, BatchRow]]:
    match order:
        case "conclusao":
            return sorted(rows, key=lambda pair: _WORST_FIRST.index(pair[1].verdict))
        case "multas":
            return sorted(rows, key=lambda pair: -(pair[1].fines_amount or 0))
        case "preco":
            return sorted(rows, key=lambda pair: -(pair[1].fipe_high or 0))
        case _:
            return rows


def _filters(
    rows: Sequence[tuple[Item, BatchRow]], only: str, url: Callable[..., str]
) -> Iterator[Filter]:
    yield Filter("Todas", len(rows), url(so="", pagina=1) if only else "")
    for key, label in FILTERS.items():
        count = sum(_matches(row, key) for _, row in rows)
        if count or key == only:
            address = "" if key == only else url(so=key, pagina=1)
            yield Filter(label, count, address, LOOKS.get(key))  # type: ignore[call-overload]


def _line(item: Item, row: BatchRow, batch: Batch, now: datetime) -> ResultLine:
    def fact(text: str, lookup: LookupName) -> str:
        is_possible = lookup in lookups_of(item.subject)
        return _NOT_ASKED if is_possible and lookup not in batch.ask else text

    return ResultLine(
        subject=item.subject,
        path=subject_path(item.subject),
        vehicle=row.vehicle or "",
        year=row.year or "",
        look=LOOKS[row.verdict] if row.verdict else None,  # type: ignore[index]
        finding=_finding(row),
        fines=fact(_fines(row), "renainf"),
        restrictions=fact(_restrictions(row), "renajud"),
        price=fact(_price(row), "decode"),
        age=formats.age(max(timedelta(0), now - row.fetched_at)) if row.fetched_at else "",
        state=_state(item, row, batch.state),
    )


def _finding(row: BatchRow) -> str:
    match row.verdict:
        case "blocked" | "limited" | "caution":
            return row.headline or ""
        case "clear":
            return FILTERS["clear"]
        case "incomplete":
            return f"Faltam {row.missing}" if row.missing else row.headline or "Incompleta"
        case _:
            return ""


def _fines(row: BatchRow) -> str:
    if row.fines_open is None:
        return "sem resposta" if row.verdict else ""
    if not row.fines_open:
        return "nenhuma"
    return f"{row.fines_open} · {formats.brl(row.fines_amount)}"


def _restrictions(row: BatchRow) -> str:
    if row.restrictions is None:
        return "sem resposta" if row.verdict else ""
    return f"{row.restrictions} em vigor" if row.restrictions else "nenhuma"


def _price(row: BatchRow) -> str:
    if row.fipe_low is None or row.fipe_high is None:
        return ""
    price = formats.price_range((row.fipe_low, row.fipe_high))
    return f"{price} {row.fipe_note}" if row.fipe_note else price


def _state(item: Item, row: BatchRow, state: State) -> str:
    match item.state:
        case "pending":
            return "não consultada" if state == "cancelled" else "na fila"
        case "failed":
            if item.cause == "rejected":
                return _REJECTED
            fault = FAULTS.get(item.cause)  # type: ignore[call-overload]
            return fault.sentence if fault else _OUT_OF_SCOPE
        case _:
            return f"vencidas: {row.expired}" if row.expired else ""
