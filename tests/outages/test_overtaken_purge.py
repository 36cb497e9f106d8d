"""A purge leaves nothing that was made from answers read before it and inserted during it."""

import fcntl
import os
import re
import signal
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import pytest
import requests

from tests.factories import decode_body
from tests.fakes import FaultUpstream, faults, wait_until
from tests.fakes.answers import path_of
from tests.fakes.databases import PostgresProcess
from tests.fakes.preloaded import PreloadedProcess
from tests.fakes.processes import PortalProcess
from tests.outages.stored import HEADER, OTHER, PLATE, is_stored, lookup, serving, tag_of
from tests.outages.visitor import signed_in

pytestmark = pytest.mark.long


@pytest.fixture
def server(upstream: FaultUpstream) -> Iterator[PortalProcess]:
    with serving(upstream) as running:
        yield running


@pytest.fixture
def priced(upstream: FaultUpstream) -> Iterator[PortalProcess]:
    """A portal with known prices, so that a batch may be given a limit."""
    with serving(
        upstream, PRICE_DECODE="0.10", PRICE_RENAINF="0.10", PRICE_RENAJUD="0.10"
    ) as running:
        yield running


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold the write lock of a SQLite file."""
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        yield
        db.execute("ROLLBACK")


def rows(server: PortalProcess, query: str, *values: object) -> int:
    with closing(sqlite3.connect(server.data_dir / "portal.sqlite")) as db:
        return int(db.execute(f"SELECT count(*) FROM {query}", values).fetchone()[0])


def entries(server: PortalProcess, plate: str) -> int:
    with closing(sqlite3.connect(server.data_dir / "cache.sqlite")) as db:
        found = db.execute("SELECT key FROM entries").fetchall()
    return sum(key.startswith(tag_of(plate).decode()) for (key,) in found)


@contextmanager
def purge_that_has_only_logged(server: PortalProcess) -> Iterator[PreloadedProcess]:
    """Stop a purge between its entry in the log and the deletion of the answers.

    At the end of the block the purge goes on, and must exit with 0.
    """
    command = ["-m", "flask", "--app", "app", "purge", PLATE]
    with tempfile.TemporaryFile() as said, ExitStack() as running:
        with locked(server.data_dir / "cache.sqlite"):
            purge = running.enter_context(
                PreloadedProcess(command, server.environment(), said, said)
            )
            wait_until(lambda: rows(server, "purges") == 1, "the purge's number in the log")
            purge.send_signal(signal.SIGSTOP)
        yield purge
        purge.send_signal(signal.SIGCONT)
        code = purge.wait(60)
        said.seek(0)
        assert code == 0, said.read()


def page(server: PortalProcess) -> tuple[dict[str, str], dict[str, str]]:
    """Look up the vehicle as a visitor. Return the cookie and the form of the vehicle's page."""
    cookie = signed_in(server)
    shown = server.get(f"/placa/{PLATE}?completo=1", headers=cookie)
    if "portal" in shown.cookies:
        cookie = {"Cookie": f"portal={shown.cookies['portal']}"}
    token = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', shown.text)
    assert token is not None
    return cookie, {"csrf_token": token[1]}


def test_dossier_made_from_purged_answers_is_not_issued(server: PortalProcess) -> None:
    cookie, form = page(server)

    def issue() -> requests.Response:
        path = f"/placa/{PLATE}/dossie/emitir"
        return server.post(path, data=form, headers=cookie, timeout=120)

    with ThreadPoolExecutor(1) as pool:
        with purge_that_has_only_logged(server) as purge:
            with locked(server.data_dir / "portal.sqlite"):
                issued = pool.submit(issue)
                time.sleep(3)  # the answers are read, and the insert waits for the lock
                for worker in server.worker_pids():
                    os.kill(worker, signal.SIGSTOP)
            purge.send_signal(signal.SIGCONT)
            purge.wait(60)
        for worker in server.worker_pids():
            os.kill(worker, signal.SIGCONT)
        assert issued.result().status_code == 409, issued.result().headers
    assert rows(server, "dossiers") == 0


def test_report_on_purged_answers_is_not_stored(
    server: PortalProcess, upstream: FaultUpstream
) -> None:
    """The report's leader waits for the lease of a key until the purge has ended."""
    cookie, form = page(server)
    leases = server.data_dir / "leases"

    def write() -> requests.Response:
        return server.post(f"/placa/{PLATE}/laudo", data=form, headers=cookie, timeout=120)

    names = set[str]()
    upstream.default(faults.slow_first_byte(0.5))  # so that the lease is seen
    with ThreadPoolExecutor(1) as pool:
        written = pool.submit(write)
        while not written.done():
            with suppress(FileNotFoundError):
                names |= {file.name for file in leases.iterdir()}
    assert written.result().status_code == 303
    (name,) = names
    assert server.command_line("purge", PLATE).returncode == 0
    page(server)
    before, asked = entries(server, PLATE), upstream.count(path_of("report"))
    with ThreadPoolExecutor(1) as pool, (leases / name).open("w") as lease:
        fcntl.flock(lease, fcntl.LOCK_EX)
        written = pool.submit(write)
        time.sleep(2)  # the report's records are read, and its leader waits for the lease
        assert before == entries(server, PLATE) == 3
        done = server.command_line("purge", PLATE)
        assert done.returncode == 0, done.stderr + done.stdout
        assert entries(server, PLATE) == 0
        (leases / name).unlink()
    assert written.result().status_code == 200  # the page shows the paid report
    assert upstream.count(path_of("report")) == asked + 1
    assert entries(server, PLATE) == 0
    assert rows(server, "ledger WHERE subject = ?", tag_of(PLATE).decode()) == 0


