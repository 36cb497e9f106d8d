"""The hit cache's responses, metrics and logs are the same as Flask's."""

from typing import Any

import pytest

from tests.conftest import PortalFactory
from tests.fakes.in_process import PORTAL_TOKEN
from tests.web.json_api.portal_pair import (
    PATHS,
    counter_growth,
    differences,
    flask_disabled,
    hit_cache_of,
    portal_pair,
)
from tests.web.json_paths import issue, tokens_of
from tests.web.observability.test_json_logs import lines_of

DECODE = PATHS[0]
GOOD = {"Authorization": PORTAL_TOKEN}
BASE = "/detran/v1"

REQUESTS: dict[str, dict[str, Any]] = {
    **{f"GET {path}": {"path": path, "headers": GOOD} for path in PATHS},
    **{f"HEAD {path}": {"path": path, "headers": GOOD, "method": "HEAD"} for path in PATHS},
    "an upgrade": {"path": PATHS[0], "headers": {**GOOD, "Upgrade": "h2c"}},
    "a long query": {"path": f"{PATHS[0]}?x={'y' * 2000}", "headers": GOOD},
    "lower case": {"path": f"{BASE}/decode/abc1d23", "headers": GOOD},
    "hyphen": {"path": f"{BASE}/decode/ABC-1D23", "headers": GOOD},
    "escaped plate": {"path": f"{BASE}/decode/%41BC1D23", "headers": GOOD},
    "uf in lower case": {"path": f"{BASE}/restrictions/renainf/ABC1D23/mg", "headers": GOOD},
    "no such uf": {"path": f"{BASE}/restrictions/renainf/ABC1D23/XX", "headers": GOOD},
    "renajud takes no uf": {"path": f"{BASE}/restrictions/renajud/ABC1D23/MG", "headers": GOOD},
    "decode takes no Renavam": {"path": f"{BASE}/decode/00123456789", "headers": GOOD},
    "no plate": {"path": f"{BASE}/decode/NONSENSE", "headers": GOOD},
    "plate with a newline": {"path": f"{BASE}/decode/ABC1D23%0A", "headers": GOOD},
    "ß is no SS": {"path": f"{BASE}/decode/aß1D23", "headers": GOOD},
    "slash at the end": {"path": DECODE + "/", "headers": GOOD},
    "two slashes": {"path": "/detran/v1//decode/ABC1D23", "headers": GOOD},
    "no such path": {"path": f"{BASE}/other/ABC1D23", "headers": GOOD},
    "not stored, never asked": {
        "path": f"{BASE}/decode/XYZ9Z99",
        "headers": GOOD,
        "method": "HEAD",
    },
    "no credential": {"path": DECODE},
    "empty credential": {"path": DECODE, "headers": {"Authorization": ""}},
    "unknown token": {"path": DECODE, "headers": {"Authorization": "nobody"}},
    "Bearer": {"path": DECODE, "headers": {"Authorization": f"Bearer {PORTAL_TOKEN}"}},
    "two in one": {"path": DECODE, "headers": {"Authorization": f"{PORTAL_TOKEN},{PORTAL_TOKEN}"}},
    "by query": {"path": DECODE, "query_string": f"at={PORTAL_TOKEN}"},
    "by both, the same": {"path": DECODE, "headers": GOOD, "query_string": f"at={PORTAL_TOKEN}"},
    "by both, another": {"path": DECODE, "headers": GOOD, "query_string": "at=another"},
    "by query twice": {"path": DECODE, "query_string": f"at={PORTAL_TOKEN}&at={PORTAL_TOKEN}"},
    "by query, escaped": {"path": DECODE, "query_string": f"%61t={PORTAL_TOKEN}"},
    "empty query": {"path": DECODE, "headers": GOOD, "query_string": "at="},
    "junk in the query": {"path": DECODE, "headers": GOOD, "query_string": "utm=1&x"},
    "only-if-cached": {
        "path": DECODE,
        "headers": {**GOOD, "Cache-Control": "only-if-cached"},
    },
    "conditional": {"path": DECODE, "headers": {**GOOD, "If-None-Match": "*"}},
    "range": {"path": DECODE, "headers": {**GOOD, "Range": "bytes=0-1"}},
    "GET with a body": {"path": DECODE, "headers": GOOD, "data": b"{}"},
    "OPTIONS": {"path": DECODE, "headers": GOOD, "method": "OPTIONS"},
    "POST": {"path": DECODE, "headers": GOOD, "method": "POST"},
    "DELETE": {"path": DECODE, "headers": GOOD, "method": "DELETE"},
    "over TLS": {"path": DECODE, "headers": GOOD, "base_url": "https://portal.example"},
    "with a session": {"path": DECODE, "headers": {**GOOD, "Cookie": "portal=x"}},
    "an odd host": {"path": DECODE, "headers": {**GOOD, "Host": "a b"}},
}


