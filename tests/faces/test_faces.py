"""Every face says the same of a vehicle, and a dozen specimens match their golden files.

The fast tests render the specimens with golden files and those of SAMPLE, the long one all of them.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from tests.faces.agreement import disagreements
from tests.faces.corpus import corpus
from tests.faces.render import of_working_tree

pytestmark = pytest.mark.slow

GOLDEN = (
    *("sandbox ABC1D23", "sandbox LMP0A01", "sandbox VAZ0A00", "one fine in each standing"),
    *("enforceable, order lifted", "orders: of two kinds, one lifted", "prices: tied"),
    *("prices: without history", "renajud stale, else clean", "renainf down", "decode unasked"),
    "report: outdated",
)
GOLDEN_FACES = (
    *("panel resumo", "issued", "comparison", "recent", "history", "batch page", "batch csv"),
)
WHOLE = {"sandbox ABC1D23"}  # the long faces of one specimen, too
WHOLE_FACES = ("page", "paper", "negotiation", "csv fines")
SAMPLE = (
    *("notice, order contradicted", "6 fines without amount", "renajud forbidden, else clean"),
    *("identity: another plate", "orders unconfirmed", "all down", "decode not found", "45 fines"),
    "penhora lifted",
)


class TextFile(SingleFileSnapshotExtension):
    file_extension = "txt"
    _write_mode = WriteMode.TEXT

    @classmethod
    def dirname(cls, *, test_location: Any) -> str:
        return str(Path(test_location.filepath).parents[1] / "golden" / "test_faces")


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return of_working_tree(tmp_path_factory.mktemp("faces"), [*GOLDEN, *SAMPLE])


def golden_text(name: str, texts: Mapping[str, Mapping[str, str]]) -> str:
    faces = GOLDEN_FACES + (WHOLE_FACES if name in WHOLE else ())
    return "".join(f"== {face}\n{texts[face].get(name, '')}\n" for face in faces)


def test_specimens_match_golden_files(rendered: Any, snapshot: SnapshotAssertion) -> None:
    differing = [
        name
        for name in GOLDEN
        if golden_text(name, rendered["texts"]) != snapshot(name=name, extension_class=TextFile)
    ]
    assert not differing


def test_faces_agree(rendered: Any) -> None:
    assert disagreements(rendered["facts"]) == []


@pytest.mark.long
def test_faces_of_all_specimens_agree(tmp_path: Path) -> None:
    names = [one.name for one in corpus()]
    assert len(names) >= 150
    found = of_working_tree(tmp_path, names)
    assert all(len(found["texts"][face]) == len(names) for face in ("page", "paper", "recent"))
    assert disagreements(found["facts"]) == []
