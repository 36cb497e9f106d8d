"""The verdict refers to its records; a missing lookup never improves the verdict."""

from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from portal.law.act_answers import ACTS, Act, Answer
from portal.law.act_matrix import VerdictPart
from portal.law.assessment import AssessedFine
from portal.law.findings import CourtOrders, FinesInStanding
from portal.law.standing import Standing
from portal.law.verdict import Verdict
from portal.vehicle.field import HIDDEN
from portal.vehicle.fines import Fine
from portal.vehicle.judicial import Restriction
from tests.law.judged import ENFORCEABLE, NOTICE, PAID, TJMG, assessed
from tests.law.records import judge, restriction
from tests.law.strategies import FINES, RESTRICTIONS

OLD = assessed(committed_on=date(2013, 5, 1), penalty_on=date(2013, 8, 1))


def marks(verdict: Verdict) -> tuple[str, ...]:
    return tuple(row.mark for row in verdict.matrix)


def grounds(verdict: Verdict, act: Act) -> list[tuple[str, str]]:
    """Return what decides an act, and the source of each rule."""
    deciding = verdict.row(act).deciding
    return [(one.ground, one.source) for one in deciding if isinstance(one, Answer)]


def test_transfer_restriction_blocks_only_the_transfer() -> None:
    verdict = judge(True, [], [TJMG])
    assert (verdict.level, verdict.cause, verdict.forbidden) == ("blocked", "blocked", "")
    assert marks(verdict) == ("no", "yes", "yes", "yes")
    (reason,) = verdict.reasons
    assert isinstance(reason, CourtOrders)
    assert (reason.anchor, reason.orders[0].record) == ("restricao-1", TJMG)


def test_circulation_restriction_blocks_every_act() -> None:
    verdict = judge(True, [], [restriction("CIRCULAÇÃO")])
    assert verdict.cause == "blocked"
    assert marks(verdict) == ("no",) * 4


def test_no_records_give_a_clear_verdict() -> None:
    verdict = judge(True, [], [])
    assert (verdict.level, verdict.cause, verdict.decisive) == ("clear", "nothing", None)
    assert marks(verdict) == ("yes",) * 4
    assert verdict.reasons == ()


def test_paid_fines_and_lifted_restrictions_are_clear() -> None:
    verdict = judge(True, [PAID], [restriction(recorded=False)])
    assert verdict.level == "clear"
    assert verdict.reasons == ()


def test_enforceable_fines_require_payment_first() -> None:
    verdict = judge(True, [PAID, ENFORCEABLE], [])
    assert (verdict.level, verdict.cause) == ("caution", "enforceable")
    assert marks(verdict) == ("careful", "careful", "yes", "yes")
    assert verdict.row("licence").after_payment and verdict.row("transfer").after_payment
    assert grounds(verdict, "licence") == [(Standing.ENFORCEABLE, "art. 131, § 2º, do CTB")]
    assert grounds(verdict, "transfer") == [(Standing.ENFORCEABLE, "arts. 124, VIII, e 128 do CTB")]
    assert verdict.row("transfer").records == ("multa-2",)
    assert verdict.row("drive").may_be_unlicensed
    (reason,) = verdict.reasons
    assert isinstance(reason, FinesInStanding)
    assert (reason.anchor, reason.standing, reason.lapsed) == ("multa-2", Standing.ENFORCEABLE, 0)


def test_records_of_one_kind_share_a_reason() -> None:
    verdict = judge(True, [ENFORCEABLE, NOTICE, ENFORCEABLE], [TJMG, TJMG])
    orders, owed, notice = verdict.reasons
    assert isinstance(orders, CourtOrders) and len(orders.orders) == 2
    assert isinstance(owed, FinesInStanding) and isinstance(notice, FinesInStanding)
    assert (owed.standing, len(owed.fines)) == (Standing.ENFORCEABLE, 2)
    assert (notice.standing, len(notice.fines)) == (Standing.NOTICE, 1)
    assert [reason.anchor for reason in verdict.reasons] == ["restricao-1", "multa-1", "multa-2"]


