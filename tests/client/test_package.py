"""The client as a package of its own: built, installed in an empty environment, used."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.fakes.processes import PortalProcess

pytestmark = [pytest.mark.slow, pytest.mark.long]

CLIENT = Path(__file__).resolve().parents[2] / "client"


def run(*words: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        list(map(str, words)),
        capture_output=True,
        text=True,
        timeout=300,
        env={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]} | env,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.mark.over_5_s("it builds a package and installs it in a new environment")
def test_wheel_works_in_an_empty_environment(tmp_path: Path) -> None:
    run(sys.executable, "-m", "build", "--outdir", tmp_path / "dist", CLIENT)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    assert [*(tmp_path / "dist").glob("*.tar.gz")]
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env/bin/python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    loaded = run(python, "-c", "import sys, dossie_veicular_client.cli; print(*sys.modules)").stdout
    assert not {"flask", "mcp", "portal"} & {name.partition(".")[0] for name in loaded.split()}
    with PortalProcess() as portal:
        access = {"DOSSIE_URL": portal.url, "DOSSIE_TOKEN": "demo", "HOME": str(tmp_path)}
        asked = run(tmp_path / "env/bin/dossie", "ABC1D23", **access)
    assert '"headline"' in asked.stdout


def test_portal_says_that_it_is_no_package(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", tmp_path, CLIENT.parent],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode != 0
    # A notice of a newer pip, with empty lines, may follow the message.
    said = [line for line in done.stderr.splitlines() if line and "[notice]" not in line]
    assert "no_package__use_make_run" in "".join(said[-2:])
