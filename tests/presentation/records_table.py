"""A table of records, with what every page, paper and export must say about each of them.

The expectations are those of the law and of the source's words, as a person reads them. The day of
reading is 20/11/2026 in São Paulo. ``test_records_on_every_face`` walks the table.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.factories import HIDDEN, Record, fine, fipe_entry, payment, restriction

Gap = Literal["down", "stale", "unconfirmed"]


@dataclass(frozen=True, kw_only=True)
class Row:
    """Records, and what each face that shows them must say.

    ``finding`` is a part of the headline. ``standings`` has the word of each fine. ``owed`` is the
    sum of the open fines in words, or "" without open fines. ``in_force`` counts the court orders
    in force, of which ``in_doubt`` are in doubt. ``transfer`` is the mark of the transfer.
    ``price`` is the price in words, or why there is none. ``with_price`` is a text that stands
    wherever the price stands, and ``doubt`` a part of the sentence that explains it. ``ceiling`` is
    the suggested price, or a part of the reason why there is none. ``also`` are texts that page and
    paper must have, ``never`` texts that no face may have. A gap is a lookup whose answer is
    missing or old. ``owed`` and ``in_force`` are None where their lookup has no answer.
    """

    case: str
    fines: tuple[Record, ...] = ()
    orders: tuple[Record, ...] = ()
    vehicle: Mapping[str, Any] = field(default_factory=dict)
    report: Mapping[str, str] | None = None
    gaps: Mapping[str, Gap] = field(default_factory=dict)
    level: str
    finding: str
    standings: tuple[str, ...] = ()
    owed: str | None = ""
    in_force: int | None = 0
    in_doubt: int = 0
    transfer: str = "careful"
    price: str = "R$ 89.325"
    confidence: tuple[str, ...] = ("likeliest",)
    ceiling: str = ""
    with_price: str = ""
    doubt: str = ""
    also: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


# Words for findings and for the reasons why no price is suggested.
NOTHING = "Nenhuma multa em aberto nem restrição judicial encontrada"
OPEN = "Há multa em aberto"
CALLED_OFF = "Há multa que a fonte dá como cancelada"
NOTICE = "Há autuação, ainda sem multa"
PAY_ONE = "Em regra, só transfere depois de paga a multa"
PAY_FIRST = "Em regra, só transfere depois de pagas as multas"
DOUBTED = "Há restrição judicial de situação incerta"
NO_TRANSFER = "Não pode ser transferido agora"
AS_A_RULE = "Em regra, não pode ser transferido agora"
IN_PRACTICE = "Na prática, não pode ser transferido agora"
NO_LICENCE = "Não pode ser licenciado e, na prática, também não transfere"
NO_DRIVING = "Não pode circular nem ser transferido"
AFTER_LIFTING = "Só depois da baixa da restrição judicial"
ASK_COURT = "Há restrição judicial de situação incerta"
INSPECT = "A identificação do veículo está em dúvida"
UNKNOWN = "não é possível dizer"

# The ceiling without fines, and with the one fine of R$ 130,16.
FULL, LESS_ONE = "R$ 89.325,00", "R$ 89.194,84"
ONE = "R$ 130,16"

# A penalty of June, long due in November.
CHARGED = {
    "dataInfracao": "10/03/2026",
    "dataCadastroInfracao": "12/03/2026",
    "dataEmissaoNotificacao": "25/03/2026",
    "dataEmissaoPenalidade": "10/06/2026",
}


def charged(**changes: Any) -> Record:
    return fine(**{**CHARGED, **changes})


def paid(**changes: Any) -> Record:
    """Return the fine, paid in full in July.

    ``day``, ``sum``, ``state`` and ``registered`` replace the payment's.
    """
    fields = {
        "dataPagamento": changes.pop("day", "25/07/2026"),
        "valorPago": changes.pop("sum", "130"),
        "ufPagamento": changes.pop("state", ""),
        "dataRegistro": changes.pop("registered", ""),
    }
    return charged(pagamento=payment(**fields), **changes)


def order(kinds: str, **changes: Any) -> Record:
    return restriction(restricoes=kinds, **changes)


def one_fine(case: str, record: Record, level: str, finding: str, word: str, **more: Any) -> Row:
    given: dict[str, Any] = {"owed": ONE, "ceiling": LESS_ONE} | more
    return Row(case=case, fines=(record,), level=level, finding=finding, standings=(word,), **given)


def maybe_paid(case: str, record: Record, **more: Any) -> Row:
    return one_fine(
        case, record, "caution", OPEN, "talvez paga", **{"never": ("Nada encontrado nos",)} | more
    )


def settled(case: str, record: Record, **more: Any) -> Row:
    given: dict[str, Any] = {"owed": "", "transfer": "yes", "ceiling": FULL} | more
    return one_fine(case, record, "clear", NOTHING, "paga", **given)


def one_order(case: str, record: Record, finding: str = NO_TRANSFER, **more: Any) -> Row:
    given: dict[str, Any] = {"in_force": 1, "transfer": "no", "ceiling": AFTER_LIFTING} | more
    return Row(case=case, orders=(record,), level="blocked", finding=finding, **given)


def doubted(case: str, record: Record, **more: Any) -> Row:
    given: dict[str, Any] = {
        "in_force": 1,
        "in_doubt": 1,
        "transfer": "unknown",
        "ceiling": ASK_COURT,
    } | more
    return Row(case=case, orders=(record,), level="caution", finding=DOUBTED, **given)


def clear(case: str, **more: Any) -> Row:
    given: dict[str, Any] = {"transfer": "yes", "ceiling": FULL} | more
    return Row(case=case, level="clear", finding=NOTHING, **given)


# --- Fines: what the source says beside a payment ---

# Each of these words reverses, limits or questions a payment.
_REVERSING = (
    *("PAGAMENTO ESTORNADO", "PAGAMENTO CANCELADO", "DEVOLVIDO", "REJEITADO", "NAO CONFIRMADO"),
    *("REATIVADA", "ABERTA", "EM COBRANCA", "INADIMPLENTE", "PROTESTADA", "SALDO DEVEDOR"),
    *("PAGO A MENOR", "VALOR INSUFICIENTE", "PAGO PARCIALMENTE"),
    *("Pagamento não confirmado", "estorno", "CHEQUE DEVOLVIDO", "EM ABERTO", "NAO QUITADA"),
    *("PAGA EM PARTE", "AGUARDANDO COMPENSACAO", "DIVIDA ATIVA", "PARCELADA", "COM PENDENCIA"),
    *("PAGAMENTO NAO IDENTIFICADO", "VENCIDA", "PENALIDADE REATIVADA", "QUITACAO ANULADA"),
    *("EM PAGAMENTO", "NOTIFICACAO DE PAGAMENTO", "PAGO 20%", "PAGA 40 %", "CHARGEBACK"),
    *("PAGO EM JUIZO", "QUITACAO CONDICIONADA", "RESTITUIDA", "PIX AGENDADO"),
)
_IN_FULL = (
    *("", "PENALIDADE", "PAGA", "QUITADA", "MULTA PAGA", "PAGAMENTO CONFIRMADO", "Paga"),
    *("LIQUIDADA", "PAGO INTEGRALMENTE", "MULTA COM NOTIFICACAO DE PENALIDADE", "BAIXADA"),
    *("PAGO VIA PIX", "PAGAMENTO POR BOLETO", "Paga no banco"),
)


def _payments() -> Iterator[Row]:
    for word in _REVERSING:
        yield maybe_paid(f"paid, but {word}", paid(tipo=word), also=(f"“{word}”",))
    for amount in ("50", "1", "0.01", "77", "64,90", "R$ 100,00", "-130,16"):
        yield maybe_paid(f"paid {amount} of 130.16", paid(sum=amount))
    for word in _IN_FULL:
        yield settled(f"paid, and {word or 'no word'}", paid(tipo=word))
    for amount in ("130.16", "130,16", "R$ 130,16", "104", "104.13", "", "13016", "150"):
        yield settled(f"paid {amount or 'an unknown sum'}", paid(day="05/07/2026", sum=amount))
    for amount in ("78", "78.10"):
        yield settled(f"paid {amount} through SNE", paid(day="05/07/2026", sum=amount))
    yield one_fine(
        "paid with discount long after the due date",
        paid(day="15/10/2026", sum="104.13"),
        "caution",
        "Multa de 10/03/2026 paga com desconto, provavelmente depois do vencimento",
        "paga",
        owed="",
        ceiling="R$ 89.298,97",
        also=("posterior ao vencimento", "pode faltar R$ 26,03"),
    )
    for state in ("PENDENTE", "REJEICAO", "EM ABERTO", "A CONFIRMAR", "ERRO"):
        yield maybe_paid(
            f"paid, and {state} instead of a state", paid(state=state), also=(f"“{state}”",)
        )
    for state in ("SP", "SAO PAULO", "Rio Grande do Sul", "35", "MG/BR"):
        yield settled(f"paid in {state}", paid(state=state))
    for amount in ("0", "0.00", "R$ 0,00"):
        yield maybe_paid(f"paid {amount}", paid(sum=amount), also=("valor pago de zero",))
    yield settled("PAGA, and paid 0", paid(sum="0", tipo="PAGA"), also=("consta como zero",))
    yield maybe_paid(
        "payment registered in the future",
        paid(registered="25/12/2026"),
        also=("data do registro do pagamento (25/12/2026) está no futuro",),
    )
    yield settled("payment registered in time", paid(registered="27/07/2026"))
    yield maybe_paid(
        "paid before every other day of the record",
        paid(day="01/01/2000", dataInfracao=""),
        also=("é anterior a todas as outras do registro",),
    )
    yield settled("paid, day in ISO form", paid(day="2026-07-25"))
    yield settled("paid, moment of a database", paid(day="25/07/2026 00:00:00"))
    yield maybe_paid("paid in the future", paid(day="25/12/2026"), also=("está no futuro",))
    yield maybe_paid("paid before the infraction", paid(day="01/02/2026"))
    yield maybe_paid("paid on a reversed day", paid(day="25/07/2026 ESTORNADO"))
    yield maybe_paid("paid on a hidden day", paid(day=HIDDEN))
    yield maybe_paid("PAGO instead of a day", paid(day="PAGO"))
    yield maybe_paid("paid sum without a day", paid(day=""))
    yield maybe_paid("paid state without a day", charged(pagamento=payment(ufPagamento="MG")))
    yield maybe_paid("status PAGA without a payment", charged(tipo="PAGA"))
    yield maybe_paid("status QUITADA without a payment", charged(tipo="QUITADA"))
    for day in ("00/00/0000", "NAO PAGO", "EM ABERTO", "-", "01/01/1900", "31/12/1969"):
        yield one_fine(f"payment day {day}", paid(day=day, sum=""), "caution", PAY_ONE, "exigível")


# --- Fines: dates, words and amounts ---


def _standings() -> Iterator[Row]:
    notified = {"dataInfracao": "10/08/2026", "dataEmissaoNotificacao": "25/08/2026"}
    due = "no prazo de pagamento ou recurso"
    yield one_fine("penalty long due", charged(), "caution", PAY_ONE, "exigível")
    yield one_fine(
        "penalty in ISO form",
        charged(dataInfracao="2026-03-10", dataEmissaoPenalidade="2026-06-10"),
        *("caution", PAY_ONE, "exigível"),
    )
    yield one_fine(
        "penalty of last month",
        charged(dataEmissaoPenalidade="05/10/2026"),
        *("caution", OPEN, "vencimento provável"),
    )
    yield one_fine(
        "penalty of this month", charged(dataEmissaoPenalidade="05/11/2026"), "caution", OPEN, due
    )
    yield one_fine(
        "thirtieth day of the penalty",
        charged(dataEmissaoPenalidade="21/10/2026"),
        *("caution", OPEN, due),
    )
    yield one_fine("notice only", fine(**notified), "caution", NOTICE, "em autuação")
    yield one_fine(
        "no notice at all",
        fine(dataInfracao="10/08/2026", dataEmissaoNotificacao=""),
        *("caution", OPEN, "situação incerta"),
    )
    yield one_fine(
        "infraction in the future",
        charged(dataInfracao="15/12/2026"),
        *("caution", OPEN, "situação incerta"),
        also=("está no futuro",),
    )
    yield one_fine(
        "penalty hidden",
        charged(dataEmissaoPenalidade=HIDDEN),
        *("caution", OPEN, "situação incerta"),
    )
    # A date that a database writes for "none" is no date.
    for none in ("01/01/1900", "31/12/1969", "01/01/1970", "00/00/0000", "01/01/0001"):
        yield one_fine(
            f"penalty of {none}",
            fine(**notified, dataEmissaoPenalidade=none),
            *("caution", NOTICE, "em autuação"),
            never=("dias: a data", "Penalidade de 01", "Penalidade de 31"),
        )
    yield one_fine(
        "infraction of 31/12/1969",
        charged(dataInfracao="31/12/1969"),
        *("caution", PAY_ONE, "exigível"),
        never=("prescrit", "20.", "1969 às"),
    )
    for word in ("SUSPENSA", "EM RECURSO", "COM EFEITO SUSPENSIVO"):
        yield one_fine(
            f"status {word}",
            charged(tipo=word),
            *("caution", OPEN, "suspensa"),
            also=(f"“{word}”",),
        )
    # Something else is suspended, or the suspension is over.
    for word in (
        *("CNH SUSPENSA", "DIREITO DE DIRIGIR SUSPENSO"),
        *("EM RECURSO INTEMPESTIVO", "RECURSO SUSPENSO", "PAGAMENTO SUSPENSO", "EM DEFESA"),
    ):
        yield one_fine(
            f"status {word}",
            charged(tipo=word),
            *("caution", PAY_ONE, "exigível"),
            also=(f"“{word}”",),
        )
    for word in ("EXIGIBILIDADE SUSPENSA - LIMINAR", "COBRANCA SUSPENSA POR DECISAO JUDICIAL"):
        yield one_fine(
            f"status {word}", charged(tipo=word), "caution", OPEN, "suspensa", also=(f"“{word}”",)
        )
    for word in (
        *("PROTESTADA", "NIP EXPEDIDA", "INSCRITA NO CADIN", "EXECUCAO FISCAL", "PARCELADA 3/12"),
        *("RECURSO INDEFERIDO PELA JARI", "TRANSITADA EM JULGADO", "MULTA IMPOSTA", "EM COBRANCA"),
        *("PAGAMENTO PARCIAL", "PRAZO DE DEFESA VENCIDO", "INSCRITA EM D.A."),
    ):
        yield one_fine(
            f"notice only, and {word}",
            fine(**notified, tipo=word),
            *("caution", OPEN, "situação incerta"),
            also=(f"“{word}”",),
            never=("não bloqueia", "ainda sem multa"),
        )
    for word in (
        *("EM AUTUAÇÃO", "NOTIFICADA DA AUTUACAO", "MULTA COM NOTIFICACAO DE AUTUACAO"),
        *("NA EXPEDIDA", "AGUARDANDO DEFESA", "EM ABERTO", "PRAZO PARA INDICACAO DE CONDUTOR"),
    ):
        yield one_fine(
            f"notice only, and {word}",
            fine(**notified, tipo=word),
            *("caution", NOTICE, "em autuação"),
        )
    for word in ("EXIGIVEL", "DIVIDA ATIVA", "VENCIDA"):
        yield one_fine(f"status {word}", charged(tipo=word), "caution", PAY_ONE, "exigível")
    for word in (
        *("CANCELADA", "ARQUIVADA", "RECURSO DEFERIDO", "RECURSO PROVIDO", "INSUBSISTENTE", "NULA"),
        *("EXCLUIDA", "AUTO INSUBSISTENTE"),
    ):
        yield one_fine(
            f"status {word}",
            charged(tipo=word),
            *("caution", CALLED_OFF, f"“{word}”, segundo a fonte"),
            owed="",
            ceiling=FULL,
            never=("Em regra, só pode ser transferido",),
        )
    for word in (
        "NAO EXIGIVEL",
        "INEXIGIVEL",
        "PROVIDENCIAS",
        "SUSPENSA ATE 10/10/2025",
        "LIMINAR",
    ):
        yield one_fine(
            f"status {word}",
            charged(tipo=word),
            *("caution", OPEN, "situação incerta"),
        )
    yield one_fine(
        "status RECURSO INDEFERIDO",
        charged(tipo="RECURSO INDEFERIDO"),
        *("caution", PAY_ONE, "exigível"),
    )
    for word in (
        "RECURSO NAO PROVIDO",
        "RECURSO IMPROVIDO",
        "SUBSISTENTE",
        "EXCLUIDA DO SNE",
        *("RECURSO DO ORGAO PROVIDO", "RECURSO DA AUTORIDADE DEFERIDO"),
    ):
        yield one_fine(f"status {word}", charged(tipo=word), "caution", PAY_ONE, "exigível")
    for sent, code, text in (
        ("R$ 1.467,35", "5010", "R$ 1.467,35"),
        ("130,16", "7455", ONE),
        ("13016", "7455", ONE),
        ("880", "5010", "R$ 880,41"),
        ("5869", "5169", "R$ 5.869,40"),
        ("2934", "5169", "R$ 2.934,70"),
        ("195", "7463", "R$ 195,23"),
        # No fine is less than the table's amount: a discounted, cut or mistaken value.
        ("104", "7455", ONE),
        ("78.10", "7455", ONE),
        ("88", "7455", ONE),
        ("1", "7455", ONE),
        ("0,13", "7455", ONE),
        ("293", "5169", "R$ 2.934,70"),
    ):
        cents = int(text[3:].replace(".", "").replace(",", ""))
        left = f"{(8_932_500 - cents) // 100:,}".replace(",", ".")
        yield one_fine(
            f"amount {sent} of {code}",
            charged(codigoInfracao=code, descricao="", valor=sent),
            *("caution", PAY_ONE, "exigível"),
            owed=text,
            ceiling=f"R$ {left},{(8_932_500 - cents) % 100:02}",
        )
    yield one_fine(
        "amount of 2015",
        charged(
            dataInfracao="10/03/2015",
            dataEmissaoPenalidade="10/06/2015",
            valor="85",
            dataCadastroInfracao="",
            dataEmissaoNotificacao="25/03/2015",
        ),
        *("caution", PAY_ONE, "exigível"),
        owed="R$ 85,13",
        ceiling="R$ 89.239,87",
    )


def _sums() -> Iterator[Row]:
    yield settled("paid as much as asked", paid(valor="88", sum="88"))
    yield maybe_paid("paid 1 as asked", paid(valor="1", sum="1"))
    yield one_fine(
        "no amount, and the description of another code",
        charged(valor="", descricao="DIRIGIR SOB A INFLUENCIA DE ALCOOL"),
        *("caution", PAY_ONE, "exigível"),
        owed="não informado",
        ceiling=FULL,
    )
    unpriced = charged(valor="", codigoInfracao="9999", descricao="")
    for count in (1, 6):
        yield Row(
            case=f"{count} fines without amount",
            fines=(unpriced,) * count,
            level="caution",
            finding=PAY_ONE if count == 1 else PAY_FIRST,
            standings=("exigível",) * count,
            owed="não informado",
            ceiling=FULL,
            also=("não informado",),
            never=("R$ 0,00",),
        )
    yield Row(
        case="part of the amounts unknown",
        fines=(unpriced, charged()),
        level="caution",
        finding=PAY_FIRST,
        standings=("exigível", "exigível"),
        owed=ONE,
        ceiling=LESS_ONE,
        also=("ao menos",),
        never=("R$ 0,00",),
    )
    yield Row(
        case="one paid, one open",
        fines=(paid(), charged(dataInfracao="11/03/2026")),
        level="caution",
        finding=PAY_ONE,
        standings=("paga", "exigível"),
        owed=ONE,
        ceiling=LESS_ONE,
    )
    yield Row(
        case="one reversed, one open",
        fines=(paid(tipo="PAGAMENTO ESTORNADO"), charged(dataInfracao="11/03/2026")),
        level="caution",
        finding=PAY_ONE,
        standings=("talvez paga", "exigível"),
        owed="R$ 260,32",
        ceiling="R$ 89.064,68",
    )
    yield Row(
        case="thirteen fines in five states",
        fines=(
            *(paid(dataInfracao=f"{day}/03/2026") for day in (10, 11, 12)),
            *(
                fine(dataInfracao=f"{day}/08/2026", dataEmissaoNotificacao="25/08/2026")
                for day in (10, 11, 12)
            ),
            *(charged(dataEmissaoPenalidade=f"{day}/10/2026") for day in (2, 3, 4)),
            *(charged(dataEmissaoPenalidade=f"{day}/11/2026") for day in (2, 3, 4)),
            charged(),
        ),
        level="caution",
        finding=PAY_ONE,
        standings=(
            *("paga",) * 3,
            *("em autuação",) * 3,
            *("vencimento provável",) * 3,
            *("no prazo de pagamento ou recurso",) * 3,
            "exigível",
        ),
        owed="R$ 1.301,60",
        ceiling="R$ 88.023,40",
    )


# --- Court orders ---

# No word of these lifts the order.
_STANDING_ORDERS = (
    ("NAO TRANSFERIR", NO_TRANSFER),
    ("TRANSFERENCIA NAO PERMITIDA", NO_TRANSFER),
    ("TRANSFERENCIA SUSPENSA", NO_TRANSFER),
    ("TRANSFERENCIA VEDADA", NO_TRANSFER),
    ("CIRCULACAO SUSPENSA", NO_DRIVING),
    ("NAO CIRCULAR", NO_DRIVING),
    ("CIRCULACAO NAO AUTORIZADA", NO_DRIVING),
    ("RETIRADA DE CIRCULACAO", NO_DRIVING),
    ("CIRCULACAO ATE BAIXA", NO_DRIVING),
    ("LICENCIAMENTO SUSPENSO", NO_LICENCE),
    ("NAO LICENCIAR", NO_LICENCE),
    ("PENHORA SEM BLOQUEIO DE CIRCULACAO", IN_PRACTICE),
    ("TRANSFERENCIA, BAIXA SOLICITADA", NO_TRANSFER),
    ("TRANSFERENCIA - AGUARDANDO BAIXA", NO_TRANSFER),
    ("TRANSFERENCIA - BAIXA PENDENTE", NO_TRANSFER),
    ("TRANSFERENCIA; PEDIDO DE LEVANTAMENTO", NO_TRANSFER),
    ("TRANSFERENCIA (BAIXA INDEFERIDA)", NO_TRANSFER),
    ("TRANSFERENCIA, A SER BAIXADA", NO_TRANSFER),
    ("TRANSFERENCIA NAO BAIXADA", NO_TRANSFER),
    ("PENHORA, BAIXA REQUERIDA", IN_PRACTICE),
    ("TRANSFERENCIA ATIVA", NO_TRANSFER),
    ("TRANSFERENCIA, PENHORA BAIXADA", NO_TRANSFER),
    ("TRANSFERENCIA LIBERADA COM RESTRICAO", NO_TRANSFER),
    ("TRANSFERENCIA (BAIXADA EM 10/10/2027)", NO_TRANSFER),
    ("CIRCULACAO BAIXADA EM 2027-10-10", NO_DRIVING),
    ("TRANSFERENCIA ENCERRADA EM 2030", NO_TRANSFER),
    ("TRANSFERENCIA, BAIXADO: 0", NO_TRANSFER),
    ("PENHORA LEVANTADA EM 10/10/2025 E RENOVADA", IN_PRACTICE),
    ("TRANSFERENCIA BAIXADA EM 10/10/2025 - REINCLUIDA EM 05/05/2026", NO_TRANSFER),
    ("PENHORA BAIXADA, ARRESTO", IN_PRACTICE),
    ("TRANSFERENCIA BAIXADA; NOVA ORDEM EM 2026", AS_A_RULE),
)
_LIFTED = (
    *("PENHORA BAIXADA", "TRANSFERENCIA CANCELADA", "TRANSFERENCIA LEVANTADA"),
    *("TRANSFERENCIA - RETIRADA", "RESTRICAO DE TRANSFERENCIA REVOGADA", "CIRCULACAO LIBERADA"),
    *("Transferência baixada", "TRANSFERENCIA, BAIXA EFETUADA", "RESTRICAO BAIXADA"),
    *("LICENCIAMENTO, TRANSFERENCIA, CANCELADAS", "SEM RESTRICAO DE TRANSFERENCIA"),
    *("TRANSFERENCIA BAIXADA EM 20/11/2026", "PENHORA LEVANTADA EM 2025"),
    *("TRANSFERENCIA LIBERADA JUDICIALMENTE EM 05/01/2026", "PENHORA; BAIXADA EM 10.10.2025"),
)


def _orders() -> Iterator[Row]:
    for kinds, finding in (
        ("TRANSFERENCIA", NO_TRANSFER),
        ("transferência", NO_TRANSFER),
        ("LICENCIAMENTO", NO_LICENCE),
        ("CIRCULACAO", NO_DRIVING),
        ("RESTRICAO TOTAL", NO_DRIVING),
        ("PENHORA", IN_PRACTICE),
        ("AVERBACAO DE PENHORA", IN_PRACTICE),
    ):
        yield one_order(f"order {kinds}", order(kinds), finding)
    for kinds, finding in _STANDING_ORDERS:
        yield one_order(f"order {kinds}", order(kinds), finding, never=("situação incerta",))
    for kinds in ("ALGO NOVO", HIDDEN, ""):
        yield one_order(f"order {kinds or 'without kind'}", order(kinds), AS_A_RULE)
    for more in ({"tipoBloqueio": "BAIXADA"}, {"tipoBloqueio": "TRANSFERENCIA BAIXADA"}):
        yield one_order(
            f"order hidden, and {more['tipoBloqueio']}", order(HIDDEN, **more), AS_A_RULE
        )
    for kinds in _LIFTED:
        yield doubted(f"order {kinds}", order(kinds), never=("Não pode ser transferido agora",))
    yield doubted(
        "order described, but recorded as none", order("TRANSFERENCIA", constaRenajud=False)
    )
    yield clear(
        "no order: NADA CONSTA",
        orders=(
            order(
                "NADA CONSTA",
                constaRenajud=False,
                detalheRenajud="",
                dataInclusao="",
                tribunal="",
                orgaoJudiciario="",
                processo="",
            ),
        ),
    )
    yield one_order(
        "order of 31/12/1969",
        order("TRANSFERENCIA", dataInclusao="31/12/1969 21:00:00"),
        never=("1969",),
    )
    yield one_order(
        "order with a program's moment",
        order("TRANSFERENCIA", dataInclusao="23/10/2025, 11:13:38"),
        also=("23/10/2025",),
    )
    yield one_order(
        "order with a moment in UTC",
        order("TRANSFERENCIA", dataInclusao="2025-10-24T01:13:38Z"),
        also=("23/10/2025",),
        never=("24/10/2025",),
    )
    yield Row(
        case="orders of two courts and kinds",
        orders=(
            order("TRANSFERENCIA"),
            order("CIRCULACAO", tribunal="TRT3", orgaoJudiciario="12ª Vara do Trabalho"),
        ),
        level="blocked",
        finding=NO_DRIVING,
        in_force=2,
        transfer="no",
        ceiling=AFTER_LIFTING,
    )
    yield Row(
        case="lifted order and an order in force",
        orders=(order("PENHORA BAIXADA"), order("TRANSFERENCIA")),
        level="blocked",
        finding=NO_TRANSFER,
        in_force=2,
        in_doubt=1,
        transfer="no",
        ceiling=AFTER_LIFTING,
    )
    yield Row(
        case="order in doubt and an enforceable fine",
        fines=(charged(),),
        orders=(order("PENHORA BAIXADA"),),
        level="caution",
        finding=DOUBTED,
        standings=("exigível",),
        owed=ONE,
        in_force=1,
        in_doubt=1,
        transfer="unknown",
        ceiling=ASK_COURT,
        never=("Só após pagar as multas",),
    )
    yield Row(
        case="order in force and an enforceable fine",
        fines=(charged(),),
        orders=(order("TRANSFERENCIA"),),
        level="blocked",
        finding=NO_TRANSFER,
        standings=("exigível",),
        owed=ONE,
        in_force=1,
        transfer="no",
        ceiling=AFTER_LIFTING,
    )
    long = "TRANSFERENCIA, CIRCULACAO E LICENCIAMENTO COM MUITAS PALAVRAS ALHEIAS"
    yield Row(
        case="four long orders and four kinds of fines",
        fines=(
            charged(),
            charged(dataEmissaoPenalidade="05/10/2026"),
            charged(dataEmissaoPenalidade="05/11/2026"),
            paid(tipo="PAGAMENTO ESTORNADO"),
        ),
        orders=tuple(order(long, tribunal=f"TRT{number}") for number in (1, 2, 3, 4)),
        level="blocked",
        finding=NO_DRIVING,
        standings=(
            *("exigível", "vencimento provável", "no prazo de pagamento ou recurso"),
            "talvez paga",
        ),
        owed="R$ 520,64",
        in_force=4,
        transfer="no",
        ceiling=AFTER_LIFTING,
    )


# --- What records say about the car itself ---


def _identities() -> Iterator[Row]:
    very = {"descricao": "", "valor": "293"}
    for code, what in (
        ("65561", "lacre"),
        ("65562", "chassi"),
        ("65563", "selo"),
        ("65564", "placa"),
        ("65565", "identificação"),
        ("6556", "identificação"),
        ("6580", "falta de placa"),
        ("65800", "falta de placa"),
    ):
        yield one_fine(
            f"paid fine of {code}",
            paid(codigoInfracao=code, day="05/07/2026", sum="293", **very),
            *("caution", f"Já foi autuado por {what}", "paga"),
            owed="",
            ceiling=INSPECT,
        )
    yield one_fine(
        "open fine of 65561",
        charged(codigoInfracao="65561", **very),
        *("caution", "Já foi autuado por lacre", "exigível"),
        owed="R$ 293,47",
        ceiling=INSPECT,
    )
    yield one_fine(
        "paid fine that describes a tampered chassis",
        paid(
            codigoInfracao="",
            descricao="CONDUZIR VEICULO COM CHASSI ADULTERADO",
            sum="293",
            valor="293",
        ),
        *("caution", "Já foi autuado por chassi", "paga"),
        owed="",
        ceiling=INSPECT,
    )
    yield one_fine(
        "paid fine that describes a false plate",
        paid(codigoInfracao="", descricao="COND VEIC C/ PLACA FALSA", sum="293", valor="293"),
        *("caution", "Já foi autuado por placa", "paga"),
        owed="",
        ceiling=INSPECT,
    )
    yield Row(
        case="orders of two Renavams, vehicle unavailable",
        orders=tuple(
            order("NADA CONSTA", constaRenajud=False, detalheRenajud="", renavam=renavam)
            for renavam in ("79831854647", "86769597308")
        ),
        gaps={"decode": "down"},
        level="incomplete",
        finding="Falta consultar os dados do veículo",
        transfer="careful",
        price="indisponível",
        confidence=(),
        ceiling=INSPECT,
        also=("Os registros trazem Renavam diferentes",),
    )
    other = "Um registro descreve outro veículo"
    yield one_fine(
        "paid fine of another make",
        paid(marcaModelo="VW/GOL 1.0"),
        *("caution", other, "paga"),
        owed="",
        ceiling=INSPECT,
        also=("VW/GOL 1.0",),
    )
    yield one_fine(
        "open fine of another make",
        charged(marcaModelo="VW/GOL 1.0"),
        *("caution", other, "exigível"),
        ceiling=INSPECT,
    )
    # A trim that two models share does not make them one.
    weekend = fipe_entry(marca="Fiat", modelo="PALIO", versao="WEEKEND ADVENTURE 1.8 FLEX")
    palio = {
        "marca": "FIAT",
        "descricao": "FIAT/PALIO WEEKEND ADVENTURE FLEX",
        "informacoesFipe": [weekend],
    }
    for text in ("FIAT/STRADA ADVENTURE FLEX", "FIAT/IDEA ADVENTURE 1.8", "FIAT/SIENA EL FLEX"):
        yield one_fine(
            f"paid fine of {text} under a Palio Adventure",
            paid(marcaModelo=text),
            *("caution", other, "paga"),
            vehicle=palio,
            owed="",
            ceiling=INSPECT,
        )
    for text in ("FIAT/PALIO WK ADVEN FLEX", "FIAT/PALIO WEEKEND", "FIAT", "NAO INFORMADO"):
        yield settled(
            f"paid fine of {text} under a Palio Adventure",
            paid(marcaModelo=text),
            vehicle=palio,
        )
    for text in ("I/AUDI A3", "AUDI/A3 SEDAN", "AUDI A3 LM 180CV", ""):
        yield settled(f"paid fine of {text or 'no vehicle'}", paid(marcaModelo=text))
    yield Row(
        case="order of another plate",
        orders=(order("TRANSFERENCIA", placa="XYZ9K99"),),
        level="blocked",
        finding=NO_TRANSFER,
        in_force=1,
        transfer="no",
        ceiling=AFTER_LIFTING,
        also=(other,),
    )
    yield Row(
        case="lifted order of another make",
        orders=(order("PENHORA BAIXADA", marcaModelo="VW/GOL 1.0"),),
        level="caution",
        finding=other,
        in_force=1,
        in_doubt=1,
        transfer="unknown",
        ceiling=ASK_COURT,
    )
    yield Row(
        case="tampered chassis and an order in force",
        fines=(paid(codigoInfracao="65562", day="05/07/2026", sum="293", **very),),
        orders=(order("TRANSFERENCIA"),),
        level="blocked",
        finding=NO_TRANSFER,
        standings=("paga",),
        in_force=1,
        transfer="no",
        ceiling=AFTER_LIFTING,
        also=("Já foi autuado por chassi",),
    )


# What the vehicle's own data may say, and the words of it that speak ill of the vehicle.
_ILL: tuple[tuple[str, str, str], ...] = (
    ("tipoVeiculo", "SUCATA", "SUCATA"),
    ("tipoVeiculo", "Automóvel - Sucata", "Sucata"),
    ("tipoVeiculo", "AUTOMOVEL (CHASSI REMARCADO)", "CHASSI REMARCADO"),
    ("chassi", "9BWZZZ377VT004251 REM", "REM"),
    ("chassi", "REMARCADO", "REMARCADO"),
    ("descricao", "A3 LM 180CV SINISTRADO", "SINISTRADO"),
    ("descricao", "A3 LM 180CV - MÉDIA MONTA", "MÉDIA MONTA"),
    ("nacional", "RECUPERADO DE SINISTRO", "RECUPERADO DE SINISTRO"),
    ("tipoVeiculo", "SINISTRO NAO RECUPERADO", "SINISTRO"),
    ("tipoVeiculo", "AUTOMOVEL DE LEILÃO", "LEILÃO"),
    ("tipoVeiculo", "VEICULO BAIXADO", "VEICULO BAIXADO"),
    ("tipoVeiculo", "ROUBO/FURTO", "ROUBO"),
    ("caixaCambio", "VEICULO FURTADO", "VEICULO FURTADO"),
    ("tipoVeiculo", "PERDA TOTAL", "PERDA TOTAL"),
    ("tipoVeiculo", "INSERVIVEL", "INSERVIVEL"),
    ("combustivel", "GASOLINA - ALIENACAO FIDUCIARIA", "ALIENACAO FIDUCIARIA"),
    ("tipoVeiculo", "SEM SINISTRO, COM LEILAO", "LEILAO"),
    ("tipoVeiculo", "NAO CIRCULA: SUCATA", "SUCATA"),
    ("tipoVeiculo", "CLONADO", "CLONADO"),
    ("nacional", "NAO RECUPERADO", "NAO RECUPERADO"),
    ("chassi", "CHASSI REMARC.", "CHASSI REMARC"),
    ("descricao", "A3 LM 180CV PEQ. MONTA", "PEQ. MONTA"),
    ("tipoVeiculo", "VEICULO COM RESTRICAO", "RESTRICAO"),
    ("tipoVeiculo", "BX. DEFINITIVA", "BX. DEFINITIVA"),
    ("tipoVeiculo", "BAIXA PERMANENTE", "BAIXA PERMANENTE"),
    ("tipoVeiculo", "CIRCULACAO PROIBIDA", "PROIBIDA"),
    ("tipoVeiculo", "Comunicação de venda ativa", "Comunicação de venda"),
    ("tipoVeiculo", "INTENCAO DE VENDA", "INTENCAO DE VENDA"),
    ("tipoVeiculo", "FURTO: NAO; ROUBO: SIM", "ROUBO"),
)
_NO_ILL: tuple[tuple[str, str], ...] = (
    *(("tipoVeiculo", text) for text in ("NAO CONSTA SINISTRO", "SEM SINISTRO", "SINISTRO: NAO")),
    *(("tipoVeiculo", text) for text in ("Nada consta de roubo ou furto", "NUNCA FOI A LEILAO")),
    *(("tipoVeiculo", text) for text in ("SEM REGISTRO DE ROUBO", "ROUBO/FURTO: NADA CONSTA")),
    *(("tipoVeiculo", text) for text in ("SEM RESTRICAO", "RESTRICOES: NENHUMA", "NAO SUCATA")),
    *(("tipoVeiculo", text) for text in ("SEM RESTRICAO DE ROUBO", "SEM INDICIO DE SINISTRO")),
    *(("tipoVeiculo", text) for text in ("NAO REMARCADO", "CHASSI NAO REMARCADO", "Automóvel")),
    *(("tipoVeiculo", text) for text in ("SINISTRO NÃO INFORMADO", "LEILAO: NAO INFORMADO")),
    ("descricao", "A3 LM 180CV REBAIXADO"),
    ("caixaCambio", "AUTOMATICA COM ANTI-FURTO"),
    ("chassi", "9BWREM377VT004251"),
)

_CONFLICTING: tuple[tuple[Record, str], ...] = (
    ({"anoFabricacao": "2016"}, "fabricação em 2016, ano-modelo 2015"),
    ({"anoFabricacao": "2012"}, "fabricação em 2012, ano-modelo 2015"),
    ({"anoFabricacao": "2030"}, "ano no futuro, 2030"),
    ({"marca": "IMP/AUDI", "nacional": "SIM"}, "nacional, com prefixo de importado"),
    ({"descricao": "I/AUDI A3", "nacional": "NACIONAL"}, "nacional, com prefixo de importado"),
)
_AGREEING: tuple[Record, ...] = (
    {"anoFabricacao": "2015"},
    {"anoFabricacao": ""},
    {"descricao": "I/AUDI A3", "nacional": "NAO"},
    {"descricao": "I/AUDI A3", "nacional": ""},
)


def _conditions() -> Iterator[Row]:
    """What the vehicle's own data say of it, which no record of a fine or a court says."""
    for name, text, words in _ILL:
        yield Row(
            case=f"{name} {text}",
            vehicle={name: text},
            level="caution",
            finding=f"Os dados do veículo trazem “{words}”",
            ceiling=f"Os dados do veículo trazem “{words}”",
            also=(f"Os dados do veículo trazem “{words}”",),
        )
    for name, text in _NO_ILL:
        yield clear(f"{name} {text}", vehicle={name: text})
    for data, words in _CONFLICTING:
        yield Row(
            case=f"contradictory data: {data}",
            vehicle=data,
            level="caution",
            finding=f"Os dados do veículo se contradizem ({words})",
            ceiling=f"Os dados do veículo se contradizem ({words})",
            also=("compare o CRLV-e com o veículo",),
        )
    for data in _AGREEING:
        yield clear(f"data that agree: {data}", vehicle=data)
    yield Row(
        case="scrap, and an order in force",
        vehicle={"tipoVeiculo": "SUCATA"},
        orders=(order("TRANSFERENCIA"),),
        level="blocked",
        finding=NO_TRANSFER,
        in_force=1,
        transfer="no",
        ceiling=AFTER_LIFTING,
        also=("Os dados do veículo trazem “SUCATA”",),
    )
    yield one_fine(
        "scrap, and a paid fine for a tampered chassis",
        paid(codigoInfracao="65562", day="05/07/2026", sum="293", descricao="", valor="293"),
        *("caution", "Já foi autuado por chassi", "paga"),
        vehicle={"tipoVeiculo": "SUCATA"},
        owed="",
        ceiling=INSPECT,
        also=("Os dados do veículo trazem “SUCATA”",),
    )


