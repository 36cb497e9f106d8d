"""Many dossiers, issued and signed at the same time on a running server."""

import hashlib
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from requests.adapters import HTTPAdapter

from tests.effort import cases
from tests.fakes import FaultUpstream
from tests.fakes.in_process import PATIENT, managed
from tests.fakes.preloaded import CHECKOUT
from tests.fakes.processes import PortalProcess
from tests.fakes.signing import PASSWORD, SIGNER, chain

OWNERS = cases(4, 10)
EACH = cases(1, 10)
PLATES = [f"DEF{at}G{at}{at}" for at in range(OWNERS)]
TOKENS = [f"portal-token-of-owner-{at:02}" for at in range(OWNERS)]
# A refusal says after how many seconds to come again. A test waits a part of them.
_LONGEST_WAIT_S = 1.0

pytestmark = pytest.mark.over_5_s("renders and signs 4 PDFs, or 100")


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return chain().write(tmp_path)


@pytest.fixture
def portal(upstream: FaultUpstream, key: Path) -> Iterator[PortalProcess]:
    settings = {
        **managed(upstream.url),
        **PATIENT,
        "PORTAL_ACCESS_TOKENS": ",".join(TOKENS),
        "PORTAL_SIGNING_KEY_FILE": str(key),
        "PORTAL_SIGNING_KEY_PASSWORD": PASSWORD,
    }
    with PortalProcess(settings, workers=2) as running:
        yield running


class FromAddress(HTTPAdapter):
    """Sends requests from an address of the loopback network, of which each owner has one."""

    def __init__(self, number: int) -> None:
        self._address = f"127.0.0.{10 + number}"
        super().__init__()

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        super().init_poolmanager(*arguments, source_address=(self._address, 0), **options)


class Owner:
    """Somebody who issues dossiers of one vehicle, and tries again what was refused."""

    def __init__(self, portal: PortalProcess, number: int) -> None:
        self.portal, self.plate = portal, PLATES[number]
        self.session = requests.Session()
        self.session.trust_env = False
        self.session.mount("http://", FromAddress(number))
        self.refusals: list[int] = []
        self.csrf = self._csrf("/entrar")
        fields = {"token": TOKENS[number], "csrf_token": self.csrf}
        assert self._post("/entrar", fields).status_code == 303
        self.csrf = self._csrf(f"/placa/{self.plate}?completo=1")

    def issue(self, number: int) -> str:
        """Issue a dossier and return its number."""
        fields = {"csrf_token": self.csrf, "idempotency_key": f"{self.plate}-{number}"}
        while True:
            done = self._post(f"/placa/{self.plate}/dossie/emitir", fields)
            if done.status_code == 303:
                return done.headers["Location"].rpartition("/")[2].partition("?")[0]
            assert done.status_code in (429, 502, 503), done.text
            assert int(done.headers["Retry-After"]) > 0
            self.refusals.append(done.status_code)
            time.sleep(min(int(done.headers["Retry-After"]), _LONGEST_WAIT_S))

    def pdf(self, number: str) -> bytes:
        answer = self.session.get(f"{self.portal.url}/dossie/{number}.pdf", timeout=120)
        if answer.status_code == 501:
            pytest.skip("the libraries that WeasyPrint loads are not installed")
        assert answer.status_code == 200
        return answer.content

    def _csrf(self, path: str) -> str:
        page = self.session.get(self.portal.url + path, timeout=120)
        found = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', page.text)
        assert found, page.text
        return found[1]

    def _post(self, path: str, fields: dict[str, str]) -> requests.Response:
        return self.session.post(
            self.portal.url + path, data=fields, allow_redirects=False, timeout=300
        )


def signing_children(portal: PortalProcess) -> list[int]:
    """Return the processes that render and sign PDFs."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue
        if b"portal.pdf.process" in command and str(portal.port).encode() in environment:
            found.append(int(folder.name))
    return found


def test_each_has_its_number_and_the_key_leaves_no_trace(portal: PortalProcess, key: Path) -> None:
    owners = [Owner(portal, number) for number in range(OWNERS)]
    cores = set(CHECKOUT.glob("core*"))
    ended = threading.Event()

    def abort_a_child() -> None:
        """End a child that holds the key in the way that would leave a core file."""
        while not ended.wait(0.05):
            if children := signing_children(portal):
                os.kill(children[0], signal.SIGABRT)
                return

    with ThreadPoolExecutor(OWNERS * 2 + 1) as pool:
        aborting = pool.submit(abort_a_child)
        jobs = [
            (owner, pool.submit(owner.issue, number)) for number in range(EACH) for owner in owners
        ]
        issued = [(owner, job.result()) for owner, job in jobs]
        ended.set()
        aborting.result()
    numbers = [number for _, number in issued]
    assert len(set(numbers)) == len(numbers) == OWNERS * EACH
    for owner, number in issued[:: max(1, len(issued) // 10)]:
        pdf = owner.pdf(number)
        digest = hashlib.sha256(pdf).hexdigest()
        found: Any = portal.get(f"/api/v1/dossiers/verify?sha256={digest}").json()
        assert (found["result"], found["number"]) == ("same", number)
        assert (found["signature"]["state"], found["signature"]["signer"]) == ("valid", SIGNER)
        # Who has issued another's may not read it.
        other = owners[owners.index(owner) - 1]
        assert other.session.get(f"{portal.url}/dossie/{number}", timeout=120).status_code == 404
    assert set(CHECKOUT.glob("core*")) == cores
    secrets = [PASSWORD.encode(), key.read_bytes(), *private_bytes()]
    for path in portal.directory.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert not any(secret in content for secret in secrets), path


def private_bytes() -> list[bytes]:
    """Return the private key as the ways of writing it have it in them."""
    private = chain().key
    number = private.private_numbers().private_value
    der = private.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    return [number.to_bytes(32, "big"), number.to_bytes(32, "little"), der]
