"""systemd's own tools find the units valid, and their exposure low."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from portal.factory import SPARE_S
from portal.settings import Settings
from portal.system.open_file_limits import FULL_CAPACITY
from tests.deploy.fronts import installed, read, replaced

UNITS = (
    "dossie-veicular.service",
    "dossie-veicular.socket",
    "dossie-veicular-backup.service",
    "dossie-veicular-backup.timer",
)
LARGEST_EXPOSURE = 2.5


@pytest.fixture
def units(tmp_path: Path) -> list[Path]:
    """The units with this interpreter, because ``verify`` needs an existing program."""
    installed("systemd-analyze")
    found = []
    for name in UNITS:
        text = read(f"deploy/systemd/{name}")
        if name.endswith(".service"):
            text = replaced(text, {"/opt/dossie-veicular/.venv/bin/python": sys.executable})
        (tmp_path / name).write_text(text)
        found.append(tmp_path / name)
    return found


def analyze(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", *words], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.slow
def test_units_are_valid(units: list[Path]) -> None:
    done = analyze("verify", "--man=no", *units)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_invalid_unit_is_detected(units: list[Path]) -> None:
    units[0].write_text(units[0].read_text().replace("KillMode=mixed", "KillMode=gentle"))
    assert "kill mode" in analyze("verify", "--man=no", *units).stderr


@pytest.mark.slow
def test_exposure_is_low(units: list[Path]) -> None:
    done = analyze(
        "security", "--offline=true", f"--threshold={LARGEST_EXPOSURE * 10:.0f}", units[0]
    )
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)
    assert found, done.stderr
    assert float(found[1]) <= LARGEST_EXPOSURE
    assert done.returncode == 0


def test_starts_are_repeated_until_the_database_is_back() -> None:
    unit = read("deploy/systemd/dossie-veicular.service")
    assert "\nRestart=on-failure\n" in unit
    assert "\nStartLimitIntervalSec=0\n" in unit


def test_stop_has_time_for_requests() -> None:
    found = re.search(r"TimeoutStopSec=(\d+)", read("deploy/systemd/dossie-veicular.service"))
    assert found
    assert int(found[1]) > Settings().deadline + SPARE_S


def test_open_files_are_enough_for_a_worker() -> None:
    found = re.search(r"LimitNOFILE=(\d+)", read("deploy/systemd/dossie-veicular.service"))
    assert found
    assert int(found[1]) >= FULL_CAPACITY.open_files