# --- Prices ---


# A further word makes another model, with a price of its own.
_LIKE_NAMES = (
    ("CITROEN/C3 GLX", "C3 AIRCROSS"),
    ("CITROEN/C3 AIRCROSS GLX", "C3"),
    ("HYUNDAI/HB20S 1.0M COMFOR", "HB20"),
    ("HYUNDAI/HB20 1.0M COMFOR", "HB20S"),
    ("FIAT/SIENA EL FLEX", "GRAND SIENA"),
    ("FIAT/GSIENA ATTRAC 1.4", "SIENA"),
    ("TOYOTA/COROLLA XEI20FLEX", "COROLLA CROSS"),
    ("TOYOTA/HILUX CD4X4 SRV", "HILUX SW4"),
    ("TOYOTA/HILUXSW4 SRX", "HILUX"),
    ("CHERY/TIGGO 7 TXS", "TIGGO 8"),
    ("CHEVROLET/ONIX 10MT LT1", "ONIX PLUS"),
    ("MMC/PAJERO HPE FULL", "PAJERO TR4"),
    ("FIAT/PALIO WK ADVENTURE", "PALIO"),
    ("RENAULT/DUSTER OROCH DYN", "DUSTER"),
)
_SAME_NAMES = (
    ("CITROEN/C3 AIRCROSS GLX", "C3 AIRCROSS"),
    ("HYUNDAI/HB20S 1.0M COMFOR", "HB20S"),
    ("FIAT/GSIENA ATTRAC 1.4", "GRAND SIENA"),
    ("FIAT/PALIO WK ADVENTURE", "PALIO WEEKEND"),
    ("TOYOTA/COROLLA CROSS XRE", "COROLLA CROSS"),
    ("CHERY/TIGGO 5X TXS", "TIGGO 5X"),
    ("HONDA/HRV EX CVT", "HR-V"),
    ("HONDA/NEW CIVIC LXS", "CIVIC"),
    ("RENAULT/SANDERO EXP1016V", "SANDERO"),
)


