"""Responses in parts: the pace of a client, and the slots that they hold."""

import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from portal.access.tokens import Gatekeeper
from portal.batch.batches import Batches
from portal.pdf.process import PdfProcess
from portal.web.http import streams
from portal.web.http.slots import (
    MAX_FILE_REQUESTS,
    MAX_FILE_REQUESTS_PER_SENDER,
    MAX_WRITES_PER_SENDER,
)
from portal.web.http.streams import (
    PIECE_BYTES,
    SLICE_S,
    TAKEN_WITHIN_S,
    ClientTooSlow,
    FileTurn,
    Spool,
    paced,
)
from tests.batch.engine import plates
from tests.conftest import PortalFactory
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
from tests.web.json_paths import expect_message, issue

BATCHES = "/api/v1/batches"
CLIENT = "192.0.2.7"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_parts_are_sent_in_pieces() -> None:
    part = bytes(range(256)) * 256
    pieces = list(paced([part, b"", b"end"]))
    assert b"".join(pieces) == part + b"end"
    assert max(map(len, pieces)) == PIECE_BYTES


def test_client_that_takes_no_piece_in_time_is_ended() -> None:
    clock = Clock()
    pieces = paced([bytes(3 * PIECE_BYTES)], clock)
    next(pieces)
    clock.now += TAKEN_WITHIN_S
    next(pieces)
    clock.now += TAKEN_WITHIN_S + 0.1
    with pytest.raises(ClientTooSlow):
        next(pieces)


def test_time_of_the_next_part_does_not_count() -> None:
    clock = Clock()

    def rendered() -> Iterator[bytes]:
        for _ in range(3):
            clock.now += 10 * TAKEN_WITHIN_S
            yield b"part"

    assert list(paced(rendered(), clock)) == [b"part"] * 3


def test_spool_asks_before_it_needs_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "SPOOLED", 10)
    asked: list[bool] = []
    with Spool(lambda: asked.append(True)) as file:
        file.write(bytes(10))
        assert not asked
        file.write(b"1")
        assert asked == [True]
        file.write(bytes(100))
        assert asked == [True]


class Work:
    """A clock that work on rows advances, and a sleep that notes whether the turn is free."""

    def __init__(self) -> None:
        self.now = 0.0
        self.free: list[bool] = []
        self.turn = FileTurn(lambda: self.now, self._sleep)

    def _sleep(self, _: float) -> None:
        self.free.append(self.is_free)

    @property
    def is_free(self) -> bool:
        return self.others_gets(0.0)

    def others_gets(self, within_s: float) -> bool:
        """Return whether another thread gets the turn."""
        taken = threading.Event()

        def take() -> None:
            with self.turn.take():
                taken.set()

        threading.Thread(target=take, daemon=True).start()
        return taken.wait(within_s or 0.05)

    def rows(self, count: int, each_s: float) -> Iterator[int]:
        for number in range(count):
            self.now += each_s
            yield number


@pytest.mark.parametrize(
    ("each_s", "pauses"), [(SLICE_S / 10, 1), (SLICE_S * 2, 12), (SLICE_S / 100, 0)]
)
def test_work_on_a_file_pauses_after_each_slice(each_s: float, pauses: int) -> None:
    work = Work()
    assert list(work.turn.sliced(work.rows(12, each_s))) == [*range(12)]
    assert work.free == [True] * pauses


def test_one_thread_at_a_time_works_on_a_file() -> None:
    work = Work()
    rows = work.turn.sliced(work.rows(3, 0.0))
    next(rows)
    assert not work.is_free
    rows.close()  # as after an error
    assert work.others_gets(10.0)


def test_turn_is_free_after_an_error() -> None:
    work = Work()

    def broken() -> Iterator[int]:
        yield 1
        raise RuntimeError

    with pytest.raises(RuntimeError):
        list(work.turn.sliced(broken()))
    assert work.others_gets(10.0)


@pytest.fixture
def here(portal: PortalFactory, monkeypatch: pytest.MonkeyPatch) -> InProcessPortal:
    monkeypatch.setattr(streams, "SPOOLED", 10)
    monkeypatch.setattr(PdfProcess, "check", lambda _: None)
    monkeypatch.setattr(PdfProcess, "render_for_archive", lambda _, html, __: html.encode())
    return portal()


def batch(here: InProcessPortal, token: str = PORTAL_TOKEN) -> str:
    headers = {"Authorization": token}
    made = here.client.post(BATCHES, json={"plates": plates(2)}, headers=headers)
    return str(made.headers["Location"])


@pytest.mark.parametrize("first", ["results.zip", "results.csv", "results.xlsx", "fines.jsonl"])
def test_a_sender_has_one_long_response_at_a_time(here: InProcessPortal, first: str) -> None:
    path, auth = batch(here), {"Authorization": PORTAL_TOKEN}
    other = issue(here, "bia")
    theirs = batch(here, other)
    answer = here.app.test_client().get(f"{path}/{first}", headers=auth, buffered=False)
    with answer:
        for name in ("results.zip", "results.csv", "results.xlsx", "restrictions.csv"):
            refused = here.app.test_client().get(f"{path}/{name}", headers=auth)
            expect_message(refused, 503)
            assert refused.get_json()["code"] == "busy"
            assert int(refused.headers["Retry-After"]) == refused.get_json()["retry_after_s"]
            assert here.app.test_client().head(f"{path}/{name}", headers=auth).status_code == 200
        with here.app.test_client().get(
            f"{theirs}/results.zip", headers={"Authorization": other}, buffered=False
        ) as answer_of_other:
            assert answer_of_other.status_code == 200
    assert here.app.test_client().get(f"{path}/results.zip", headers=auth).status_code == 200


