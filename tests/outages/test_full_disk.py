"""On a full disk workers survive, paid answers arrive, and calls need a ledger row.

The disk is a tmpfs of a few MiB. The tests are skipped where it cannot be mounted.
"""

import csv
import io
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import requests

from portal.phrasebook.api_errors import API_ERRORS
from tests.fakes import FaultUpstream, faults, wait_until
from tests.fakes.answers import path_of
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess
from tests.outages.crowd import Answer, Ask, in_turn, one
from tests.outages.visitor import signed_in

HEADER = {"Authorization": PORTAL_TOKEN}
SIZE = 2 * 1024 * 1024
WORKERS = 2


class SmallDisk:
    """A separate file system that can be filled completely and freed again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ballast = path / "ballast"

    def fill(self) -> None:
        with suppress(OSError), self._ballast.open("ab", buffering=0) as ballast:
            while ballast.write(bytes(4096)):
                pass
        assert self.free == 0

    def free_space(self) -> None:
        self._ballast.unlink()
        assert self.free > 0

    @property
    def free(self) -> int:
        return os.statvfs(self.path).f_bavail


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no small disk can be mounted here")
    try:
        yield SmallDisk(path)
    finally:
        subprocess.run(["umount", str(path)], check=True)


@pytest.fixture
def server(disk: SmallDisk, upstream: FaultUpstream) -> Iterator[PortalProcess]:
    settings = managed(upstream.url) | {"PORTAL_DATA_DIR": str(disk.path)}
    with PortalProcess(settings, workers=WORKERS) as running:
        running.wait_for_workers()
        yield running


def ask(server: PortalProcess, plate: str, **headers: str) -> Answer:
    return one(server.port, Ask(path_of("decode", plate), {**HEADER, **headers}))


def ledger_of(server: PortalProcess) -> list[dict[str, str]]:
    printed = server.command_line("ledger", "--csv")
    assert printed.returncode == 0, printed.stderr
    return list(csv.DictReader(io.StringIO(printed.stdout)))


def test_full_disk_loses_no_paid_answer_and_serves_hits(
    disk: SmallDisk, server: PortalProcess, upstream: FaultUpstream
) -> None:
    stored = [f"ABC1D{number:02}" for number in range(10)]
    for plate in stored:
        assert ask(server, plate).status == 200
    workers, person = server.worker_pids(), signed_in(server)

    # The disk fills while a call is in flight; its ledger row is already written.
    gate, answers = threading.Event(), []
    upstream.script("/", faults.held(gate), faults.good())
    caller = threading.Thread(target=lambda: answers.append(ask(server, "DEF4G56")))
    caller.start()
    upstream.wait_for_calls(len(stored) + 1)
    disk.fill()
    gate.set()
    caller.join(60)
    assert [answer.status for answer in answers] == [200]

    # Hits and pages are served, and metrics are still updated.
    hits = in_turn(
        server.port, [Ask(path_of("decode", plate), HEADER) for plate in stored * 20], clients=8
    )
    assert {answer.status for answer in hits} == {200}
    for path in ("/", "/glossario", "/healthz", "/readyz", "/metrics"):
        assert server.get(path).status_code == 200
    page = one(server.port, Ask(f"/placa/{stored[0]}?completo=1", person))
    assert page.status == 200
    assert stored[0] in page.body.decode()

    # A call without a ledger row is not sent.
    refused = None
    for number in range(100):  # the write-ahead log may still have room for some rows
        before = upstream.count()
        answer = ask(server, f"XYZ9K{number:02}")
        if answer.status != 200:
            refused = answer
            assert upstream.count() == before
            break
        assert upstream.count() == before + 1
    assert refused is not None
    assert refused.status == 503
    assert API_ERRORS["ledger_unavailable"].message in refused.body.decode()

    # With free space everything works again, in the same processes.
    disk.free_space()
    wait_until(lambda: ask(server, "JKL7M89").status == 200, "a new lookup")
    paid = upstream.count()
    only = {"Cache-Control": "only-if-cached"}
    assert ask(server, "JKL7M89", **only).status == 200
    assert upstream.count() == paid
    assert server.worker_pids() == workers
    assert len(ledger_of(server)) == paid


def test_portal_starts_and_serves_hits_on_a_full_disk(
    disk: SmallDisk, server: PortalProcess, upstream: FaultUpstream
) -> None:
    assert ask(server, "ABC1D23").status == 200
    server.stop()
    disk.fill()
    server.start()
    assert ask(server, "ABC1D23").status == 200
    assert server.get("/placa/ABC1D23").status_code in (200, 303)
    assert upstream.count() == 1


def test_replaced_workers_reuse_their_metric_files(disk: SmallDisk, server: PortalProcess) -> None:
    disk.fill()
    wait_until(lambda: len(files_in_use(server)) == 2 * WORKERS, "each worker's metric files")
    files = files_in_use(server)
    (directory,) = {file.parent for file in files}
    assert not directory.is_relative_to(disk.path)
    for _ in range(2):
        victim = server.kill_worker()
        wait_until(lambda: victim not in server.worker_pids(), "the worker's end")  # noqa: B023
        wait_until(lambda: files_in_use(server) == files, "the replacement's metric files")
    assert set(directory.glob("*.db")) == files
    server.stop()
    assert not directory.exists()


def files_in_use(server: PortalProcess) -> set[Path]:
    """Send a request; return the metric files that the workers have mapped."""
    with suppress(requests.RequestException):  # a dying worker may have accepted the request
        server.get("/healthz")
    found: set[Path] = set()
    for pid in server.worker_pids():
        with suppress(OSError):
            lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
            found |= {Path(line.split()[-1]) for line in lines if line.endswith(".db")}
    return found