def _prices() -> Iterator[Row]:
    def priced(case: str, *entries: Record, **more: Any) -> Row:
        vehicle = {"informacoesFipe": list(entries), **more.pop("vehicle", {})}
        return clear(case, vehicle=vehicle, **more)

    argo = fipe_entry(
        marca="Fiat", modelo="ARGO", versao="1.0 6V FLEX", fipeId="15075", valorAtual="50000.00"
    )
    foreign: dict[str, Any] = {
        "price": "a tabela trouxe outro veículo",
        "confidence": ("other_vehicle",),
        "ceiling": UNKNOWN,
    }
    yield priced("price of a Fiat Argo", argo, **foreign)
    yield priced(
        "price of an Audi Q5", fipe_entry(modelo="Q5", versao="2.0 TFSI QUATTRO"), **foreign
    )
    yield priced(
        "prices of a Fiat Argo and of the A3",
        argo,
        fipe_entry(),
        confidence=("likeliest", "other_vehicle"),
        never=("R$ 50.000 a",),
    )
    yield priced(
        "price of another model year",
        fipe_entry(ano="2012", valorAtual="93000.00"),
        price="R$ 93.000",
        with_price="do ano-modelo 2012",
        doubt="o ano-modelo no registro é 2015",
        ceiling="Preço FIPE do ano-modelo 2012",
    )
    yield priced(
        "price of a new car",
        fipe_entry(ano="32000", valorAtual="193000.00", historicoPreco=[]),
        price="R$ 193.000",
        with_price="de zero km",
        doubt="Este preço é de veículo zero km",
        ceiling="Preço FIPE de zero km",
        never=("32000",),
    )
    yield priced(
        "price of a new car for a new car",
        fipe_entry(ano="32000", valorAtual="193000.00", historicoPreco=[]),
        vehicle={"anoModelo": "2026", "anoFabricacao": "2026"},
        price="R$ 193.000",
        ceiling="R$ 193.000,00",
        never=("32000",),
    )
    for vehicle, entry in _LIKE_NAMES:
        make = vehicle.partition("/")[0].removeprefix("I ")
        yield priced(
            f"price of a {entry} for a {vehicle}",
            fipe_entry(marca=make, modelo=entry, versao="1.6 FLEX"),
            vehicle={"marca": make, "descricao": vehicle},
            **foreign,
        )
    for vehicle, entry in _SAME_NAMES:
        make = vehicle.partition("/")[0].removeprefix("I ")
        yield priced(
            f"price of the {entry} for a {vehicle}",
            fipe_entry(marca=make, modelo=entry, versao="1.6 FLEX"),
            vehicle={"marca": make, "descricao": vehicle, "cilindradas": "1598"},
        )
    for make in ("AUDI", "Audi", "I/AUDI"):
        yield priced(f"price of the make {make}", fipe_entry(marca=make))
    yield priced(
        "VW of the registry, VolksWagen of the table",
        fipe_entry(marca="VW - VolksWagen", modelo="GOL", versao="1.0 Flex 12V 5p"),
        vehicle={"marca": "VW", "descricao": "GOL 1.0", "cilindradas": "999"},
    )
    yield priced(
        "CHEVROLET of the registry, GM of the table",
        fipe_entry(marca="GM - Chevrolet", modelo="ONIX", versao="HATCH LT 1.0 8V FlexPower"),
        vehicle={"marca": "CHEVROLET", "descricao": "ONIX 1.0MT LT", "cilindradas": "998"},
    )
    for fuel in ("Alcool / Gasolina", "ALCOOL/GASOLINA", "Flex"):
        yield priced(
            f"Gasolina of the table, {fuel} of the registry",
            fipe_entry(),
            vehicle={"combustivel": fuel},
            never=("Difere do registro: combustível",),
        )
    yield priced(
        "flexible vehicle, diesel entry",
        fipe_entry(combustivel="Diesel", valorAtual="120000.00", fipeId="81850"),
        fipe_entry(),
        vehicle={"combustivel": "Alcool / Gasolina"},
        confidence=("likeliest", "possible"),
    )
    yield priced("the same entry three times", *[fipe_entry()] * 3)
    yield priced(
        "two versions that fit alike",
        fipe_entry(),
        fipe_entry(fipeId="81850", valorAtual="95000.00"),
        price="R$ 89.325 a R$ 95.000",
        confidence=("tied", "tied"),
        ceiling="R$ 89.325,00 (a menor de 2 versões)",
    )
    month = {"mes": "9", "ano": "2026", "predicao": False}
    yield priced(
        "two prices of one month",
        fipe_entry(historicoPreco=[{**month, "valor": "99000"}, {**month, "valor": "89000"}]),
        doubt="mais de um preço",
    )
    later = {"mes": "5", "ano": "2029", "valor": "99999", "predicao": False}
    yield priced(
        "price of a month to come",
        fipe_entry(historicoPreco=[{**month, "valor": "89000"}, later]),
        also=("*: previsto pela fonte",),
        never=("(mai/29)", "R$ 99.999 ·"),
    )
    for sent in ("", "0", "0.00", HIDDEN):
        yield priced(
            f"price {sent or 'not sent'}",
            fipe_entry(valorAtual=sent),
            price="oculto pela fonte" if sent == HIDDEN else "sem preço na fonte",
            ceiling=UNKNOWN,
            never=("R$ 0",),
        )
    yield priced(
        "price in cents without a history",
        fipe_entry(valorAtual="8932500", historicoPreco=[]),
        price="R$ 8.932.500",
        with_price="talvez em centavos",
        doubt="pode ser R$ 89.325,00",
        ceiling="Preço FIPE talvez em centavos",
    )
    yield priced(
        "whole price without a history",
        fipe_entry(valorAtual="89325", historicoPreco=[]),
        price="R$ 89.325",
        ceiling="R$ 89.325,00",
    )
    yield from _conflicts()
    yield from _unchecked_prices()
    yield priced("no entry at all", price="sem preço na fonte", confidence=(), ceiling=UNKNOWN)
    yield clear(
        "zeros for blanks",
        vehicle={"anoModelo": "0", "capacidadePassageiro": "0", "caixaCambio": "0"},
        with_price="de ano-modelo não conferido",
        doubt="O registro não traz o ano-modelo",
        ceiling="Preço FIPE de ano-modelo não conferido",
        never=("Ano-modelo 0", "0 passageiros"),
    )