def test_enforceable_fines_are_named_beside_a_court_order() -> None:
    """Fines stop a transfer too, so the verdict names them beside the court order."""
    verdict = judge(True, [PAID, ENFORCEABLE, NOTICE], [TJMG])
    assert verdict.cause == "blocked"
    transfer = verdict.row("transfer")
    assert transfer.mark == "no"
    assert [ground for ground, _ in grounds(verdict, "transfer")] == [
        *("transferencia", Standing.ENFORCEABLE),
    ]
    assert transfer.records == ("restricao-1", "multa-2")
    licence = verdict.row("licence")
    assert (licence.mark, licence.after_payment) == ("careful", True)
    barred = judge(True, [ENFORCEABLE], [restriction("CIRCULACAO")])
    assert [ground for ground, _ in grounds(barred, "licence")] == [
        *("circulacao", Standing.ENFORCEABLE),
    ]
    odd = judge(True, [ENFORCEABLE], [restriction("ALGO NOVO")])
    assert [ground for ground, _ in grounds(odd, "transfer")] == ["any_kind", Standing.ENFORCEABLE]
    assert odd.row("transfer").mark == "no"


def test_observed_fine_may_be_an_obstacle() -> None:
    old = assessed(committed_on=date(2024, 8, 18), notified_on=date(2024, 9, 9))
    verdict = judge(True, [old], [])
    assert [ground for ground, _ in grounds(verdict, "transfer")] == [Standing.UNKNOWN]
    (reason,) = verdict.reasons
    assert isinstance(reason, FinesInStanding)
    assert (reason.standing, verdict.cause) == (Standing.UNKNOWN, "open_fine")


def test_fine_in_notice_gives_caution() -> None:
    verdict = judge(True, [NOTICE], [])
    assert (verdict.level, verdict.cause) == ("caution", "notice")
    assert [ground for ground, _ in grounds(verdict, "licence")] == [Standing.NOTICE]


def test_probable_due_date_gives_caution_and_an_obstacle() -> None:
    verdict = judge(True, [assessed(penalty_on=date(2026, 10, 10))], [])
    assert verdict.level == "caution"
    assert [ground for ground, _ in grounds(verdict, "transfer")] == [Standing.PROBABLY_DUE]


def test_unrecognised_restriction_blocks() -> None:
    verdict = judge(True, [], [restriction("ALGO NOVO")])
    assert verdict.level == "blocked"
    assert marks(verdict) == ("no", "unknown", "unknown", "unknown")
    (reason,) = verdict.reasons
    assert isinstance(reason, CourtOrders)
    assert reason.orders[0].effect.unrecognised == "ALGO NOVO"


@pytest.mark.parametrize(
    ("record", "doubt"),
    [
        (restriction("CIRCULACAO", recorded=False), "contradicted"),
        (restriction("PENHORA BAIXADA"), "lifted"),
    ],
)
def test_doubtful_restriction_is_never_clear(record: Restriction, doubt: str) -> None:
    verdict = judge(True, [], [record])
    assert (verdict.level, verdict.cause) == ("caution", "order_in_doubt")
    assert set(marks(verdict)) == {"unknown"}
    (reason,) = verdict.reasons
    assert isinstance(reason, CourtOrders)
    assert reason.orders[0].effect.doubt == doubt


BEFORE = datetime.fromisoformat("2026-11-20T14:05:00")
LATER = datetime.fromisoformat("2026-11-20T18:00:00")


def test_stale_answers_never_give_a_clear_verdict() -> None:
    verdict = judge(True, [], [], stale={"restrictions": BEFORE, "fines": LATER})
    assert (verdict.level, verdict.cause) == ("caution", "stale")
    assert verdict.gaps.stale == {"fines": LATER, "restrictions": BEFORE}
    assert set(marks(verdict)) == {"careful"}
    assert {row.stale_since for row in verdict.matrix} == {BEFORE}


def test_stale_answer_affects_the_acts_based_on_it() -> None:
    assert marks(judge(True, [], [], stale={"fines": BEFORE})) == (
        *("careful", "careful", "yes", "yes"),
    )
    of_vehicle = judge(True, [], [], stale={"decode": BEFORE})
    assert of_vehicle.level == "caution"
    assert set(marks(of_vehicle)) == {"yes"}


def test_stale_block_still_blocks_with_its_time() -> None:
    verdict = judge(True, [ENFORCEABLE], [TJMG], stale={"restrictions": BEFORE})
    assert (verdict.cause, verdict.gaps.stale) == ("blocked", {"restrictions": BEFORE})


