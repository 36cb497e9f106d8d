"""Notices are in the session's cookie until a page shows them, so they have a bound."""

import re
from pathlib import Path

import flask
import pytest

import portal
from portal.web.routing.responses import LONGEST_NOTICE, show_notice

PACKAGE = Path(portal.__file__).parent


@pytest.fixture
def app() -> flask.Flask:
    app = flask.Flask(__name__)
    app.secret_key = "secret"
    return app


def test_long_notice_is_cut(app: flask.Flask) -> None:
    with app.test_request_context():
        show_notice("x" * LONGEST_NOTICE)
        show_notice("y" * 10_000)
        whole, cut = flask.get_flashed_messages()
    assert whole == "x" * LONGEST_NOTICE
    assert cut == "y" * (LONGEST_NOTICE - 1) + "…"


def test_notices_that_no_page_shows_do_not_add_up(app: flask.Flask) -> None:
    with app.test_request_context():
        for number in range(100):
            show_notice(f"{number}")
        assert flask.get_flashed_messages() == ["97", "98", "99"]


def test_every_notice_has_the_bound() -> None:
    calls = [
        path.relative_to(PACKAGE).as_posix()
        for path in sorted(PACKAGE.rglob("*.py"))
        if re.search(r"(?<![\w.])flash\(", path.read_text())
    ]
    assert calls == ["web/routing/responses.py"]
