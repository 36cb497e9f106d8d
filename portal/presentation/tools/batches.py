"""The batch pages: the form, the highest possible cost, the progress, and the results.

A batch is a list of plates or Renavams (registration numbers) that the portal looks up together.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import ClassVar, Final, Literal
from urllib.parse import urlencode

from portal.batch import LOOKUPS, Batch, Item, LookupName, Reason, State, WrongEntry
from portal.presentation import formats
from portal.presentation.exports.batches import BatchRow, wrong_message
from portal.presentation.failure_texts import FAULTS
from portal.presentation.site.recent_lookup import RecentLookup, caution_words
from portal.presentation.site.typed_text import sanitise_echo
from portal.presentation.status_style import LEVEL_LOOKS, StatusStyle
from portal.system.local_time import from_epoch
from portal.vehicle import Plate, Renavam
from portal.wording import bare, counted, grouped

PAGE_SIZE: Final = 50
REFRESH_S: Final = 10
MOST_WRONG: Final = 20
LABELS: Final[Mapping[LookupName, str]] = {
    "decode": "Dados do veículo e FIPE",
    "renainf": "Multas (Renainf)",
    "renajud": "Restrições judiciais (Renajud)",
}
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
    "unreachable": "A fonte de dados não pode ser consultada agora",
    "busy": "A fonte de dados pediu uma pausa",
    "no_credit": "A fonte de dados exige pagamento ou saldo",
    "portal": "O portal não conseguiu registrar as consultas",
    "access": "O acesso não é mais aceito",
    "operator_refused": "A fonte de dados não aceitou o acesso deste portal",
}
_OUT_OF_SCOPE: Final = "O seu acesso não inclui uma das consultas."
_REJECTED: Final = "A fonte de dados não aceitou a placa."
# The values in a batch page's URL that sort and filter the table of results.
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
    "failed": "Com falha",
}
LONGEST_SEARCH: Final = 40
_FULL: Final = 100  # per cent
_RESULT: Final = 3  # the last ``step`` of a BatchPage
_WORST_FIRST: Final = ("blocked", "caution", "incomplete", "clear", None)


@dataclass(frozen=True, slots=True)
class LookupChoice:
    """A lookup that a batch can make. ``price`` is in R$ per vehicle, or "" if it is free."""

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

    ``problem`` is an error message about the list, or "". ``corrects`` is the id of the unstarted
    batch that the new batch replaces, or "".
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
    """A number about the typed list, such as how many entries were not recognised."""

    icon: Literal["check", "copy", "alert"]
    label: str
    count: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class ResultLine:
    """The row of a plate or Renavam in the table of results. An unknown text is ""."""

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
    """A link to one page of the table of results. ``url`` is "" for the page that is shown."""

    label: str
    url: str


@dataclass(frozen=True, slots=True)
class Filter:
    """A link that filters the table of results, for example by a verdict.

    ``url`` is "" for the filter in use. ``look`` is the style of the verdict. It is None for the
    links to all plates and to failed plates.
    """

    label: str
    count: int
    url: str
    look: StatusStyle | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """A sort order of the table of results. ``key`` is its value in the page's URL."""

    key: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class BarPart:
    """The part of the bar for one verdict. ``start`` and ``width`` are in per cent."""

    verdict: str
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class BatchPage:
    """The page of one batch.

    ``step`` is 1 (check the list), 2 (make the lookups) or 3 (see the results). The page refreshes
    every ``refresh_s`` seconds, or never if this is 0. ``start_label`` is the text of the button
    that starts, continues or repeats the batch.
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
    wrong: tuple[str, ...]
    more_wrong: int
    choices: tuple[LookupChoice, ...]
    at_most: str
    spent: str
    has_cost: bool
    start_label: str
    allowance: str
    total: int
    ended: int
    failed: int
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
    batches: Sequence[Batch] = (),
    *,
    text: str = "",
    problem: str = "",
    corrects: str = "",
    ask: Sequence[str] = LOOKUPS,
    recent: Sequence[RecentLookup] = (),
    chosen: Sequence[str] = (),
) -> BatchFormPage:
    """Build the form for a new batch.

    ``prices`` has an entry for each lookup that the visitor may make. The form preselects the
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
    """Return the text and the error message for a form that corrects the list of a batch.

    The text begins with the rejected entries. The message explains the first three of them.
    """
    wrong = [each.value for each in batch.wrong]
    reasons = " ".join(_wrong(each) for each in batch.wrong[:3])
    text = "\n".join([*wrong, *(item.subject.text for item in items)])
    if not wrong:
        return text, ""
    return text, f"Confira {'a linha' if len(wrong) == 1 else 'as linhas'} do começo. {reasons}"


