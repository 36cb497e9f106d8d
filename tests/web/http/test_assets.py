"""Static files: hashed names, bundles, headers and colour contrast."""

import gzip
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.web.http.assets import Assets, UnknownAsset
from portal.web.pages import fixed_paths

STATIC = Path(__file__).parents[3] / "static"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for name, text in {
        "css/tokens.css": ":root { color: blue }" + " " * 400,
        "css/base.css": "a { color: red }",
        "css/components/plate.css": ".plate { }",
        "css/components/badge.css": ".badge { }",
        "css/print/page.css": ".badge { color: black }",
        "css/dossier.css": ".paper { }",
        "js/panels.js": "'use strict';",
        "css/.hidden": "secret",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def text_of(assets: Assets, name: str) -> str:
    return assets.read(name).body.decode()


def client_of(assets: Assets) -> FlaskClient:
    app = Flask(__name__, static_folder=None)
    web: Any = SimpleNamespace(assets=assets)
    app.register_blueprint(fixed_paths.routes.blueprint(web))
    return app.test_client()


def test_changed_content_changes_url(directory: Path) -> None:
    before = Assets(directory).url("js/panels.js")
    assert before == Assets(directory).url("js/panels.js")
    (directory / "js/panels.js").write_text("'use strict'; 1;")
    assert before != Assets(directory).url("js/panels.js")


def test_css_bundle_puts_each_folder_into_its_layer(directory: Path) -> None:
    text = text_of(Assets(directory), "css/portal.css")
    parts = (
        *("@layer tokens{", "color: blue", "@layer base{", "color: red"),
        *("@layer components{", ".badge", ".plate", "@layer print{@media print{", "color: black"),
    )
    order = [text.index(part) for part in parts]
    assert order == sorted(order)
    assert ".paper" not in text


def test_style_sheet_names_font_with_its_hash(directory: Path) -> None:
    (directory / "fonts").mkdir()
    (directory / "fonts/text.woff2").write_bytes(b"font")
    (directory / "css/font.css").write_text('src: url("/static/fonts/text.woff2")')
    (directory / "css/dossier.css").write_text('src: url("/static/fonts/text.woff2")')
    assets = Assets(directory)
    for sheet in ("css/portal.css", "css/dossier.css"):
        assert f'url("{assets.url("fonts/text.woff2")}")' in text_of(assets, sheet)


def test_change_of_font_changes_url_of_style_sheet(directory: Path) -> None:
    (directory / "fonts").mkdir()
    (directory / "css/font.css").write_text('src: url("/static/fonts/text.woff2")')
    (directory / "fonts/text.woff2").write_bytes(b"font")
    before = Assets(directory).url("css/portal.css")
    (directory / "fonts/text.woff2").write_bytes(b"another")
    assert Assets(directory).url("css/portal.css") != before


def test_style_sheet_cannot_name_missing_file(directory: Path) -> None:
    (directory / "css/font.css").write_text('src: url("/static/fonts/none.woff2")')
    with pytest.raises(UnknownAsset):
        Assets(directory)


def test_script_is_sent_without_comments_and_indents(directory: Path) -> None:
    script = '// Says.\n"use strict";\n\n{\n  // Why.\n  const a = "http://a"; // kept\n}\n'
    (directory / "js/panels.js").write_text(script)
    kept = '"use strict";\n{\nconst a = "http://a"; // kept\n}\n'
    assert text_of(Assets(directory), "js/panels.js") == kept


def test_no_text_of_a_script_spans_lines() -> None:
    """Its lines would lose their indents."""
    for path in (STATIC / "js").glob("*.js"):
        lines = path.read_text().splitlines()
        assert [line for line in lines if line.count("`") % 2] == [], path.name


def test_scripts_of_a_vehicle_are_one_file_and_files_of_their_own() -> None:
    assets = Assets(STATIC)
    text = text_of(assets, "js/vehicle.js")
    for name in ("swap", "panels", "copy", "fines", "chart", "car"):
        assert text_of(assets, f"js/{name}.js") in text, name


def test_bundled_file_has_no_url_of_its_own(directory: Path) -> None:
    with pytest.raises(UnknownAsset):
        Assets(directory).url("css/tokens.css")


def test_static_file_is_cacheable_for_a_year(directory: Path) -> None:
    assets = Assets(directory)
    answer = client_of(assets).get(assets.url("js/panels.js"))
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert answer.text == "'use strict';"


def test_static_file_is_gzipped_if_accepted(directory: Path) -> None:
    assets = Assets(directory)
    client = client_of(assets)
    url = assets.url("css/portal.css")
    zipped = client.get(url, headers={"Accept-Encoding": "gzip, br"})
    plain = client.get(url, headers={"Accept-Encoding": "gzip;q=0, identity"})
    assert zipped.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert gzip.decompress(zipped.data) == plain.data
    assert zipped.headers["Vary"] == plain.headers["Vary"] == "Accept-Encoding"


def test_hash_of_another_version_gets_this_versions_file_uncached(directory: Path) -> None:
    """During an update, a page and its files may come from portals of two versions."""
    former = Assets(directory).url("css/portal.css")
    (directory / "css/base.css").write_text("a { color: blue }")
    assets = Assets(directory)
    assert former != assets.url("css/portal.css")
    answer = client_of(assets).get(former)
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.text == text_of(assets, "css/portal.css")


@pytest.mark.parametrize(
    "path",
    [
        "/static/js/panels.js",
        "/static/js/unknown.00000000.js",
        "/static/js/panels.0000000.js",
        "/static/js/panels.0000000g.js",
        "/static/css/base.00000000.css",
        "/static/css/.hidden",
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static//etc/passwd",
    ],
)
def test_unknown_static_name_is_not_found(directory: Path, path: str) -> None:
    assert client_of(Assets(directory)).get(path).status_code in {404, 308}


def test_url_of_missing_file_raises_unknown_asset(directory: Path) -> None:
    with pytest.raises(UnknownAsset):
        Assets(directory).url("css/nothing.css")


def test_shipped_assets_exist() -> None:
    assets = Assets(STATIC)
    for name in ("css/portal.css", "css/dossier.css", "js/panels.js", "icons/mark.svg"):
        assert assets.url(name).startswith("/static/")
        assert text_of(assets, name)


GROUNDS = ("ground", "surface", "raised")
TEXTS = ("ink", "muted", "accent", "accent-strong", "ok", "warn", "danger", "unknown")
# Pairs of a text colour and its background, in addition to all TEXTS on all GROUNDS.
PAIRS = (
    ("on-accent", "accent"),
    ("on-banner", "banner"),
    ("on-accent", "accent-strong"),
    ("accent-strong", "accent-soft"),
    ("ok", "ok-soft"),
    ("warn", "warn-soft"),
    ("danger", "danger-soft"),
    ("unknown", "unknown-soft"),
    *((("ink", f"{tone}-soft")) for tone in ("ok", "warn", "danger", "unknown", "accent")),
)


def palettes() -> tuple[dict[str, str], dict[str, str]]:
    """The light and the dark palette of tokens.css, each as colours by name."""
    found = re.findall(
        r"--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)",
        (STATIC / "css/tokens.css").read_text(),
    )
    return {n: light for n, light, _ in found}, {n: dark for n, _, dark in found}


def contrast(one: str, other: str) -> float:
    """The WCAG 2.2 contrast ratio of two #rrggbb colours."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("palette", palettes(), ids=("light", "dark"))
def test_text_contrast_is_at_least_4_5(palette: dict[str, str]) -> None:
    """The minimum of WCAG 2.2 AA for text, on each of its backgrounds."""
    pairs = [*PAIRS, *((text, ground) for text in TEXTS for ground in GROUNDS)]
    weak = {p: round(r, 2) for p in pairs if (r := contrast(palette[p[0]], palette[p[1]])) < 4.5}
    assert not weak


@pytest.mark.parametrize("palette", palettes(), ids=("light", "dark"))
def test_line_and_focus_contrast_is_at_least_3(palette: dict[str, str]) -> None:
    """The minimum of WCAG 2.2 AA for lines, form fields, focus rings and charts."""
    marks = ("line-strong", "focus", "accent", "muted")
    pairs = [(mark, ground) for mark in marks for ground in GROUNDS]
    weak = {p: round(r, 2) for p in pairs if (r := contrast(palette[p[0]], palette[p[1]])) < 3}
    assert not weak
