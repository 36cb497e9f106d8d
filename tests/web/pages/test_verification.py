"""Verifying a file, its hash, a number and a key: page and JSON API give one answer."""

import hashlib
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import BytesIO
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import markupsafe
import pikepdf
import pytest

from portal.pdf import inspection
from portal.pdf.inspection import Contents, FoundSignature, PdfInspector
from portal.pdf.signing import Signer, read_key
from tests.conftest import PortalFactory
from tests.fakes.in_process import InProcessPortal
from tests.fakes.signing import PASSWORD, SIGNER, chain
from tests.pdf.reading import read_here, remembered
from tests.pdf.test_signing import NOW
from tests.web.pages.test_issued import ISSUER, change_rows, issue, link_of
from tests.web.person import Person

PATH = "/api/v1/dossiers/verify"
PLATE = "MUL0A45"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for the child as long as a busy machine needs. Its processor time stays limited."""
    monkeypatch.setattr(inspection, "_ANSWERS_WITHIN_S", 200.0)


@pytest.fixture
def here(portal: PortalFactory, tmp_path: Path) -> InProcessPortal:
    key = chain().write(tmp_path)
    return portal(SIGNING_KEY_FILE=str(key), SIGNING_KEY_PASSWORD=PASSWORD, **ISSUER)


@pytest.fixture
def ana(here: InProcessPortal) -> Person:
    return Person.at(here).signed_in()


class Issued:
    """An issued dossier, its PDF and its link."""

    def __init__(self, person: Person) -> None:
        self.path = issue(person)
        self.number = self.path.rpartition("/")[2]
        answer = person.client.get(f"{self.path}.pdf")
        if answer.status_code == 501:
            pytest.skip("the libraries that WeasyPrint loads are not installed")
        self.pdf = answer.data
        self.link = link_of(person, self.path)


@pytest.fixture
def dossier(ana: Person) -> Issued:
    return Issued(ana)


def ask(here: InProcessPortal, content: bytes) -> dict[str, Any]:
    """Return the JSON answer, after a check that the page says the same."""
    client = here.app.test_client()
    answer = client.post(PATH, data=content, content_type="application/pdf")
    assert answer.status_code == 200, answer.get_data(as_text=True)
    found: dict[str, Any] = answer.get_json()
    page = post_form(client, content)
    assert page.status_code == 200, page.get_data(as_text=True)
    text = page.get_data(as_text=True)
    assert TITLES[found["result"]] in text or "O arquivo não pôde ser lido" in text
    for difference in found["differences"]:
        assert " ".join(escaped(difference["what"]).split()) in " ".join(text.split())
    return found


def post_form(client: Any, content: bytes) -> Any:
    """Post a file as a browser does. The test client would leave a temporary file open."""
    head = 'Content-Disposition: form-data; name="file"; filename="dossie.pdf"'
    kind = "Content-Type: application/pdf"
    body = f"--limit\r\n{head}\r\n{kind}\r\n\r\n".encode() + content + b"\r\n--limit--\r\n"
    return client.post("/verificar", data=body, content_type="multipart/form-data; boundary=limit")


def escaped(text: str) -> str:
    return str(markupsafe.escape(text))


TITLES = {
    "same": "O arquivo é o que foi emitido, e vale",
    "altered": "Não é o arquivo que foi emitido",
    "superseded": "mas há um dossiê mais novo",
    "revoked": "Este dossiê foi revogado",
    "ended": "Este dossiê venceu",
    "foreign": "O arquivo é assinado por outra pessoa",
    "unknown": "Este portal não emitiu este arquivo",
}


def saved(content: bytes, change: Callable[[pikepdf.Pdf], object]) -> bytes:
    output = BytesIO()
    with pikepdf.open(BytesIO(content)) as pdf:
        change(pdf)
        pdf.save(output)
    return output.getvalue()


def with_words(words: bytes) -> Callable[[pikepdf.Pdf], object]:
    """Draw words on the first page, as an editor does."""

    def change(pdf: pikepdf.Pdf) -> None:
        page = pdf.pages[0]
        drawn = b"BT /F1 9 Tf 40 40 Td (" + words + b") Tj ET"
        font = pikepdf.Dictionary(
            Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=pikepdf.Name.Helvetica
        )
        page.add_resource(font, pikepdf.Name.Font, pikepdf.Name("/F1"))
        page.contents_add(drawn)

    return change


def test_the_issued_file_is_the_same_in_every_way(here: InProcessPortal, dossier: Issued) -> None:
    found = ask(here, dossier.pdf)
    assert (found["result"], found["number"], found["unaltered"]) == ("same", dossier.number, True)
    assert found["differences"] == [] and found["superseded_by"] is None
    signature = found["signature"]
    assert (signature["state"], signature["signer"]) == ("valid", SIGNER)
    assert signature["signed_at"] and signature["timestamp"] is None
    sha256 = hashlib.sha256(dossier.pdf).hexdigest()
    client = here.app.test_client()
    assert client.get(f"{PATH}?sha256={sha256.upper()}").get_json() == found
    page = client.get(f"/verificar?sha256={sha256}").get_data(as_text=True)
    assert TITLES["same"] in page and SIGNER in page and "ABC1D23" in page
    assert client.get(f"{PATH}?sha256={'0' * 64}").get_json()["result"] == "unknown"


def test_altered_file_names_what_was_changed(here: InProcessPortal, dossier: Issued) -> None:
    drawn = saved(dossier.pdf, with_words(b"valor 230,16"))
    found = ask(here, drawn)
    assert (found["result"], found["number"]) == ("altered", dossier.number)
    assert found["unaltered"] is False
    (difference,) = found["differences"]
    assert difference["page"] == 1 and difference["what"].endswith("→ valor 230,16")
    assert found["signature"]["state"] == "broken"

    def drop_page(pdf: pikepdf.Pdf) -> None:
        del pdf.pages[-1]

    found = ask(here, saved(dossier.pdf, drop_page))
    pages = len(pikepdf.open(BytesIO(dossier.pdf)).pages)
    assert found["differences"][0]["page"] is None
    assert found["differences"][0]["what"].startswith(f"{pages} páginas → {pages - 1} página")

    def change_data(pdf: pikepdf.Pdf) -> None:
        stream: Any = pdf.Root.AF[0].EF.F
        stream.write(stream.read_bytes().replace(b'"plate":"ABC1D23"', b'"plate":"ABC1D24"'))

    found = ask(here, saved(dossier.pdf, change_data))
    assert [each["what"] for each in found["differences"]] == [
        "dossie.json: plate ABC1D23 → ABC1D24"
    ]


def test_file_that_was_saved_again_has_the_same_words(
    here: InProcessPortal, dossier: Issued
) -> None:
    found = ask(here, saved(dossier.pdf, lambda _: None))
    assert (found["result"], found["differences"]) == ("altered", [])
    appended = ask(here, dossier.pdf + b"\n% note\n")
    assert appended["result"] == "altered"
    assert appended["differences"][0]["what"] == "acrescentado depois da emissão: 8 bytes"


def text_file(words: str, link: str = "") -> bytes:
    """Return a PDF that a stranger has made."""
    pdf = pikepdf.new()
    page = pdf.add_blank_page()
    font = pikepdf.Dictionary(
        Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=pikepdf.Name.Helvetica
    )
    page.add_resource(font, pikepdf.Name.Font, pikepdf.Name("/F1"))
    page.contents_add(f"BT /F1 9 Tf 40 40 Td ({words}) Tj ET".encode())
    if link:
        page.obj.Annots = pikepdf.Array(
            [
                pikepdf.Dictionary(
                    Type=pikepdf.Name.Annot,
                    Subtype=pikepdf.Name.Link,
                    Rect=[0, 0, 9, 9],
                    A=pikepdf.Dictionary(S=pikepdf.Name.URI, URI=link),
                )
            ]
        )
    output = BytesIO()
    pdf.save(output)
    return output.getvalue()


def test_who_knows_only_a_number_learns_nothing_of_the_dossier(
    here: InProcessPortal, dossier: Issued
) -> None:
    found = ask(here, text_file(f"numero {dossier.number} e mais nada"))
    assert (found["result"], found["differences"]) == ("altered", [])
    page = post_form(here.app.test_client(), text_file(dossier.number))
    text = page.get_data(as_text=True)
    assert "ABC••••" in text and "ABC1D23" not in text
    key = dossier.link.rpartition("/")[2]
    link = f"https://portal.example/verificar?codigo={key}"
    assert ask(here, text_file("nada", link))["differences"]


def test_states_of_an_unaltered_file(here: InProcessPortal, ana: Person, dossier: Issued) -> None:
    change_rows(here, "superseded_by = '7F3K9QMD2XHA'")
    found = ask(here, dossier.pdf)
    assert (found["result"], found["superseded_by"]) == ("superseded", "7F3K-9QMD-2XHA")
    code = here.get(f"/api/v1/dossiers/{dossier.number}").get_json()
    assert (code["state"], code["superseded_by"]) == ("valid", "7F3K-9QMD-2XHA")
    assert "mas há um dossiê mais novo" in ana.pages.get(f"/verificar?codigo={dossier.number}").text
    assert ana.post(f"{dossier.path}/revogar").status_code == 303
    found = ask(here, dossier.pdf)
    assert (found["result"], found["unaltered"]) == ("revoked", True)
    change_rows(here, "revoked_at = NULL, expires_at = 5")
    found = ask(here, dossier.pdf)
    assert (found["result"], found["unaltered"]) == ("ended", True)
    assert found["signature"]["state"] == "valid" and found["ended_at"]
    altered = ask(here, saved(dossier.pdf, with_words(b"x")))
    assert (altered["result"], altered["differences"]) == ("altered", [])


def test_after_a_purge_the_signature_alone_proves_the_file(
    here: InProcessPortal, dossier: Issued
) -> None:
    from tests.commands.test_ledger_and_purge import run_command

    done = run_command(here, "purge", "ABC1D23")
    assert done.exit_code == 0
    assert "1 issued dossiers are deleted with their proofs" in done.stderr
    found = ask(here, dossier.pdf)
    assert (found["result"], found["unaltered"]) == ("ended", True)
    assert (found["number"], found["issued_at"]) == (dossier.number, None)
    changed = bytearray(dossier.pdf)
    changed[len(changed) // 2] ^= 1
    assert ask(here, bytes(changed))["result"] in ("altered", "foreign", "unknown")


def test_file_signed_by_another(here: InProcessPortal, dossier: Issued, tmp_path: Path) -> None:
    other = chain("ec", "Outra Pessoa")
    folder = tmp_path / "other"
    folder.mkdir()
    signer = Signer(read_key(other.write(folder), PASSWORD, None, NOW))
    found = ask(here, signer.sign(text_file("um contrato")).content)
    assert (found["result"], found["unaltered"], found["number"]) == ("foreign", None, None)
    assert (found["signature"]["state"], found["signature"]["signer"]) == ("valid", "Outra Pessoa")

    def strip(pdf: pikepdf.Pdf) -> None:
        del pdf.Root.AcroForm
        del pdf.pages[0].obj.Annots

    forged = signer.sign(saved(dossier.pdf, strip)).content
    found = ask(here, forged)
    assert (found["result"], found["unaltered"]) == ("foreign", False)
    both = signer_of_two(signer, dossier.pdf)
    found = ask(here, both)
    assert found["result"] == "altered"
    assert found["differences"][0]["what"].startswith("acrescentado depois da emissão: ")


def test_signature_of_an_unknown_signer_is_nobody_elses(
    here: InProcessPortal, dossier: Issued, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without pyHanko, or if it cannot read the signature, nothing is known of the signer."""
    for state in (None, "broken"):
        unread = FoundSignature(state, "", "")
        contents = Contents(1, numbers=(dossier.number,), signatures=(unread,))
        monkeypatch.setattr(PdfInspector, "read", lambda *_, found=contents: found)
        found = ask(here, text_file(f"numero {dossier.number}"))
        assert (found["result"], found["number"]) == ("altered", dossier.number)


