"""A cache in front of the portal hands no caller's answer, page or cookie to another.

The portal runs in pass-through mode: what the upstream gave to each caller bears their name.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

import pytest
import requests

from tests.factories import decode_body
from tests.fakes import Call, FaultUpstream, faults
from tests.fakes.answers import good_body, operation_of, path_of, subject_of
from tests.fakes.in_process import pass_through
from tests.fakes.processes import PortalProcess, ServerProcess
from tests.outages.crowd import Ask, together
from tests.outages.front_caches import (
    ASK_ONCE_FOR_EVERYBODY,
    IGNORE_THE_PORTAL,
    NginxCache,
    VarnishCache,
)

CALLERS: Final = ("ANA-SOUZA", "BIA-LIMA")
PLATE: Final = "QRS4T56"  # no example of the forms
JSON: Final = path_of("decode", PLATE)
PAGES: Final = (f"/placa/{PLATE}?completo=1", f"/placa/{PLATE}/dossie", "/", "/entrar")
CACHES: Final[dict[str, Callable[[int], ServerProcess]]] = {
    "nginx": NginxCache,
    "varnish": VarnishCache,
    "varnish asking once for everybody": lambda port: VarnishCache(port, ASK_ONCE_FOR_EVERYBODY),
}


@dataclass(frozen=True, slots=True)
class Client:
    """Somebody behind the cache, with cookies of their own; notes every answer's request id."""

    url: str
    seen: list[str]
    session: requests.Session = field(default_factory=requests.Session)

    def ask(self, method: str, path: str, **options: object) -> requests.Response:
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
    """The callers whose data is in an answer."""
    return {name for name in CALLERS if name in response.text}


def test_scripts_get_their_own_answers_alone(cache: ServerProcess) -> None:
    seen: list[str] = []
    client = Client(cache.url, seen)
    assert client.get(JSON).status_code == 401
    for _ in range(2):
        for name in CALLERS:
            for answer in (client.get(JSON, name), client.get(f"{JSON}?at={name}")):
                assert (answer.status_code, named_in(answer)) == (200, {name})
                assert answer.headers["Cache-Control"] == "no-store, private"
            for nobody in (JSON, f"{JSON}?at=", f"{JSON}?at={name}&at={name}"):
                answer = client.get(nobody)
                assert (answer.status_code, named_in(answer)) == (401, set())
    assert len(set(seen)) == len(seen)  # no answer was given twice


def test_pages_and_sessions_are_of_one_person_alone(cache: ServerProcess) -> None:
    seen: list[str] = []
    people = {name: Client(cache.url, seen) for name in CALLERS}
    nobody = Client(cache.url, seen)
    for name, person in people.items():
        person.sign_in(name)
        assert named_in(person.get(PAGES[0])) == {name}
        assert PLATE in person.get("/").text
        for page in PAGES:
            nobody.session.cookies.clear()
            answer = nobody.get(page)
            assert named_in(answer) == set()
            assert answer.status_code == (200 if page in ("/", "/entrar") else 303)
            assert answer.status_code == 303 or PLATE not in answer.text
            assert named_in(nobody.get(page, name)) == set()  # pages ignore it
    for _ in range(2):
        for name, person in people.items():
            for page in PAGES:
                assert named_in(person.get(page)) <= {name}, page
    cookies = [person.session.cookies["portal"] for person in people.values()]
    assert len(set(cookies)) == len(cookies)
    assert len(set(seen)) == len(seen)


def test_a_crowd_at_once_and_an_outage_mix_nobody_up(
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


def test_what_is_everybodys_is_kept_by_the_cache(cache: ServerProcess) -> None:
    """Were the cache off, the tests above would show nothing."""
    seen: list[str] = []
    sheet = re.search(r'href="(/static/[^"]+\.css)"', Client(cache.url, seen).get("/entrar").text)
    assert sheet is not None
    first, second = (Client(cache.url, seen).get(sheet[1]) for _ in range(2))
    assert first.status_code == second.status_code == 200
    assert first.headers["X-Request-Id"] == second.headers["X-Request-Id"]


def test_a_cache_that_ignores_the_portals_headers_would_be_seen_to_leak(
    portal: PortalProcess,
) -> None:
    with NginxCache(portal.port, IGNORE_THE_PORTAL) as careless:
        client = Client(careless.url, [])
        assert named_in(client.get(JSON, CALLERS[0])) == {CALLERS[0]}
        assert named_in(client.get(JSON, CALLERS[1])) == {CALLERS[0]}
        assert client.seen[0] == client.seen[1]