def batch_page(
    batch: Batch,
    rows: Sequence[tuple[Item, BatchRow]],
    prices: Mapping[LookupName, Decimal],
    calls_left: tuple[int | None, int | None],
    now: datetime,
    *,
    only: str = "",
    order: str = "",
    search: str = "",
    number: int = 1,
    page_count: int | None = None,
) -> BatchPage:
    """Build the page of a batch. The table of results shows page ``number``.

    If ``page_count`` is given, ``rows`` has only the rows of page ``number``. If it is None,
    ``rows`` has the rows of all pages, or is empty if the batch was not started. ``only`` and
    ``search`` select rows, and ``order`` sorts them.
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
    left = counts.total - counts.done if batch.state == "done" else counts.pending
    step = {"draft": 1, "running": 2, "paused": 2}.get(batch.state, _RESULT)

    def url(**changes: str | int) -> str:
        chosen = {"so": only, "ordem": order, "busca": search, "pagina": number} | changes
        kept = {key: value for key, value in chosen.items() if value not in ("", 1)}
        return path + ("?" + urlencode(kept) if kept else "")

    return BatchPage(
        title=f"Lote de {counted(counts.total, 'placa', 'placas')}",
        path=path,
        json_path=f"/api/v1/batches/{batch.id}",
        correct_path=f"/lote?corrigir={batch.id}",
        step=step,
        state=batch.state,
        pause_title=_REASONS.get(batch.reason, ""),
        pause_text=_pause_text(batch),
        understood=_understood(batch),
        wrong=tuple(f"Linha {each.index + 1}: {_wrong(each)}" for each in batch.wrong[:MOST_WRONG]),
        more_wrong=max(0, len(batch.wrong) - MOST_WRONG) + batch.more_wrong,
        choices=tuple(each for each in _choices(prices, batch.ask) if each.is_chosen),
        at_most=formats.brl(batch.cost.at_most),
        spent=formats.brl(batch.cost.spent),
        has_cost=bool(batch.cost.spent or batch.cost.at_most),
        start_label=_start_label(batch, left),
        allowance=_allowance(calls_left),
        total=counts.total,
        ended=ended,
        failed=counts.failed,
        progress_text=f"{grouped(ended)} de {counted(counts.total, 'placa', 'placas')}",
        time_text=_time_text(batch, ended, now),
        refresh_s=REFRESH_S if batch.state == "running" or batch.resume_at else 0,
        lines=tuple(_line(item, row, now) for item, row in shown[first : first + PAGE_SIZE]),
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
        LookupChoice(name, LABELS[name], formats.brl(price) if price else "", name in ask)
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
    most = f"até {formats.brl(at_most)}"
    return most if batch.state == "draft" else f"{formats.brl(spent)} de {most}"


def _understood(batch: Batch) -> tuple[Understood, ...]:
    counts = batch.counts
    lines = [
        Understood("check", "A consultar", counts.total - counts.stored),
        Understood("check", "Com resposta guardada", counts.stored, "sem custo"),
        Understood("copy", "Repetidas, contadas uma vez", batch.repeated),
        Understood("alert", "Não reconhecidas, ficam de fora", len(batch.wrong) + batch.more_wrong),
    ]
    return tuple(line for line in lines if line.count or line is lines[0])


def _wrong(entry: WrongEntry) -> str:
    message = wrong_message(entry)
    return message if f"“{entry.value}”" in message else f"“{entry.value}”: {message}"


def _start_label(batch: Batch, left: int) -> str:
    what = counted(left, "placa", "placas")
    if batch.state == "draft":
        if not batch.cost.at_most:
            return f"Consultar {what}"
        return f"Consultar {what} por até {formats.brl(batch.cost.at_most)}"
    return f"Consultar de novo {what}" if batch.state == "done" else "Continuar"


def _pause_text(batch: Batch) -> str:
    if batch.state != "paused":
        return ""
    if batch.resume_at is not None:
        return f"O lote continua sozinho em {formats.moment(from_epoch(batch.resume_at))}."
    if batch.reason == "operator_refused":
        return "Avise quem opera o portal. Continue o lote depois que o acesso for corrigido."
    return "O lote continua quando você quiser. O que já foi respondido não é pago de novo."


def _allowance(calls_left: tuple[int | None, int | None]) -> str:
    known = [left for left in calls_left if left is not None]
    if not known:
        return ""
    return f"Ainda cabem {counted(min(known), 'consulta', 'consultas')} no limite de hoje."


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
    text = bare(f"{row.plate} {row.vehicle or ''} {row.year or ''}")
    return all(word in text for word in bare(search).replace("-", "").split())


def _shown_words(shown: int, total: int) -> str:
    return f"{grouped(shown)} de {counted(total, 'placa', 'placas')}" if shown < total else ""


def _bar(rows: Sequence[tuple[Item, BatchRow]]) -> Iterator[BarPart]:
    """Yield the bar's part for each verdict. Rows without a verdict belong to "incomplete"."""
    verdicts = [row.verdict or "incomplete" for _, row in rows]
    start = 0.0
    for verdict in ("blocked", "caution", "clear", "incomplete"):
        if count := verdicts.count(verdict):
            width = _FULL * count / len(rows)
            yield BarPart(verdict, round(start, 2), round(width, 2))
            start += width


