"""What answers at the portal's address is not a portal, or a strange one: one plain line."""

import io
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from zipfile import ZipFile

import pytest
from dossie_veicular_client import Client, CostsTooMuch, InvalidRequest, PortalError, cli
from dossie_veicular_client.client import lookup_names
from dossie_veicular_client.errors import error_of
from dossie_veicular_client.lists import read_file
from dossie_veicular_client.shape import shaped
from dossie_veicular_client.spending import Quote, look_up, total

PLATE = "ABC1D23"
BODIES = {
    "list": b"[]",
    "null": b"null",
    "empty": b"{}",
    "text": b'"x"',
    "number": b"1",
    "deep": b"[" * 100_000 + b"]" * 100_000,
    "html": b"<html>",
    "lookups null": b'{"lookups": null}',
    "infinite": b'{"lookups": {"decode": {"price": Infinity}}}',
}
ERRORS = {
    "digit": b'{"message": "x", "retry_after_s": "\xc2\xb2"}',
    "objects": b'{"message": {}, "code": [], "request_id": 1, "retry_after_s": {}}',
    **BODIES,
}
COMMANDS = (
    (PLATE,),
    ("price", PLATE),
    ("fines", PLATE, "--json"),
    ("report", PLATE),
    ("issued", "7F3K"),
    ("batch", "-", "--out", "x.csv"),
)


@contextmanager
def answering(body: bytes, status: int = 200) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 the name of the base class

        def log_message(self, *_: Any) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Any) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOSSIE_TOKEN", "token")

    def called(url: str, *words: str) -> tuple[int, str]:
        monkeypatch.setenv("DOSSIE_URL", url)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PLATE.encode())))
        status = cli.main(words)
        found = capsys.readouterr()
        return status, found.err + found.out

    return called


@pytest.mark.parametrize("name", BODIES)
def test_strange_success_is_one_line(run: Any, name: str) -> None:
    with answering(BODIES[name]) as url:
        for words in COMMANDS:
            status, printed = run(url, *words)
            assert status == 1, (words, printed)
            assert printed.startswith("dossie: ")
            assert printed.count("\n") == 1


@pytest.mark.parametrize("name", ERRORS)
def test_strange_error_is_one_line(run: Any, name: str) -> None:
    with answering(ERRORS[name], 404) as url:
        status, printed = run(url, PLATE)
    assert (status, printed.count("\n")) == (1, 1)


@pytest.mark.parametrize(
    "url",
    [
        "http://ana:segredo@127.0.0.1:1",
        "https://segredo@portal.invalid",
        "ftp://ana:segredo@portal.invalid",
        "http://ana:segredo@[::1",
        "http://ana:segredo@portal.invalid:99999999",
    ],
)
def test_password_in_the_address_is_never_printed(run: Any, url: str) -> None:
    status, printed = run(url, PLATE)
    assert (status, printed.count("\n")) == (2, 1)
    assert "segredo" not in printed


@pytest.mark.parametrize(
    ("url", "warns"),
    [
        ("http://portal.invalid", True),
        ("http://192.0.2.1:8000", True),
        ("https://portal.invalid", False),
        ("http://127.0.0.1:8000", False),
        ("http://[::1]:8000", False),
        ("http://localhost:8000", False),
    ],
)
def test_plain_http_to_another_host_warns(url: str, warns: bool) -> None:
    assert Client(url, "token").is_exposed is warns


def test_warning_is_printed(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Client, "vehicle", lambda *_, **__: (_ for _ in ()).throw(PortalError("x")))
    _, printed = run("http://portal.invalid", PLATE)
    assert "https" in printed


@pytest.mark.parametrize("seconds", ["²", "٣", "", None, True, -1, 1e400, "9" * 5000])
def test_strange_pause_is_no_pause(seconds: Any) -> None:
    assert error_of(503, {"retry_after_s": seconds}, {}).retry_after_s is None


def test_missing_price_is_unknown() -> None:
    kind = dict[str, float | None]
    assert shaped({"price": None}, kind) == {"price": None}
    for prices in ([None], [1.0, None], [-1.0]):
        assert total(prices) is None
    assert total([0.3, 0]) == 0.3


