"""Clients that ask for long files and do not read them, against the real server."""

import select
import socket
import sys
import time

import pytest

from portal.serving.send_timeout import SEND_WITHIN_S
from portal.web.http.slot_limits import MAX_STREAMS
from tests.fakes.ports import wait_until
from tests.outages.unread_responses import Readers

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="TCP_USER_TIMEOUT and /proc are of Linux"
)


def has_begun(client: socket.socket) -> bool:
    """Whether a response, or its refusal, has arrived in part."""
    return bool(select.select([client], [], [], 0)[0])


@pytest.mark.long
@pytest.mark.parametrize(("archives", "tables"), [(40, 0), (0, 12)])
def test_what_unread_responses_hold_is_freed_within_a_minute(archives: int, tables: int) -> None:
    senders = 2 * MAX_STREAMS
    with Readers(senders) as readers:
        before = readers.held()
        with readers.unread(archives, tables) as clients:
            most = before.temporary_files + MAX_STREAMS
            wait_until(lambda: all(map(has_begun, clients)), "the responses", 200)
            began = time.monotonic()
            held = readers.held()
            assert held.temporary_files <= most
            assert (held.temporary_files > before.temporary_files) == bool(tables)
            if archives:
                assert readers.pdf_s() < 25
            freed_within_s = SEND_WITHIN_S + 30 - (time.monotonic() - began)
            wait_until(
                lambda: readers.held().temporary_files <= before.temporary_files,
                "the end of the temporary files",
                freed_within_s,
            )
            for sender in readers.senders:
                wait_until(
                    lambda sender=sender: readers.asked(sender).status_code == 200,  # type: ignore[misc]
                    "a free slot",
                    60,
                )
