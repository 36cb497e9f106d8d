"""An SVG logo in a PDF runs nothing and reads no other file."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from portal.system.logo import logo_url
from tests.pdf.rendering import can_render_pdf, render_pdf

INSIDE = """
<script href="{0}">alert(1)</script><style>@import "{0}"; rect {{ fill: url({0}) }}</style>
<image href="{0}"/><use href="{0}#a"/><rect onload="alert(1)" width="4" height="4"/>
"""


def test_svg_logo_reads_no_other_file(tmp_path: Path) -> None:
    if not can_render_pdf():
        pytest.skip("WeasyPrint or a library of it is not installed")
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        inside = INSIDE.format(f"http://127.0.0.1:{server.server_port}/other.svg")
        logo = tmp_path / "logo.svg"
        logo.write_text(f'<svg xmlns="http://www.w3.org/2000/svg">{inside}</svg>')
        image = f'<img src="{logo_url(logo)}" alt="">'
        html = f'<!doctype html><html lang="pt-BR"><title>t</title><body>{image}'
        assert render_pdf(html).startswith(b"%PDF")
        server.shutdown()
    assert asked == []
