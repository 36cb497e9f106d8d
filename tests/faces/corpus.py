"""The specimens: vehicles drawn from a table, each with its answers, their age and a report.

Nothing here imports ``portal``, so that one corpus can be rendered on any commit. The records are
of a fixed day, NOW. A specimen's plate is derived from its name, so that a new specimen changes no
text of the others.
"""

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

from tests.factories import (
    HIDDEN,
    Record,
    decode_body,
    encode,
    fine,
    fipe_entry,
    message_body,
    payment,
    price_history,
    renainf_body,
    renajud_body,
    report_body,
    restriction,
    topics,
)
from tests.presentation.records_table import ROWS

NOW = datetime(2026, 11, 20, 15, 0, tzinfo=UTC)  # noon in São Paulo
TODAY = date(2026, 11, 20)

Lookup = Literal["decode", "renainf", "renajud"]
LOOKUPS: tuple[Lookup, ...] = ("decode", "renainf", "renajud")
# "stale": stored, and the source no longer answers. "down": never stored, and no answer.
# "forbidden": outside the scopes of the token. "unasked": never asked for.
State = Literal["fresh", "stale", "down", "forbidden", "unasked"]


@dataclass(frozen=True, slots=True)
class Answer:
    body: bytes
    state: State = "fresh"
    status: int = 200


@dataclass(frozen=True, slots=True)
class Specimen:
    """One vehicle. ``later`` replaces answers after the report was written."""

    name: str
    plate: str
    answers: Mapping[Lookup, Answer] = field(repr=False)
    report: bytes | None = field(default=None, repr=False)
    later: Mapping[Lookup, bytes] = field(default_factory=dict, repr=False)
    is_of_sandbox: bool = False

    def in_state(self, *states: State) -> list[Lookup]:
        return [name for name in LOOKUPS if self.answers[name].state in states]


# The sandbox's example plates that answer at once. Their records are asked of the sandbox.
SANDBOX_PLATES = (
    *("ABC1D23", "LMP0A01", "MUL0A45", "TRA0A01", "LIC0A01", "CIR0A01", "PEN0A01", "JUD0A04"),
    *("FIP0A03", "FIP0A06", "MES0A01", "FIP0A00", "VAZ0A00", "TXT0A01", "TXT0A02"),
)


def plate_of(name: str) -> str:
    """Return a Mercosul plate for a name."""
    rest = zlib.crc32(name.encode())
    letters = ""
    for _ in range(4):
        rest, letter = divmod(rest, 26)
        letters += chr(ord("A") + letter)
    rest, digits = divmod(rest, 1000)
    return f"{letters[:3]}{digits // 100}{letters[3]}{digits % 100:02}"


def specimen(
    name: str, answers: Mapping[Lookup, Answer | bytes] | None = None, **options: Any
) -> Specimen:
    """A vehicle with a price, no fines and no court orders, except for ``answers``."""
    plate = plate_of(name)
    usual: dict[Lookup, Answer | bytes] = {
        "decode": decode_body(plate),
        "renainf": renainf_body(),
        "renajud": renajud_body(),
    }
    found = {
        lookup: given if isinstance(given, Answer) else Answer(given)
        for lookup, given in {**usual, **(answers or {})}.items()
    }
    return Specimen(name, plate, found, **options)


def _on(day: date) -> str:
    return f"{day:%d/%m/%Y}"


def _ago(days: int) -> str:
    return _on(TODAY - timedelta(days))


def fine_of(committed: int, notified: int | None, penalty: int | None, **fields: Any) -> Record:
    """A fine by the age in days of its offence, its notice and its penalty."""
    dates = {
        "dataInfracao": _ago(committed),
        "dataCadastroInfracao": _ago(committed - 3),
        "dataEmissaoNotificacao": "" if notified is None else _ago(notified),
        "dataEmissaoPenalidade": "" if penalty is None else _ago(penalty),
    }
    return fine(**{**dates, **fields})


