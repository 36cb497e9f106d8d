"""Checks of file names, routes, environment variables and the durations of tests."""

import re
import subprocess
from pathlib import Path

from tests.fakes.in_process import built

CHECKOUT = Path(__file__).resolve().parents[1]
# Files that read variables without PORTAL_ (such as PORT) or set a variable for a library.
ENVIRONMENT_READERS = {
    "portal/commands/batch.py",  # the credential of the command's user
    "portal/factory.py",
    "portal/pdf/process.py",  # passes all but the settings to a child process
    "portal/pdf/renderer.py",  # sets a variable of fontTools
    "portal/serving/process.py",
    "portal/sandbox/__main__.py",
    "portal/web/observability/logs.py",  # NO_COLOR and TERM
    "portal/web/observability/metrics.py",
}


def sources() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    return [CHECKOUT / name for name in listed.stdout.split() if (CHECKOUT / name).exists()]


def test_routes_match_golden_list(tmp_path: Path) -> None:
    with built(tmp_path, {}) as here:
        rules = {rule.rule for rule in here.app.url_map.iter_rules()}
    known = (CHECKOUT / "tests/golden/routes.txt").read_text("utf-8").splitlines()
    assert sorted(rules) == known


def test_no_file_has_a_generic_name() -> None:
    empty = re.compile(r"(utils?|helpers?|common|misc|manager|base)\.py")
    assert not [path for path in sources() if empty.fullmatch(path.name)]


def test_only_entry_points_read_the_environment() -> None:
    portal_files = [path for path in sources() if path.is_relative_to(CHECKOUT / "portal")]
    readers = {
        str(path.relative_to(CHECKOUT))
        for path in [*portal_files, CHECKOUT / "app.py"]
        if re.search(r"os\.(environ|getenv)", path.read_text("utf-8"))
    }
    assert readers == ENVIRONMENT_READERS


def test_test_over_5_s_says_why() -> None:
    """tests/durations.txt holds the durations of ``make test`` first."""
    run = (CHECKOUT / "tests/durations.txt").read_text("utf-8").partition("\n-m ")[0]
    load = re.match(r"-m .*, beside a load of ([\d.]+)\n", run)
    assert load
    share = 3 / (3 + float(load[1]))  # of the processors, which the three processes of pytest get
    silent = set()
    for seconds, path, name in re.findall(r"^([\d.]+)s call +(\S+)::(\w+)", run, re.MULTILINE):
        source = (CHECKOUT / path).read_text("utf-8") if (CHECKOUT / path).exists() else ""
        decorators = re.search(rf"((?:^[@ )\]].*\n)*)^def {name}\(", source, re.MULTILINE)
        if float(seconds) * share > 5 and decorators and "over_5_s(" not in decorators[1]:
            silent.add(f"{path}::{name}")
    assert silent == set()
