"""The socket passed by systemd: recognised, refused, and kept open over a restart."""

import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest
import requests

from portal.serving.activation import UnusableSocket, inherited_address
from tests.fakes.ports import wait_until
from tests.fakes.preloaded import CHECKOUT
from tests.fakes.processes import clean_environment

pytestmark = pytest.mark.long

PID = 4711

AS_SYSTEMD = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ |= {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1"}
os.execv(sys.executable, [sys.executable, "app.py"])
"""


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"LISTEN_FDS": "1"},
        {"LISTEN_PID": "4712", "LISTEN_FDS": "1"},  # passed to the parent process
        {"LISTEN_PID": "4711"},
    ],
)
def test_no_socket_was_passed(environ: Mapping[str, str]) -> None:
    assert inherited_address(environ, PID) is None


def test_several_sockets_are_refused() -> None:
    with pytest.raises(UnusableSocket, match="2 sockets, one is expected"):
        inherited_address({"LISTEN_PID": str(PID), "LISTEN_FDS": "2"}, PID)


def start(listener: socket.socket, folder: Path, log: Path) -> subprocess.Popen[bytes]:
    """Start ``python app.py`` as systemd does: descriptor 3 is the socket."""
    env = clean_environment(PORTAL_DATA_DIR=str(folder), PORTAL_WORKERS="2", PORT="1")
    with log.open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-c", AS_SYSTEMD, str(listener.fileno())],
            cwd=CHECKOUT,
            env=env,
            pass_fds=[listener.fileno()],
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


@pytest.mark.slow
def test_unix_socket_is_refused(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        listener.listen()
        log = tmp_path / "log"
        assert start(listener, tmp_path / "data", log).wait(60) == 1
        assert log.read_text() == "dossie-veicular: systemd passed a socket that is not TCP\n"


@pytest.mark.slow
def test_connections_wait_while_the_portal_restarts(tmp_path: Path) -> None:
    statuses: list[int] = []
    log = tmp_path / "log"
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/healthz"

        def ask() -> None:
            with requests.Session() as session:
                session.trust_env = False
                statuses.append(session.get(url, timeout=60).status_code)

        for expected in ([200], [200, 200, 200]):
            waiting = threading.Thread(target=ask)
            waiting.start()  # connects before the portal starts
            portal = start(listener, tmp_path / "data", log)
            try:
                waiting.join(60)
                assert statuses == expected, log.read_text()
                ask()
            finally:
                portal.terminate()
                assert portal.wait(60) == 0
    assert statuses == [200] * 4
    assert "Traceback" not in log.read_text()
    wait_until(lambda: url.split("/")[2] in log.read_text(), "the banner with its address")
