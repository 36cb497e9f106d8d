"""Mounted in a requests Session, the sandbox behaves like a real connection."""

import pytest
import requests
from requests.exceptions import ConnectionError as RequestsConnectionError
from requests.exceptions import ReadTimeout

from portal.sandbox.exchange import Role
from portal.sandbox.transport import SandboxTransport
from tests.conftest import PortalFactory
from tests.sandbox.requests import DEMO, get, post, sandbox_on

BASE = "http://sandbox.invalid/detran/v1"


TIMEOUT = (5, 5)


def session_on(role: Role = "primary", slept: list[float] | None = None) -> requests.Session:
    session = requests.Session()
    session.trust_env = False
    waits: list[float] = [] if slept is None else slept
    session.mount("http://", SandboxTransport(sandbox_on(), role, waits.append))
    return session


def test_body_is_the_sandboxs_bytes() -> None:
    reply = session_on().get(f"{BASE}/decode/ABC1D23", headers=DEMO, timeout=TIMEOUT)
    assert reply.status_code == 200
    assert reply.content == get("decode/ABC1D23").body
    assert reply.headers["content-type"] == "application/json; charset=utf-8"
    assert reply.json()["status"] == "DONE"


def test_post_and_query_token_are_forwarded() -> None:
    body = {"plate": "ABC1D23", "data": {"leilao": True}}
    reply = session_on().post(f"{BASE}/analytical-reports?at=demo", json=body, timeout=TIMEOUT)
    assert reply.content == post(body).body


def test_error_status_is_a_response() -> None:
    reply = session_on().get(f"{BASE}/decode/ERR0429", headers=DEMO, timeout=TIMEOUT)
    assert reply.status_code == 429
    assert reply.headers["Retry-After"] == "2"
    assert reply.json()["message"]


def test_percent_encoded_path_is_decoded() -> None:
    reply = session_on().get(f"{BASE}/decode/%41BC1D23", headers=DEMO, timeout=TIMEOUT)
    assert reply.status_code == 200
    reply = session_on().get(f"{BASE}/decode/%C3%9FBC1234", headers=DEMO, timeout=TIMEOUT)
    assert reply.status_code == 400


def test_base_address_that_is_down_refuses_the_connection() -> None:
    with pytest.raises(RequestsConnectionError) as caught:
        session_on().get(f"{BASE}/decode/FOR0A01", headers=DEMO, timeout=TIMEOUT)
    assert not isinstance(caught.value, requests.exceptions.Timeout)
    assert "demo" not in str(caught.value)
    reply = session_on("secondary").get(f"{BASE}/decode/FOR0A01", headers=DEMO, timeout=TIMEOUT)
    assert reply.status_code == 200


def test_hung_answer_raises_read_timeout() -> None:
    slept: list[float] = []
    with pytest.raises(ReadTimeout):
        session_on(slept=slept).get(f"{BASE}/decode/PAR0A30", headers=DEMO, timeout=(2, 8))
    assert slept == [8]


def test_hung_answer_arrives_with_a_long_timeout() -> None:
    slept: list[float] = []
    url = f"{BASE}/decode/PAR0A30"
    assert session_on(slept=slept).get(url, headers=DEMO, timeout=(1, 31)).status_code == 200
    assert slept == [30.0]


def test_refused_base_addresses_of_the_demonstration_cost_nothing(portal: PortalFactory) -> None:
    """A lookup fails over to the other base address, because nothing was sent to the first."""
    here = portal({}, PRICE_DECODE="3")
    assert here.get("/detran/v1/decode/FOR0A02", "demo").status_code == 503
    assert here.get("/detran/v1/decode/FOR0A01", "demo").status_code == 200
    spent = here.client.get("/metrics").get_data(as_text=True)
    assert 'portal_spent_brl_total{operation="decode"} 3.0' in spent
