"""Writes the analytical report about the records in a request.

This module does not use ``portal.law``. Tests can therefore compare the report with the portal's
own assessment of the same records. If the records of a topic are missing or unreadable, the
topic is "not verified", never "no records". The report puts texts from the records between “ ”, so
that readers do not mistake these texts for the report's own words.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from portal.vehicle.field import HIDDEN_MARKER, read_field
from portal.vehicle.plate import Plate
from portal.wording import counted

# The report's topics in the order of the API contract, each with its name for use in a sentence.
_LABELS = {
    "documentacao": "documentação",
    "rouboFurto": "roubo e furto",
    "leilao": "leilão",
    "fipe": "preço na tabela FIPE",
    "chassiMotor": "chassi e motor",
    "restricoes": "restrições judiciais",
    "multas": "multas",
    "proprietarios": "proprietários",
}
_SIGNS = {"clean": "✅ ", "warning": "⚠️ ", "neutral": "", "unverified": ""}
_FAILED = "Não verificado: a consulta estava indisponível, o que não significa que nada conste."
_MISSING = "Não verificado: os dados enviados não trazem esta informação em forma legível."

_LONGEST_QUOTE = 160  # characters
_MOST_LISTED = 5
_AMOUNT = re.compile(r"[0-9]{1,9}(\.[0-9]{1,2})?")

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Topic:
    """One topic.

    The report's summary (``resumo``) contains ``headline`` if the topic is verified.
    """

    state: Literal["clean", "warning", "neutral", "unverified"]
    headline: str
    detail: str = ""

    def __str__(self) -> str:
        return _SIGNS[self.state] + f"{self.headline} {self.detail}".rstrip()


def write_report(plate: Plate, data: Json) -> dict[str, object]:
    """Return the ``result`` member of the answer, in the API's field order.

    The members of ``data`` are sections. The name of a section is an operation, such as
    ``renainf``, or a topic, such as ``multas`` (fines). The portal sends only sections named after
    operations. The member ``indisponiveis`` (unavailable) lists the sections whose lookup failed.
    """
    decoded = _section(data, "decode", "veiculo")
    vehicle = decoded if isinstance(decoded, dict) else data
    topics = {
        "documentacao": _uncovered_topic(data, "documentacao"),
        "rouboFurto": _uncovered_topic(data, "rouboFurto", is_finding=True),
        "leilao": _uncovered_topic(data, "leilao", is_finding=True),
        "fipe": _prices(data, vehicle),
        "chassiMotor": _uncovered_topic(data, "chassiMotor"),
        "restricoes": _restrictions(data),
        "multas": _fines(data),
        "proprietarios": _uncovered_topic(data, "proprietarios"),
    }
    return {
        "resumo": _summary(plate, vehicle, topics),
        "topicos": {key: str(topic) for key, topic in topics.items()},
        "laudoFinal": _conclusion(topics),
    }


def _summary(plate: Plate, vehicle: Json, topics: Mapping[str, _Topic]) -> str:
    years = "/".join(filter(None, (_text(vehicle, "anoFabricacao"), _text(vehicle, "anoModelo"))))
    make, model = _text(vehicle, "marca"), _text(vehicle, "descricao")
    name = _quote("" if make in model else make, model, years, _text(vehicle, "combustivel"))
    sentences = [f"Veículo de placa {plate.display}{f': {name}' if name else ''}."]
    sentences += [topic.headline for topic in topics.values() if topic.state != "unverified"]
    if unverified := _labels(topics, "unverified"):
        sentences.append(f"Não verificado: {unverified}.")
    return " ".join(sentences)


def _conclusion(topics: Mapping[str, _Topic]) -> str:
    opinion = "Os dados enviados não bastam para um parecer."
    if warnings := _labels(topics, "warning"):
        opinion = f"Esclareça com o vendedor, por escrito: {warnings}."
    elif _labels(topics, "clean"):
        opinion = "Nada pede atenção no que os dados enviados permitem verificar."
    advice = "Faça uma vistoria cautelar antes de fechar o negócio."
    if unverified := _labels(topics, "unverified"):
        advice = f"Confira por outros meios o que não foi verificado: {unverified}. {advice}"
    return f"{opinion} {advice}"


def _labels(topics: Mapping[str, _Topic], state: str) -> str:
    return ", ".join(_LABELS[key] for key, topic in topics.items() if topic.state == state)


def _uncovered_topic(data: Json, key: str, *, is_finding: bool = False) -> _Topic:
    """Return a topic that no lookup covers, such as ``leilao`` (auction).

    If the section is a text, the topic quotes this text. If the section is a list, the topic states
    the number of records. If ``is_finding`` is true, any record makes the topic a warning, and the
    section may also be a bool. True stands for one record, and False for no records.
    """
    value = _section(data, key)
    label = _LABELS[key].capitalize()
    if quote := _quote(_text(data, key)):
        return _Topic("neutral", f"{label}: os dados enviados informam {quote}.")
    if not isinstance(value, list | bool if is_finding else list):
        return _unverified(data, key)
    count = len(value) if isinstance(value, list) else int(value)
    status: Literal["clean", "warning"] = "warning" if count else "clean"
    records = counted(count, "registro", "registros") if count else "nenhum registro"
    return _Topic(status if is_finding else "neutral", f"{label}: {records} nos dados enviados.")


def _prices(data: Json, vehicle: Json) -> _Topic:
    entries = _records(vehicle.get("informacoesFipe"))
    if entries is None:
        return _unverified(data, "decode")
    models = counted(len(entries), "modelo", "modelos") if entries else "nenhum modelo"
    prices = [price for entry in entries if (price := _amount(entry, "valorAtual")) is not None]
    if not prices:
        return _Topic("neutral", f"Preço na tabela FIPE: não informado ({models}).")
    low, high = _reais(min(prices)), _reais(max(prices))
    span = low if low == high else f"de {low} a {high}"
    advice = "Confirme a versão antes de negociar." if len(entries) > 1 else ""
    return _Topic("neutral", f"Preço na tabela FIPE: {span} ({models}).", advice)


def _restrictions(data: Json) -> _Topic:
    records = _records(_section(data, "renajud", "restricoes"))
    if records is None:
        return _unverified(data, "renajud", "restricoes")
    restrictions = [record for record in records if not _is_denied(record)]
    if not restrictions:
        headline = "Nenhuma restrição judicial nos dados enviados."
        return _Topic("clean", headline, "Gravame (financiamento) não foi verificado.")
    listed = [_restriction_text(record) for record in restrictions[:_MOST_LISTED]]
    if len(restrictions) > _MOST_LISTED:
        listed.append(f"e mais {len(restrictions) - _MOST_LISTED}")
    return _Topic(
        "warning",
        f"{counted(len(restrictions), 'restrição judicial', 'restrições judiciais')}.",
        f"{'; '.join(listed)}. Só o juízo que ordenou pode dar baixa.",
    )


def _is_denied(record: Json) -> bool:
    texts = ("restricoes", "tipoBloqueio", "detalheRenajud")
    return record.get("constaRenajud") is False and not any(record.get(name) for name in texts)


def _restriction_text(record: Json) -> str:
    court, day = _text(record, "tribunal").partition("-")[0], _text(record, "dataInclusao")[:10]
    return _quote(_text(record, "restricoes"), court, day) or "Sem descrição"


def _fines(data: Json) -> _Topic:
    records = _records(_section(data, "renainf", "multas"))
    if records is None:
        return _unverified(data, "renainf", "multas")
    if not records:
        return _Topic("clean", "Nenhuma multa nos dados enviados.")
    paid = [fine["pagamento"] for fine in records if _is_paid(fine)]
    due = [fine for fine in records if not _is_paid(fine)]
    sums = [f"{len(due)} sem data de pagamento, {_sum(due, 'valor')}"] if due else []
    if paid:
        sums.append(f"{counted(len(paid), 'paga', 'pagas')}, {_sum(paid, 'valorPago')}")
    headline = f"{counted(len(records), 'multa', 'multas')}: {'; '.join(sums)}."
    return _Topic("warning", headline, _costliest(due)) if due else _Topic("clean", headline)


def _is_paid(fine: Json) -> bool:
    return _text(fine.get("pagamento"), "dataPagamento") != ""


def _costliest(fines: Sequence[Json]) -> str:
    fine = max(fines, key=lambda fine: _amount(fine, "valor") or 0)
    if (amount := _amount(fine, "valor")) is None:
        return ""
    quote = _quote(_text(fine, "descricao").capitalize(), _text(fine, "dataInfracao"))
    return f"A de maior valor: {_reais(amount)}{quote and f', {quote}'}."


def _sum(records: Sequence[Json], name: str) -> str:
    amounts = [_amount(record, name) for record in records]
    known = [amount for amount in amounts if amount is not None]
    if not known:
        return "sem valor informado"
    at_least = "pelo menos " if len(known) < len(amounts) else ""
    return f"{at_least}{_reais(sum(known, Decimal(0)))} ao todo"


def _section(data: Json, *names: str) -> Any:
    """Return the first named section that is not empty.

    If all are empty, return None if the lookup of one has failed, else an empty section. Return
    None if ``data`` has none of the named sections. If a section is a whole API answer,
    ``{"status": …, "result": …}``, this function returns the member ``result``.
    """
    values = [data[name] for name in names if name in data]
    values = [v["result"] if isinstance(v, dict) and "result" in v else v for v in values]
    if filled := next(filter(None, values), None):
        return filled
    return values[0] if values and not _has_failed(data, *names) else None


def _has_failed(data: Json, *names: str) -> bool:
    failed = data.get("indisponiveis")
    return isinstance(failed, list) and any(name in failed for name in names)


def _unverified(data: Json, *names: str) -> _Topic:
    return _Topic("unverified", _FAILED if _has_failed(data, *names) else _MISSING)


def _records(value: object) -> Sequence[Json] | None:
    if isinstance(value, list) and all(isinstance(record, dict) for record in value):
        return value
    return None


def _text(record: object, name: str) -> str:
    """Return a member's text on one line.

    Returns "" if the member is missing, hidden by the upstream, or neither a text nor a number.
    """
    return str(read_field(record.get(name), HIDDEN_MARKER)) if isinstance(record, dict) else ""


def _quote(*texts: str) -> str:
    quoted = ", ".join(filter(None, texts)).replace("“", "'").replace("”", "'").strip()
    if len(quoted) > _LONGEST_QUOTE:
        quoted = f"{quoted[:_LONGEST_QUOTE].rstrip()}…"
    return f"“{quoted}”" if quoted else ""


def _amount(record: Json, name: str) -> Decimal | None:
    text = _text(record, name)
    return Decimal(text) if _AMOUNT.fullmatch(text) else None


def _reais(value: Decimal) -> str:
    """Format an amount as ``R$ 1.234,56``, but omit the cents ",00".

    The upstream cuts the cents of some amounts, so ",00" could be wrong.
    """
    return "R$ " + f"{value:,.2f}".removesuffix(".00").translate(str.maketrans(",.", ".,"))
