"""The signals of forked processes."""

import signal
import subprocess
import sys

import pytest

from tests.fakes.processes import clean_environment

# A main process as Granian's: it handles the signal and sends it to a child that it has just
# forked. The child that ignores it would end with 0.
MAIN_PROCESS = """
import os, signal, sys, time
from portal.system.process import end_forked_processes_on_signals

number = int(sys.argv[1])
signal.signal(number, lambda *_: None)
end_forked_processes_on_signals()
child = os.fork()
if not child:
    time.sleep(10)
    os._exit(0)
os.kill(child, number)
_, status = os.waitpid(child, 0)
os.kill(os.getpid(), number)  # the main process still handles the signal
print(-os.waitstatus_to_exitcode(status))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_right_after_fork_ends_child(number: signal.Signals) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MAIN_PROCESS, str(int(number))],
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, f"{int(number)}\n"), done.stderr
