"""``dossie``: what it prints, what it spends, how it ends."""

import csv
import io
import json
import os
import pty
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest
from dossie_veicular_client.cli import main

from tests.batch.engine import plates
from tests.client.conftest import PRICES
from tests.effort import long
from tests.fakes import FaultUpstream, faults, free_port
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess

pytestmark = [pytest.mark.slow, pytest.mark.long]

PLATE = "ABC1D23"
SOURCE = str(Path(__file__).resolve().parents[2] / "client/src")


class Command:
    """Runs ``dossie`` with an empty home: in this process, or as a program.

    A program takes a quarter of a second of processor time to start.
    """

    def __init__(self, portal: PortalProcess, home: Path) -> None:
        self.home = home
        self.env = {
            "PYTHONPATH": SOURCE,
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "DOSSIE_URL": portal.url,
            "DOSSIE_TOKEN": PORTAL_TOKEN,
        }

    def __call__(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        buffers = {name: io.BytesIO() for name in ("stdin", "stdout", "stderr")}
        buffers["stdin"].write(stdin.encode())
        buffers["stdin"].seek(0)
        # A stream that is dropped closes its buffer.
        streams = {name: _stream(buffer) for name, buffer in buffers.items()}
        with pytest.MonkeyPatch.context() as patched, chdir(self.home):
            patched.setattr(os, "environ", self.env)
            for name, stream in streams.items():
                patched.setattr(sys, name, stream)
            try:
                status = main(words)
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else 1
        shown, said = (buffers[name].getvalue().decode() for name in ("stdout", "stderr"))
        return subprocess.CompletedProcess(words, status, shown, said)

    def in_a_pipe(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "dossie_veicular_client", *words],
            env=self.env,
            cwd=self.home,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def on_a_terminal(self, *words: str, typed: str = "", status: int = 0) -> str:
        ours, theirs = pty.openpty()
        arguments = [sys.executable, "-m", "dossie_veicular_client", *words]
        with subprocess.Popen(
            arguments, env=self.env, cwd=self.home, stdin=theirs, stdout=theirs, stderr=theirs
        ) as process:
            os.close(theirs)
            os.write(ours, typed.encode())
            shown = b"".join(_chunks(ours))
            assert process.wait() == status
        os.close(ours)
        return shown.decode()


def _stream(buffer: io.BytesIO) -> io.TextIOWrapper:
    return io.TextIOWrapper(buffer, "ascii", write_through=True)


def _chunks(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # the program has ended
            return
        if not chunk:
            return
        yield chunk


@pytest.fixture
def dossie(served: PortalProcess, tmp_path: Path) -> Command:
    return Command(served, tmp_path)


def test_plate_is_json_in_a_pipe_and_text_on_a_terminal(
    dossie: Command, upstream: FaultUpstream
) -> None:
    asked = dossie.in_a_pipe(PLATE)
    assert asked.returncode == 0, asked.stderr
    assert json.loads(asked.stdout)["plate"] == PLATE
    assert "Guardado: nada. Falta: dados do veículo, multas, restrições judiciais, R$ 1,75." in (
        asked.stderr
    )
    shown = dossie.on_a_terminal(PLATE)
    assert "Transferir:" in shown
    assert "Não verificado: IPVA" in shown
    assert "{" not in shown
    assert upstream.count() == 3


def test_parts_and_price(dossie: Command, upstream: FaultUpstream) -> None:
    assert json.loads(dossie("price", PLATE).stdout)["price"] == 1.75
    assert dossie("fines", PLATE, "--cached").returncode == 1
    assert upstream.count() == 0
    fines = dossie("fines", PLATE)
    assert (fines.returncode, json.loads(fines.stdout)["fines"]["totals"]["open"]) == (0, 1)
    assert json.loads(dossie("price", PLATE).stdout)["missing"] == ["decode", "renajud"]
    assert dossie("fines", PLATE, "--cached").returncode == 0
    assert upstream.count() == 1


def test_moment_is_issued_within_its_limit_and_its_file_verified(
    dossie: Command, upstream: FaultUpstream, tmp_path: Path
) -> None:
    refused = dossie("moment", PLATE, "--max-reais", "0.24")
    assert (refused.returncode, refused.stdout, upstream.count()) == (3, "", 0)
    done = dossie("moment", PLATE, "--max-reais", "0,25")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["asked"], found["spent"], upstream.count()) == (["renajud"], 0.25, 1)
    again = dossie.on_a_terminal("moment", PLATE, "--number", found["number"])
    assert f"no lugar do {found['number']}" in again
    assert "Nada mudou." in again and "Gasto: R$ 0,25." in again
    assert dossie("moment", PLATE, "--number", "7F3K-9QMD-2XHA").returncode == 1
    assert upstream.count() == 2
    file = tmp_path / "other.pdf"
    file.write_bytes(b"%PDF-1.7 not a dossier")
    checked = dossie("verify", str(file))
    assert (checked.returncode, json.loads(checked.stdout)["result"]) == (1, "unknown")
    assert dossie("verify", str(tmp_path / "none.pdf")).returncode == 1
    large = tmp_path / "large.pdf"
    large.write_bytes(bytes(5 * 1024 * 1024 + 1))
    assert dossie("verify", str(large)).returncode == 2


def test_too_small_a_limit_asks_nothing(dossie: Command, upstream: FaultUpstream) -> None:
    refused = dossie(PLATE, "--max-reais", "1.74")
    assert (refused.returncode, refused.stdout) == (3, "")
    assert "custaria até R$ 1,75" in refused.stderr
    assert upstream.count() == 0


def test_limit_holds_where_the_source_charges_twice(
    upstream: FaultUpstream, secondary: FaultUpstream, tmp_path: Path
) -> None:
    """Both addresses answer nonsense, and charge."""
    upstream.default(faults.status(500))
    secondary.default(faults.status(500))
    with PortalProcess(managed(upstream.url, secondary.url) | PRICES) as portal:
        asked = Command(portal, tmp_path)("decode", PLATE, "--max-reais", "0,5")
    assert asked.returncode == 1
    assert upstream.count() + secondary.count() == 1


def test_report_is_written_from_what_is_stored(dossie: Command, upstream: FaultUpstream) -> None:
    assert dossie("report", PLATE).returncode == 1
    dossie("decode", PLATE)
    assert dossie("report", PLATE, "--max-reais", "16").returncode == 3
    written = dossie("report", PLATE, "--max-reais", "17")
    assert (written.returncode, "laudoFinal" in json.loads(written.stdout)) == (0, True)
    assert dossie("report", PLATE, "--cached").returncode == 0
    assert upstream.count(method="POST") == 1


def test_wrong_words(dossie: Command) -> None:
    for words in (["ABC"], [], ["price"], [PLATE, "--max-reais", "x"], ["x", "--ask"]):
        done = dossie(*words)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert done.stderr, words


def test_no_access_and_no_portal(dossie: Command) -> None:
    dossie.env["DOSSIE_TOKEN"] = "unknown"
    assert dossie(PLATE).returncode == 4
    dossie.env["DOSSIE_URL"] = f"http://127.0.0.1:{free_port()}"
    gone = dossie(PLATE)
    assert (gone.returncode, "não respondeu" in gone.stderr) == (1, True)
    del dossie.env["DOSSIE_URL"]
    assert dossie(PLATE).returncode == 2


def test_login_is_kept_for_this_user_alone(dossie: Command, served: PortalProcess) -> None:
    del dossie.env["DOSSIE_URL"], dossie.env["DOSSIE_TOKEN"]
    assert dossie("login", "--url", served.url, stdin="wrong\n").returncode == 4
    assert dossie("login", "--url", served.url, stdin=f"{PORTAL_TOKEN}\n").returncode == 0
    (file,) = dossie.home.rglob("login.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert dossie("price", PLATE).returncode == 0


def test_list_becomes_a_file(dossie: Command, upstream: FaultUpstream) -> None:
    """Of 120 plates, where a batch holds 50."""
    listed = plates(120)
    (dossie.home / "placas.txt").write_text("placa\n" + "\n".join(listed), "utf-8")
    done = dossie("batch", "placas.txt", "--out", "saida.csv", "--ask", "decode")
    assert done.returncode == 0, done.stderr
    assert "Custa até R$ 60,00." in done.stderr
    written = (dossie.home / "saida.csv").read_text("utf-8-sig")
    rows = list(csv.DictReader(written.splitlines(), delimiter=";"))
    assert [row["plate"] for row in rows] == listed
    assert upstream.count() == 120
    again = dossie("batch", "-", "--out", "saida.jsonl", "--ask", "decode", stdin="\n".join(listed))
    assert again.returncode == 0
    assert len((dossie.home / "saida.jsonl").read_text().splitlines()) == 120
    assert upstream.count() == 120
    assert sorted(each.name for each in dossie.home.iterdir()) == [
        "placas.txt",
        "saida.csv",
        "saida.jsonl",
    ]


@pytest.mark.long  # many more requests than one list's, and the same code
def test_list_of_more_batches_than_a_portal_keeps_drafts(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    """A portal keeps 20 drafts of a token, and refuses another one."""
    listed = plates(44)
    words = ("batch", "-", "--out", "saida.csv", "--ask", "decode")
    with PortalProcess(managed(upstream.url) | PRICES | {"PORTAL_BATCH_LIMIT": "2"}) as portal:
        dossie = Command(portal, tmp_path)
        for options, status, calls in (
            (["--cached"], 1, 0),
            (["--max-reais", "1.5"], 3, 3),
            ([], 0, 44),
        ):
            done = dossie(*words, *options, stdin="\n".join(listed))
            assert done.returncode == status, done.stderr
            text = (tmp_path / "saida.csv").read_text("utf-8-sig")
            rows = list(csv.DictReader(text.splitlines(), delimiter=";"))
            assert [row["plate"] for row in rows] == listed
            assert upstream.count() == calls


def test_failed_plates_are_named_and_asked_again_only_if_told(
    dossie: Command, upstream: FaultUpstream
) -> None:
    listed = plates(5)
    words = ("batch", "-", "--out", "saida.csv", "--ask", "decode", "--max-reais", "10")
    upstream.script(f"/detran/v1/decode/{listed[1]}", faults.status(500))
    for _ in range(2):
        done = dossie(*words, stdin="\n".join(listed))
        assert done.returncode == 1, done.stderr
        assert f"Falhou, e pode ter sido cobrado: {listed[1]}. “--retry-failed”" in done.stderr
        assert upstream.count() == 5
    upstream.clear()
    time.sleep(2.1)  # the gateway shares a failure for two seconds
    done = dossie(*words, "--retry-failed", stdin="\n".join(listed))
    assert (done.returncode, "Falhou" in done.stderr) == (0, False), done.stderr
    assert upstream.count() == 6


def test_retry_that_the_limit_does_not_hold_says_so(
    dossie: Command, upstream: FaultUpstream
) -> None:
    listed = plates(2)
    upstream.script(f"/detran/v1/decode/{listed[1]}", faults.status(500))
    words = ("batch", "-", "--out", "saida.csv", "--ask", "decode", "--max-reais", "1.2")
    assert dossie(*words, stdin="\n".join(listed)).returncode == 1
    done = dossie(*words, "--retry-failed", stdin="\n".join(listed))
    assert (done.returncode, upstream.count()) == (3, 2), done.stderr
    assert "Parou: o limite de gasto foi atingido." in done.stderr


def test_list_at_an_unknown_price_is_above_any_limit_and_asked_about(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    (tmp_path / "placas.txt").write_text("\n".join(plates(3)), "utf-8")
    words = ("batch", "placas.txt", "--out", "saida.csv", "--ask", "decode")
    with PortalProcess(managed(upstream.url)) as portal:
        dossie = Command(portal, tmp_path)
        refused = dossie(*words, "--max-reais", "9")
        assert refused.returncode == 3, refused.stderr
        shown = dossie.on_a_terminal(*words, typed="n\n", status=3)
        assert "Consultar sem saber quanto custa? [s/N]" in shown
        assert dossie(*words, "--cached").returncode == 1
        assert upstream.count() == 0
        assert "3 de 3 em saida.csv" in dossie.on_a_terminal(*words, typed="s\n")
        assert upstream.count() == 3
        again = dossie("batch", "-", *words[2:], stdin="\n".join(plates(4)))
        assert (again.returncode, upstream.count()) == (0, 4), again.stderr


def test_limit_buys_whole_vehicles_and_names_how_many_are_left_out(
    dossie: Command, upstream: FaultUpstream
) -> None:
    words = ("batch", "-", "--out", "saida.csv", "--max-reais", "4")
    done = dossie(*words, stdin="\n".join(plates(5)))
    assert (done.returncode, upstream.count()) == (3, 6), done.stderr
    assert "Ficaram de fora, sem nenhuma consulta: 3." in done.stderr


@pytest.mark.parametrize("limit", ["0.49", "7.5", *long("0", "30")])
def test_list_ends_before_its_limit(dossie: Command, upstream: FaultUpstream, limit: str) -> None:
    listed = "\n".join(plates(60))
    words = ("batch", "-", "--out", "saida.csv", "--ask", "decode", "--max-reais", limit)
    done = dossie(*words, stdin=listed)
    assert done.returncode == (0 if limit == "30" else 3), done.stderr
    assert upstream.count() == int(float(limit) / 0.5)
    assert dossie(*words, stdin=listed).returncode == done.returncode
    assert upstream.count() == int(float(limit) / 0.5)


def test_what_is_no_plate_is_said(dossie: Command) -> None:
    done = dossie("batch", "-", "--out", "saida.csv", "--ask", "decode", stdin="ABC1D23\nXYZ\n")
    assert (done.returncode, "fora da lista: 'XYZ'" in done.stderr) == (1, True)
    assert dossie("batch", "-", "--out", "saida.csv", stdin="XYZ\n").returncode == 2
    assert dossie("batch", "-", "--out", "saida.odt", stdin=PLATE).returncode == 2


def test_fines_of_a_list_in_a_spreadsheet(dossie: Command) -> None:
    listed = "\n".join(plates(20))
    words = ("batch", "-", "--out", "multas.csv", "--ask", "renainf", "--table", "fines")
    done = dossie(*words, stdin=listed)
    assert done.returncode == 0, done.stderr
    assert (dossie.home / "multas.csv").read_bytes().startswith(b"\xef\xbb\xbfplate;")
