"""Clients that ask for long files and do not read them. ``bench.streams`` measures them."""

import http.client
import socket
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import requests

from tests import factories
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import managed
from tests.fakes.ports import wait_until
from tests.fakes.processes import PortalProcess

BATCHES = "/api/v1/batches"
PERSON = "0123456789abcdef-person"
PLATE = "ABC1D23"
# The plates of the archives have a fine. The others have many, so that a table has 24 MB.
FINES = 800
HIT = f"/detran/v1/decode/{PLATE}"
PLATES = [f"ABC{number:04}" for number in range(40)]
ARCHIVED = PLATES[:20]


class Held(NamedTuple):
    """What a worker holds: memory, temporary files and connections of unread responses."""

    resident_mib: float
    temporary_mib: float
    temporary_files: int
    sockets: int

    def __str__(self) -> str:
        files = f"{self.temporary_files} temporary files ({self.temporary_mib:.0f} MiB)"
        return f"{self.resident_mib:.0f} MiB resident, {files}, {self.sockets} sockets"


class Answered(NamedTuple):
    """The times of a request, and how many of them failed."""

    times_s: list[float]
    failed: int

    @property
    def p99_s(self) -> float:
        times = sorted([*self.times_s, *[float("inf")] * self.failed])
        return times[len(times) * 99 // 100] if times else float("inf")

    def __str__(self) -> str:
        if not self.times_s:
            return f"none answered, {self.failed} failed"
        median = statistics.median(self.times_s)
        shown = f"median {median * 1000:.1f} ms, p99 {self.p99_s * 1000:.1f} ms"
        return f"{shown} of {len(self.times_s)}, {self.failed} failed"


class Readers:
    """Clients of a portal of one worker. Each of ``senders`` has a batch with answers."""

    def __init__(self, senders: int) -> None:
        self.senders = [f"0123456789abcdef-{number:02}" for number in range(senders)]
        self._open = ExitStack()

    def __enter__(self) -> "Readers":
        upstream = self._open.enter_context(FaultUpstream())
        many = [factories.fine(autoInfracao=f"A{number:06}") for number in range(FINES)]
        body = factories.renainf_body(*many)
        for beginning in ("ABC002", "ABC003"):
            path = f"/detran/v1/restrictions/renainf/{beginning}"
            upstream.script(path, faults.answer("many", body))
        settings = managed(upstream.url) | {
            "PORTAL_ACCESS_TOKENS": ",".join([PERSON, *self.senders]),
        }
        self.portal = self._open.enter_context(PortalProcess(settings, workers=1))
        self.batches = {sender: self._batch(sender) for sender in self.senders}
        self.ask("GET", f"/api/v1/vehicles/{PLATE}", PERSON)
        self.ask("GET", HIT, PERSON)
        self.pdf_s()
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def ask(self, method: str, path: str, token: str, body: Any = None) -> Any:
        headers = {"Authorization": token}
        response = self.portal.request(method, path, headers=headers, json=body)
        assert response.ok, (path, response.status_code, response.text)
        return response.json()

    def _batch(self, sender: str) -> str:
        body = {"plates": PLATES, "ask": ["renainf"]}
        path = f"{BATCHES}/{self.ask('POST', BATCHES, sender, body)['id']}"
        self.ask("POST", f"{path}/start", sender, {})
        wait_until(lambda: self.ask("GET", path, sender)["state"] == "done", "the batch", 300)
        return path

    def _connect(self) -> socket.socket:
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(10)
        client.connect(("127.0.0.1", self.portal.port))
        return client

    @contextmanager
    def unread(self, archives: int, tables: int) -> Iterator[list[socket.socket]]:
        """Ask for files and read none. Turns go to all senders; archives and tables mix."""
        asked = [(f"results.zip?plates={','.join(ARCHIVED)}", archives), ("fines.jsonl", tables)]
        with ExitStack() as clients:
            found = []
            for name, many in asked:
                for number in range(many):
                    sender = self.senders[number % len(self.senders)]
                    client = clients.enter_context(closing(self._connect()))
                    head = f"GET {self.batches[sender]}/{name} HTTP/1.1\r\nHost: portal\r\n"
                    client.sendall(f"{head}Authorization: {sender}\r\n\r\n".encode())
                    found.append(client)
            yield found

    def timed(self, paths: Sequence[str], seconds: float) -> dict[str, Answered]:
        """Send each request 20 times a second, for some seconds."""
        found = {path: Answered([], 0) for path in paths}
        ends_at = time.monotonic() + seconds
        while time.monotonic() < ends_at:
            for path in paths:
                began = time.perf_counter()
                try:
                    self._get(path, 8)
                    found[path].times_s.append(time.perf_counter() - began)
                except OSError:
                    found[path] = found[path]._replace(failed=found[path].failed + 1)
            time.sleep(0.05)
        return found

    def _get(self, path: str, timeout_s: float) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", self.portal.port, timeout=timeout_s)
        with closing(connection):
            connection.request("GET", path, headers={"Authorization": PERSON})
            response = connection.getresponse()
            body = response.read()
            if response.status != 200:
                raise ConnectionError(response.status)
            return body

    def asked(self, sender: str) -> requests.Response:
        """Ask for the archive of one plate, and read it."""
        path = f"{self.batches[sender]}/results.zip?plates={PLATES[0]}"
        return self.portal.get(path, headers={"Authorization": sender})

    def pdf_s(self) -> float:
        """Return the seconds of a person's PDF, or infinity if it failed."""
        began = time.perf_counter()
        session = self._signed_in()
        with suppress(OSError):
            answer = self.portal.get(f"/placa/{PLATE}/dossie.pdf", cookies=session, timeout=60)
            if answer.status_code == 200:
                return time.perf_counter() - began
        return float("inf")

    def _signed_in(self) -> Mapping[str, str]:
        if not hasattr(self, "_cookies"):
            form = self.portal.get("/entrar")
            token = form.text.split('name="csrf_token" value="', 1)[1].split('"', 1)[0]
            sent = {"token": PERSON, "csrf_token": token}
            answer = self.portal.post("/entrar", data=sent, cookies=form.cookies)
            assert answer.status_code == 303, answer.status_code
            self._cookies: Mapping[str, str] = answer.cookies.get_dict()
        return self._cookies

    def held(self) -> Held:
        (worker,) = self.portal.worker_pids()
        kinds: Counter[str] = Counter()
        size = 0
        for descriptor in Path(f"/proc/{worker}/fd").iterdir():
            with suppress(OSError):
                target = str(descriptor.readlink())
                kinds[target.partition(":")[0] if target.startswith("socket") else ""] += 1
                # SQLite also keeps deleted logs of its own open.
                is_temporary = target.endswith(" (deleted)") and ".sqlite-" not in target
                if is_temporary and "/dev/shm" not in target:
                    kinds["temporary"] += 1
                    size += descriptor.stat().st_size
        resident = self.portal.resident_bytes()[worker]
        return Held(resident / 2**20, size / 2**20, kinds["temporary"], kinds["socket"])
