"""Assessment of a fine: official wording, exact amounts, deadlines, sums."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from portal.law.assessment import AssessedFine, totals
from portal.law.standing import Standing
from portal.vehicle.field import HIDDEN, Field
from portal.vehicle.fines import Fine
from tests.law.records import LICENCE, fine, known
from tests.law.strategies import FINES

TODAY = date(2026, 11, 21)
SAMPLE = fine(
    code="7455",
    description="TRANSITAR EM VELOCIDADE SUPERIOR A MAXIMA PERMITIDA EM ATE 20%",
    amount=Decimal(130),
    committed_on=date(2024, 8, 18),
    notified_on=date(2024, 9, 9),
)


def test_sample_fine_is_media_with_its_amount_and_points() -> None:
    found = AssessedFine(SAMPLE, TODAY)
    assert found.amount.value == Decimal("130.16")
    assert found.amount.origin == "table"
    assert found.amount.matches is True
    assert (found.amount.why, found.amount.sent) == ("as_sent", Decimal(130))
    assert found.gravity == "media"
    assert (found.points.by_gravity, found.points.counted) == (
        4,
        0,
    )  # the points expired on 18/08/2025
    assert found.article == "art. 218, I do CTB"
    assert found.notice.days_used == 22
    assert found.description == "Transitar em velocidade superior à máxima permitida em até 20%"
    assert found.prescription.ends_on == date(2029, 8, 18)


def test_discounts_are_rounded_to_the_cent() -> None:
    amount = AssessedFine(SAMPLE, TODAY).amount
    assert (amount.at_80, amount.at_60) == (Decimal("104.13"), Decimal("78.10"))


def test_old_infraction_has_the_amount_of_its_time() -> None:
    old = replace(SAMPLE, committed_on=date(2015, 5, 1), amount=Decimal(85))
    assert AssessedFine(old, TODAY).amount.value == Decimal("85.13")
    silent = replace(old, amount=None)
    assert AssessedFine(silent, TODAY).amount.value == Decimal("85.13")


def test_amount_of_the_other_period_is_recognised() -> None:
    amount = AssessedFine(replace(SAMPLE, amount=Decimal(85)), TODAY).amount
    assert amount.value == Decimal("85.13")
    assert amount.matches is False
    assert (amount.why, amount.is_new) == ("of_other_period", False)


def test_amount_outside_the_tables_is_kept_with_a_note() -> None:
    amount = AssessedFine(replace(SAMPLE, amount=Decimal(500)), TODAY).amount
    assert (amount.value, amount.origin, amount.matches) == (Decimal(500), "sent", False)
    assert (amount.why, amount.single) == ("outside", Decimal("130.16"))


def test_unconfirmed_whole_amount_may_lack_cents() -> None:
    for code in ("9999", "7455"):
        whole, to_the_cent = (
            AssessedFine(
                replace(SAMPLE, code=Field(code, "known"), amount=Decimal(text)), TODAY
            ).amount
            for text in ("500", "500.00")
        )
        assert whole.may_lack_cents
        assert not to_the_cent.may_lack_cents
    assert not AssessedFine(SAMPLE, TODAY).amount.may_lack_cents


def test_recidivism_doubles_drink_driving() -> None:
    amount = AssessedFine(
        fine(code="51691", amount=Decimal(5869), committed_on=TODAY), TODAY
    ).amount
    assert amount.value == Decimal("5869.40")
    assert amount.why == "repeated"


def test_unknown_code_keeps_the_sources_texts() -> None:
    found = AssessedFine(fine(code="9999", description="ALGO", amount=Decimal(77)), TODAY)
    assert found.description == "Algo"
    assert found.amount.value == Decimal(77)
    assert found.gravity is None
    assert found.article == ""
    assert found.points.counted is None


def test_unknown_code_has_the_sources_points() -> None:
    sent = fine(code="9999", offender=replace(LICENCE, points=5))
    assert AssessedFine(sent, TODAY).points.counted == 5


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("51691", "suspends"),
        ("64080", "excluded"),
        ("66101", "excluded"),
        ("69120", "excluded"),
        ("70210", "other_person"),
        ("50100", "by_manual"),
    ],
)
def test_points_that_do_not_count_have_a_reason(code: str, why: str) -> None:
    points = AssessedFine(fine(code=code, committed_on=TODAY), TODAY).points
    assert points.counted == 0
    assert points.by_gravity is not None
    assert points.by_gravity > 0
    assert points.why == why


def test_points_expire_after_twelve_months() -> None:
    points = AssessedFine(SAMPLE, TODAY).points
    assert (points.why, points.left_on) == ("expired", date(2025, 8, 18))
    assert AssessedFine(SAMPLE, date(2025, 8, 18)).points.why == ""


@pytest.mark.parametrize(
    ("given", "standing"),
    [
        ({}, "unknown"),
        ({"notified_on": date(2026, 10, 1)}, "notice"),
        ({"kind": "MULTA COM NOTIFICAÇÃO DE AUTUAÇÃO"}, "notice"),
        ({"penalty_on": date(2026, 10, 1)}, "probably_due"),
        ({"penalty_on": date(2026, 9, 22)}, "probably_due"),
        ({"penalty_on": date(2026, 9, 21)}, "enforceable"),
        ({"penalty_on": date(2026, 10, 22)}, "due"),
        ({"penalty_on": date(2026, 10, 20)}, "probably_due"),
        ({"penalty_on": date(2027, 1, 1)}, "unknown"),
        ({"penalty_on_text": "99/99/9999", "notified_on": date(2026, 10, 1)}, "unknown"),
        ({"penalty_on_text": HIDDEN, "notified_on": date(2026, 10, 1)}, "unknown"),
        ({"paid_on_text": HIDDEN, "penalty_on": date(2026, 1, 1)}, "unknown"),
        ({"kind": "SUSPENSA", "penalty_on": date(2026, 1, 1)}, "suspended"),
        ({"paid_on": date(2026, 1, 1), "penalty_on": date(2025, 1, 1)}, "paid"),
        ({"paid_on_text": "00/00/0000", "penalty_on": date(2025, 1, 1)}, "enforceable"),
        ({"paid_on_text": "NAO PAGO", "penalty_on": date(2025, 1, 1)}, "enforceable"),
        ({"kind": "NAO SUSPENSA", "penalty_on": date(2025, 1, 1)}, "enforceable"),
        ({"kind": "SUSPENSÃO ENCERRADA", "penalty_on": date(2025, 1, 1)}, "enforceable"),
        ({"kind": "SEM EFEITO SUSPENSIVO", "notified_on": date(2026, 10, 1)}, "unknown"),
        ({"kind": "EXIGÍVEL", "notified_on": date(2026, 10, 1)}, "enforceable"),
        ({"kind": "DIVIDA ATIVA", "notified_on": date(2026, 10, 1)}, "enforceable"),
        ({"kind": "NÃO INSCRITA EM DÍVIDA ATIVA", "notified_on": date(2026, 10, 1)}, "unknown"),
        ({"kind": "NAO EXIGIVEL", "penalty_on": date(2025, 1, 1)}, "unknown"),
        ({"kind": "NOTIFICACAO DE PENALIDADE", "notified_on": date(2026, 10, 1)}, "unknown"),
        ({"notified_on": date(2027, 1, 1)}, "unknown"),
        ({"committed_on": date(2027, 1, 1), "notified_on": date(2026, 10, 1)}, "unknown"),
        ({"committed_on": date(2027, 1, 1), "penalty_on": date(2025, 1, 1)}, "unknown"),
        ({"notified_on": date(2025, 11, 26)}, "notice"),
        ({"notified_on": date(2025, 11, 25)}, "unknown"),
    ],
)
def test_standing_follows_the_recorded_dates_and_words(
    given: dict[str, Any], standing: str
) -> None:
    found = AssessedFine(fine(code="7455", **given), TODAY)
    assert found.standing == standing
    assert found.is_open == (standing != "paid")


def test_old_notice_without_penalty_is_unknown() -> None:
    """The observed record has no penalty, but the source may have omitted it."""
    found = AssessedFine(SAMPLE, TODAY)
    assert found.standing == "unknown"
    assert (found.status.why, found.status.days) == ("old_notice", 825)
    assert totals([found]).unclear_count == 1
    days = (TODAY - timedelta(days=40), TODAY - timedelta(days=20))
    recent = replace(SAMPLE, committed_on=days[0], notified_on=days[1])
    assert AssessedFine(recent, TODAY).status.why == "notice"


@pytest.mark.parametrize(
    ("payment", "why"),
    [
        ({"paid_on_text": "VENCE EM 10/10/2026"}, "day_unread"),
        ({"paid_on_text": "NAO PAGO ATE 10/10/2024"}, "day_unread"),
        ({"paid_on_text": "31/31/2025"}, "day_unread"),
        ({"paid_on_text": "PAGO"}, "day_unread"),
        ({"paid_on": date(2024, 10, 10), "paid_on_text": "10/10/2024 ESTORNADO"}, "day_unread"),
        ({"paid_on_text": HIDDEN}, "day_hidden"),
        ({"paid_on": date(2030, 1, 1)}, "day_in_future"),
        ({"paid_on": date(2001, 1, 1)}, "day_before_infraction"),
    ],
)
def test_implausible_payment_day_keeps_the_fine_in_the_sums(
    payment: dict[str, Any], why: str
) -> None:
    found = AssessedFine(replace(SAMPLE, penalty_on=date(2025, 1, 1), **fields_of(payment)), TODAY)
    assert found.standing == "unknown"
    found_payment = found.status.payment
    assert (found_payment.state, found_payment.why) == ("unclear", why)
    is_day_known = why not in ("day_unread", "day_hidden")
    assert found_payment.on == (payment["paid_on"] if is_day_known else None)
    assert totals([found]).amount == Decimal("130.16")


def fields_of(payment: dict[str, Any]) -> dict[str, Any]:
    return {n: known(v) if isinstance(v, str) else v for n, v in payment.items()}


@pytest.mark.parametrize("word", ["EM ABERTO", "NÃO PAGA", "DÍVIDA ATIVA", "EXIGIVEL"])
def test_payment_with_contradicting_status_is_unclear(word: str) -> None:
    found = AssessedFine(replace(SAMPLE, paid_on=TODAY, kind=known(word)), TODAY)
    assert found.standing == "unknown"
    payment = found.status.payment
    assert (payment.why, payment.text, payment.on) == ("contradicted", word, TODAY)
    assert AssessedFine(replace(SAMPLE, paid_on=TODAY, kind=known("NAO EXIGIVEL")), TODAY).is_paid


@pytest.mark.parametrize("paid_on", [date(2024, 8, 18), TODAY])
def test_payment_day_from_infraction_to_today_is_valid(paid_on: date) -> None:
    assert AssessedFine(replace(SAMPLE, paid_on=paid_on), TODAY).is_paid
    stamped = known(f"{paid_on:%d/%m/%Y}T09:30:00")
    assert AssessedFine(replace(SAMPLE, paid_on=paid_on, paid_on_text=stamped), TODAY).is_paid


def test_payment_of_zero_needs_a_word_that_says_paid() -> None:
    zero = replace(SAMPLE, paid_on=TODAY, paid_amount=Decimal(0))
    found = AssessedFine(zero, TODAY)
    assert (found.standing, found.status.payment.why) == ("unknown", "zero")
    found = AssessedFine(replace(zero, kind=known("QUITADA")), TODAY)
    assert found.is_paid
    assert found.status.payment.why == "paid_zero"


@pytest.mark.parametrize(
    "word",
    [
        *("CANCELADA", "DEFERIDA", "Arquivada", "BAIXADA", "RECURSO DEFERIDO"),
        *("PENALIDADE DE ADVERTENCIA POR ESCRITO", "AUTO CANCELADO POR DECISAO JUDICIAL"),
        *("MULTA CANCELADA POR DUPLICIDADE", "DEFESA PREVIA DEFERIDA", "RECURSO JARI DEFERIDO"),
    ],
)
def test_closing_status_word_leaves_the_enforceable_sum(word: str) -> None:
    found = AssessedFine(replace(SAMPLE, penalty_on=date(2025, 1, 1), kind=known(word)), TODAY)
    assert found.standing == "called_off"
    assert not found.has_discount
    assert found.status.text == word
    assert found.status.why == ("warning" if "ADVERTENCIA" in word else "called_off")
    sums = totals([found])
    assert (sums.enforceable_count, sums.enforceable_amount, sums.points) == (0, Decimal(0), 0)
    assert (sums.open_count, sums.amount) == (0, Decimal(0))
    assert (sums.called_off_count, sums.called_off_amount) == (1, Decimal("130.16"))


@pytest.mark.parametrize(
    "word",
    [
        *("SUSPENSAO CANCELADA", "EFEITO SUSPENSIVO CANCELADO", "RECURSO ARQUIVADO"),
        *("PAGAMENTO CANCELADO", "NAO CANCELADA", "RECURSO INDEFERIDO"),
        *("BAIXADA PARA DIVIDA ATIVA", "INSCRITA EM DIV. ATIVA"),
        *("DEFERIDA A INDICACAO DO CONDUTOR", "ISENTA DE PONTOS", "PONTUACAO CANCELADA"),
        *("ANULACAO CANCELADA", "CANCELADA PARCIALMENTE", "CANCELADA E REATIVADA"),
        *("PEDIDO DE ADVERTENCIA", "CANCELAMENTO SOLICITADO", "AGUARDANDO SER CANCELADA"),
        *("EFEITO SUSPENSIVO NEGADO", "SUSPENSAO CASSADA", "EM RECURSO - IMPROVIDO"),
        *("EM RECURSO, DESPROVIDO", "EFEITO SUSPENSIVO REJEITADO", "SUSPENSAO EXPIRADA"),
    ],
)
def test_closing_word_about_something_else_keeps_the_fine_enforceable(word: str) -> None:
    found = AssessedFine(replace(SAMPLE, penalty_on=date(2025, 1, 1), kind=known(word)), TODAY)
    assert found.standing == "enforceable"


@pytest.mark.parametrize(
    ("payment", "traces"),
    [
        ({"paid_amount": Decimal(130)}, ("amount",)),
        ({"paid_amount": Decimal(104)}, ("amount",)),
        ({"paid_amount": Decimal("78.10")}, ("amount",)),
        ({"payment_registered_on_text": known("02/10/2025")}, ("registered",)),
        ({"paid_state": known("MG")}, ("state",)),
        ({"paid_amount": Decimal(130), "paid_state": known("MG")}, ("amount", "state")),
        ({"kind": known("PAGA")}, ()),
        ({"kind": known("QUITADA")}, ()),
        ({"kind": known("PAGAMENTO EFETUADO")}, ()),
    ],
)
def test_payment_without_day_is_maybe_paid(
    payment: dict[str, Any], traces: tuple[str, ...]
) -> None:
    found = AssessedFine(replace(SAMPLE, penalty_on=date(2025, 1, 1), **payment), TODAY)
    assert (found.standing, found.status.payment.traces) == ("unknown", traces)
    assert found.status.why == ("payment" if traces else "said_paid")
    assert found.status.quoted == str(payment.get("kind", ""))
    sums = totals([found])
    assert (sums.enforceable_count, sums.open_count) == (0, 1)


@pytest.mark.parametrize(
    "payment",
    [
        {"paid_amount": Decimal(0)},
        {"paid_amount": Decimal(50)},
        {"payment_registered_on_text": known("00/00/0000")},
        {"paid_state": known("-")},
    ],
)
def test_payment_fields_without_evidence_leave_the_fine_enforceable(
    payment: dict[str, Any],
) -> None:
    found = AssessedFine(replace(SAMPLE, penalty_on=date(2025, 1, 1), **payment), TODAY)
    assert found.standing == "enforceable"


@pytest.mark.parametrize(
    ("code", "sent", "exact"),
    [
        ("5967", "2934", "2934.70"),
        ("7617", "11738", "11738.80"),
        ("7790", "2934", "2934.70"),
        ("7803", "2934", "2934.70"),
        ("7811", "2934", "2934.70"),
    ],
)
def test_recidivism_doubles_the_articles_that_say_so(code: str, sent: str, exact: str) -> None:
    amount = AssessedFine(fine(code=code, amount=Decimal(sent), committed_on=TODAY), TODAY).amount
    assert amount.value == Decimal(exact)
    assert amount.why == "repeated"


def test_fine_for_not_naming_the_driver_has_no_judged_deadlines() -> None:
    dates = {"committed_on": date(2024, 1, 10), "notified_on": date(2024, 3, 1)}
    nic = fine(code="5002", amount=Decimal(260), penalty_on=date(2026, 5, 20), **dates)
    found = AssessedFine(nic, TODAY)
    for deadline in (found.notice, found.penalty):
        assert (deadline.verdict, deadline.days_used, deadline.why) == ("unknown", None, "nic")
    assert [deadline.step for deadline in found.remedies] == ["appeal"]
    assert found.standing == "enforceable"
    assert (found.amount.why, found.amount.single) == ("nic_doubled", Decimal("130.16"))
    undated = AssessedFine(replace(nic, penalty_on=None), TODAY)
    assert undated.standing == "unknown"
    recent = replace(nic, committed_on=date(2026, 10, 1), notified_on=date(2026, 10, 20))
    in_notice = AssessedFine(replace(recent, penalty_on=None), TODAY)
    assert in_notice.standing == "notice"  # both notices are compulsory (STJ, Tema 1.097)
    assert undated.prescription.ends_on is None


@pytest.mark.parametrize(
    ("given", "has_discount"),
    [
        ({"notified_on": date(2026, 10, 1)}, True),
        ({"penalty_on": date(2026, 10, 22)}, True),
        ({"penalty_on": date(2026, 10, 20)}, False),
        ({"penalty_on": date(2025, 1, 1)}, False),
        ({"penalty_on": date(2025, 1, 1), "kind": known("SUSPENSA")}, False),
        ({"penalty_on_text": HIDDEN}, False),
        ({"kind": known("CANCELADA")}, False),
        ({"paid_on": date(2026, 6, 1)}, False),
    ],
)
def test_discount_is_offered_only_while_it_can_be_had(
    given: dict[str, Any], has_discount: bool
) -> None:
    found = AssessedFine(fine(code="7455", amount=Decimal(130), **given), TODAY)
    assert found.has_discount == has_discount
    sums = totals([found])
    assert (sums.amount_at_80 < sums.amount) == has_discount


@pytest.mark.parametrize("word", ["NAO PAGA", "XYZ", "INDEFERIDA"])
def test_other_status_word_is_quoted(word: str) -> None:
    found = AssessedFine(replace(SAMPLE, kind=known(word)), TODAY)
    assert found.status.remarks == ("word",)


def test_status_word_that_the_standing_says_is_no_remark() -> None:
    word = known("NOTIFICACAO DE AUTUACAO")
    found = AssessedFine(replace(SAMPLE, committed_on=TODAY, notified_on=TODAY, kind=word), TODAY)
    assert found.status.remarks == ()


def test_future_infraction_has_no_deadlines_and_no_points() -> None:
    committed, notified = date(2030, 8, 18), date(2030, 9, 9)
    found = AssessedFine(replace(SAMPLE, committed_on=committed, notified_on=notified), TODAY)
    assert found.standing == "unknown"
    assert found.points.counted is None
    assert {deadline.verdict for deadline in found.deadlines} == {"unknown"}
    for deadline in (found.notice, found.prescription):
        assert (deadline.why, deadline.event) == ("in_future", "infraction")
    assert found.points.why == "in_future"


def test_identical_fines_are_summed_and_counted() -> None:
    sums = totals(
        [AssessedFine(SAMPLE, TODAY)] * 2 + [AssessedFine(replace(SAMPLE, place=known("X")), TODAY)]
    )
    assert sums.amount == 3 * Decimal("130.16")
    assert sums.identical == (2,)
    assert totals([AssessedFine(SAMPLE, TODAY)]).identical == ()
    paid = AssessedFine(replace(SAMPLE, paid_on=TODAY), TODAY)
    assert totals([paid, paid]).identical == ()


def test_gravities_are_counted() -> None:
    grave = AssessedFine(
        replace(SAMPLE, code=known("7463"), description=known(""), amount=None), TODAY
    )
    sums = totals([grave, *[AssessedFine(SAMPLE, TODAY)] * 2])
    assert sums.gravities == (("media", 2), ("grave", 1))


def test_paid_fine_counts_for_its_points_only() -> None:
    days = {"committed_on": date(2025, 12, 1), "penalty_on": date(2026, 1, 1)}
    grave = fine(code="7463", amount=Decimal(195), **days)
    paid = replace(grave, paid_on=TODAY)
    sums = totals([AssessedFine(f, TODAY) for f in (SAMPLE, grave, paid, fine(code="9999"))])
    assert (sums.open_count, sums.paid_count, sums.enforceable_count) == (3, 1, 1)
    assert sums.amount == Decimal("325.39")
    assert sums.amount_at_80 == Decimal("104.13") + Decimal(
        "195.23"
    )  # the enforceable fine has no discount
    assert sums.amount_at_60 == Decimal("78.10") + Decimal("195.23")
    assert sums.enforceable_amount == Decimal("195.23")
    # The paid fine's points count too.
    assert (sums.points, sums.points_unknown, sums.without_amount) == (10, 1, 1)
    assert sums.gravities == (("media", 1), ("grave", 1), (None, 1))


def test_points_of_notified_fines_are_points_to_come() -> None:
    notified = fine(code="7455", committed_on=TODAY, notified_on=TODAY)
    due = fine(code="7463", committed_on=TODAY, penalty_on=TODAY)
    past = date(2026, 6, 1)
    enforceable = fine(code="7471", committed_on=past, penalty_on=past)
    sums = totals([AssessedFine(each, TODAY) for each in (notified, due, enforceable)])
    assert (sums.points, sums.points_to_come) == (0, 9)  # 747-1 suspends the licence by itself
    enforceable = fine(code="7463", committed_on=past, penalty_on=past)
    sums = totals([AssessedFine(each, TODAY) for each in (notified, due, enforceable)])
    assert (sums.points, sums.points_to_come) == (5, 9)


def test_enforceable_fine_has_no_discount() -> None:
    enforceable = fine(code="7463", committed_on=TODAY, penalty_on=date(2026, 1, 1))
    notified = fine(code="7455", committed_on=TODAY, notified_on=TODAY)
    alone = totals([AssessedFine(enforceable, TODAY)])
    assert alone.amount_at_80 == alone.amount
    both = totals([AssessedFine(enforceable, TODAY), AssessedFine(notified, TODAY)])
    assert alone.amount < both.amount_at_80 < both.amount


def test_no_fines_give_empty_totals() -> None:
    sums = totals([])
    assert (sums.open_count, sums.paid_count, sums.amount, sums.gravities) == (
        0,
        0,
        Decimal(0),
        (),
    )


@settings(max_examples=60)
@given(st.lists(FINES, max_size=4), st.dates())
def test_assess_and_totals_never_raise(given_fines: list[Fine], today: date) -> None:
    found = [AssessedFine(f, today) for f in given_fines]
    sums = totals(found)
    assert sums.open_count + sums.paid_count + sums.called_off_count == len(found)


@pytest.mark.parametrize("field", ["penalty_on", "notified_on"])
def test_step_before_the_infraction_proves_nothing(field: str) -> None:
    early: dict[str, Any] = {field: date(2024, 1, 1)}
    found = AssessedFine(replace(SAMPLE, **early), TODAY)
    step = "penalty" if field == "penalty_on" else "notice"
    assert (found.standing, found.status.why) == ("unknown", f"{step}_before_infraction")


def test_amount_in_cents_is_read_by_the_table() -> None:
    found = AssessedFine(replace(SAMPLE, amount=Decimal(13016)), TODAY)
    assert (found.amount.value, found.amount.matches) == (Decimal("130.16"), True)
    assert (found.amount.why, found.amount.sent) == ("in_cents", Decimal(13016))
    paid = AssessedFine(replace(SAMPLE, paid_on=TODAY, paid_amount=Decimal(13016)), TODAY)
    assert paid.is_paid and paid.paid.value == Decimal("130.16")


def test_penalty_before_its_notice_is_named() -> None:
    record = replace(SAMPLE, committed_on=date(2026, 5, 1), notified_on=date(2026, 5, 20))
    found = AssessedFine(replace(record, penalty_on=date(2026, 5, 10)), TODAY)
    assert found.standing is Standing.ENFORCEABLE
    assert "penalty_before_notice" in found.status.remarks


def test_notice_that_is_both_paid_and_open_is_counted() -> None:
    paid = replace(SAMPLE, notice=known("A1"), paid_on=TODAY, paid_amount=None)
    twins = [AssessedFine(paid, TODAY), AssessedFine(replace(SAMPLE, notice=known("A1")), TODAY)]
    other = AssessedFine(replace(SAMPLE, notice=known("A2")), TODAY)
    assert totals(twins).also_paid == 1
    assert totals([twins[0], other]).also_paid == 0
