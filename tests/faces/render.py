"""``python -m tests.faces.render ROOT FILE WHAT``: writes what the portal in ROOT shows to FILE.

WHAT is "texts", or "facts" for the texts and the facts. Standard input is a JSON list of the
specimens' names. The portal needs a process of its own, because its clock is fixed before it is
imported.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from tests.faces.corpus import corpus
from tests.faces.rendering import rendered

ROOT = Path(__file__).resolve().parents[2]
What = Literal["texts", "facts"]


def start(root: Path, file: Path, names: Sequence[str], what: What) -> "subprocess.Popen[bytes]":
    """Start a process that renders specimens with the portal in ``root``.

    The tests are those of this folder, also if ``root`` is another commit.
    """
    command = [sys.executable, "-m", "tests.faces.render", str(root), str(file), what]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE)
    assert process.stdin
    process.stdin.write(json.dumps(list(names)).encode())
    process.stdin.close()
    return process


def of_working_tree(folder: Path, names: Sequence[str]) -> Any:
    """Return the texts and the facts of specimens, by face and specimen."""
    file = folder / "faces.json"
    assert start(ROOT, file, names, "facts").wait() == 0
    return json.loads(file.read_bytes())


def main(root: str, file: str, what: str) -> None:
    sys.path.insert(0, root)
    names, with_facts = set(json.load(sys.stdin)), what == "facts"
    specimens = [one for one in corpus() if one.name in names]
    with (
        tempfile.TemporaryDirectory() as folder,
        rendered(Path(folder), specimens, with_facts) as faces,
    ):
        Path(file).write_text(json.dumps({"texts": faces.texts, "facts": faces.facts}))


if __name__ == "__main__":
    main(*sys.argv[1:])