def _matches(row: BatchRow, only: str) -> bool:
    if not only:
        return True
    return row.state == "failed" if only == "failed" else row.verdict == only


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
            yield Filter(label, count, address, LEVEL_LOOKS.get(key))  # type: ignore[call-overload]


def _line(item: Item, row: BatchRow, now: datetime) -> ResultLine:
    kind = "placa" if isinstance(item.subject, Plate) else "renavam"
    return ResultLine(
        subject=item.subject,
        path=f"/{kind}/{item.subject.text}",
        vehicle=row.vehicle or "",
        year=row.year or "",
        look=LEVEL_LOOKS[row.verdict] if row.verdict else None,  # type: ignore[index]
        finding=_finding(row),
        fines=_fines(row),
        restrictions=_restrictions(row),
        price=_price(row),
        age=formats.age(max(timedelta(0), now - row.fetched_at)) if row.fetched_at else "",
        state=_state(item, row),
    )


def _finding(row: BatchRow) -> str:
    match row.verdict:
        case "blocked":
            return row.headline or ""
        case "clear":
            return FILTERS["clear"]
        case "incomplete":
            return f"Faltam {row.missing}" if row.missing else row.headline or "Incompleta"
        case "caution":
            return caution_words(
                enforceable=row.fines_enforceable,
                open_fines=row.fines_open,
                restrictions=row.restrictions,
            )
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
    return formats.price_range((row.fipe_low, row.fipe_high))


def _state(item: Item, row: BatchRow) -> str:
    match item.state:
        case "pending":
            return "na fila"
        case "failed":
            if item.cause == "rejected":
                return _REJECTED
            fault = FAULTS.get(item.cause)  # type: ignore[call-overload]
            return fault.sentence if fault else _OUT_OF_SCOPE
        case _:
            return f"vencidas: {row.expired}" if row.expired else ""