def test_wrong_check_digit_never_gives_a_good_answer() -> None:
    verdict = judge(True, [], [], check_digit_holds=False)
    assert (verdict.level, verdict.cause) == ("incomplete", "gap")
    assert verdict.gaps.wrong_check_digit
    assert set(marks(verdict)) == {"unknown"}
    gaps = verdict.row("drive").gaps
    assert gaps is not None and gaps.wrong_check_digit
    assert judge(True, [ENFORCEABLE], [], check_digit_holds=False).level == "incomplete"
    blocked = judge(True, [], [TJMG], check_digit_holds=False)
    assert blocked.level == "blocked"
    assert marks(blocked) == ("no", "unknown", "unknown", "unknown")


def test_undescribed_vehicle_makes_the_verdict_incomplete() -> None:
    verdict = judge(True, [], [], is_described=False)
    assert (verdict.level, verdict.gaps.undescribed) == ("incomplete", True)
    assert verdict.missing == ("decode",)
    both = judge(True, None, [], is_described=False)
    assert (both.unavailable, both.gaps.undescribed) == (("fines",), True)


@pytest.mark.parametrize(
    ("decode_known", "fines", "restrictions", "missing"),
    [
        (False, [], [], ("decode",)),
        (True, None, [], ("fines",)),
        (True, [], None, ("restrictions",)),
        (True, [ENFORCEABLE], None, ("restrictions",)),
        (False, None, None, ("decode", "fines", "restrictions")),
    ],
)
def test_missing_lookup_makes_the_verdict_incomplete(
    decode_known: bool,
    fines: list[AssessedFine] | None,
    restrictions: list[Restriction] | None,
    missing: tuple[str, ...],
) -> None:
    verdict = judge(decode_known, fines, restrictions)
    assert verdict.level == "incomplete"
    assert verdict.missing == missing
    assert verdict.unavailable == missing


def test_missing_fines_leave_licence_and_transfer_unknown() -> None:
    verdict = judge(True, None, [])
    assert marks(verdict) == ("unknown", "unknown", "yes", "yes")
    gaps = verdict.row("transfer").gaps
    assert gaps is not None and gaps.failed == ("fines",)
    assert set(marks(judge(True, [], None))) == {"unknown"}


def test_known_block_holds_when_other_lookups_are_missing() -> None:
    verdict = judge(False, None, [TJMG])
    assert verdict.level == "blocked"
    assert verdict.missing == ("decode", "fines")
    assert marks(verdict) == ("no", "unknown", "yes", "yes")


@settings(max_examples=40)
@given(
    st.booleans(),
    st.none() | st.lists(FINES, max_size=3),
    st.none() | st.lists(RESTRICTIONS, max_size=3),
    st.dates(),
    st.booleans(),
    st.dictionaries(st.sampled_from(["decode", "fines", "restrictions"]), st.datetimes()),
)
def test_verdict_never_raises_and_is_never_too_good(
    decode: bool,
    fines: list[Fine] | None,
    restrictions: list[Restriction] | None,
    today: date,
    is_described: bool,
    stale: dict[VerdictPart, datetime],
) -> None:
    found = None if fines is None else [AssessedFine(f, today) for f in fines]
    verdict = judge(decode, found, restrictions, is_described=is_described, stale=stale)
    assert [row.act for row in verdict.matrix] == list(ACTS)
    if verdict.missing:
        assert verdict.level in ("incomplete", "blocked")
    if verdict.level == "clear":
        assert not stale
        assert is_described
        assert restrictions is not None
        assert found is not None
        assert all(r.is_lifted for r in restrictions)
        assert all(fine.is_paid for fine in found)
        assert verdict.reasons == ()
        assert set(marks(verdict)) == {"yes"}
    anchors = {f"multa-{n + 1}" for n in range(len(fines or []))}
    anchors |= {f"restricao-{n + 1}" for n in range(len(restrictions or []))}
    assert {reason.anchor for reason in verdict.reasons} <= anchors


WORSE = ("yes", "careful", "unknown", "no")
LEVELS = ("clear", "caution", "incomplete", "blocked")
# A hidden value may turn "no" into "unknown", so both marks have the same number.
FAVOUR = {"yes": 2, "careful": 1, "unknown": 0, "no": 0}
GOOD_LEVELS = ("clear", "caution")


def favour(verdict: Verdict) -> tuple[int, ...]:
    return tuple(FAVOUR[mark] for mark in marks(verdict))


