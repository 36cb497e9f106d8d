"""Changes between two answers, with records in any order and of any shape."""

import json
from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from portal.vehicle.changes import changed_fines, changed_prices, changed_restrictions
from portal.vehicle.decode import read_decode
from portal.vehicle.fines import read_fines
from portal.vehicle.judicial import read_restrictions
from portal.vehicle.wire import result_of
from tests.effort import calls
from tests.factories import (
    HIDDEN,
    decode_body,
    fine,
    fipe_entry,
    payment,
    renainf_body,
    renajud_body,
    restriction,
)


def fines(*records: dict[str, Any]) -> tuple[Any, ...]:
    return read_fines(result_of(renainf_body(*records)), HIDDEN)


def restrictions(*records: dict[str, Any]) -> tuple[Any, ...]:
    return read_restrictions(result_of(renajud_body(*records)), HIDDEN)


def vehicle(**fields: Any) -> Any:
    return read_decode(result_of(decode_body("ABC1D23", **fields)), HIDDEN)


def events_of(before: tuple[Any, ...], after: tuple[Any, ...]) -> list[tuple[Any, int]]:
    return [(change.events, change.position) for change in changed_fines(before, after)]


def test_equal_answers_in_any_order_have_no_changes() -> None:
    one, two = fine(), fine(localInfracao="BR-381 KM 7")
    assert events_of(fines(one, two), fines(two, one)) == []
    assert changed_prices(vehicle(), vehicle()) == []


def test_new_fine_has_its_position_in_the_later_answer() -> None:
    assert events_of(fines(fine()), fines(fine(codigoInfracao="5010"), fine())) == [(("new",), 0)]


def test_second_of_two_equal_fines_is_new() -> None:
    assert events_of(fines(fine()), fines(fine(), fine())) == [(("new",), 1)]


def test_unlisted_fine_is_gone_not_paid() -> None:
    assert events_of(fines(fine()), ()) == [(("gone",), -1)]


def test_payment_change_matches_the_same_fine() -> None:
    paid = fine(pagamento=payment(dataPagamento="01/09/2025"))
    assert events_of(fines(fine()), fines(paid)) == [(("payment",), 0)]
    assert events_of(fines(paid), fines(fine())) == [(("payment",), 0)]


def test_status_change_matches_the_same_fine() -> None:
    assert events_of(fines(fine()), fines(fine(tipo="SUSPENSA"))) == [(("kind",), 0)]


def test_penalty_and_amount_changes_are_reported_together() -> None:
    later = fine(dataEmissaoPenalidade="01/12/2025", valor="195")
    assert events_of(fines(fine()), fines(later)) == [(("penalty", "amount"), 0)]


def test_any_other_difference_is_altered() -> None:
    assert events_of(fines(fine()), fines(fine(medicaoReal="96"))) == [(("altered",), 0)]


def test_newly_shown_notice_number_is_no_new_fine() -> None:
    assert events_of(fines(fine()), fines(fine(autoInfracao="A1"))) == [(("altered",), 0)]


def test_different_notice_numbers_are_two_fines() -> None:
    changes = events_of(fines(fine(autoInfracao="A1")), fines(fine(autoInfracao="B2")))
    assert changes == [(("new",), 0), (("gone",), -1)]


def test_same_notice_number_with_new_place_is_one_fine() -> None:
    before, after = fine(autoInfracao="A1"), fine(autoInfracao="A1", localInfracao="BR-040 KM 563")
    assert events_of(fines(before), fines(after)) == [(("altered",), 0)]


def test_restriction_changes_have_the_right_events() -> None:
    def events(before: tuple[Any, ...], after: tuple[Any, ...]) -> list[str]:
        return [event for change in changed_restrictions(before, after) for event in change.events]

    held, denied = restriction(), restriction(constaRenajud=False)
    lifted = restriction(constaRenajud=False, restricoes="", detalheRenajud="")
    assert events((), restrictions(held)) == ["new"]
    assert events(restrictions(held), ()) == ["gone"]
    assert events(restrictions(held), restrictions(lifted)) == ["lifted"]
    assert events(restrictions(lifted), restrictions(held)) == ["in force"]
    assert events(restrictions(held), restrictions(denied)) == ["denied"]
    assert events(restrictions(denied), restrictions(held)) == ["affirmed"]
    assert events(restrictions(denied), restrictions(lifted)) == ["lifted"]
    assert events(restrictions(held), restrictions(restriction(tipoBloqueio="X"))) == ["kind"]
    assert events(restrictions(held), restrictions(restriction(restricoes="CIRCULACAO"))) == [
        "kind"
    ]
    assert events(restrictions(held), restrictions(restriction(numeroOficio="9"))) == ["altered"]


def test_prices_are_compared_per_candidate() -> None:
    sold = fipe_entry(versao="OUTRA", valorAtual="50000")
    before = vehicle(informacoesFipe=[sold, fipe_entry()])
    after = vehicle(informacoesFipe=[fipe_entry(valorAtual="88000.00"), fipe_entry(versao="NOVA")])
    changes = [
        (str(c.record.version)[:4], c.before and c.before.current, c.after and c.after.current)
        for c in changed_prices(before, after)
    ]
    assert changes == [
        ("SED.", Decimal(89325), Decimal(88000)),
        ("NOVA", None, Decimal(89325)),
        ("OUTR", Decimal(50000), None),
    ]


SOME = st.lists(
    st.builds(
        fine,
        localInfracao=st.sampled_from(["A", "B"]),
        autoInfracao=st.sampled_from([HIDDEN, "", "1", "2"]),
        valor=st.sampled_from(["130", "", "x"]),
        dataEmissaoPenalidade=st.sampled_from(["", "01/02/2025", "?"]),
    ),
    max_size=6,
)


@given(SOME, SOME)
@settings(deadline=None)
def test_each_fine_of_both_answers_is_matched_once(
    before: list[dict[str, Any]], after: list[dict[str, Any]]
) -> None:
    """Without new and gone fines, both answers have equally many fines."""
    changes = changed_fines(fines(*before), fines(*after))
    new = sum(change.before is None for change in changes)
    gone = sum(change.after is None for change in changes)
    assert len(after) - new == len(before) - gone
    assert all(change.events for change in changes)
    positions = [change.position for change in changes if change.after is not None]
    assert positions == sorted(set(positions))


@given(SOME)
@settings(deadline=None)
def test_reversed_answer_has_no_changes(records: list[dict[str, Any]]) -> None:
    shuffled = json.loads(json.dumps(records[::-1]))
    assert changed_fines(fines(*records), fines(*shuffled)) == []


def test_effort_grows_with_the_records_and_not_with_their_pairs() -> None:
    """Thousands of fines of one place and time, each with another notice number in each answer."""

    def effort(count: int) -> int:
        old = fines(*(fine(autoInfracao=f"A{number}") for number in range(count)))
        new = fines(*(fine(autoInfracao=f"B{number}") for number in range(count)))
        return len(calls(lambda: changed_fines(old, new)))

    assert effort(400) < 3 * effort(200)
