"""A dossier's PDF as one archival file: PDF/UA-1 and PDF/A-3a, with its data embedded once."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import pdfua
import pikepdf
import pytest

from portal.pdf.archival import Embedded
from portal.pdf.signing import Signer, read_key
from tests.fakes.signing import PASSWORD, chain
from tests.pdf.rendering import can_render_pdf, rendered, renderer
from tests.presentation import dossiers

MADE_AT = datetime(2026, 11, 27, 17, 2, tzinfo=UTC)
DATA = json.dumps({"version": 1, "plate": "ABC1D23"}).encode()
SPECIMENS: dict[str, Callable[[], str]] = {
    "clean car": lambda: dossiers.of_sandbox("LMP0A01"),
    "45 fines": lambda: dossiers.of_sandbox("MUL0A45"),
    "300 fines": lambda: dossiers.varied(300, 2),
    "everything unavailable": dossiers.unavailable,
}
# Slow layouts are tested as they are issued, signed, alone.
CASES = [
    pytest.param(name, kind, id=f"{name}, {kind}")
    for name in SPECIMENS
    for kind in ("unsigned", "signed")
    if (name, kind) != ("300 fines", "unsigned")
]
every_case = pytest.mark.parametrize(("name", "kind"), CASES)
pytestmark = pytest.mark.over_5_s("WeasyPrint lays out 300 fines")


@cache
def pdf_of(name: str, kind: str = "unsigned") -> bytes:
    if not can_render_pdf():
        pytest.skip("WeasyPrint or a library of it is not installed")
    if kind == "unsigned":
        return rendered(SPECIMENS[name](), Embedded(DATA, MADE_AT))
    return signer().sign(pdf_of(name)).content


@cache
def signer() -> Signer:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return Signer(read_key(chain().write(Path(folder)), PASSWORD, None, datetime.now(UTC)))


def opened(name: str, kind: str) -> pikepdf.Pdf:
    return pikepdf.open(BytesIO(pdf_of(name, kind)))


@every_case
def test_metadata_have_both_identifiers_in_one_rdf(name: str, kind: str) -> None:
    """A program that signs a PDF keeps the first RDF alone."""
    pdf = opened(name, kind)
    packet = pdf.Root.Metadata.read_bytes().decode()
    assert packet.count("<rdf:RDF") == packet.count("</rdf:RDF>") == 1
    assert re.findall(r'pdfaid:(\w+)="(\w+)"', packet) == [("part", "3"), ("conformance", "A")]
    assert re.findall(r'pdfuaid:(\w+)="(\w+)"', packet) == [("part", "1")]
    assert packet.count("<pdfaProperty:name>part</pdfaProperty:name>") == 1
    assert "WeasyPrint" in packet and "pyHanko" not in packet


@every_case
def test_data_are_embedded_once(name: str, kind: str) -> None:
    pdf = opened(name, kind)
    assert list(pdf.attachments) == ["dossie.json"]
    files: Any = pdf.Root.AF
    assert len(files) == 1
    (file,) = files
    assert str(file.AFRelationship) == "/Data"
    assert str(file.UF) == str(file.F) == "dossie.json"
    stream = file.EF.F
    assert str(stream.Subtype) == "/application/json"
    assert str(stream.Params.ModDate) == "D:20261127170200Z"
    assert stream.read_bytes() == DATA


@every_case
def test_archival_structure(name: str, kind: str) -> None:
    """What PDF/A-3a and PDF/UA-1 ask for beside the structure tree (``test_structure.py``)."""
    pdf = opened(name, kind)
    root: Any = pdf.Root
    (intent,) = root.OutputIntents
    assert str(intent.S) == "/GTS_PDFA1"
    assert root.MarkInfo.Marked and str(root.Lang) == "pt-BR"
    assert root.ViewerPreferences.DisplayDocTitle
    trailer: Any = pdf.trailer
    assert len(trailer.ID) == 2
    assert not pdf.is_encrypted
    for page in pdf.pages:
        assert str(page.obj.Tabs) == "/S"
        annotations: Any = page.obj.get("/Annots", [])
        for annotation in annotations:
            assert annotation.F & 4 and not annotation.F & 2  # printed, not hidden
    names = {str(font.get("/FontDescriptor", font).get("/FontName", "")) for font in fonts(pdf)}
    assert names
    for font in fonts(pdf):
        descriptor = font.get("/FontDescriptor")
        if descriptor is not None:
            assert any(key in descriptor for key in ("/FontFile2", "/FontFile3", "/FontFile"))
    raw = pdf_of(name, kind)
    assert b"/JavaScript" not in raw and b"/Launch" not in raw


def fonts(pdf: pikepdf.Pdf) -> Iterator[Any]:
    for each in pdf.objects:
        if isinstance(each, pikepdf.Dictionary) and each.get("/Type") == "/Font":
            yield each


@every_case
def test_checker_of_pdf_ua_finds_nothing(name: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "dossie.pdf"
    path.write_bytes(pdf_of(name, kind))
    report = pdfua.validate(str(path))
    assert list(report.findings) == []


@pytest.mark.slow
@every_case
@pytest.mark.skipif(not shutil.which("qpdf"), reason="qpdf is not installed")
def test_qpdf_finds_nothing(name: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "dossie.pdf"
    path.write_bytes(pdf_of(name, kind))
    done = subprocess.run(["qpdf", "--check", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "No syntax or stream encoding errors" in done.stdout


def test_same_bytes_before_a_signature() -> None:
    html = SPECIMENS["clean car"]()
    assert renderer().render(html, Embedded(DATA, MADE_AT)) == pdf_of("clean car")


def test_signature_leaves_the_issued_bytes_as_they_are() -> None:
    bare, signed = (pdf_of("clean car", kind) for kind in ("unsigned", "signed"))
    assert signed.startswith(bare) and len(signed) < len(bare) + 12_000
