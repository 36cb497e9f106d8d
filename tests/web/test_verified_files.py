"""Forty files, ten of them hostile: page, JSON, client, command and tool say the same of each."""

import json
import random
import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import mcp
import pikepdf
import pytest
from dossie_veicular_client import Client
from dossie_veicular_client.cli import main
from dossie_veicular_client.tool_server import server_of
from mcp.types import CallToolResult
from werkzeug.serving import make_server

from portal.issued.identifiers import parse_number
from portal.pdf import inspection
from portal.pdf.inspection import PdfInspector
from portal.pdf.signing import Signer, read_key
from tests.commands.test_ledger_and_purge import run_command
from tests.conftest import PortalFactory
from tests.effort import long
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
from tests.fakes.signing import PASSWORD, SIGNER, chain
from tests.pdf.reading import read_here, remembered
from tests.pdf.test_signing import NOW
from tests.web.pages.test_issued import ISSUER, link_of
from tests.web.pages.test_verification import (
    HOSTILE,
    PATH,
    TITLES,
    ask,
    saved,
    signer_of_two,
    text_file,
    with_words,
)
from tests.web.person import Person

PLATE, PURGED = "ABC1D23", "LMP0A01"
# The bytes that a signature covers end before its own bytes and start again after them.
BYTE_RANGE = re.compile(rb"/ByteRange ?\[ ?0 (\d+) (\d+) \d+ ?\]")
STATES = ("same", "superseded", "revoked", "ended")


class File(NamedTuple):
    """A file, and what is to be said of it.

    ``what`` is in one of its differences. It is "" if there is none, and None if there may be some.
    """

    content: bytes
    result: str
    what: str | None = ""


