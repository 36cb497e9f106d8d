"""No upstream body causes an internal error, and only valid answers are stored."""

import json
from collections.abc import Iterator
from copy import deepcopy
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.effort import FULL, cases
from tests.factories import report_request
from tests.fakes import Call, FaultUpstream, faults
from tests.fakes.answers import OPERATIONS, good_body, path_of
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal, built, managed
from tests.web.person import Person

pytestmark = pytest.mark.long

AUTH = {"Authorization": PORTAL_TOKEN}
WORDS = {"decode": "DONE", "report": "DONE", "renainf": "SUCCESS", "renajud": "SUCCESS"}
PAGE_EVERY = 10

values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.text(max_size=12),
    st.just([]),
    st.just({}),
    st.sampled_from(
        ["DONE", "SUCCESS", "ZZZ9Z99", "99/99/9999", "1e400", "-1", "R$", " ", "\u202e"]
    ),
    st.recursive(st.none(), lambda inner: st.lists(inner, max_size=2), max_leaves=4),
)
shape = st.tuples(st.sampled_from(["replace", "drop", "add", "wrap"]), st.floats(0, 0.999), values)
bytes_change = st.tuples(
    st.sampled_from(["flip", "cut", "insert", "repeat"]),
    st.floats(0, 0.999),
    st.binary(min_size=1, max_size=6),
)


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield way
    if isinstance(value, dict | list):
        members = value.items() if isinstance(value, dict) else enumerate(value)
        for name, member in members:
            yield from places(member, (*way, name))


def reshape(document: Any, change: tuple[str, float, Any]) -> Any:
    """Return the document with one value replaced, dropped, extended or wrapped."""
    how, where, value = change[0], change[1], deepcopy(change[2])
    ways = list(places(document))
    *parents, last = ways[int(where * len(ways))] or (None,)
    if last is None:
        return value
    holder = document
    for name in parents:
        holder = holder[name]
    match how:
        case "replace":
            holder[last] = value
        case "drop":
            del holder[last]
        case "wrap":
            holder[last] = [holder[last]]
        case _ if isinstance(holder, dict):
            holder["novo"] = value
        case _:
            holder.append(value)
    return document


def rewrite(body: bytes, change: tuple[str, float, bytes]) -> bytes:
    how, where, noise = change
    at = int(where * len(body))
    match how:
        case "flip":
            return body[:at] + noise + body[at + len(noise) :]
        case "cut":
            return body[:at]
        case "insert":
            return body[:at] + noise + body[at:]
        case _:
            return body[:at] + body


class Site:
    """A portal whose upstream answers with the clean body changed by ``mutate``."""

    def __init__(self, portal: InProcessPortal, upstream: FaultUpstream) -> None:
        self.portal = portal
        self.person = Person.at(portal).signed_in()
        self.numbers = count()
        self.shapes: list[Any] = []
        self.rewrites: list[Any] = []
        self.sent = b""
        upstream.default(faults.answer("mutated", self.mutate))

    def mutate(self, call: Call) -> bytes:
        clean = good_body(call)
        assert clean is not None
        document = json.loads(clean)
        for change in self.shapes:
            if isinstance(document, dict | list):
                document = reshape(document, change)
        body = json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")
        for rewriting in self.rewrites:
            body = rewrite(body, rewriting)
        self.sent = body
        return body

    def new_plate(self) -> str:
        """Return a plate that was not looked up before.

        For a plate used before, the portal could return a failure that it caches for 2 s.
        """
        number = next(self.numbers)
        letters = "".join(chr(65 + number // 26**power % 26) for power in (3, 2, 1))
        return f"{letters}{number % 10}{chr(65 + number % 26)}{number // 17576 % 100:02}"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    data_dir = tmp_path_factory.mktemp("bodies")
    with FaultUpstream() as upstream, built(data_dir, managed(upstream.url)) as portal:
        yield Site(portal, upstream)


@pytest.mark.upstream
@settings(
    max_examples=cases(200, 20_000),
    deadline=None,
    database=None,
    derandomize=not FULL,
    suppress_health_check=list(HealthCheck),
)
@given(
    st.sampled_from(OPERATIONS),
    st.lists(shape, max_size=3),
    st.lists(bytes_change, max_size=1),
)
def test_mutated_answer_is_relayed_unchanged_or_rejected_unstored(
    site: Site, operation: Any, shapes: list[Any], rewrites: list[Any]
) -> None:
    site.shapes, site.rewrites = shapes, rewrites
    plate = site.new_plate()
    options: dict[str, Any] = {"method": "GET"}
    if operation == "report":
        options = {"method": "POST", "data": report_request(plate)}
    path = path_of(operation, plate)
    first = site.portal.client.open(path, headers=AUTH, **options)
    assert first.status_code in (200, 502)
    stored = site.portal.client.open(
        path, headers={**AUTH, "Cache-Control": "only-if-cached"}, **options
    )
    if first.status_code == 502:
        assert list(first.get_json()) == ["message"]
        assert stored.status_code == 504
        site.shapes, site.rewrites = [], []  # a success keeps the circuit breaker closed
        assert site.portal.get(path_of("decode", site.new_plate())).status_code == 200
        return
    assert first.data == site.sent
    document = json.loads(first.data.decode("utf-8", "strict"))
    assert document["status"] == WORDS[operation]
    assert isinstance(document["result"], dict if operation in ("decode", "report") else list)
    if stored.status_code == 200:
        assert stored.data == first.data
    if operation != "report" and int(plate[3]) % PAGE_EVERY == 0:
        page = site.person.client.get(f"/placa/{plate}?completo=1")
        assert page.status_code == 200
        assert b"Algo deu errado neste portal" not in page.data