def signer_of_two(signer: Signer, pdf: bytes) -> bytes:
    """Add a second person's signature to a signed file, as a buyer may do."""
    from pyhanko.sign.signers import PdfSignatureMetadata, PdfSigner

    from portal.pdf.signing import _writer

    second = PdfSigner(PdfSignatureMetadata(field_name="Segunda"), signer=signer._signer)
    output = BytesIO()
    second.sign_pdf(_writer(pdf), output=output)
    return output.getvalue()


def bomb() -> bytes:
    """A page whose content unpacks to 4 GB."""
    packed = zlib.compressobj(9)
    content = b"".join(packed.compress(bytes(1 << 24)) for _ in range(64)) + packed.flush()
    return (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>endobj\n"
        b"4 0 obj<</Filter/FlateDecode/Length "
        + str(len(content)).encode()
        + b">>stream\n"
        + content
        + b"\nendstream endobj\ntrailer<</Root 1 0 R>>"
    )


def deep() -> bytes:
    return (
        b"%PDF-1.4\n1 0 obj" + b"[" * 200_000 + b"]" * 200_000 + b"endobj\ntrailer<</Root 1 0 R>>"
    )


def loop() -> bytes:
    return (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Kids[2 0 R 2 0 R]/Count 999999999>>endobj\ntrailer<</Root 1 0 R>>"
    )


