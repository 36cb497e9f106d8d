"""Starts a program of this package in a child process, with a connection to it.

A child is a new program, because a process with threads, such as a worker, must not fork. It gets
no setting of the portal, and so no secret among them.
"""

import os
import socket
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

_PROJECT_ROOT: Final = Path(__file__).resolve().parents[2]


def start_child(program: str) -> tuple[subprocess.Popen[bytes], Connection]:
    """Run Python code, whose first argument is the number of its end of the connection.

    Raises OSError if no process can be started.
    """
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = _launch(program, theirs.fileno())
        return process, Connection(ours.detach())


def _launch(program: str, descriptor: int) -> subprocess.Popen[bytes]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PORTAL_")
    }
    return subprocess.Popen(  # noqa: S603 our own program
        [sys.executable, "-c", program, str(descriptor)],
        cwd=_PROJECT_ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,  # may contain texts of a page or of a stranger's file
        pass_fds=[descriptor],
    )
