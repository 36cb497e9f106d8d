"""Sentinel plates and tokens appear in no log, metric or upstream query string.

The tokens also appear in no error page and in no stored file. A sentinel is a value that occurs
nowhere else.
"""

import base64
from collections.abc import Iterator, Sequence
from urllib.parse import quote

import pytest

from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import path_of
from tests.fakes.in_process import managed, pass_through
from tests.fakes.processes import PortalProcess

pytestmark = pytest.mark.long

PLATE = "QZX7K39"
RENAVAM = "98765432109"
CALLER = "Sentinel-Caller+token/9f8e7d6c5b4a"
OPERATOR = "Sentinel-Operator+token/1a2b3c4d5e6f"
METRICS = "Sentinel-Metrics+token/0f1e2d3c4b5a"


def forms(secret: str) -> Iterator[str]:
    """Yield a secret as it is, in lower case, URL-encoded and in base64."""
    raw = secret.encode()
    yield secret
    yield secret.lower()
    yield quote(secret, safe="")
    yield quote(secret, safe="").lower()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for at in range(3):  # base64 depends on the text's offset modulo 3
            yield encode(b"\0" * at + raw).decode()[4 if at else 0 :].rstrip("=")[:-1]


def found(text: str, *secrets: str) -> list[str]:
    return [secret for secret in secrets if any(form in text for form in forms(secret))]


SPELLINGS = (PLATE, PLATE.lower(), f"{PLATE[:3]}-{PLATE[3:]}", RENAVAM, f"{PLATE}x")


def send_sentinels_everywhere(
    server: PortalProcess, subjects: Sequence[str] = (PLATE,)
) -> list[str]:
    """Send the sentinels in paths, queries, headers and bodies; return error bodies."""
    pages = []
    for subject in subjects:
        for operation in ("decode", "renainf", "renajud"):
            path = path_of(operation, subject)
            for headers in ({"Authorization": CALLER}, {"Authorization": f"Bearer {CALLER}"}):
                answer = server.get(path, headers=headers)
                if answer.status_code != 200:
                    pages.append(answer.text)
            server.get(f"{path}?at={quote(CALLER, safe='')}")
            pages.append(server.get(f"{path}/nada/{CALLER}?at={CALLER}").text)
            pages.append(server.request("PATCH", path).text)
    body = f'{{"plate": "{PLATE}", "data": {{"token": "{CALLER}"}}}}'
    for payload in (body, body[:-3]):
        server.post(path_of("report"), data=payload, headers={"Authorization": CALLER})
    for path in (f"/nada/{PLATE}", f"/static/{PLATE}.css", f"/placa/{PLATE}/nada"):
        pages.append(server.get(path, headers={"Accept": "text/html"}).text)
    pages.append(server.post(f"/placa/{PLATE}/laudo", data={"csrf_token": CALLER}).text)
    pages.append(server.post("/entrar", data={"token": CALLER}).text)
    server.get("/buscar", params={"q": PLATE})
    return pages


def test_search_finds_each_encoding_of_a_sentinel() -> None:
    raw = CALLER.encode()
    for text in (
        f"at={CALLER}&x",
        CALLER.lower(),
        quote(CALLER, safe="").lower(),
        base64.b64encode(b"Basic:" + raw + b":x").decode(),
        base64.urlsafe_b64encode(b"y" + raw).decode(),
    ):
        assert found(f"<{text}>", PLATE, CALLER) == [CALLER]
    assert found("QZX7K38 Sentinel-Caller", PLATE, CALLER) == []


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["managed", "pass-through"])
def test_no_sentinel_appears_in_output_or_upstream_query(
    mode: str, upstream: FaultUpstream
) -> None:
    settings = pass_through(upstream.url)
    if mode == "managed":
        settings = managed(upstream.url) | {
            "PORTAL_UPSTREAM_TOKEN": OPERATOR,
            "PORTAL_ACCESS_TOKENS": CALLER,
        }
    settings |= {"PORTAL_METRICS_TOKEN": METRICS, "PORTAL_FRESH_DECODE": "0"}
    with PortalProcess(settings) as server:
        pages = send_sentinels_everywhere(server, SPELLINGS)
        for fault in (
            faults.status(500, f"{PLATE} {CALLER}"),
            faults.closed_before_a_byte(),
            faults.redirect(f"/x/{PLATE}?at={CALLER}"),
            faults.answer("odd", f"{PLATE} {OPERATOR}".encode(), 418),
        ):
            upstream.default(fault)
            pages += send_sentinels_everywhere(server)
        upstream.stop()
        pages += send_sentinels_everywhere(server)
        metrics = server.get("/metrics", headers={"Authorization": METRICS}).text
        server.stop()
        output = server.output
        kept = b"".join(
            path.read_bytes() for path in server.data_dir.rglob("*") if path.is_file()
        ).decode("latin-1")

    secrets = (PLATE, RENAVAM, CALLER, OPERATOR, METRICS)
    assert output.count("\n") > 100
    assert found(output, *secrets) == []
    assert "portal" in metrics
    assert found(metrics, *secrets) == []
    assert found("".join(pages), CALLER, OPERATOR, METRICS) == []
    assert found(kept, CALLER, OPERATOR, METRICS) == []
    upstream_queries = " ".join(call.target.partition("?")[2] for call in upstream.calls)
    assert upstream_queries.strip() == ""
    assert found(str([call.headers for call in upstream.calls]), PLATE, METRICS) == []
