"""Signals that arrive right after a fork, or without interrupting a wait."""

import signal
import subprocess
import sys

import pytest

from tests.fakes.processes import clean_environment

pytestmark = pytest.mark.slow

# Like Granian's main process, this program handles a signal, forks a child and sends the signal to
# the child. A child that ignores the signal ends with status 0.
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

# Another thread receives the signal, so the wait of the main thread is not interrupted.
WAITING_PROCESS = """
import signal, threading
from portal.system.process import run_late_signal_handlers

received = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: received.set())
run_late_signal_handlers(every_s=0.05)

def receive():
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

threading.Timer(0.2, receive).start()
received.wait()
print("received")
"""


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_right_after_fork_ends_child(number: signal.Signals) -> None:
    done = run(MAIN_PROCESS, str(int(number)))
    assert (done.returncode, done.stdout) == (0, f"{int(number)}\n"), done.stderr


def test_signal_that_interrupts_no_wait_is_handled() -> None:
    assert run(WAITING_PROCESS).stdout == "received\n"