def test_batch_started_during_a_purge_keeps_no_result(priced: PortalProcess) -> None:
    server = priced
    for plate in (PLATE, OTHER):
        for operation in ("decode", "renainf", "renajud"):
            assert server.get(path_of(operation, plate), headers=HEADER).status_code == 200
    with purge_that_has_only_logged(server):
        created = server.post(
            "/api/v1/batches", json={"plates": [PLATE, OTHER]}, headers=HEADER
        ).json()
        batch = f"/api/v1/batches/{created['id']}"
        # A worker that has not learned of the purge reserves nothing for the purged vehicle.
        started = server.post(f"{batch}/start", json={"max_cost": 1}, headers=HEADER)
        assert started.status_code == 200
        wait_until(
            lambda: server.get(batch, headers=HEADER).json()["state"] == "done", "the batch's end"
        )
        assert rows(server, "batch_items WHERE sealed_result IS NOT NULL") == 2
    assert rows(server, "batch_items WHERE subject = ?", tag_of(PLATE).decode()) == 0
    assert rows(server, "batch_items") == 1
    assert is_stored(server, PLATE) == {False}


def test_repeated_request_makes_a_batch_of_its_own_after_a_purge(
    server: PortalProcess, upstream: FaultUpstream
) -> None:
    """The repeated batch gets no answer from the lookups of the batch that the purge deleted."""
    first, second = threading.Event(), threading.Event()
    before = faults.answer("before", decode_body(PLATE, descricao="BEFORE"))
    upstream.script(path_of("decode", PLATE), before, faults.held(second))
    upstream.script(path_of("renainf", PLATE), faults.held(first))

    def create() -> str:
        body = {"plates": [PLATE], "ask": ["decode", "renainf"]}
        headers = HEADER | {"Idempotency-Key": "nightly"}
        created = server.post("/api/v1/batches", json=body, headers=headers)
        assert created.status_code == 201, created.text
        assert server.post(f"{created.headers['Location']}/start", headers=HEADER).ok
        return created.headers["Location"]

    purged = create()
    wait_until(lambda: upstream.count(path_of("renainf", PLATE)) == 1, "the second lookup")
    assert server.command_line("purge", PLATE).returncode == 0
    repeated = create()
    wait_until(lambda: upstream.count(path_of("decode", PLATE)) == 2, "the repeated batch's lookup")
    first.set()
    wait_until(lambda: rows(server, "ledger WHERE outcome = 'answered'") == 2, "the second answer")
    second.set()
    wait_until(
        lambda: server.get(repeated, headers=HEADER).json()["state"] == "done", "the batch's end"
    )
    assert "before" not in server.get(f"{repeated}/results.jsonl", headers=HEADER).text.lower()
    assert repeated != purged


def test_repeated_request_issues_a_dossier_with_another_number_after_a_purge(
    server: PortalProcess,
) -> None:
    numbers = set()
    for _ in range(2):
        cookie, form = page(server)
        path, data = f"/placa/{PLATE}/dossie/emitir", form | {"idempotency_key": "click"}
        issued = server.post(path, data=data, headers=cookie, timeout=120)
        assert issued.status_code == 303
        numbers.add(issued.headers["Location"])
        assert server.command_line("purge", PLATE).returncode == 0
    assert len(numbers) == 2
    assert rows(server, "idempotency_keys") == 0


# Portals with a store of their own and a shared database


@pytest.fixture
def portals(upstream: FaultUpstream) -> Iterator[list[PortalProcess]]:
    with PostgresProcess() as database:
        url = database.new_database()
        with (
            serving(upstream, DATABASE_URL=url) as here,
            serving(upstream, DATABASE_URL=url) as there,
        ):
            yield [here, there]


@pytest.mark.long
def test_purge_reaches_the_embedded_store_of_another_portal(portals: list[PortalProcess]) -> None:
    here, there = portals
    for server in portals:
        for plate in (PLATE, OTHER):
            assert lookup(server, plate).status == 200
    done = here.command_line("purge", PLATE)
    # The receipt, and the line on answers that were looked up by a Renavam.
    assert (done.returncode, done.stderr.count("\n")) == (0, 2), done.stderr
    for server in portals:
        assert is_stored(server, PLATE) == {False}
        assert is_stored(server, OTHER) == {True}
    wait_until(lambda: tag_of(PLATE) not in contents(there.data_dir), "the erasure of the bytes")


def contents(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.glob("cache.sqlite*"))