PAID = payment(dataPagamento=_ago(60), valorPago="104.13", ufPagamento="MG")
FINES: dict[str, Record] = {
    "paid": fine_of(400, 390, 250, pagamento=PAID),
    "enforceable": fine_of(300, 290, 200),
    "probably due": fine_of(120, 110, 45, valor="195.23", codigoInfracao="6050"),
    "due": fine_of(90, 80, 5, valor="293", codigoInfracao="7633"),
    "notice": fine_of(30, 10, None, valor="880", codigoInfracao="5010"),
    "suspended": fine_of(300, 290, 200, tipo="EM RECURSO"),
    "unknown": fine_of(463, 455, None),
    "maybe paid": fine_of(300, 290, 200, tipo="PAGA"),
    "called off": fine_of(300, 290, 200, tipo="CANCELADA"),
}
MORE_FINES: dict[str, Record] = {
    "charged by word": fine_of(400, 390, None, tipo="DIVIDA ATIVA"),
    "not charged by word": fine_of(400, 390, 200, tipo="NAO EXIGIVEL"),
    "hidden penalty": fine_of(400, 390, None, dataEmissaoPenalidade=HIDDEN),
    "dates contradict": fine_of(100, 150, 90),
    "in the future": fine_of(-20, None, None),
    "payment in the future": fine_of(300, 290, 200, pagamento=payment(dataPagamento=_ago(-9))),
    "payment unreadable": fine_of(300, 290, 200, pagamento=payment(dataPagamento="ONTEM")),
    "paid in part": fine_of(300, 290, 200, pagamento=payment(dataPagamento=_ago(9), valorPago="9")),
    "no amount": fine_of(300, 290, 200, valor="", codigoInfracao="9999"),
    "hidden amount": fine_of(300, 290, 200, valor=HIDDEN),
    "written amount": fine_of(300, 290, 200, valor="R$ 1.234,56"),
    "large amount": fine_of(300, 290, 200, valor="5869.40", codigoInfracao="5169"),
    "unknown code": fine_of(300, 290, 200, codigoInfracao="9999", descricao="ALGO NOVO"),
    "empty": fine_of(300, None, None)
    | dict.fromkeys(("dataInfracao", "dataCadastroInfracao", "descricao", "valor"), ""),
    "everything": fine_of(
        300, 290, 200, autoInfracao="A0012345", tipo="NOTIFICACAO DE PENALIDADE",
        medicaoReal="149", medicaoConsiderada="139", codigoInfracao="7471", valor="880.41",
    ),
    "other state, at night": fine_of(300, 290, 200, ufOrgaoAutuador="SP", horaInfracao=" 23:59"),
}  # fmt: skip

KINDS = ("TRANSFERENCIA", "LICENCIAMENTO", "CIRCULACAO", "PENHORA")
_FREE = {"constaRenajud": False, "detalheRenajud": ""}


def order_in(state: str, kind: str = "TRANSFERENCIA") -> Record:
    """A court order of a kind in a state."""
    match state:
        case "in force":
            return restriction(restricoes=kind)
        case "doubtful":
            return restriction(restricoes=f"{kind}, ALGO NOVO", tribunal="TRIBUNAL DESCONHECIDO")
        case "lifted":
            return restriction(restricoes=f"{kind} BAIXADA")
        case "hidden":
            return restriction(restricoes=HIDDEN, orgaoJudiciario=HIDDEN)
        case "contradicted":
            return restriction(restricoes=kind, **_FREE)
    raise ValueError(state)


ORDER_STATES = ("in force", "doubtful", "lifted", "hidden", "contradicted")


def _standings_and_orders() -> Iterator[Specimen]:
    """Every standing of a fine beside a court order in every state."""
    for row, (standing, record) in enumerate(FINES.items()):
        yield specimen(f"{standing}, no order", {"renainf": renainf_body(record)})
        for column, state in enumerate(ORDER_STATES):
            order = order_in(state, KINDS[(row + column) % len(KINDS)])
            yield specimen(
                f"{standing}, order {state}",
                {"renainf": renainf_body(record), "renajud": renajud_body(order)},
            )


def _orders() -> Iterator[Specimen]:
    """Every kind of court order in every state, without a fine."""
    for kind in KINDS:
        for state in ("in force", "doubtful", "lifted", "contradicted"):
            body = renajud_body(order_in(state, kind))
            yield specimen(f"{kind.lower()} {state}", {"renajud": body})
    odd = {
        "hidden": [order_in("hidden")],
        "of no kind": [restriction(restricoes="")],
        "of an unknown kind": [restriction(restricoes="ALGO NOVO")],
        "of two kinds": [restriction(restricoes="TRANSFERENCIA, LICENCIAMENTO")],
        "of two kinds, one lifted": [restriction(restricoes="CIRCULACAO, PENHORA BAIXADA")],
        "denied": [restriction(**dict.fromkeys(restriction(), "") | _FREE)],
        "two alike": [restriction(), restriction()],
        "in all states": [order_in(state, kind) for state in ORDER_STATES for kind in KINDS[:2]],
    }
    for name, orders in odd.items():
        yield specimen(f"orders: {name}", {"renajud": renajud_body(*orders)})


