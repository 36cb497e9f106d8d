"""A cache in front of the portal does not leak answers, pages or cookies between callers.

The portal runs in pass-through mode, in which each caller sends its own upstream token. The
upstream puts the caller's name into each answer.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import pytest
import requests

from tests.factories import decode_body
from tests.fakes import Call, FaultUpstream, faults
from tests.fakes.answers import good_body, operation_of, path_of, subject_of
from tests.fakes.in_process import pass_through
from tests.fakes.processes import PortalProcess, ServerProcess
from tests.outages.crowd import Ask, together
from tests.outages.front_caches import (
    CACHE_FOR_ALL_CLIENTS,
    IGNORE_CACHE_HEADERS,
    NginxCache,
    VarnishCache,
)

CALLERS: Final = ("ANA-SOUZA", "BIA-LIMA")
PLATE: Final = "QRS4T56"  # the forms show other plates as examples
JSON: Final = path_of("decode", PLATE)
PAGES: Final = (f"/placa/{PLATE}?completo=1", f"/placa/{PLATE}/dossie", "/", "/entrar")
CACHES: Final[dict[str, Callable[[int], ServerProcess]]] = {
    "nginx": NginxCache,
    "varnish": VarnishCache,
    "varnish coalescing all clients": lambda port: VarnishCache(port, CACHE_FOR_ALL_CLIENTS),
}


@dataclass(frozen=True, slots=True)
class Client:
    """A client behind the cache, with its own cookies. Records each response's request id."""

    url: str
    seen: list[str]
    session: requests.Session = field(default_factory=requests.Session)

    def ask(self, method: str, path: str, **options: Any) -> requests.Response:
        self.session.trust_env = False
        options = {"timeout": 30, "allow_redirects": False, **options}
        response = self.session.request(method, self.url + path, **options)
        self.seen.append(response.headers.get("X-Request-Id", ""))
        return response

    def get(self, path: str, token: str | None = None) -> requests.Response:
        return self.ask("GET", path, headers={"Authorization": token} if token else None)

    def sign_in(self, token: str) -> None:
        form = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', self.get("/entrar").text)
        assert form is not None
        answer = self.ask("POST", "/entrar", data={"token": token, "csrf_token": form[1]})
        assert answer.status_code == 303


@pytest.fixture
def portal(upstream: FaultUpstream) -> Iterator[PortalProcess]:
    def personal(call: Call) -> bytes:
        if operation_of(call) != "decode":
            return good_body(call) or b""
        return decode_body(subject_of(call), descricao=f"DE {call.header('authorization')}")

    upstream.default(faults.answer("personal", personal))
    with PortalProcess(pass_through(upstream.url)) as running:
        yield running


@pytest.fixture(params=CACHES)
def cache(request: pytest.FixtureRequest, portal: PortalProcess) -> Iterator[ServerProcess]:
    with CACHES[request.param](portal.port) as running:
        yield running


def named_in(response: requests.Response) -> set[str]:
    """Return the callers whose data is in a response."""
    return {name for name in CALLERS if name in response.text}


def test_cache_serves_json_answers_only_to_their_caller(cache: ServerProcess) -> None:
    seen: list[str] = []
    client = Client(cache.url, seen)
    assert client.get(JSON).status_code == 401
    for _ in range(2):
        for name in CALLERS:
            for answer in (client.get(JSON, name), client.get(f"{JSON}?at={name}")):
                assert (answer.status_code, named_in(answer)) == (200, {name})
                assert answer.headers["Cache-Control"] == "no-store, private"
            for unauthenticated in (JSON, f"{JSON}?at=", f"{JSON}?at={name}&at={name}"):
                answer = client.get(unauthenticated)
                assert (answer.status_code, named_in(answer)) == (401, set())
    assert len(set(seen)) == len(seen)  # no response was served twice


def test_cache_serves_pages_only_to_their_session(cache: ServerProcess) -> None:
    seen: list[str] = []
    clients = {name: Client(cache.url, seen) for name in CALLERS}
    stranger = Client(cache.url, seen)
    for name, client in clients.items():
        client.sign_in(name)
        assert named_in(client.get(PAGES[0])) == {name}
        assert PLATE in client.get("/").text
        for page in PAGES:
            stranger.session.cookies.clear()
            answer = stranger.get(page)
            assert named_in(answer) == set()
            assert answer.status_code == (200 if page in ("/", "/entrar") else 303)
            assert answer.status_code == 303 or PLATE not in answer.text
            assert named_in(stranger.get(page, name)) == set()  # pages ignore Authorization
    for _ in range(2):
        for name, client in clients.items():
            for page in PAGES:
                assert named_in(client.get(page)) <= {name}, page
    cookies = [client.session.cookies["portal"] for client in clients.values()]
    assert len(set(cookies)) == len(cookies)
    assert len(set(seen)) == len(seen)


@pytest.mark.long
def test_cache_separates_callers_under_load_and_in_an_outage(
    cache: ServerProcess, portal: PortalProcess
) -> None:
    path = path_of("decode", "DEF4G56")
    asks = [Ask(path, {"Authorization": name}) for name in CALLERS] + [Ask(path)]
    for ask, answer in zip(asks * 3, together(cache.port, asks * 3), strict=True):
        name = ask.headers.get("Authorization")
        assert answer.status == (200 if name else 401)
        assert [each for each in CALLERS if each.encode() in answer.body] == (
            [name] if name else []
        )
    portal.stop()
    for ask, answer in zip(asks, together(cache.port, asks), strict=True):
        assert answer.status in (502, 503, 504), ask
        assert not any(name.encode() in answer.body for name in CALLERS)


@pytest.mark.long
def test_static_files_are_cached(cache: ServerProcess) -> None:
    """Control: the cache stores responses, so the tests above can detect a leak."""
    seen: list[str] = []
    sheet = re.search(r'href="(/static/[^"]+\.css)"', Client(cache.url, seen).get("/entrar").text)
    assert sheet is not None
    first, second = (Client(cache.url, seen).get(sheet[1]) for _ in range(2))
    assert first.status_code == second.status_code == 200
    assert first.headers["X-Request-Id"] == second.headers["X-Request-Id"]


def test_leak_of_a_misconfigured_cache_is_detected(
    portal: PortalProcess,
) -> None:
    with NginxCache(portal.port, IGNORE_CACHE_HEADERS) as misconfigured:
        client = Client(misconfigured.url, [])
        assert named_in(client.get(JSON, CALLERS[0])) == {CALLERS[0]}
        assert named_in(client.get(JSON, CALLERS[1])) == {CALLERS[0]}
        assert client.seen[0] == client.seen[1]
