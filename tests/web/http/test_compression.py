"""Pages are gzipped if the client accepts gzip, other texts only for requests without a cookie."""

import gzip
from collections.abc import Callable

import pytest
from flask import Flask, Response
from werkzeug.test import TestResponse

from portal.web.http.compression import MIN_BYTES, compress
from tests import factories
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import PORTAL_TOKEN
from tests.web.json_paths import PLATE

PAGE = "<p>Multa por excesso de velocidade</p>" * 500


def app_returning(build: Callable[[], Response]) -> Flask:
    app = Flask(__name__)
    app.after_request(compress)
    app.add_url_rule("/", "page", build)
    return app


def fetch(response: Response, **headers: str) -> TestResponse:
    return app_returning(lambda: response).test_client(use_cookies=False).get("/", headers=headers)


def test_page_is_gzipped_and_decompresses_to_itself() -> None:
    answer = fetch(Response(PAGE, mimetype="text/html"), **{"Accept-Encoding": "br, gzip"})
    assert answer.headers["Content-Encoding"] == "gzip"
    assert len(answer.data) == int(answer.headers["Content-Length"]) < len(PAGE) / 20
    assert gzip.decompress(answer.data).decode() == PAGE


@pytest.mark.parametrize(
    "accepted", [{}, {"Accept-Encoding": "br"}, {"Accept-Encoding": "gzip;q=0"}]
)
def test_page_is_plain_if_gzip_is_not_accepted(accepted: dict[str, str]) -> None:
    answer = fetch(Response(PAGE, mimetype="text/html"), **accepted)
    assert "Content-Encoding" not in answer.headers
    assert answer.data.decode() == PAGE


@pytest.mark.parametrize(
    "response",
    [
        Response(PAGE, mimetype="application/pdf"),
        Response(PAGE, mimetype="text/css"),
        Response("<p>" + "a" * (MIN_BYTES - 4), mimetype="text/html"),
        Response(iter([PAGE]), mimetype="text/html"),
    ],
    ids=["pdf", "style sheet", "short", "streamed"],
)
def test_other_short_or_streamed_response_is_not_gzipped(response: Response) -> None:
    answer = fetch(response, **{"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in answer.headers


def test_compressed_length_is_randomised() -> None:
    """A fixed length would reveal whether a guessed CSRF token is right (BREACH)."""
    client = app_returning(lambda: Response(PAGE, mimetype="text/html")).test_client()
    lengths = {len(client.get("/", headers={"Accept-Encoding": "gzip"}).data) for _ in range(40)}
    assert len(lengths) > 10


@pytest.mark.parametrize(
    "kind", ["application/json", "application/problem+json", "application/jsonl", "text/csv"]
)
def test_data_is_gzipped_for_requests_without_a_cookie(kind: str) -> None:
    """A browser can be made to send its cookie, and a script's credential it does not have."""
    response = Response(PAGE, mimetype=kind)
    asked = {"Accept-Encoding": "gzip"}
    assert gzip.decompress(fetch(response, **asked).data).decode() == PAGE
    plain = fetch(Response(PAGE, mimetype=kind), **asked, Cookie="portal=x")
    assert "Content-Encoding" not in plain.headers
    assert plain.data.decode() == PAGE


@pytest.mark.parametrize("months", [96, 900])
def test_hit_is_gzipped_as_the_route_does(
    portal: PortalFactory, upstream: FaultUpstream, months: int
) -> None:
    history = factories.price_history(months, first=60_000)
    body = factories.decode_body(
        PLATE, informacoesFipe=[factories.fipe_entry(historicoPreco=history)]
    )
    upstream.default(faults.answer("decode", body))
    here, path = portal(), f"/detran/v1/decode/{PLATE}"
    asked = {"Accept-Encoding": "gzip, deflate"}
    miss = here.get(path, headers=asked)
    hits = [here.get(path, headers=asked) for _ in range(3)]
    for answer in (miss, *hits):
        assert gzip.decompress(answer.data) == body
        assert answer.headers["Content-Encoding"] == "gzip"
        assert int(answer.headers["Content-Length"]) == len(answer.data) < len(body) / 3
        assert "Accept-Encoding" in answer.headers["Vary"]
    assert hits[-1].headers["Cache-Status"].startswith("portal; hit")
    for headers in ({}, {"Accept-Encoding": "identity"}):
        assert here.get(path, headers=headers).data == body
    head = here.client.head(path, headers={"Authorization": PORTAL_TOKEN, **asked})
    assert head.headers["Content-Length"] == hits[-1].headers["Content-Length"]
    assert head.data == b""
    here.client.set_cookie("portal", "x")
    assert here.get(path, headers=asked).data == body


def test_openapi_is_gzipped(portal: PortalFactory) -> None:
    here = portal({})
    for path in ("/openapi.json", "/openapi.yaml", "/api.md"):
        plain = here.client.get(path)
        zipped = here.client.get(path, headers={"Accept-Encoding": "gzip"})
        assert gzip.decompress(zipped.data) == plain.data
        assert len(zipped.data) < len(plain.data) / 3
        assert "Accept-Encoding" in plain.headers["Vary"]