def _fines() -> Iterator[Specimen]:
    for name, record in MORE_FINES.items():
        yield specimen(f"fine: {name}", {"renainf": renainf_body(record)})
    table = [*FINES.values(), *MORE_FINES.values()]
    for count in (0, 1, 6, 45, 300):
        records = [
            table[n % len(table)] | {"localInfracao": f"RODOVIA {n} KM {n * 7}"}
            for n in range(count)
        ]
        yield specimen(f"{count} fines", {"renainf": renainf_body(*records)})
    alike = [FINES["enforceable"] | {"localInfracao": f"BR-040 KM {n}"} for n in range(45)]
    yield specimen("45 fines alike", {"renainf": renainf_body(*alike)})
    unpriced = [MORE_FINES["no amount"]] * 6
    yield specimen("6 fines without amount", {"renainf": renainf_body(*unpriced)})
    mixed = [MORE_FINES["no amount"], *FINES.values()]
    yield specimen("one fine in each standing", {"renainf": renainf_body(*mixed)})
    order = renajud_body(order_in("in force"))
    yield specimen(
        "one fine in each standing and an order",
        {"renainf": renainf_body(*mixed), "renajud": order},
    )


def _prices() -> Iterator[Specimen]:
    other = {"fipeId": "81850", "versao": "SPORTBACK 1.4 TFSI"}
    candidates: dict[str, list[Record]] = {
        "none": [],
        "two": [fipe_entry(), fipe_entry(**other)],
        "tied": [fipe_entry(), fipe_entry(fipeId="81907", valorAtual="79000.00")],
        "six": [
            fipe_entry(
                fipeId=f"8190{n}", versao=f"VERSAO {n}", valorAtual=f"{80 + n}000.00",
                historicoPreco=price_history(108, 6, (2017, 6), 90_000 + 1_371 * n),
            )
            for n in range(6)
        ],
        "of another year": [fipe_entry(ano="2012")],
        "of another vehicle": [fipe_entry(marca="Fiat", modelo="Uno", versao="MILLE 1.0")],
        "without history": [fipe_entry(historicoPreco=[])],
        "of one month": [fipe_entry(historicoPreco=price_history(1, 0, (2026, 11)))],
        "of two months": [fipe_entry(historicoPreco=price_history(2, 0, (2026, 10)))],
        "with six predictions": [fipe_entry(historicoPreco=price_history(30, 6))],
        "of predictions alone": [fipe_entry(historicoPreco=price_history(3, 3, (2026, 12)))],
        "without predictions": [fipe_entry(historicoPreco=price_history(24, 0))],
        "with a gap": [
            fipe_entry(historicoPreco=price_history(8, 0) + price_history(12, 2, (2026, 1)))
        ],
        "without an amount": [fipe_entry(valorAtual="")],
        "with a hidden amount": [fipe_entry(valorAtual=HIDDEN)],
        "rising": [
            fipe_entry(
                valorAtual="99000",
                historicoPreco=[
                    month | {"valor": str(80_000 + n * 900)}
                    for n, month in enumerate(price_history(24, 1))
                ],
            )
        ],
    }  # fmt: skip
    for name, entries in candidates.items():
        title = f"prices: {name}"
        body = decode_body(plate_of(title), informacoesFipe=entries)
        yield specimen(title, {"decode": body})


def _identifications() -> Iterator[Specimen]:
    def decoded(name: str, **fields: Any) -> Specimen:
        fines = renainf_body(FINES["enforceable"])
        plate = fields.pop("placa", plate_of(name))
        return specimen(name, {"decode": decode_body(plate, **fields), "renainf": fines})

    yield decoded("identity: another plate", placa="ZZZ9Z99")
    yield decoded("identity: hidden plate", placa=HIDDEN)
    yield decoded("identity: nothing described", **dict.fromkeys(("marca", "descricao"), ""))
    yield decoded("identity: years contradict", anoModelo="2015", anoFabricacao="2019")
    yield decoded("identity: a chassis", chassi="9BWZZZ377VT004251")
    yield decoded("identity: a chassis with a wrong digit", chassi="1M8GDM9A1KP042788")
    name = "identity: order of another plate"
    yield specimen(name, {"renajud": renajud_body(restriction(placa="ZZZ9Z99"))})
    name = "identity: order of another model"
    odd = restriction(marcaModelo="FIAT/UNO", anoModelo="1999", renavam="79831854647")
    yield specimen(name, {"renajud": renajud_body(odd)})
    name = "identity: fine of another model"
    yield specimen(name, {"renainf": renainf_body(FINES["due"] | {"marcaModelo": "FIAT/UNO"})})
    name = "identity: all names differ"
    decode = decode_body(plate_of(name), marca="VW", descricao="GOL 1.0", anoModelo="2001")
    fines = renainf_body(FINES["due"] | {"marcaModelo": "FIAT/UNO"})
    yield specimen(name, {"decode": decode, "renainf": fines, "renajud": renajud_body(odd)})


_UNCONFIRMED = encode({"status": "SUCCESS", "message": "Consulta parcial", "result": []})
_UNREADABLE = encode({"status": "SUCCESS", "result": [{"autoInfracao": 1}, {}]})


