"""What the tree itself can show: file names, readers of the environment, routes."""

import re
import subprocess
from pathlib import Path

from tests.fakes.in_process import built

CHECKOUT = Path(__file__).resolve().parents[1]
# Each reads the names without PORTAL_ (HOST and PORT) or sets a name for a library.
MAY_TOUCH_THE_ENVIRONMENT = {
    "portal/factory.py",
    "portal/serving/process.py",
    "portal/sandbox/__main__.py",
    "portal/web/observability/metrics.py",
}


def sources() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    return [CHECKOUT / name for name in listed.stdout.split() if (CHECKOUT / name).exists()]


def test_every_route_is_known(tmp_path: Path) -> None:
    with built(tmp_path, {}) as here:
        rules = {rule.rule for rule in here.app.url_map.iter_rules()}
    known = (CHECKOUT / "tests/golden/routes.txt").read_text("utf-8").splitlines()
    assert sorted(rules) == known


def test_no_file_has_a_name_that_says_nothing() -> None:
    empty = re.compile(r"(utils?|helpers?|common|misc|manager|base)\.py")
    assert not [path for path in sources() if empty.fullmatch(path.name)]


def test_only_the_front_doors_touch_the_environment() -> None:
    rooms = [path for path in sources() if path.is_relative_to(CHECKOUT / "portal")]
    touching = {
        str(path.relative_to(CHECKOUT))
        for path in [*rooms, CHECKOUT / "app.py"]
        if re.search(r"os\.(environ|getenv)", path.read_text("utf-8"))
    }
    assert touching == MAY_TOUCH_THE_ENVIRONMENT