@pytest.fixture
def pair(portal: PortalFactory) -> Any:
    return portal_pair(portal)


def test_hit_cache_and_flask_give_the_same_response(pair: Any) -> None:
    for _ in range(2):  # the second time, hits come from the hit cache's entries
        for name, options in REQUESTS.items():
            assert differences(*pair.ask(**options)) == [], name


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("path", PATHS)
def test_hit_is_answered_without_flask(pair: Any, path: str, method: str) -> None:
    with flask_disabled(pair.cached):
        for _ in range(2):
            answer = pair.cached.client.open(path, method=method, headers=GOOD)
            assert answer.status_code == 200
            assert answer.headers["Cache-Status"].startswith("portal; hit; ttl=")
    assert bool(answer.data) is (method == "GET")
    assert int(answer.headers["Content-Length"]) > 0


def test_hits_have_unique_request_ids(pair: Any) -> None:
    ids = [pair.cached.get(DECODE).headers["X-Request-Id"] for _ in range(50)]
    assert len({*ids}) == 50
    assert all(len(each) == 16 for each in ids)


def test_first_request_of_a_process_goes_to_flask(portal: PortalFactory) -> None:
    """The first request that Flask handles starts the process's scheduler."""
    portal().get(DECODE)
    here = portal()
    with pytest.raises(AssertionError, match="called"), flask_disabled(here):
        here.get(DECODE)


def test_proxy_headers_are_read_before_the_hit_cache(portal: PortalFactory) -> None:
    pair = portal_pair(portal, TRUSTED_PROXIES="1")
    headers = {**GOOD, "X-Forwarded-Proto": "https", "X-Forwarded-Prefix": "/carros"}
    first, second = pair.ask(DECODE, headers=headers)
    assert differences(first, second) == []
    assert "Strict-Transport-Security" in first.headers
    with flask_disabled(pair.cached):  # the hit cache itself has read the proxy's header
        answer = pair.cached.get(DECODE, headers=headers)
    assert "Strict-Transport-Security" in answer.headers


def test_hit_cache_checks_scopes(pair: Any) -> None:
    token = issue(pair.cached, "fines only", frozenset({"renainf"}))
    for path in PATHS:
        first, second = pair.ask(path, headers={"Authorization": token})
        assert differences(first, second) == []
        assert first.status_code == (200 if "renainf" in path else 403)


def test_revocation_ends_hits(pair: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("portal.access.tokens.REMEMBERED_S", 0.0)
    now = [1000.0]
    monkeypatch.setattr(hit_cache_of(pair.cached), "_monotonic", lambda: now[0])
    headers = {"Authorization": issue(pair.cached, "leaves")}
    assert pair.cached.client.get(DECODE, headers=headers).status_code == 200
    assert tokens_of(pair.cached).revoke("leaves")
    now[0] += 1.0  # an entry is valid for at most 1 s; REMEMBERED_S = 0 disables the token cache
    first, second = pair.ask(DECODE, headers=headers)
    assert first.status_code == 403
    assert differences(first, second) == []


def test_hit_cache_and_flask_count_the_same_metrics(pair: Any) -> None:
    ours, theirs = counter_growth(pair.cached), counter_growth(pair.flask)
    for name in ("by query", "lower case", *(f"GET {path}" for path in PATHS), f"HEAD {DECODE}"):
        for _ in range(3):
            pair.ask(**REQUESTS[name])
    found = ours()
    assert found == theirs()
    assert found['portal_lookups_total{operation="decode",result="hit"}'] == 12


def test_hit_cache_and_flask_log_the_same_lines(pair: Any) -> None:
    written = []
    for each in (pair.cached, pair.flask):
        with lines_of("portal.requests") as lines:
            answers = [each.get(path) for path in (*PATHS, *PATHS)]
            each.client.get("/healthz")
        log_lines = lines()
        assert [line["request_id"] for line in log_lines[:-1]] == [
            answer.headers["X-Request-Id"] for answer in answers
        ]
        written.append(
            [
                [(name, value) for name, value in line.items() if name not in PER_REQUEST_FIELDS]
                for line in log_lines
            ]
        )
    assert written[0] == written[1]


PER_REQUEST_FIELDS = frozenset({"time", "request_id", "ms", "cache"})