def _lookups() -> Iterator[Specimen]:
    """Gaps: every lookup in every state, alone and with the others."""
    states: tuple[State, ...] = ("stale", "down", "forbidden", "unasked")

    def with_states(name: str, clean: bool, **wanted: State) -> Specimen:
        bodies: dict[Lookup, bytes] = {
            "decode": decode_body(plate_of(name)),
            "renainf": renainf_body() if clean else renainf_body(FINES["enforceable"]),
            "renajud": renajud_body() if clean else renajud_body(order_in("in force")),
        }
        return specimen(
            name,
            {each: Answer(body, wanted.get(each, "fresh")) for each, body in bodies.items()},
        )

    for state in states:
        for lookup in LOOKUPS:
            yield with_states(f"{lookup} {state}", False, **{lookup: state})
            yield with_states(f"{lookup} {state}, else clean", True, **{lookup: state})
        if state != "forbidden":
            yield with_states(f"all {state}", False, **dict.fromkeys(LOOKUPS, state))
            yield with_states(f"all {state}, clean", True, **dict.fromkeys(LOOKUPS, state))
    yield with_states("three states", True, decode="stale", renainf="down", renajud="fresh")
    yield with_states("decode down, fines stale", False, decode="down", renainf="stale")
    yield specimen("fines unconfirmed", {"renainf": _UNCONFIRMED})
    yield specimen("orders unconfirmed", {"renajud": _UNCONFIRMED})
    yield specimen("both unconfirmed", {"renainf": _UNCONFIRMED, "renajud": _UNCONFIRMED})
    yield specimen("records of a wrong shape", {"renainf": _UNREADABLE, "renajud": _UNREADABLE})
    missing = Answer(message_body("Veículo não encontrado."), status=404)
    yield specimen("decode not found", {"decode": missing})
    yield specimen("nothing found", dict.fromkeys(LOOKUPS, missing))
    refused = Answer(message_body("Por favor, informe uma placa válida."), status=400)
    yield specimen("all refused", dict.fromkeys(LOOKUPS, refused))
    yield specimen("empty vehicle", {"decode": encode({"status": "DONE", "result": {}})})


def _reports() -> Iterator[Specimen]:
    records: dict[Lookup, bytes] = {
        "renainf": renainf_body(fine()),
        "renajud": renajud_body(restriction()),
    }
    yield specimen("report: honest", records, report=report_body())
    lying = report_body(
        "Veículo sem restrições e sem multas.",
        "Pode ser comprado sem ressalvas.",
        restricoes="✅ Nenhuma restrição judicial.",
        multas="✅ Nenhuma multa.",
        fipe="✅ Valor de referência: R$ 12.000,00.",
    )
    yield specimen("report: contradicted", records, report=lying)
    changed = {"renainf": renainf_body(fine(), FINES["enforceable"])}
    yield specimen("report: outdated", records, report=report_body(), later=changed)
    gone = {"renainf": renainf_body(), "renajud": renajud_body()}
    yield specimen("report: outdated, all gone", records, report=report_body(), later=gone)
    empty = report_body("", "", **dict.fromkeys(topics(), ""))
    yield specimen("report: empty", records, report=empty)
    hidden = report_body(HIDDEN, HIDDEN, **dict.fromkeys(topics(), HIDDEN))
    yield specimen("report: hidden", records, report=hidden)


def _rows() -> Iterator[Specimen]:
    """The records of the table that says what each face must say."""
    states: Mapping[str, State] = {"down": "down", "stale": "stale"}
    for row in ROWS:
        name = f"row: {row.case}"
        plate = plate_of(name)
        bodies: dict[Lookup, bytes] = {
            "decode": decode_body(plate, **{"placa": plate, **row.vehicle}),
            "renainf": renainf_body(*row.fines),
            "renajud": renajud_body(*row.orders),
        }
        answers = {
            lookup: Answer(
                _UNCONFIRMED if row.gaps.get(lookup) == "unconfirmed" else body,
                states.get(row.gaps.get(lookup, ""), "fresh"),
            )
            for lookup, body in bodies.items()
        }
        report = None if row.report is None else report_body(**row.report)
        yield specimen(name, answers, report=report)


def corpus() -> list[Specimen]:
    """All specimens, the sandbox's first, whose answers are not yet known."""
    of_sandbox = [
        Specimen(f"sandbox {plate}", plate, {}, is_of_sandbox=True) for plate in SANDBOX_PLATES
    ]
    drawn = [
        each
        for group in (
            *(_standings_and_orders, _orders, _fines, _prices, _identifications, _lookups),
            *(_reports, _rows),
        )
        for each in group()
    ]
    found = of_sandbox + drawn
    for values in ([each.name for each in found], [each.plate for each in found]):
        assert len(set(values)) == len(values), "two specimens have one name or plate"
    return found