class Library:
    """Issued dossiers in each state, and files that are made of them."""

    def __init__(self, here: InProcessPortal, person: Person, folder: Path) -> None:
        self.here, self.person, self.folder = here, person, folder
        self.links: dict[str, str] = {}
        self.pdfs = {state: self._issued(state) for state in STATES}
        self.pdfs["purged"] = self._issued("purged", PURGED)
        number = self._number("superseded")
        self._change(f"superseded_by = '{self._number('same')}'", number)
        assert person.post(f"{self.links['revoked']}/revogar").status_code == 303
        self._change("expires_at = 5", self._number("ended"))
        assert run_command(here, "purge", PURGED).exit_code == 0

    def _issued(self, state: str, plate: str = PLATE) -> bytes:
        self.person.pages.get(f"/placa/{plate}?completo=1")
        path = self.person.post(f"/placa/{plate}/dossie/emitir").headers["Location"]
        self.links[state] = path
        answer = self.person.client.get(f"{path}.pdf")
        if answer.status_code == 501:
            pytest.skip("the libraries that WeasyPrint loads are not installed")
        return bytes(answer.data)

    def _number(self, state: str) -> str:
        number = parse_number(self.links[state].rpartition("/")[2])
        assert number
        return number

    def _change(self, change: str, number: str) -> None:
        database = self.here.settings.data_dir / "portal.sqlite"
        with closing(sqlite3.connect(database)) as db, db:
            db.execute(f"UPDATE dossiers SET {change} WHERE number = ?", [number])

    def signer(self, name: str) -> Signer:
        """Return a signer with a key of its own, also if the name is the portal's."""
        folder = self.folder / name
        folder.mkdir()
        # Another starting day makes another chain of the same name.
        return Signer(read_key(chain("ec", name, -2).write(folder), PASSWORD, None, NOW))

    def files(self) -> dict[str, File]:
        return {**self._untouched(), **self._altered(), **self._of_others(), **self._hostile()}

    def _untouched(self) -> dict[str, File]:
        states = {f"issued, {state}": File(self.pdfs[state], state) for state in STATES}
        return {**states, "issued, purged": File(self.pdfs["purged"], "ended")}

    def _altered(self) -> dict[str, File]:
        pdf = self.pdfs["same"]
        middle = pdf.index(b"stream", len(pdf) // 3) + 60
        flipped = pdf[:middle] + bytes([pdf[middle] ^ 1]) + pdf[middle + 1 :]
        pages = len(pikepdf.open(BytesIO(pdf)).pages)
        added = "acrescentado depois da emissão: "
        return {
            "a word drawn": File(saved(pdf, with_words(b"valor 230,16")), "altered", "230,16"),
            "a page less": File(saved(pdf, _drop_page), "altered", f"→ {pages - 1} página"),
            "a page more": File(saved(pdf, _add_page), "altered", f"→ {pages + 1} páginas"),
            "pages in another order": File(saved(pdf, _turn_pages), "altered", "→"),
            "a member changed": File(
                saved(pdf, _change_data), "altered", f"dossie.json: plate {PLATE} → ABC1D24"
            ),
            "a record removed": File(saved(pdf, _drop_fine), "altered", "1 → 0 registros"),
            "no data": File(saved(pdf, _drop_data), "altered", "dossie.json: falta ou não pode"),
            "saved again": File(saved(pdf, lambda _: None), "altered"),
            "another title": File(saved(pdf, _change_title), "altered"),
            "no signature": File(saved(pdf, _strip), "altered"),
            "a byte changed": File(flipped, "altered", None),
            "the last byte cut": File(pdf[:-1], "altered"),
            "a note added": File(pdf + b"\n% note\n", "altered", f"{added}8 bytes"),
            "signed again by another": File(
                signer_of_two(self.signer("Comprador"), pdf), "altered", added
            ),
            "two in one": File(pdf + self.pdfs["superseded"], "altered", None),
            "changed, of a revoked one": File(
                saved(self.pdfs["revoked"], with_words(b"x")), "altered"
            ),
            "changed, of an ended one": File(
                saved(self.pdfs["ended"], with_words(b"x")), "altered"
            ),
        }

    def _of_others(self) -> dict[str, File]:
        other, namesake = self.signer("Outra Pessoa"), self.signer(SIGNER)
        number = self.links["same"].rpartition("/")[2]
        key = link_of(self.person, self.links["same"]).rpartition("/")[2]
        link = f"https://portal.example/verificar?codigo={key}"
        stripped = saved(self.pdfs["same"], _strip)
        draft, sheet = (
            self.person.client.get(f"/placa/{PLATE}/{name}.pdf").data
            for name in ("dossie", "folha")
        )
        return {
            "a contract": File(other.sign(text_file("um contrato")).content, "foreign"),
            "taken over": File(other.sign(stripped).content, "foreign"),
            "signed by a namesake": File(namesake.sign(stripped).content, "foreign"),
            "number alone": File(text_file(f"numero {number}"), "altered"),
            "link alone": File(text_file("nada", link), "altered", "→"),
            "unknown number": File(text_file("numero 7F3K-9QMD-2XHA"), "unknown"),
            "draft": File(draft, "unknown"),
            "sheet": File(sheet, "unknown"),
        }

    def _hostile(self) -> dict[str, File]:
        names = list(HOSTILE)[:10]
        return {f"hostile, {name}": File(HOSTILE[name](), "unknown") for name in names}


def _drop_page(pdf: pikepdf.Pdf) -> None:
    del pdf.pages[-1]


def _add_page(pdf: pikepdf.Pdf) -> None:
    pdf.add_blank_page()


def _turn_pages(pdf: pikepdf.Pdf) -> None:
    pdf.pages.reverse()


def _change_data(pdf: pikepdf.Pdf) -> None:
    stream: Any = pdf.Root.AF[0].EF.F
    stream.write(stream.read_bytes().replace(b'"plate":"ABC1D23"', b'"plate":"ABC1D24"'))


def _drop_fine(pdf: pikepdf.Pdf) -> None:
    stream: Any = pdf.Root.AF[0].EF.F
    data = json.loads(stream.read_bytes())
    data["fines"]["records"] = []
    stream.write(json.dumps(data).encode())


def _drop_data(pdf: pikepdf.Pdf) -> None:
    del pdf.Root.AF
    del pdf.attachments["dossie.json"]


def _change_title(pdf: pikepdf.Pdf) -> None:
    pdf.docinfo["/Title"] = "Outro"


def _strip(pdf: pikepdf.Pdf) -> None:
    """Remove the signature's field."""
    del pdf.Root.AcroForm
    del pdf.pages[0].obj.Annots


@contextmanager
def served(here: InProcessPortal) -> Iterator[str]:
    """Serve a portal of this process on loopback, for clients that need a socket."""
    server = make_server("127.0.0.1", 0, here.app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}"
    finally:
        server.shutdown()
        thread.join(30)
        server.server_close()


def by_command(
    url: str, file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> tuple[int, Any]:
    """Return the exit status and the JSON of ``dossie verify``, run in this process."""
    monkeypatch.setenv("DOSSIE_URL", url)
    monkeypatch.setenv("DOSSIE_TOKEN", PORTAL_TOKEN)
    status = main(["verify", str(file), "--json"])
    return status, json.loads(capsys.readouterr().out)


def by_tool(client: Client, file: Path) -> tuple[bool, Any]:
    """Return whether the tool ``check_dossier`` refuses a file, and what it says of it."""

    async def run() -> CallToolResult:
        with anyio.fail_after(120):
            async with mcp.Client(server_of(client, 0)) as agent:
                called = await agent.call_tool("check_dossier", {"file": str(file)})
                assert isinstance(called, CallToolResult)
                return called

    found = anyio.run(run)
    return bool(found.is_error), found.structured_content


@pytest.mark.over_5_s("reads forty files five times")
def test_forty_files_read_the_same_in_every_way(
    portal: PortalFactory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(inspection, "_ANSWERS_WITHIN_S", 200.0)
    key = chain().write(tmp_path)
    here = portal(SIGNING_KEY_FILE=str(key), SIGNING_KEY_PASSWORD=PASSWORD, **ISSUER)
    files = Library(here, Person.at(here).signed_in(), tmp_path).files()
    assert len(files) >= 40 and {file.result for file in files.values()} == {*TITLES}
    path, wrong = tmp_path / "file.pdf", []
    with served(here) as url:
        client = Client(url, PORTAL_TOKEN)
        for name, file in files.items():
            read = PdfInspector._asked if name.startswith("hostile") else read_here
            with monkeypatch.context() as patched:
                patched.setattr(PdfInspector, "_asked", remembered(read))
                found = ask(here, file.content)  # by JSON and on the page
                path.write_bytes(file.content)
                status, shown = by_command(url, path, capsys, monkeypatch)
                is_refused, told = by_tool(client, path)
                by_client = client.verify(file.content)
            is_pdf = file.content.startswith(b"%PDF-")
            whats = [each["what"] for each in found["differences"]]
            checks = {
                "result": found["result"] == file.result,
                "differences": file.what is None
                or (any(file.what in what for what in whats) if file.what else not whats),
                "client": by_client == found,
                "command": shown == found and (status == 0) == (file.result == "same"),
                "tool": is_refused != is_pdf and (not is_pdf or told == found),
                "unaltered": (found["unaltered"] is True) == name.startswith("issued, "),
            }
            wrong += [(name, check, found) for check, holds in checks.items() if not holds]
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize("places", [50, *long(200)])
def test_a_byte_changed_in_many_places_is_noticed(
    portal: PortalFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, places: int
) -> None:
    key = chain().write(tmp_path)
    here = portal(SIGNING_KEY_FILE=str(key), SIGNING_KEY_PASSWORD=PASSWORD, **ISSUER)
    person = Person.at(here).signed_in()
    person.pages.get(f"/placa/{PLATE}?completo=1")
    issued = person.post(f"/placa/{PLATE}/dossie/emitir").headers["Location"]
    answer = person.client.get(f"{issued}.pdf")
    if answer.status_code == 501:
        pytest.skip("the libraries that WeasyPrint loads are not installed")
    monkeypatch.setattr(PdfInspector, "_asked", read_here)
    chance, client = random.Random(51), here.app.test_client()
    end, start = (int(at) for at in BYTE_RANGE.findall(answer.data)[-1])
    signed = [*range(end), *range(start, len(answer.data))]
    # The signature is no part of what it signs: its padding, or a certificate that it carries, may
    # change, and it still proves that the other bytes did not.
    for at in [*chance.sample(signed, places - 10), *chance.sample(range(end, start), 10)]:
        changed = bytearray(answer.data)
        changed[at] ^= chance.randrange(1, 256)
        reply = client.post(PATH, data=bytes(changed), content_type="application/pdf")
        assert reply.status_code == 200, (at, reply.get_data(as_text=True))
        found = reply.get_json()
        assert found["result"] in ("altered", "foreign", "unknown"), (at, found)
        assert found["unaltered"] is not True
        is_valid = found["signature"] is not None and found["signature"]["state"] == "valid"
        assert not is_valid or end <= at < start, (at, found)
