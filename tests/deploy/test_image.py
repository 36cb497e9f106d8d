"""The container image, built on a base of Debian's packages, and the server that runs in it.

``make test-image`` sets IMAGE_TEST. The test takes minutes and needs root, buildah and mmdebstrap.
It needs no container service and no registry, because buildah and the test use chroot. The server's
root file system is read-only, as with ``docker run --read-only``.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.leaks import find_leaks
from tests.fakes.preloaded import CHECKOUT
from tests.fakes.processes import HttpProcess

pytestmark = [pytest.mark.slow, pytest.mark.long]

SUITE = "bookworm"
# The parts of /usr/share that debian:bookworm-slim leaves out.
SLIM = ("doc", "man", "info", "locale", "groff", "lintian")
# Published private keys, with which GnuTLS tests itself, are no leak.
PUBLIC_KEYS = re.compile(r"usr/lib/[^/]+/libgnutls\.so\.[0-9.]+: private key")
LARGEST_MB = 400
PLATE = "ABC1D23"
PAGES = (
    "/",
    f"/placa/{PLATE}?completo=1",
    f"/placa/{PLATE}/dossie",
    f"/placa/{PLATE}/negociacao",
    f"/comparar?placas={PLATE},LMP0A01&completo=1",
    "/verificar",
    "/glossario",
    "/privacidade",
    "/api",
    "/openapi.json",
    "/entrar",
)

# The mounts of a container: a volume at /data, and memory at /tmp and /dev/shm.
IN_CONTAINER = """
set -e
root=$1 data=$2 user=$3 directory=$4; shift 4
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777,size=64m tmpfs "$root/dev/shm"
mount -t tmpfs -o mode=1777,size=64m tmpfs "$root/tmp"
mount --bind "$data" "$root/data"
exec /usr/sbin/chroot --userspec="$user" "$root" /usr/bin/env -i "$@"
"""


@dataclass(frozen=True, slots=True)
class Image:
    """A built image: its mounted files and what ``buildah inspect`` prints."""

    root: Path
    inspected: str
    build_s: float

    @property
    def config(self) -> dict[str, Any]:
        config: dict[str, Any] = json.loads(self.inspected)["Docker"]["config"]
        return config

    def command(self, data: Path, *words: str, **variables: str) -> list[str]:
        """Return the command that runs ``words`` as in a container with ``variables``."""
        environment = [*self.config["Env"], *(f"{name}={text}" for name, text in variables.items())]
        inside = f'cd {self.config["WorkingDir"]} && exec "$@"'
        return [
            *("unshare", "--mount", "sh", "-c", IN_CONTAINER, "sh"),
            *(str(self.root), str(data), self.config["User"], self.config["WorkingDir"]),
            *environment,
            *("sh", "-c", inside, "sh", *words),
        ]


class ImageProcess(HttpProcess):
    """A container that runs the image's own command, with a new volume."""

    def __init__(self, image: Image) -> None:
        super().__init__([])
        self.image = image
        self.data = self.directory / "volume"
        self.data.mkdir(mode=0o700)
        self.directory.chmod(0o711)
        shutil.chown(self.data, *map(int, image.config["User"].split(":")))
        self.variables = {"HOST": "127.0.0.1", "PORT": str(self.port)}
        self.command = image.command(self.data, *image.config["Cmd"], **self.variables)

    def answers(self) -> bool:
        return self.run("python3", "deploy/healthcheck.py").returncode == 0

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a program in the same container."""
        command = self.image.command(self.data, *words, **self.variables)
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    skip_without_tools()
    folder = tmp_path_factory.mktemp("image")
    storage = ["--storage-driver", "vfs", "--root", str(folder / "root")]
    builder = ["buildah", *storage, "--runroot", str(folder / "run")]
    try:
        make_base(builder, folder)
        begin = time.monotonic()
        run(
            *("make", "image", "IMAGE=localhost/portal", "BASE=localhost/base"),
            f"BUILDER={' '.join(builder)}",
            f"BUILD_FLAGS=--isolation chroot {' '.join(build_secrets(folder))}",
        )
        build_s = time.monotonic() - begin
        inspected = run(*builder, "inspect", "--type", "image", "localhost/portal")
        container = run(*builder, "from", "localhost/portal").strip()
        root = Path(run(*builder, "mount", container).strip())
        yield Image(root, inspected, build_s)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def server(image: Image) -> Iterator[ImageProcess]:
    with ImageProcess(image) as running:
        yield running


def skip_without_tools() -> None:
    if not os.environ.get("IMAGE_TEST"):
        pytest.skip("it takes minutes: make test-image runs it")
    missing = [each for each in ("buildah", "mmdebstrap", "unshare") if not shutil.which(each)]
    if missing:
        pytest.skip(f"{' and '.join(missing)} not installed")
    if os.geteuid() != 0:
        pytest.skip("only root may build without a container service")


def run(*command: str) -> str:
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command[0]}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def make_base(builder: list[str], folder: Path) -> None:
    """Build localhost/base from Debian packages, as small as debian:bookworm-slim."""
    archive = folder / "base.tar"
    left_out = [f"--dpkgopt=path-exclude=/usr/share/{each}/*" for each in SLIM]
    run("mmdebstrap", "--quiet", "--variant=minbase", *left_out, SUITE, str(archive))
    container = run(*builder, "from", "scratch").strip()
    run(*builder, "add", "--quiet", container, str(archive), "/")
    run(*builder, "commit", "--quiet", "--rm", container, "localhost/base")
    archive.unlink()


def build_secrets(folder: Path) -> list[str]:
    """Return build options for this machine's package index and CA certificate."""
    options = []
    if authority := os.environ.get("PIP_CERT") or os.environ.get("SSL_CERT_FILE"):
        options += ["--secret", f"id=ca.crt,src={authority}"]
    if index := pip_configuration().get("index-url"):
        (folder / "pip.conf").write_text(f"[global]\nindex-url = {index}\n")
        options += ["--secret", f"id=pip.conf,src={folder / 'pip.conf'}"]
    return options