def history(*prices: int, until: tuple[int, int] = (2026, 10), predicted: int = 0) -> list[Record]:
    """Return monthly prices, the last one of the month ``until`` (year, month)."""
    last = until[0] * 12 + until[1] - 1
    months = range(last - len(prices) + 1, last + 1)
    return [
        {
            "mes": str(month % 12 + 1),
            "ano": str(month // 12),
            "valor": str(price),
            "predicao": last - month < predicted,
        }
        for month, price in zip(months, prices, strict=True)
    ]


def _conflicts() -> Iterator[Row]:
    """A price that its own history contradicts is none to reckon with, and is still shown."""
    steady = (90_000, 89_800, 89_600, 89_500, 89_400, 89_325)

    def priced(case: str, price: str, sent: str, months: list[Record], **more: Any) -> Row:
        entry = fipe_entry(valorAtual=sent, historicoPreco=months)
        return clear(case, price=price, vehicle={"informacoesFipe": [entry]}, **more)

    def conflicting(case: str, price: str, sent: str, months: list[Record]) -> Row:
        return priced(
            case,
            *(price, sent, months),
            with_price="em conflito com o histórico",
            doubt="confira na tabela FIPE",
            ceiling="Preço FIPE em conflito com o histórico",
        )

    yield conflicting("ten times the history", "R$ 893.250", "893250.00", history(*steady))
    yield conflicting("a tenth of the history", "R$ 8.932", "8932.00", history(*steady))
    yield conflicting("a quarter above the history", "R$ 111.700", "111700.00", history(*steady))
    yield conflicting("a quarter below the history", "R$ 66.900", "66900.00", history(*steady))
    yield conflicting("a tenth part above the history", "R$ 98.300", "98300.00", history(*steady))
    yield conflicting("a tenth part below the history", "R$ 81.000", "81000.00", history(*steady))
    yield conflicting(
        "ten times a history that ended years ago",
        *("R$ 893.250", "893250.00", history(*steady, until=(2021, 3))),
    )
    yield conflicting(
        "ten times the history, and so is its last month",
        *("R$ 893.250", "893250.00", history(*steady[:-1], 893_250)),
    )
    yield conflicting(
        "ten times a history of predictions",
        *("R$ 893.250", "893250.00", history(*steady, until=(2027, 3), predicted=6)),
    )
    odd = (90_000, 89_800, 8_960, 89_500, 89_400, 89_325)
    kept: dict[str, Any] = {"never": ("em conflito com o histórico",)}
    yield priced("a price as in its history", "R$ 89.325", "89325.00", history(*steady), **kept)
    yield priced("a history with one odd month", "R$ 89.325", "89325.00", history(*odd), **kept)
    yield priced(
        "a fifth above a history that ended years ago",
        *("R$ 111.600", "111600.00", history(*steady, until=(2023, 3))),
        **kept,
        with_price="de tabela antiga (último mês: mar/23)",
        doubt="O último mês da tabela que a fonte traz é mar/23, há 44 meses",
        ceiling="Preço FIPE de tabela antiga",
    )
    yield priced("no history", "R$ 89.325", "89325.00", [], **kept)
    yield clear(
        "two versions that fit alike, one ten times its history",
        vehicle={
            "informacoesFipe": [
                fipe_entry(historicoPreco=history(*steady)),
                fipe_entry(fipeId="81850", valorAtual="893250.00", historicoPreco=history(*steady)),
            ]
        },
        price="R$ 89.325 a R$ 893.250",
        confidence=("tied", "tied"),
        with_price="em conflito com o histórico",
        ceiling="Preço FIPE em conflito com o histórico",
    )


def _unchecked_prices() -> Iterator[Row]:
    """A price is one to reckon with only if the make, the model and the year are compared."""
    no_name = ("de marca e modelo não conferidos", "Falta a marca ou o modelo")
    no_year = ("de ano-modelo não conferido", "ano-modelo")
    diesel = ("de outro combustível (diesel)", "o combustível no registro é gasolina")
    engine = ("de outra cilindrada (2,0)", "a cilindrada no registro é 1.798 cm³")

    def unchecked(
        case: str, words: tuple[str, str], entry: Mapping[str, Any], **vehicle: Any
    ) -> Row:
        clause, sentence = words
        return clear(
            case,
            vehicle={"informacoesFipe": [fipe_entry(**entry)], **vehicle},
            with_price=clause,
            doubt=sentence,
            ceiling=f"Preço FIPE {clause}",
        )

    nameless = {"marca": "", "descricao": ""}
    yield unchecked("vehicle without a name", no_name, {}, **nameless)
    yield unchecked("vehicle with a hidden name", no_name, {}, marca=HIDDEN, descricao=HIDDEN)
    yield unchecked("vehicle with a make only", no_name, {}, descricao="")
    yield unchecked("vehicle with its make as its model", no_name, {}, descricao="AUDI")
    yield unchecked("vehicle with a model only", no_name, {}, marca="")
    yield unchecked("entry without a model", no_name, {"modelo": "", "versao": ""})
    yield unchecked("entry without a name", no_name, {"marca": "", "modelo": "", "versao": ""})
    for year in ("", "0", HIDDEN, "1"):
        yield unchecked(f"vehicle of the year {year or 'unknown'}", no_year, {}, anoModelo=year)
        yield unchecked(f"entry of the year {year or 'unknown'}", no_year, {"ano": year})
    yield unchecked("diesel entry, petrol car", diesel, {"combustivel": "Diesel"})
    yield unchecked(
        "electric entry, petrol car",
        ("de outro combustível (elétrico)", "o combustível no registro é gasolina"),
        {"combustivel": "ELÉTRICO"},
    )
    yield unchecked("entry of another engine", engine, {"versao": "SED. 2.0 TFSI 180CV"})
    yield unchecked(
        "entry of another power",
        ("de outra potência (300 cv)", "a potência no registro é 180 cv"),
        {"versao": "1.8 TFSI 300CV"},
    )
    yield clear(
        "diesel and petrol entry, petrol car",
        vehicle={
            "informacoesFipe": [
                fipe_entry(combustivel="Diesel", valorAtual="95000.00", versao="1.8 LM 180CV"),
                fipe_entry(versao="SPORTBACK"),
            ]
        },
        confidence=("likeliest", "possible"),
    )
    yield clear(
        "entry of another engine, and one that fits",
        vehicle={
            "informacoesFipe": [
                fipe_entry(versao="2.0 LM 220CV", valorAtual="95000.00"),
                fipe_entry(versao="SPORTBACK"),
            ]
        },
        confidence=("likeliest", "possible"),
    )
    fits: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
        ("entry without a make", {"marca": ""}, {}),
        ("vehicle with its make in the model", {}, {"marca": "", "descricao": "I/AUDI A3 180CV"}),
        ("vehicle without a fuel", {"combustivel": "Diesel"}, {"combustivel": ""}),
        ("entry without a fuel", {"combustivel": ""}, {}),
        ("entry of nearly the same power", {"versao": "1.8 TFSI 170CV"}, {}),
        ("car converted to gas", {"combustivel": "Flex"}, {"combustivel": "GNV"}),
        ("vehicle without a displacement", {"versao": "2.0 TFSI"}, {"cilindradas": "0"}),
        ("vehicle of 1798 cm³, entry of 1.8", {"versao": "1.8 TFSI"}, {}),
        ("vehicle of 1242 cm³, entry of 1.3", {"versao": "1.3"}, {"cilindradas": "1242"}),
    )
    for case, entry, vehicle in fits:
        yield clear(case, vehicle={"informacoesFipe": [fipe_entry(**entry)], **vehicle})


