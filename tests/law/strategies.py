"""Hypothesis strategies for records, for which ``portal.law`` must not raise.

The strategies vary only the fields that ``portal.law`` reads.
"""

from datetime import date
from decimal import Decimal

from hypothesis import strategies as st

from portal.vehicle.field import EMPTY, HIDDEN
from tests.law.records import LICENCE, fine, known, restriction

DAYS = st.none() | st.dates() | st.dates(date(2020, 1, 1), date(2027, 1, 1))
TEXTS = st.sampled_from([EMPTY, HIDDEN]) | st.text(min_size=1, max_size=12).map(known)
CODES = ["6858", "7455", "74550", "7056", "6831", "5002", "51691", "6920", "9999", "767-6"]
AMOUNTS = [
    "0",
    "-1",
    "130",
    "130.16",
    "85",
    "5869",
    "130.1234",
    "NaN",
    "sNaN",
    "Infinity",
    "1E+999999",
]
KINDS = ["TRANSFERENCIA", "circulação", "LICENCIAMENTO E PENHORA", "RESTRICAO TOTAL", "XYZ"]
KINDS += ["TRANSFERENCIA BAIXADA", "NADA CONSTA", "BAIXADA", "SEM RESTRICAO"]
STATUSES = ["SUSPENSA", "EM AUTUAÇÃO", "EXIGIVEL", "NAO EXIGIVEL", "CANCELADA", "PENALIDADE"]
STATUSES += ["PAGA", "PENALIDADE DE ADVERTENCIA POR ESCRITO", "SUSPENSAO CANCELADA"]
COURTS = ["TJMG-TRIBUNAL", "TRT3", "-", "0001234-56.2020.8.26.0100"]

FINES = st.builds(
    fine,
    code=st.sampled_from(CODES).map(known) | TEXTS,
    description=TEXTS,
    kind=st.sampled_from(STATUSES).map(known) | TEXTS,
    committed_on=DAYS,
    notified_on=DAYS,
    penalty_on=DAYS,
    penalty_on_text=TEXTS,
    paid_on=st.none() | st.dates(),
    paid_on_text=st.sampled_from(["PAGO", "VENCE EM 10/10/2026"]).map(known) | TEXTS,
    payment_registered_on_text=st.just(known("10/10/2024")) | TEXTS,
    paid_state=st.just(known("MG")) | TEXTS,
    paid_amount=st.none() | st.sampled_from(AMOUNTS).map(Decimal),
    amount=st.none() | st.sampled_from(AMOUNTS).map(Decimal) | st.decimals(),
    offender=st.integers().map(lambda points: type(LICENCE)(points, EMPTY, EMPTY, EMPTY)),
)
RESTRICTIONS = st.builds(
    restriction,
    kinds_text=st.sampled_from(KINDS).map(known) | TEXTS,
    detail=st.sampled_from(["CONSTA DETALHE RENAJUD", "NADA CONSTA"]).map(known) | TEXTS,
    block_type=st.sampled_from(KINDS).map(known) | TEXTS,
    court=st.sampled_from(COURTS).map(known) | TEXTS,
    case=st.sampled_from(COURTS).map(known) | TEXTS,
    court_body=TEXTS,
    included_at=st.none() | st.datetimes(),
    recorded=st.sampled_from([True, False, None]),
)
