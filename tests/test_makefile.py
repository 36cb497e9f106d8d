"""The Makefile's environments of Python."""

import shutil
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]


def test_failed_environment_is_removed(tmp_path: Path) -> None:
    """As on Debian without python3-venv, which leaves an environment without pip."""
    for name in ("Makefile", "requirements.txt"):
        shutil.copy(CHECKOUT / name, tmp_path)
    python = tmp_path / "python"
    python.write_text(
        '#!/bin/sh\ncase "$2" in\n'
        'venv) mkdir -p "$3/bin"; ln -s /bin/true "$3/bin/python"; exit 1;;\n'
        f'esac\nexec {sys.executable} "$@"\n'
    )
    python.chmod(0o755)
    done = subprocess.run(
        ["make", "run", f"PYTHON={python}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert list(tmp_path.glob(".venv*")) == []
