"""``dossie batch`` killed at random places and run again: within its limit, nothing asked twice."""

import csv
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from dossie_veicular_client import Client

from tests.batch.engine import plates
from tests.client.test_command import Command
from tests.effort import FULL, long
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.ports import wait_until
from tests.fakes.processes import PortalProcess

pytestmark = [pytest.mark.slow, pytest.mark.long]

COUNT = 200 if FULL else 60
PRICE = 0.5  # R$ a decode, as tests/client/conftest.py sets it
KILLS = 6 if FULL else 3
MANY = 5000 if FULL else 600  # plates, where a batch holds 500


def killed_when(command: Command, words: list[str], is_time: Callable[[], bool]) -> None:
    """Kill the command when it is time, unless it has ended."""
    arguments = [sys.executable, "-m", "dossie_veicular_client", *words]
    with subprocess.Popen(
        arguments,
        env=command.env,
        cwd=command.home,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        while not is_time() and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)


@pytest.mark.over_5_s("it kills a program several times during a list")
@pytest.mark.parametrize("share", [0.3, 0.99, *long(0.0, 1.0)])
def test_limit_holds(
    served: PortalProcess, upstream: FaultUpstream, tmp_path: Path, share: float
) -> None:
    upstream.default(faults.slow_first_byte(0.02))
    allowed = int(COUNT * share)
    command = Command(served, tmp_path)
    (tmp_path / "placas.txt").write_text("\n".join(plates(COUNT)))
    limit = str(allowed * PRICE)
    words = ["batch", "placas.txt", "--out", "saida.csv", "--ask", "decode", "--max-reais", limit]
    drawn = random.Random(int(share * 100))
    for _ in range(KILLS):
        end = time.monotonic() + drawn.uniform(0.1, 2.0)
        killed_when(command, words, lambda end=end: time.monotonic() > end)  # type: ignore[misc]
        assert upstream.count() <= allowed
    ended = command(*words)
    assert ended.returncode == (0 if allowed == COUNT else 3), ended.stderr
    assert upstream.count() == allowed
    asked = [call.path for call in upstream.calls]
    assert len(set(asked)) == len(asked)
    ledger = served.command_line("ledger", "--csv").stdout.splitlines()
    assert len(ledger) - 1 == allowed


def test_limit_holds_after_the_portal_has_dropped_the_batch(
    served: PortalProcess, upstream: FaultUpstream, tmp_path: Path
) -> None:
    """A batch goes on after its command was killed, and is dropped as its answers expire."""
    upstream.default(faults.slow_first_byte(0.1))
    command = Command(served, tmp_path)
    (tmp_path / "placas.txt").write_text("\n".join(plates(40)))
    words = ["batch", "placas.txt", "--out", "saida.csv", "--ask", "decode", "--max-reais", "10"]
    killed_when(command, words, lambda: upstream.count() >= 2)
    wait_until(lambda: upstream.count() == 20, "what the limit allows")
    with closing(sqlite3.connect(served.data_dir / "portal.sqlite")) as database, database:
        database.execute("DELETE FROM batch_items")
        database.execute("DELETE FROM batches")
    ended = command(*words)
    assert ended.returncode == 3, ended.stderr
    assert upstream.count() == 20


@pytest.mark.long
@pytest.mark.over_5_s("it looks up hundreds of plates and kills the program twice")
def test_list_of_several_batches_is_complete_after_two_kills(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    listed, drawn = plates(MANY), random.Random(38)
    (tmp_path / "placas.txt").write_text("\n".join(listed))
    words = ["batch", "placas.txt", "--out", "saida.csv", "--ask", "decode"]
    with PortalProcess(managed(upstream.url), workers=4) as portal:
        command = Command(portal, tmp_path)
        for count in sorted(drawn.randrange(1, MANY) for _ in range(2)):
            killed_when(command, words, lambda count=count: upstream.count() >= count)  # type: ignore[misc]
        ended = command(*words)
        assert ended.returncode == 0, ended.stderr
        ledger = portal.command_line("ledger", "--csv").stdout.splitlines()
        batches = list(Client(portal.url, PORTAL_TOKEN).batches())
    text = (tmp_path / "saida.csv").read_text("utf-8-sig")
    rows = list(csv.DictReader(text.splitlines(), delimiter=";"))
    assert [(row["plate"], row["state"]) for row in rows] == [(each, "done") for each in listed]
    asked = [call.path for call in upstream.calls]
    assert len(set(asked)) == len(asked) == len(ledger) - 1 == MANY
    assert sum(batch["counts"]["total"] for batch in batches) == MANY
