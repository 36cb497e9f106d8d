"""The operator's page that compares a provider's invoice with the ledger."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import ClassVar, Final

from portal.formats import duration
from portal.gateway.statement import Comparison, Difference, Kind
from portal.gateway.statement_file import Problem, WrongStatement

MOST_SHOWN: Final = 500
_KINDS: Final[Mapping[Kind, str]] = {
    "empty": "Cobrada, e a resposta não veio",
    "twice": "Cobrada duas vezes",
    "price": "Cobrada por outro preço",
    "not_ours": "Cobrada, e não está no livro-caixa",
    "not_billed": "No livro-caixa, e não cobrada",
}
_COLUMNS: Final[Mapping[str, str]] = {
    "time": "hora",
    "operation": "operação",
    "price": "preço",
    "plate": "placa",
}
_PROBLEMS: Final[Mapping[Problem, str]] = {
    "empty": "O arquivo está vazio.",
    "no_rows": "O arquivo não tem linhas além do cabeçalho.",
    "no_column": "O cabeçalho não tem a coluna “{text}”.",
    "unrecognised": "O cabeçalho não diz qual coluna é: {names}. Escreva os nomes abaixo.",
    "cell": "Linha {line}: “{text}” não serve como {names}.",
}


def problem_sentence(error: WrongStatement) -> str:
    names = ", ".join(_COLUMNS[name] for name in error.names)
    return _PROBLEMS[error.problem].format(text=error.text, line=error.line, names=names)


@dataclass(frozen=True, slots=True)
class StatementRow:
    """A difference. ``line`` is the line of the file, or None for a call that was not billed.

    ``billed`` and ``price`` are in R$, or None where the side has no such call, or no price.
    """

    what: str
    line: int | None
    at: datetime
    operation: str
    billed: Decimal | None
    price: Decimal | None


@dataclass(frozen=True, slots=True)
class StatementPage:
    """The form, with the names of columns that were typed, and what was compared, if anything."""

    template: ClassVar[str] = "pages/statement.html"
    most_shown: ClassVar[int] = MOST_SHOWN
    column_words: ClassVar[Mapping[str, str]] = _COLUMNS
    columns: Mapping[str, str] = field(default_factory=dict)
    compared: Comparison | None = None
    problem: str = ""

    @property
    def counts(self) -> Sequence[tuple[str, int]]:
        """The kinds of differences, each with its number."""
        counts = Counter(difference.kind for difference in self._differences)
        return [(words, counts[kind]) for kind, words in _KINDS.items() if counts[kind]]

    @property
    def rows(self) -> Sequence[StatementRow]:
        return [_row(difference) for difference in self._differences[:MOST_SHOWN]]

    @property
    def clock(self) -> str:
        """How far the provider's clock is from the portal's, "" within a second."""
        shift = timedelta() if self.compared is None else self.compared.shift
        if abs(shift) <= timedelta(seconds=1):
            return ""
        direction = "adiantado" if shift > timedelta() else "atrasado"
        return f"{direction} {duration(round(abs(shift).total_seconds()))}"

    @property
    def _differences(self) -> Sequence[Difference]:
        return () if self.compared is None else self.compared.differences


def _row(difference: Difference) -> StatementRow:
    billed, sent = difference.billed, difference.sent
    what = _KINDS[difference.kind]
    if billed is None:
        assert sent is not None
        call = sent.call
        return StatementRow(what, None, call.sent_at, call.operation, None, call.price)
    price = sent.call.price if sent is not None else None
    return StatementRow(what, billed.line, billed.at, billed.operation, billed.price, price)