@settings(max_examples=60)
@given(
    st.none() | st.lists(FINES, max_size=2),
    st.none() | st.lists(RESTRICTIONS, max_size=2),
    st.lists(FINES, max_size=1),
    st.lists(RESTRICTIONS, max_size=1),
    st.booleans(),
    st.booleans(),
    st.dates(),
)
def test_added_record_never_improves_the_verdict(
    fines: list[Fine] | None,
    restrictions: list[Restriction] | None,
    more_fines: list[Fine],
    more_restrictions: list[Restriction],
    decode: bool,
    check_digit_holds: bool,
    today: date,
) -> None:
    def judged(fines: list[Fine] | None, restrictions: list[Restriction] | None) -> Verdict:
        found = None if fines is None else [AssessedFine(f, today) for f in fines]
        return judge(decode, found, restrictions, check_digit_holds=check_digit_holds)

    before = judged(fines, restrictions)
    after = judged(
        None if fines is None else fines + more_fines,
        None if restrictions is None else restrictions + more_restrictions,
    )
    assert LEVELS.index(after.level) >= LEVELS.index(before.level)
    for act in ACTS:
        assert WORSE.index(after.row(act).mark) >= WORSE.index(before.row(act).mark)


HIDDEN_MEMBERS = [
    *({"kinds_text": HIDDEN}, {"block_type": HIDDEN}, {"detail": HIDDEN}, {"recorded": None}),
    {"kinds_text": HIDDEN, "block_type": HIDDEN, "detail": HIDDEN},
]
HIDDEN_PAYMENT: dict[str, Any] = {"paid_on": None, "paid_on_text": HIDDEN, "paid_amount": None}


def without(record: Restriction, hidden: dict[str, Any]) -> Restriction:
    """Hide members of a record. A flag that contradicts the record stays: it adds no knowledge."""
    is_contradiction = record.recorded is False and not record.is_lifted
    return record if "recorded" in hidden and is_contradiction else replace(record, **hidden)


@settings(max_examples=60)
@given(
    st.lists(FINES, max_size=2),
    st.lists(RESTRICTIONS, max_size=2),
    st.sampled_from(HIDDEN_MEMBERS),
    st.sampled_from(["fines", "restrictions", "decode", "payment", "described", "digit"]),
    st.dates(),
)
def test_removed_knowledge_never_improves_the_verdict(
    fines: list[Fine],
    restrictions: list[Restriction],
    hidden: dict[str, Any],
    lost: str,
    today: date,
) -> None:
    found = [AssessedFine(f, today) for f in fines]
    before = judge(True, found, restrictions)
    unpaid = [AssessedFine(replace(f, **HIDDEN_PAYMENT), today) for f in fines]
    for after in (
        judge(True, found, [without(each, hidden) for each in restrictions]),
        judge(
            lost != "decode",
            None if lost == "fines" else unpaid if lost == "payment" else found,
            None if lost == "restrictions" else restrictions,
            is_described=lost != "described",
            check_digit_holds=lost != "digit",
        ),
    ):
        assert all(now <= was for now, was in zip(favour(after), favour(before), strict=True))
        assert after.level != "clear" or before.level == "clear"
        if before.level not in GOOD_LEVELS:
            assert after.level not in GOOD_LEVELS


@settings(max_examples=40)
@given(
    st.lists(FINES, max_size=3),
    st.lists(RESTRICTIONS, max_size=3),
    st.lists(FINES, max_size=1),
    st.lists(RESTRICTIONS, max_size=1),
    st.dictionaries(st.sampled_from(["fines", "restrictions"]), st.datetimes()),
    st.dates(),
)
def test_additional_records_never_improve_an_answer(
    fines: list[Fine],
    restrictions: list[Restriction],
    more_fines: list[Fine],
    more_restrictions: list[Restriction],
    stale: dict[VerdictPart, datetime],
    today: date,
) -> None:
    found = [AssessedFine(f, today) for f in fines]
    more = [AssessedFine(f, today) for f in more_fines]
    before = judge(True, found, restrictions)
    after = judge(True, found + more, restrictions + more_restrictions, stale=stale)
    for act in ACTS:
        was, now = before.row(act), after.row(act)
        assert WORSE.index(now.mark) >= WORSE.index(was.mark)
        if was.mark != "yes":
            assert set(was.records) <= set(now.records) or now.mark != was.mark
    assert before.level == "clear" or after.level != "clear"


@pytest.mark.parametrize(
    ("fines", "lapsed"), [([OLD], 1), ([OLD, ENFORCEABLE], 1), ([ENFORCEABLE], 0)]
)
def test_enforceable_fine_that_may_have_lapsed_is_counted(
    fines: list[AssessedFine], lapsed: int
) -> None:
    (reason,) = judge(True, fines, []).reasons
    assert isinstance(reason, FinesInStanding)
    assert reason.lapsed == lapsed