# --- Missing and old answers ---


def _gaps() -> Iterator[Row]:
    nothing: dict[str, Any] = {"transfer": "unknown"}
    yield Row(
        case="fines unavailable",
        gaps={"renainf": "down"},
        level="incomplete",
        finding="Falta consultar as multas",
        owed=None,
        ceiling="Falta consultar as multas.",
        **nothing,
    )
    yield Row(
        case="orders unavailable",
        gaps={"renajud": "down"},
        level="incomplete",
        finding="Falta consultar as restrições judiciais",
        in_force=None,
        ceiling="Falta consultar as restrições judiciais.",
        **nothing,
    )
    yield Row(
        case="orders unavailable, an enforceable fine",
        fines=(charged(),),
        gaps={"renajud": "down"},
        level="incomplete",
        finding="Falta consultar as restrições judiciais",
        standings=("exigível",),
        owed=ONE,
        in_force=None,
        ceiling="Falta consultar as restrições judiciais.",
        **nothing,
    )
    yield Row(
        case="vehicle unavailable",
        gaps={"decode": "down"},
        level="incomplete",
        finding="Falta consultar os dados do veículo",
        transfer="yes",
        price="indisponível",
        confidence=(),
        ceiling=UNKNOWN,
    )
    yield Row(
        case="fines unavailable, an order in force",
        orders=(order("TRANSFERENCIA"),),
        gaps={"renainf": "down"},
        level="blocked",
        finding=NO_TRANSFER,
        owed=None,
        in_force=1,
        transfer="no",
        ceiling=AFTER_LIFTING,
    )
    yield Row(
        case="fines unconfirmed by the source's text",
        gaps={"renainf": "unconfirmed"},
        level="incomplete",
        finding="a fonte não confirmou as multas",
        owed=None,
        ceiling="A fonte não confirmou as multas.",
        also=("não confirmad",),
        never=("Falta consultar as multas",),
        **nothing,
    )
    yield Row(
        case="nothing found in an old answer",
        gaps={"renainf": "stale"},
        level="caution",
        finding=NOTHING,
        ceiling=FULL,
        also=("resposta guardada",),
    )
    yield Row(
        case="an order in an old answer",
        orders=(order("TRANSFERENCIA"),),
        gaps={"renajud": "stale"},
        level="blocked",
        finding=NO_TRANSFER,
        in_force=1,
        transfer="no",
        ceiling=AFTER_LIFTING,
    )
    yield Row(
        case="an answer that describes no vehicle",
        vehicle={
            **dict.fromkeys(("marca", "descricao", "anoModelo", "anoFabricacao"), ""),
            "informacoesFipe": [],
        },
        level="incomplete",
        finding="Verificação incompleta",
        transfer="yes",
        price="sem preço na fonte",
        confidence=(),
        ceiling=UNKNOWN,
    )


