"""A dossier's PDF as one archival file: PDF/UA-1 and PDF/A-3a, with its data embedded once."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pdfua
import pikepdf
import pytest

from portal.pdf.archival import Embedded
from tests.fakes.signing import SIGNER
from tests.pdf.rendering import renderer
from tests.pdf.specimens import DATA, MADE_AT, SPECIMENS, every_signed, every_specimen, pdf_of

pytestmark = pytest.mark.long


def opened(name: str) -> pikepdf.Pdf:
    return pikepdf.open(BytesIO(pdf_of(name)))


@every_specimen
def test_metadata_have_both_identifiers_in_one_rdf(name: str) -> None:
    """A program that signs a PDF keeps the first RDF alone."""
    pdf = opened(name)
    packet = pdf.Root.Metadata.read_bytes().decode()
    assert packet.count("<rdf:RDF") == packet.count("</rdf:RDF>") == 1
    assert re.findall(r'pdfaid:(\w+)="(\w+)"', packet) == [("part", "3"), ("conformance", "A")]
    assert re.findall(r'pdfuaid:(\w+)="(\w+)"', packet) == [("part", "1")]
    assert packet.count("<pdfaProperty:name>part</pdfaProperty:name>") == 1
    assert "WeasyPrint" in packet and "pyHanko" not in packet


@every_specimen
def test_data_are_embedded_once(name: str) -> None:
    pdf = opened(name)
    if not SPECIMENS[name].is_dossier:
        assert not list(pdf.attachments) and "/AF" not in pdf.Root
        return
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


@every_specimen
def test_archival_structure(name: str) -> None:
    """What PDF/A-3a and PDF/UA-1 ask for beside the structure tree (``test_structure.py``)."""
    pdf = opened(name)
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
    raw = pdf_of(name)
    assert b"/JavaScript" not in raw and b"/Launch" not in raw


def fonts(pdf: pikepdf.Pdf) -> Iterator[Any]:
    for each in pdf.objects:
        if isinstance(each, pikepdf.Dictionary) and each.get("/Type") == "/Font":
            yield each


@every_specimen
def test_checker_of_pdf_ua_finds_nothing(name: str, tmp_path: Path) -> None:
    path = tmp_path / "dossie.pdf"
    path.write_bytes(pdf_of(name))
    report = pdfua.validate(str(path))
    assert list(report.findings) == []


@pytest.mark.slow
@every_specimen
@pytest.mark.skipif(not shutil.which("qpdf"), reason="qpdf is not installed")
def test_qpdf_finds_nothing(name: str, tmp_path: Path) -> None:
    path = tmp_path / "dossie.pdf"
    path.write_bytes(pdf_of(name))
    done = subprocess.run(["qpdf", "--check", path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "No syntax or stream encoding errors" in done.stdout


@pytest.mark.slow
@every_signed
@pytest.mark.skipif(not shutil.which("pdfsig"), reason="poppler's pdfsig is not installed")
def test_poppler_finds_one_valid_signature_of_the_whole_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / "dossie.pdf"
    path.write_bytes(pdf_of(name))
    told = subprocess.run(["pdfsig", "-nocert", path], capture_output=True, text=True).stdout
    assert told.count("Signature Validation:") == told.count("Signature is Valid.") == 1, told
    assert told.count("Total document signed") == 1 and SIGNER in told
    assert "ETSI.CAdES.detached" in told


def test_same_bytes_before_a_signature() -> None:
    html = SPECIMENS["clean car"].html()
    assert renderer().render(html, Embedded(DATA, MADE_AT)) == pdf_of("clean car")


def test_signature_leaves_the_issued_bytes_as_they_are() -> None:
    bare, signed = pdf_of("clean car"), pdf_of("signed, clean car")
    assert signed.startswith(bare) and len(signed) < len(bare) + 12_000
