"""The time-out for sending is set on the listening socket, and touches no other open file."""

import socket
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from socket import create_server, socketpair

import pytest

from portal.serving.send_timeout import SEND_WITHIN_S, set_send_timeout

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="TCP_USER_TIMEOUT and /proc are of Linux"
)
_CLOSES_A_CONNECTION = (
    "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); "
    "db.execute('SELECT count(*) FROM rows').fetchone(); db.close()"
)


def set_and_wait() -> None:
    set_send_timeout()
    for thread in threading.enumerate():
        if thread.name == "send-timeout":
            thread.join()


def test_listening_socket_gets_the_time_out_and_stays_open() -> None:
    ours, theirs = socketpair()
    with ours, theirs, create_server(("127.0.0.1", 0)) as listening:
        set_and_wait()
        set_to = listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
        assert set_to == SEND_WITHIN_S * 1000
        ours.send(b"still open")
        assert theirs.recv(100) == b"still open"


@pytest.mark.slow
def test_database_keeps_its_locks(tmp_path: Path) -> None:
    """Without its locks, another process's last connection would delete the write-ahead log."""
    file = tmp_path / "portal.sqlite"
    with closing(sqlite3.connect(file)) as db, create_server(("127.0.0.1", 0)):
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE rows (id INTEGER)")
        set_and_wait()
        subprocess.run([sys.executable, "-c", _CLOSES_A_CONNECTION, file], check=True)
        assert file.with_name("portal.sqlite-wal").exists()
