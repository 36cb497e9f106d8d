"""Finds nginx, Varnish and wrk, and unpacks missing ones from Debian packages.

The packages are unpacked to ``bench/.peers`` and not installed. No service therefore starts, and no
file outside ``bench/.peers`` changes. Unpacking needs root and apt-get. The report names programs
that are still missing.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

PEERS = Path(__file__).resolve().parent / ".peers"
PACKAGES = {"nginx": "nginx", "varnishd": "varnish", "wrk": "wrk"}


@dataclass(frozen=True, slots=True)
class Peer:
    """A program, and the environment in which it finds its libraries."""

    path: str
    env: dict[str, str]


def find(program: str) -> Peer | None:
    installed = shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin")
    if installed:
        return Peer(installed, {})
    for folder in ("usr/sbin", "usr/bin"):
        unpacked = PEERS / folder / program
        if unpacked.exists():
            libraries = [str(path) for path in PEERS.glob("usr/lib/*-linux-gnu")]
            libraries += [str(path) for path in PEERS.glob("usr/lib/*-linux-gnu/varnish")]
            return Peer(str(unpacked), {"LD_LIBRARY_PATH": ":".join(libraries)})
    return None


def fetch_missing() -> list[str]:
    """Unpack missing programs. Returns the names of those still missing."""
    missing = [program for program in PACKAGES if find(program) is None]
    if missing and os.geteuid() == 0 and shutil.which("apt-get"):
        _unpack([PACKAGES[program] for program in missing])
    return [program for program in missing if find(program) is None]


def _unpack(packages: list[str]) -> None:
    archives = PEERS / "archives"
    (archives / "partial").mkdir(parents=True, exist_ok=True)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(["apt-get", "update", "-qq"], check=False, **quiet)  # type: ignore[call-overload]
    for package in packages:
        subprocess.run(
            [
                *("apt-get", "install", "-y", "-qq", "--no-install-recommends", "--download-only"),
                *("-o", f"Dir::Cache::archives={archives}/", package),
            ],
            check=False,
            **quiet,
        )  # type: ignore[call-overload]
    for archive in archives.glob("*.deb"):
        subprocess.run(["dpkg", "-x", str(archive), str(PEERS)], check=False, **quiet)  # type: ignore[call-overload]
    for unneeded in (archives, PEERS / "usr" / "share", PEERS / "etc", PEERS / "var"):
        shutil.rmtree(unneeded, ignore_errors=True)