def pip_configuration() -> dict[str, str]:
    """Return this machine's pip options by name, without their sections."""
    lines = run(sys.executable, "-m", "pip", "config", "list").splitlines()
    pairs = (re.match(r"[^=]*\.([a-z-]+)='(.*)'", line) for line in lines)
    return {pair[1]: pair[2] for pair in pairs if pair}


def own_texts() -> list[str]:
    """Return texts that identify this machine: addresses, paths, CA certificates."""
    options = pip_configuration()
    names = ("index-url", "extra-index-url", "find-links", "trusted-host", "proxy")
    texts = [text for name in names for text in options.get(name, "").split()]
    texts += [str(CHECKOUT), *([socket.gethostname()] if len(socket.gethostname()) > 8 else [])]
    for file in Path("/usr/local/share/ca-certificates").rglob("*.crt"):
        texts.append(file.read_text().split("\n")[2])
    return [text for text in texts if len(text) > 8 and text != "https://pypi.org/simple"]


def test_image_is_small(image: Image, capsys: pytest.CaptureFixture[str]) -> None:
    size = int(run("du", "-s", "--block-size=1M", str(image.root)).split()[0])
    with capsys.disabled():
        sys.stdout.write(f"\nimage: {size} MB on its disk, built in {image.build_s:.0f} s\n")
    assert size <= LARGEST_MB


def test_no_secret_is_in_the_image(image: Image) -> None:
    leaks = find_leaks(image.root, own_texts())
    assert [leak for leak in leaks if not PUBLIC_KEYS.fullmatch(leak)] == []


def test_no_secret_is_in_the_configuration(image: Image, tmp_path: Path) -> None:
    (tmp_path / "inspected.json").write_text(image.inspected)
    assert find_leaks(tmp_path, own_texts()) == []


def test_no_tool_of_the_build_is_in_the_image(image: Image) -> None:
    for name in ("pip", "gcc", "git", "curl"):
        assert not list(image.root.glob(f"usr/bin/{name}*")), name
        assert not list(image.root.glob(f"opt/venv/bin/{name}*")), name


def test_image_declares_user_volume_and_health_check(image: Image) -> None:
    assert re.fullmatch(r"[1-9][0-9]*:[1-9][0-9]*", image.config["User"])
    assert image.config["Volumes"] == {"/data": {}}
    assert image.config["Healthcheck"]["Test"] == ["CMD", "python3", "deploy/healthcheck.py"]


def test_plate_is_found(server: ImageProcess) -> None:
    search = server.get(f"/buscar?q={PLATE}")
    assert (search.status_code, search.headers["Location"]) == (303, f"/placa/{PLATE}")
    page = server.get(f"/placa/{PLATE}?completo=1")
    assert page.status_code == 200
    assert "AUDI" in page.text
    answer = server.get(f"/detran/v1/decode/{PLATE}", headers={"Authorization": "demo"})
    assert answer.json()["result"]["placa"] == PLATE


def test_every_page_and_its_files_are_served(server: ImageProcess) -> None:
    for path in PAGES:
        response = server.get(path)
        assert response.status_code == 200, path
        for file in re.findall(r'(?:href|src)="(/static/[^"]+)"', response.text):
            assert server.get(file).status_code == 200, file


def test_pdf_is_made(server: ImageProcess) -> None:
    response = server.get(f"/placa/{PLATE}/dossie.pdf")
    assert response.status_code == 200
    assert response.content.startswith(b"%PDF-")
    assert "Fontconfig error" not in server.output


def test_root_is_read_only_and_user_is_not_root(server: ImageProcess) -> None:
    assert server.run("touch", "/app/new").returncode != 0
    assert server.run("id", "-u").stdout.strip() != "0"
    assert "Read-only file system" not in server.output
    assert "Traceback" not in server.output


def test_command_uses_the_data_of_the_server(server: ImageProcess) -> None:
    issued = server.run("flask", "--app", "app", "token", "issue", "image-test")
    assert issued.returncode == 0, issued.stderr
    token = issued.stdout.splitlines()[-1]
    answer = server.get(f"/detran/v1/decode/{PLATE}", headers={"Authorization": token})
    assert answer.status_code == 200


def test_stop_is_clean(image: Image) -> None:
    with ImageProcess(image) as portal:
        assert portal.get("/readyz").status_code == 200
        assert portal.stop() == 0
