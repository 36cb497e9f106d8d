"""A file's address changes with its content, and with nothing else."""

import gzip
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.web.assets import Assets, UnknownAsset

STATIC = Path(__file__).parents[2] / "static"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for name, text in {
        "css/tokens.css": "@layer tokens, base;" + " " * 400,
        "css/base.css": "@layer base { a { color: red } }",
        "css/components/plate.css": ".plate { }",
        "css/components/badge.css": ".badge { }",
        "css/dossier.css": ".paper { }",
        "js/panels.js": "'use strict';",
        "css/.hidden": "secret",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def client_of(assets: Assets) -> FlaskClient:
    app = Flask(__name__, static_folder=None)
    app.register_blueprint(assets.blueprint())
    return app.test_client()


def test_another_content_has_another_address(directory: Path) -> None:
    before = Assets.build(directory).url("js/panels.js")
    assert before == Assets.build(directory).url("js/panels.js")
    (directory / "js/panels.js").write_text("'use strict'; 1;")
    assert before != Assets.build(directory).url("js/panels.js")


def test_the_style_comes_in_one_request_in_layer_order(directory: Path) -> None:
    text = Assets.build(directory).text("css/portal.css")
    order = [text.index(part) for part in ("tokens, base", "color: red", ".badge", ".plate")]
    assert order == sorted(order)
    assert ".paper" not in text


def test_what_is_bundled_is_not_served_a_second_time(directory: Path) -> None:
    with pytest.raises(UnknownAsset):
        Assets.build(directory).url("css/tokens.css")


def test_a_file_may_be_kept_for_a_year(directory: Path) -> None:
    assets = Assets.build(directory)
    answer = client_of(assets).get(assets.url("js/panels.js"))
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert answer.text == "'use strict';"


def test_a_browser_that_takes_gzip_gets_it(directory: Path) -> None:
    assets = Assets.build(directory)
    client = client_of(assets)
    url = assets.url("css/portal.css")
    zipped = client.get(url, headers={"Accept-Encoding": "gzip, br"})
    plain = client.get(url, headers={"Accept-Encoding": "gzip;q=0, identity"})
    assert zipped.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert gzip.decompress(zipped.data) == plain.data
    assert zipped.headers["Vary"] == plain.headers["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize(
    "path",
    [
        "/static/js/panels.js",
        "/static/js/panels.00000000.js",
        "/static/css/.hidden",
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static//etc/passwd",
    ],
)
def test_any_other_name_is_not_found(directory: Path, path: str) -> None:
    assert client_of(Assets.build(directory)).get(path).status_code in {404, 308}


def test_a_template_that_names_a_missing_file_fails_loudly(directory: Path) -> None:
    with pytest.raises(UnknownAsset):
        Assets.build(directory).url("css/nothing.css")


def test_the_portals_own_files_are_all_there() -> None:
    assets = Assets.build(STATIC)
    for name in ("css/portal.css", "css/dossier.css", "js/panels.js", "icons/mark.svg"):
        assert assets.url(name).startswith("/static/")
        assert assets.text(name)