@pytest.mark.parametrize("limit", [0, 60, 1e8])
def test_unknown_price_is_more_than_any_limit(limit: float) -> None:
    found = Quote(PLATE, {}, (), ("decode",), None)  # type: ignore[typeddict-item]
    with pytest.raises(CostsTooMuch, match="não informa quanto custaria"):
        look_up(None, found, limit)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ask", "names"),
    [
        ("decode,renainf", ("decode", "renainf")),
        (["multas"], ("renainf",)),
        (["Restrições", "DECODE"], ("decode", "renajud")),
        (("renajud", "renajud"), ("renajud",)),
    ],
)
def test_lookups_are_understood(ask: Any, names: tuple[str, ...]) -> None:
    assert lookup_names(ask) == names


@pytest.mark.parametrize("ask", ["", "fipe2", ["decode", "x"], [1], []])
def test_unknown_lookups_are_refused_in_one_line(ask: Any) -> None:
    with pytest.raises(InvalidRequest) as raised:
        lookup_names(ask)
    assert "decode, renainf, renajud" in raised.value.message
    assert "\n" not in raised.value.message


def workbook(cells: str, strings: str = "") -> bytes:
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    file = io.BytesIO()
    with ZipFile(file, "w") as archive:
        archive.writestr("xl/worksheets/sheet1.xml", f"<worksheet {space}>{cells}</worksheet>")
        archive.writestr("xl/worksheets/sheet2.xml", f"<worksheet {space}/>")
        archive.writestr("xl/sharedStrings.xml", f"<sst {space}>{strings}</sst>")
    return file.getvalue()


LIST = "placa;cor\r\nABC1D23;azul\r\nLMP0A01;ação\r\n"
SHEET = workbook(
    '<sheetData><row><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>'
    '<row><c r="A2" t="s"><v>1</v></c></row>'
    '<row><c r="A3" t="inlineStr"><is><t>LMP0A01</t></is></c></row></sheetData>',
    "<si><t>placa</t></si><si><r><t>ABC</t></r><r><t>1D23</t></r></si>",
)


@pytest.mark.parametrize(
    "raw",
    [
        LIST.encode(),
        LIST.encode("utf-8-sig"),
        LIST.encode("utf-16"),
        LIST.encode("utf-16-le"),
        LIST.encode("utf-16-be"),
        LIST.encode("cp1252"),
        SHEET,
    ],
)
def test_list_of_any_program_is_read(raw: bytes) -> None:
    assert read_file(raw) == [PLATE, "LMP0A01"]


def test_other_spreadsheet_is_refused_in_one_line() -> None:
    bomb = workbook("", "").replace(b"<sst", b"<!DOCTYPE x><sst")
    for raw in (b"PK\x03\x04broken", b"\xd0\xcf\x11\xe0\x00\x00", workbook("<c"), bomb):
        with pytest.raises(InvalidRequest, match="CSV"):
            read_file(raw)


@pytest.mark.parametrize("encoding", ["cp1252", "cp850", "ascii"])
def test_pipe_of_windows_gets_utf_8(
    encoding: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    report = {"resumo": "Laudo ✅ ação", "laudoFinal": "não há"}
    answers = iter([{"result": {}}, {"result": []}, {"result": []}, {"result": report}])
    monkeypatch.setattr(
        "dossie_veicular_client.transport.Transport.send",
        lambda *_, **__: _Response(next(answers)),
    )
    monkeypatch.setenv("DOSSIE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("DOSSIE_TOKEN", "token")
    raw = {name: io.BytesIO() for name in ("stdout", "stderr")}
    for name, stream in raw.items():
        monkeypatch.setattr(f"sys.{name}", io.TextIOWrapper(stream, encoding=encoding))
    assert cli.main(["report", PLATE]) == 0
    assert json.loads(raw["stdout"].getvalue().decode("utf-8")) == report


class _Response:
    headers: dict[str, str] = {}

    def __init__(self, document: object) -> None:
        self._document = document

    def json(self) -> object:
        return self._document
