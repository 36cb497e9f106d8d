"""The measuring tools, at the versions of package-lock.json, in a git-ignored folder.

``python -m tests.quality.tools`` installs axe-core only, for ``make test``. If the installation
fails, the command prints the reason, and the tests that need axe-core are skipped.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

PINS: Final = Path(__file__).parent
CHECKOUT: Final = PINS.parents[1]
FOLDER: Final = CHECKOUT / ".quality"
CHROMIUM_FLAGS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_INSTALL_WITHIN_S: Final = 300


class ToolMissing(Exception):
    """A tool cannot be installed; the message names the tool and the cause."""


def chromium() -> str:
    """Return the path of Chromium, preferably of its headless shell. Raises ToolMissing.

    For a new context and its first page the headless shell takes 0.4 s of processor time instead of
    2.2 s, because it draws no tabs and no toolbar.
    """
    for name in ("chromium-headless-shell", "chromium"):
        if found := shutil.which(name, path="/usr/bin") or shutil.which(name):
            return found
    raise ToolMissing("neither chromium-headless-shell nor chromium is installed")


def axe_source() -> str:
    """The source of axe-core, to evaluate in a page; raises ToolMissing."""
    return (_package("axe-core", "dependencies") / "axe.min.js").read_text("utf-8")


def ibm_source() -> str:
    """The source of IBM's accessibility engine; raises ToolMissing."""
    folder = _package("accessibility-checker-engine", "devDependencies")
    return (folder / "ace.js").read_text("utf-8")


def lighthouse() -> list[str]:
    """The command that runs Lighthouse; raises ToolMissing."""
    return ["node", str(_package("lighthouse", "devDependencies") / "cli" / "index.js")]


def html_checker() -> list[str]:
    """The command that runs the Nu HTML checker; raises ToolMissing."""
    if shutil.which("java") is None:
        raise ToolMissing("java is not installed")
    return ["java", "-jar", str(_package("vnu-jar", "devDependencies") / "build/dist/vnu.jar")]


def install(*, axe_alone: bool = False) -> None:
    """Install the locked versions with npm if they are missing; raises ToolMissing."""
    kinds = ["dependencies"] if axe_alone else ["dependencies", "devDependencies"]
    wanted = [(name, kind) for kind in kinds for name in _pins(kind)]
    if all(_installed(name, kind) for name, kind in wanted):
        return
    if shutil.which("npm") is None:
        raise ToolMissing("npm is not installed")
    FOLDER.mkdir(exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PINS / name, FOLDER / name)
    # None of the packages needs its install scripts.
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        done = subprocess.run(
            [*command, *(["--omit=dev"] if axe_alone else [])],
            cwd=FOLDER,
            capture_output=True,
            text=True,
            timeout=_INSTALL_WITHIN_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ToolMissing("npm took too long") from None
    if done.returncode != 0:
        raise ToolMissing("npm could not install: " + done.stderr.strip()[:300])


def _pins(kind: str) -> dict[str, str]:
    pins: dict[str, str] = json.loads((PINS / "package.json").read_text("utf-8"))[kind]
    return pins


def _installed(name: str, kind: str) -> Path | None:
    folder = FOLDER / "node_modules" / name
    try:
        version = json.loads((folder / "package.json").read_text("utf-8"))["version"]
    except (OSError, ValueError, KeyError):
        return None
    return folder if version == _pins(kind)[name] else None


def _package(name: str, kind: str) -> Path:
    folder = _installed(name, kind)
    if folder is None:
        raise ToolMissing(f"{name} is not in {FOLDER.name}/ (make quality fetches it)")
    return folder


if __name__ == "__main__":
    try:
        install(axe_alone=True)
    except ToolMissing as missing:
        sys.stdout.write(f"axe-core could not be fetched ({missing}): tests that need it skip\n")
