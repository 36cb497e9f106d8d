"""HTML pages are gzipped if the client accepts gzip; JSON answers are never gzipped."""

import gzip
from collections.abc import Callable

import pytest
from flask import Flask, Response
from werkzeug.test import TestResponse

from portal.web.http.compression import MIN_BYTES, compress_html

PAGE = "<p>Multa por excesso de velocidade</p>" * 500


def app_returning(build: Callable[[], Response]) -> Flask:
    app = Flask(__name__)
    app.after_request(compress_html)
    app.add_url_rule("/", "page", build)
    return app


def fetch(response: Response, **headers: str) -> TestResponse:
    return app_returning(lambda: response).test_client().get("/", headers=headers)


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
        Response(PAGE, mimetype="application/json"),
        Response(PAGE, mimetype="application/pdf"),
        Response("<p>" + "a" * (MIN_BYTES - 4), mimetype="text/html"),
        Response(iter([PAGE]), mimetype="text/html"),
    ],
    ids=["json", "pdf", "short", "streamed"],
)
def test_non_html_short_or_streamed_response_is_not_gzipped(response: Response) -> None:
    answer = fetch(response, **{"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in answer.headers


def test_compressed_length_is_randomised() -> None:
    """A fixed length would reveal whether a guessed CSRF token is right (BREACH)."""
    client = app_returning(lambda: Response(PAGE, mimetype="text/html")).test_client()
    lengths = {len(client.get("/", headers={"Accept-Encoding": "gzip"}).data) for _ in range(40)}
    assert len(lengths) > 10