FILES = (
    *("results.zip", "results.csv", "results.xlsx", "fines.jsonl", "restrictions.csv"),
    *("deadlines.ics", "sheets.pdf"),
)


@pytest.mark.parametrize("name", FILES)
def test_refused_file_reads_nothing(
    here: InProcessPortal, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Regression: each of hundreds of requests read its batch before it was refused."""
    path, slots = batch(here), here.parts.web.slots
    sender = here.parts.web.gatekeeper.authenticate(PORTAL_TOKEN).digest
    held = [(slots.streams, 1), (slots.table_writes, MAX_WRITES_PER_SENDER)]
    with ExitStack() as stack:
        for limiter, many in held:
            for _ in range(many):
                stack.enter_context(limiter.slot(sender))
        for read in ("get", "items"):
            monkeypatch.setattr(Batches, read, lambda *_: pytest.fail("the batch was read"))
        refused = here.get(f"{path}/{name}")
    expect_message(refused, 503)
    assert (refused.get_json()["code"], refused.headers["Retry-After"]) == ("busy", "5")


@pytest.mark.parametrize("name", FILES)
def test_worker_checks_few_requests_for_files_at_a_time(
    here: InProcessPortal, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path, slots = batch(here), here.parts.web.slots
    other = issue(here, "bia")
    with ExitStack() as stack:
        for _ in range(MAX_FILE_REQUESTS_PER_SENDER):
            stack.enter_context(slots.file_requests.slot(PORTAL_TOKEN))
        authenticate = Gatekeeper.authenticate
        monkeypatch.setattr(Gatekeeper, "authenticate", lambda *_: pytest.fail("it was checked"))
        refused = here.get(f"{path}/{name}")
        expect_message(refused, 503)
        assert refused.get_json()["code"] == "busy"
        monkeypatch.setattr(Gatekeeper, "authenticate", authenticate)
        assert here.get(f"{path}/{name}", other).status_code == 404
        for number in range(MAX_FILE_REQUESTS - MAX_FILE_REQUESTS_PER_SENDER):
            stack.enter_context(slots.file_requests.slot(f"sender {number}"))
        assert here.get(f"{path}/{name}", other).status_code == 503
        assert here.get(path).status_code == 200  # the batch itself is no file
    assert here.get(f"{path}/{name}", other).status_code == 404


def test_an_archive_that_is_sent_is_no_request_that_is_checked(here: InProcessPortal) -> None:
    path, slots = batch(here), here.parts.web.slots
    with ExitStack() as stack:
        archive = here.app.test_client().get(
            f"{path}/results.zip", headers={"Authorization": PORTAL_TOKEN}, buffered=False
        )
        stack.enter_context(archive)
        for _ in range(MAX_FILE_REQUESTS_PER_SENDER):
            stack.enter_context(slots.file_requests.slot(PORTAL_TOKEN))


def test_an_archive_that_cannot_begin_holds_no_slot(
    here: InProcessPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: PdfProcess) -> None:
        raise RuntimeError

    path, auth = batch(here), {"Authorization": PORTAL_TOKEN}
    monkeypatch.setattr(PdfProcess, "check", fail)
    for _ in range(2):
        assert here.client.get(f"{path}/results.zip", headers=auth).status_code == 500


def test_small_table_needs_no_slot(portal: PortalFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PdfProcess, "check", lambda _: None)
    here = portal()
    path, auth = batch(here), {"Authorization": PORTAL_TOKEN}
    with here.app.test_client().get(f"{path}/results.zip", headers=auth, buffered=False):
        assert here.app.test_client().get(f"{path}/results.csv", headers=auth).status_code == 200


def test_tables_that_a_sender_has_written_at_a_time(here: InProcessPortal) -> None:
    path, auth = batch(here), {"Authorization": PORTAL_TOKEN}
    web = here.parts.web
    sender = web.gatekeeper.authenticate(PORTAL_TOKEN).digest
    held = [web.slots.table_writes.slot(sender) for _ in range(MAX_WRITES_PER_SENDER)]
    for slot in held:
        slot.__enter__()
    for name in ("results.csv", "fines.csv", "deadlines.ics"):
        assert here.get(f"{path}/{name}").get_json()["code"] == "busy", name
    for slot in held:
        slot.__exit__(None, None, None)
    assert here.client.get(f"{path}/results.csv", headers=auth, buffered=True).status_code == 200


def test_visitors_of_the_demonstration_are_one_sender_by_address(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each visitor has a session of its own, so that sessions limit nothing."""
    monkeypatch.setattr(PdfProcess, "check", lambda _: None)
    here = portal({})
    archives = []
    for _ in range(2):
        client = here.app.test_client()
        form = client.get("/lote", environ_overrides={"REMOTE_ADDR": CLIENT}).text
        csrf = re.search(r'name="csrf_token" value="([^"]+)"', form)
        assert csrf
        sent = {"csrf_token": csrf[1], "placas": "ABC1D23 LMP0A01", "consulta": "decode"}
        made = client.post("/lote", data=sent, environ_overrides={"REMOTE_ADDR": CLIENT})
        archives.append((client, made.headers["Location"].rsplit("/", 1)[1]))
    (one, first), (two, second) = archives
    asked = {"environ_overrides": {"REMOTE_ADDR": CLIENT}}
    with one.get(f"{BATCHES}/{first}/results.zip", buffered=False, **asked) as answer:
        assert answer.status_code == 200
        assert two.get(f"{BATCHES}/{second}/results.zip", **asked).get_json()["code"] == "busy"
        with two.get(f"{BATCHES}/{second}/results.zip", buffered=False) as elsewhere:
            assert elsewhere.status_code == 200
