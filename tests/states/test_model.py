"""What the model of the states allows, without a server."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.fakes.wire import Call
from tests.states.machine import LONG
from tests.states.model import Ask, Caller, Env, Model, Reply, Violation
from tests.states.numbered import GOOD, Answer, NumberedUpstream
from tests.states.world import ALICE, STAFF

ASK = Ask("decode", "ABC1D23", ("GET", "/v1/decode/ABC1D23", ""))
NOW = 1_800_000_000.0
PASSED_THROUGH = Env("A passed through", "pass-through", {}, {})


def reply(status: int, asked_at: float = NOW) -> Reply:
    return Reply(status, b"", {}, asked_at, asked_at + 0.1)


@pytest.mark.parametrize(
    ("who", "wrong_tokens", "is_allowed"),
    [
        (STAFF, [NOW - 20] * 30, True),
        (STAFF, [NOW - 20] * 29, False),
        (STAFF, [NOW - 70] * 30, False),
        (STAFF, [NOW - 3000] * 300, True),
        (ALICE, [NOW - 20] * 30, False),
    ],
)
def test_unknown_token_is_told_to_wait_only_after_many(
    who: Caller, wrong_tokens: Sequence[float], is_allowed: bool
) -> None:
    model = Model(LONG, [], wrong_tokens=list(wrong_tokens))
    try:
        model.check_failure(PASSED_THROUGH, who, ASK, "", reply(429), alone=True)
    except Violation:
        assert not is_allowed
    else:
        assert is_allowed


@pytest.mark.parametrize(
    ("shown_s", "same_step", "is_violation"),
    [
        (4.0, False, True),
        (5.5, False, False),  # by another request of the step, which began after 5 s
        (7.0, False, False),
        (math.inf, False, False),
        (5.5, True, True),
    ],
)
def test_answer_is_not_paid_again_once_a_reply_has_shown_it_stored(
    shown_s: float, same_step: bool, is_violation: bool
) -> None:
    upstream = NumberedUpstream("A primary", itertools.count())
    call = Call(1, 1, *ASK.key[:2], ASK.key[1], (("authorization", "operator"),), b"", NOW)
    first = Answer(upstream, call, "decode", "ABC1D23", GOOD, NOW, env="A", sent_at=NOW)
    again = replace(first, received_at=NOW + 6, sent_at=NOW + 6)
    upstream.answers += [first, again]
    first.note_stored(NOW + shown_s)
    model = Model(LONG, [upstream])
    try:
        model.check_paid_once(again, [first, again] if same_step else [again], NOW + 5)
    except Violation:
        assert is_violation
    else:
        assert not is_violation