def many_pages() -> bytes:
    pdf = pikepdf.new()
    for _ in range(3_000):
        pdf.add_blank_page()
    output = BytesIO()
    pdf.save(output)
    return output.getvalue()


def encrypted() -> bytes:
    pdf, output = pikepdf.new(), BytesIO()
    pdf.add_blank_page()
    pdf.save(output, encryption=pikepdf.Encryption(owner="a", user="b"))
    return output.getvalue()


HOSTILE: dict[str, Callable[[], bytes]] = {
    "one byte": lambda: b"x",
    "text": lambda: b"%PDF-1.7\n" + b"A" * 100_000,
    "picture": lambda: b"\x89PNG\r\n\x1a\n" + bytes(10_000),
    "archive": lambda: b"PK\x03\x04" + bytes(50_000),
    "nothing but zeros": lambda: bytes(1_000_000),
    "bomb": bomb,
    "deep nesting": deep,
    "pages that contain themselves": loop,
    "3,000 pages": many_pages,
    "encrypted": encrypted,
    "script": lambda: text_file("x", "javascript:alert(1)"),
    "markup": lambda: text_file("<script>alert\\(1\\)</script>"),
    "half a file": lambda: text_file("y" * 500)[:300],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_file_ends_in_a_plain_answer(name: str, here: InProcessPortal) -> None:
    found = ask(here, HOSTILE[name]())
    assert (found["result"], found["number"], found["unaltered"]) == ("unknown", None, None)


def changed_files(pdf: bytes) -> Iterator[bytes]:
    """Files of which each is altered in another place."""
    for at in range(0, len(pdf), len(pdf) // 24):
        yield pdf[:at] + bytes([pdf[at] ^ 0x20]) + pdf[at + 1 :]
    yield pdf[: len(pdf) // 2]
    yield pdf[:-1]
    yield pdf + b" "


@pytest.mark.long
def test_each_changed_file_is_noticed(
    here: InProcessPortal, dossier: Issued, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PdfInspector, "_asked", remembered(read_here))
    for content in changed_files(dossier.pdf):
        found = ask(here, content)
        assert found["result"] in ("altered", "foreign", "unknown")
        assert found["unaltered"] is not True


def test_files_are_limited_and_need_no_token(here: InProcessPortal) -> None:
    client = here.app.test_client()
    large = bytes(5 * 1024 * 1024 + 1)
    answer = client.post(PATH, data=large, content_type="application/pdf")
    assert (answer.status_code, answer.get_json()["code"]) == (413, "body_too_large")
    assert "5 MB" in answer.get_json()["message"]
    page = post_form(client, large)
    assert page.status_code == 413
    assert client.post(PATH, data=b"", content_type="application/pdf").status_code == 400
    assert client.post(PATH, data=b"{}", content_type="application/json").status_code == 415
    assert client.post("/verificar", data={}).status_code == 400
    assert client.get(PATH).status_code == 400
    assert client.get(f"{PATH}?sha256=abc").status_code == 400
    unknown = client.get(f"{PATH}?sha256={'0' * 64}&x=1")
    assert (unknown.status_code, unknown.get_json()["code"]) == (400, "parameter_unknown")
    assert client.put(PATH).status_code == 405


def test_too_many_files_are_refused(here: InProcessPortal, monkeypatch: pytest.MonkeyPatch) -> None:
    from portal.web.http import rate_limits

    monkeypatch.setattr(rate_limits, "VERIFIED_FILES", "2/minute")
    client = here.app.test_client()
    statuses = [client.get(f"{PATH}?sha256={'0' * 64}").status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    page = post_form(client, b"x")
    assert page.status_code == 429 and int(page.headers["Retry-After"]) > 0


def test_sent_file_leaves_no_trace(here: InProcessPortal, tmp_path: Path) -> None:
    mark = b"a mark of the file that was sent"
    ask(here, text_file(mark.decode()) + mark)
    for path in tmp_path.rglob("*"):
        with suppress(OSError):
            assert not path.is_file() or mark not in path.read_bytes()


def test_busy_machine_says_nothing_of_a_file(
    here: InProcessPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was not read in time must not be called unknown."""
    # Even a wait of 0 s may see an answer, if the child runs before the test's thread does.
    monkeypatch.setattr(Connection, "poll", lambda _self, _within_s: False)
    client = here.app.test_client()
    answer = client.post(PATH, data=text_file("x"), content_type="application/pdf")
    assert (answer.status_code, answer.get_json()["code"]) == (503, "portal_unavailable")
    assert answer.headers["Retry-After"]
    assert post_form(client, text_file("x")).status_code == 503
