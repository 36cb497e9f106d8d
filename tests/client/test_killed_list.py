"""``dossie batch`` killed at random places and run again: within its limit, nothing asked twice."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.batch.engine import plates
from tests.client.test_command import Command
from tests.effort import FULL
from tests.fakes import FaultUpstream, faults
from tests.fakes.processes import PortalProcess

COUNT = 200 if FULL else 60
PRICE = 0.5  # R$ a decode, as tests/client/conftest.py sets it
KILLS = 6 if FULL else 3


def killed_after(command: Command, words: list[str], seconds: float) -> None:
    arguments = [sys.executable, "-m", "dossie_veicular_client", *words]
    with subprocess.Popen(
        arguments,
        env=command.env,
        cwd=command.home,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)


@pytest.mark.over_5_s("it kills a program several times during a list")
@pytest.mark.parametrize("share", [0.0, 0.3, 0.99, 1.0])
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
        killed_after(command, words, drawn.uniform(0.1, 2.0))
        assert upstream.count() <= allowed
    ended = command(*words)
    assert ended.returncode == (0 if allowed == COUNT else 3), ended.stderr
    assert upstream.count() == allowed
    asked = [call.path for call in upstream.calls]
    assert len(set(asked)) == len(asked)
    ledger = served.command_line("ledger", "--csv").stdout.splitlines()
    assert len(ledger) - 1 == allowed
