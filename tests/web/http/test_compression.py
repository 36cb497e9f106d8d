"""Pages travel compressed where the visitor takes it; JSON answers stay the upstream's bytes."""

import gzip
from collections.abc import Callable

import pytest
from flask import Flask, Response

from portal.web.http.compression import MIN_BYTES, register_compression

PAGE = "<p>Multa por excesso de velocidade</p>" * 500


def app_answering(build: Callable[[], Response]) -> Flask:
    app = Flask(__name__)
    register_compression(app)
    app.add_url_rule("/", "page", build)
    return app


def asked(response: Response, **headers: str) -> Response:
    return app_answering(lambda: response).test_client().get("/", headers=headers)


def test_a_page_is_a_fraction_of_itself_and_the_same_when_unpacked() -> None:
    answer = asked(Response(PAGE, mimetype="text/html"), **{"Accept-Encoding": "br, gzip"})
    assert answer.headers["Content-Encoding"] == "gzip"
    assert len(answer.data) == int(answer.headers["Content-Length"]) < len(PAGE) / 20
    assert gzip.decompress(answer.data).decode() == PAGE


@pytest.mark.parametrize(
    "accepted", [{}, {"Accept-Encoding": "br"}, {"Accept-Encoding": "gzip;q=0"}]
)
def test_a_visitor_that_takes_no_gzip_gets_none(accepted: dict[str, str]) -> None:
    answer = asked(Response(PAGE, mimetype="text/html"), **accepted)
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
def test_what_is_no_whole_long_page_is_left_alone(response: Response) -> None:
    answer = asked(response, **{"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in answer.headers


def test_the_same_page_has_many_lengths() -> None:
    """Else the length would tell whether a guess of the CSRF token was right (BREACH)."""
    client = app_answering(lambda: Response(PAGE, mimetype="text/html")).test_client()
    lengths = {len(client.get("/", headers={"Accept-Encoding": "gzip"}).data) for _ in range(40)}
    assert len(lengths) > 10