# --- Written reports ---


def _reports() -> Iterator[Row]:
    over = "O texto contradiz os registros"
    yield one_order(
        "report: nothing recorded, beside an order",
        order("TRANSFERENCIA"),
        report={"restricoes": "✅ Nada consta"},
        also=(over, "1 restrição judicial"),
    )
    yield one_order(
        "report: APROVADO, beside an order",
        order("TRANSFERENCIA"),
        report={"conclusion": "Pode comprar sem medo. **APROVADO**"},
        also=("O texto recomenda o veículo", over),
        never=("**",),
    )
    yield doubted(
        "report: nothing recorded, beside an order in doubt",
        order("PENHORA BAIXADA"),
        report={"restricoes": "✅ Nada consta"},
        also=(over,),
    )
    yield one_fine(
        "report: another sum of fines",
        charged(),
        *("caution", PAY_ONE, "exigível"),
        report={"multas": "⚠️ Multas em aberto: R$ 5.000,00", "restricoes": "✅ Nada consta"},
        also=("O texto fala em R$ 5.000,00 de multas",),
        ceiling="R$ 84.325,00",  # the higher sum is deducted
    )
    yield one_fine(
        "report: no fine, beside a fine",
        charged(),
        *("caution", PAY_ONE, "exigível"),
        report={"multas": "✅ Nenhuma multa", "restricoes": "✅ Nada consta"},
        also=("O texto não aponta multa em aberto",),
    )
    yield maybe_paid(
        "report: no fine, beside a reversed payment",
        paid(tipo="PAGAMENTO ESTORNADO"),
        report={"multas": "✅ Nada consta", "restricoes": "✅ Nada consta"},
        also=("O texto não aponta multa em aberto",),
    )
    yield clear(
        "report: another price",
        report={
            "fipe": "✅ R$ 10.000",
            "multas": "✅ Nada consta",
            "restricoes": "✅ Nada consta",
        },
        also=("O texto fala em R$ 10.000",),
    )
    yield one_fine(
        "report: APROVADO, beside a tampered chassis",
        paid(codigoInfracao="65562", descricao="", valor="293", day="05/07/2026", sum="293"),
        *("caution", "Já foi autuado por chassi", "paga"),
        owed="",
        ceiling=INSPECT,
        report={
            "conclusion": "APROVADO",
            "multas": "✅ Nada consta",
            "restricoes": "✅ Nada consta",
        },
        also=("O texto recomenda o veículo",),
    )
    warned = {"restricoes": "⚠️ Consta restrição judicial.", "multas": "✅ Nada consta"}
    for words in (
        *("Excelente opção de compra.", "Parecer favorável à aquisição.", "Nota 10."),
        *("Carro top, vale cada centavo.", "Uma ótima oportunidade.", "É uma pechincha."),
        *("Compra com tranquilidade.", "Veículo íntegro e regular.", "Sinal verde!"),
        *("Veículo sem óbices.", "Nada que desabone o bem.", "Recomendamos a aquisição."),
    ):
        yield one_order(
            f"report: {words}, beside an order",
            order("TRANSFERENCIA"),
            report={**warned, "summary": "Audi A3.", "conclusion": words},
            also=("O texto recomenda o veículo; os registros dizem",),
        )
    for words in (
        *("Restrição judicial: resolvida.", "Bloqueio? Nenhum", "Antiga penhora, já superada"),
        *("Restrição judicial extinta em 2024", "Houve restrição no passado", "Penhora arquivada"),
    ):
        yield one_order(
            f"report: {words}, beside an order",
            order("TRANSFERENCIA"),
            report={"restricoes": words, "multas": "✅ Nada consta"},
            also=("O texto não aponta restrição",),
        )
    for words in ("Multas: todas regularizadas", "Multa prescrita", "Débitos zerados"):
        yield one_fine(
            f"report: {words}, beside a fine",
            charged(),
            *("caution", PAY_ONE, "exigível"),
            report={"multas": words, "restricoes": "✅ Nada consta"},
            also=("O texto não aponta multa em aberto",),
        )
    for words in (
        *("Não recomendamos a compra antes da baixa da restrição.", "Recomenda-se cautela."),
        "Não se aconselha a aquisição com a restrição em vigor.",
    ):
        yield one_order(
            f"report: {words}, beside an order",
            order("TRANSFERENCIA"),
            report={**warned, "summary": "Audi A3.", "conclusion": words},
            never=("O texto não", "O texto recomenda"),
        )
    yield one_fine(
        "report: marks intact, beside a tampered chassis",
        paid(codigoInfracao="65562", descricao="", valor="293", day="05/07/2026", sum="293"),
        *("caution", "Já foi autuado por chassi", "paga"),
        owed="",
        ceiling=INSPECT,
        report={
            "chassiMotor": "✅ Chassi e motor íntegros, sem adulteração.",
            "multas": "✅ Nada consta",
            "restricoes": "✅ Nada consta",
        },
        also=("O texto não aponta problema na identificação",),
    )
    honest = {"multas": "✅ Nada consta", "restricoes": "✅ Nada consta"}
    yield clear(
        "report: nothing recorded, and nothing is",
        report={**honest, "conclusion": "Pode comprar. APROVADO"},
        never=("O texto recomenda", "O texto não aponta", "O texto fala em"),
    )
    yield Row(
        case="report: an order and a fine, as recorded",
        fines=(charged(),),
        orders=(order("TRANSFERENCIA"),),
        report={},
        level="blocked",
        finding=NO_TRANSFER,
        standings=("exigível",),
        owed=ONE,
        in_force=1,
        transfer="no",
        ceiling=AFTER_LIFTING,
        never=("O texto recomenda", "O texto não aponta", "O texto fala em"),
    )
    yield clear(
        "report with a telephone number",
        report={**honest, "documentacao": "✅ Fale com o dono: tel (31) 99999-8888"},
        never=("99999-8888",),
    )


ROWS: tuple[Row, ...] = (
    *_payments(),
    *_standings(),
    *_sums(),
    *_orders(),
    *_identities(),
    *_conditions(),
    *_prices(),
    *_gaps(),
    *_reports(),
    clear("nothing recorded at all"),
)
