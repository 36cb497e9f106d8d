"""How often a request meets the close of its spare connection.

Such a call may have been charged. It ends as "broken" and is not repeated.
"""

import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import pytest

from portal.upstream.errors import Broken
from portal.upstream.spares import Spares
from tests.fakes import FaultUpstream
from tests.upstream.lookups import RecordingAccount, deadline_in, origin, resource

pytestmark = pytest.mark.long

ROUND_TRIP_S = 0.1
CLIENTS, CALLS = 40, 10
LONGEST_PAUSE_S = 4.0


@pytest.mark.parametrize(
    "closes_after_s",
    [lambda: 1.0, lambda: 5.0, lambda: random.uniform(0.1, 4.0)],
    ids=["1 s", "5 s", "at random"],
)
def test_close_at_the_moment_of_the_send_is_rare(
    closes_after_s: Callable[[], float], capsys: pytest.CaptureFixture[str]
) -> None:
    """Each client is a process of its own, with pauses of up to 4 s between its calls."""
    account = RecordingAccount()

    def calls(url: str) -> None:
        spares = Spares(1, 15.0)
        client = origin(url, spares=spares)
        for _ in range(CALLS):
            ends_at = time.monotonic() + random.uniform(0, LONGEST_PAUSE_S)
            while time.monotonic() < ends_at:
                time.sleep(min(0.25, max(0.0, ends_at - time.monotonic())))
                spares.tick()
            with suppress(Broken):
                client.send(resource(), account, deadline_in(60))
        spares.close()

    with FaultUpstream() as upstream:
        upstream.closes_early = lambda: (closes_after_s(), ROUND_TRIP_S)
        threads = [threading.Thread(target=calls, args=(upstream.url,)) for _ in range(CLIENTS)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        met = CLIENTS * CALLS - upstream.count()
    outcomes = Counter(account.outcomes)
    with capsys.disabled():
        sys.stdout.write(f"{met} of {CLIENTS * CALLS} calls met a close ")
    assert outcomes == {"answered": upstream.count(), **({"broken": met} if met else {})}
    assert account.begun == CLIENTS * CALLS
    assert met <= 0.05 * CLIENTS * CALLS
