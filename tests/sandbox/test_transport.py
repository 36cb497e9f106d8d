"""Mounted in a requests Session, the sandbox behaves like a real connection."""

from typing import Any

import pytest
import requests
from requests.exceptions import ConnectionError as RequestsConnectionError
from requests.exceptions import ReadTimeout
from urllib3.exceptions import NewConnectionError
from urllib3.util.timeout import Timeout

from portal.sandbox import Role, SandboxTransport
from tests.sandbox.requests import DEMO, Sleeper, get, post, sandbox_on

BASE = "http://sandbox.invalid/detran/v1"


def session_on(role: Role = "primary", sleep: Sleeper | None = None) -> requests.Session:
    session = requests.Session()
    session.trust_env = False
    session.mount("http://", SandboxTransport(sandbox_on(sleep=sleep), role))
    return session


def test_body_is_the_sandboxs_bytes() -> None:
    reply = session_on().get(f"{BASE}/decode/ABC1D23", headers=DEMO, timeout=5)
    assert (reply.status_code, reply.reason) == (200, "OK")
    assert reply.content == get("decode/ABC1D23").body
    assert reply.headers["content-length"] == str(len(reply.content))
    assert reply.json()["status"] == "DONE"


def test_streamed_body_is_read_from_the_raw_response() -> None:
    whole = get("decode/ABC1D23").body
    with session_on().get(f"{BASE}/decode/ABC1D23", headers=DEMO, stream=True, timeout=5) as reply:
        chunks = []
        while chunk := reply.raw.read1(1000, decode_content=False):
            assert len(chunk) <= 1000
            chunks.append(chunk)
    assert b"".join(chunks) == whole
    assert not reply.raw.chunked


def test_post_and_query_token_are_forwarded() -> None:
    body = {"plate": "ABC1D23", "data": {"leilao": True}}
    reply = session_on().post(f"{BASE}/analytical-reports?at=demo", json=body, timeout=5)
    assert reply.content == post(body).body


def test_error_status_is_a_response() -> None:
    reply = session_on().get(f"{BASE}/decode/ERR0429", headers=DEMO, timeout=5)
    assert reply.status_code == 429
    assert reply.headers["Retry-After"] == "2"
    assert reply.json()["message"]


def test_percent_encoded_path_is_decoded() -> None:
    reply = session_on().get(f"{BASE}/decode/%41BC1D23", headers=DEMO, timeout=5)
    assert reply.status_code == 200
    assert (
        session_on().get(f"{BASE}/decode/%C3%9FBC1234", headers=DEMO, timeout=5).status_code == 400
    )


def test_base_address_that_is_down_refuses_the_connection() -> None:
    with pytest.raises(RequestsConnectionError) as caught:
        session_on().get(f"{BASE}/decode/FOR0A01", headers=DEMO, timeout=5)
    assert isinstance(caught.value.args[0].reason, NewConnectionError)
    assert not isinstance(caught.value, requests.exceptions.Timeout)
    assert "demo" not in str(caught.value)
    reply = session_on("secondary").get(f"{BASE}/decode/FOR0A01", headers=DEMO, timeout=5)
    assert reply.status_code == 200


@pytest.mark.parametrize("timeout", [8, (2, 8), (None, 8.0), Timeout(connect=2, read=8)])
def test_hung_answer_raises_read_timeout(timeout: Any) -> None:
    sleep = Sleeper()
    with pytest.raises(ReadTimeout):
        session_on(sleep=sleep).get(f"{BASE}/decode/PAR0A30", headers=DEMO, timeout=timeout)
    assert sleep.slept == [8.0]


@pytest.mark.parametrize("timeout", [None, 31, (1, None), (1, 30.5)])
def test_hung_answer_arrives_with_a_long_timeout(timeout: Any) -> None:
    sleep = Sleeper()
    reply = session_on(sleep=sleep).get(f"{BASE}/decode/PAR0A30", headers=DEMO, timeout=timeout)
    assert reply.status_code == 200
    assert sleep.slept == [30.0]
