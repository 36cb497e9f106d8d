"""``flask --app app batch``: input, output formats, exit codes, interruption, resumption."""

import csv
import json
import signal
import sqlite3
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from portal.batch.typed_list import read_strings
from portal.desk.caller import COMMAND_IDENTITY
from tests.batch.engine import plates
from tests.conftest import PortalFactory
from tests.effort import long
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import InProcessPortal, managed, pass_through
from tests.fakes.preloaded import PreloadedProcess
from tests.fakes.processes import PortalProcess


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal(PRICE_DECODE="0.85", PRICE_RENAINF="0", PRICE_RENAJUD="0")


def run(here: InProcessPortal, *words: str, **options: Any) -> Any:
    return here.app.test_cli_runner().invoke(args=["batch", *words], **options)


def file_of(folder: Path, text: str) -> str:
    file = folder / "placas.csv"
    file.write_text(text, "utf-8")
    return str(file)


def test_file_becomes_a_table(here: InProcessPortal, tmp_path: Path) -> None:
    file = file_of(tmp_path, "cliente;placa\nAna;ABC1D23\nZé;abc12\nBia;LMP0A01\n")
    out = tmp_path / "out.csv"
    done = run(here, file, "--out", str(out), "--yes")
    assert done.exit_code == 0, done.output
    assert "Line 3: 'abc12' is left out." in done.stderr
    assert "1 entry of the file was left out." in done.stderr
    assert "2 plates, 0 stored already. 6 upstream calls, R$\u00a01,70 at most." in done.stderr
    assert "2 of 2 plates have every answer" in done.stderr
    rows = list(csv.DictReader(out.read_text("utf-8-sig").splitlines(), delimiter=";"))
    assert [row["plate"] for row in rows] == ["ABC1D23", "LMP0A01"]


def test_outcome_as_json(here: InProcessPortal, tmp_path: Path) -> None:
    out = str(tmp_path / "out.csv")
    done = run(here, file_of(tmp_path, "ABC1D23\n"), "--out", out, "--yes", "--json")
    assert done.exit_code == 0
    assert "1 plate, 0 stored already. 3 upstream calls" in done.stderr
    assert "1 of 1 plate has every answer" in done.stderr
    assert json.loads(done.stdout) == {
        "state": "done",
        "reason": None,
        "total": 1,
        "done": 1,
        "failed": 0,
        "pending": 0,
        "impossible": 0,
        "left_out": 0,
        "wrong": [],
        "spent": 0.85,
        "out": out,
    }


def test_outcome_names_the_lines_left_out(here: InProcessPortal, tmp_path: Path) -> None:
    file = file_of(tmp_path, "ABC1D23\nLMPOA01\n" + "x\n" * 300)
    done = run(here, file, "--out", str(tmp_path / "out.csv"), "--yes", "--json")
    assert done.exit_code == 0
    assert "281 more entries are left out." in done.stderr
    outcome = json.loads(done.stdout)
    assert (outcome["done"], outcome["total"], outcome["left_out"]) == (1, 1, 301)
    assert outcome["wrong"][:2] == [
        {"line": 2, "value": "LMPOA01", "suggestion": "LMP0A01"},
        {"line": 3, "value": "x", "suggestion": None},
    ]


def test_doubtful_entries_are_left_out_unless_asked_for(
    here: InProcessPortal, portal: PortalFactory, upstream: FaultUpstream, tmp_path: Path
) -> None:
    text = "ABC1D23\n12345678910\n529.982.247-25\nABCID24\n"
    file, out = file_of(tmp_path, text), tmp_path / "out.csv"
    done = run(here, file, "--out", str(out), "--yes", "--ask", "renainf")
    assert "'12345678910' is left out, because its check digit is wrong." in done.stderr
    assert "'529.982.247-25' is left out, because it looks like a CPF." in done.stderr
    assert "'ABCID24' is left out; ABC1D24 was probably meant." in done.stderr
    assert upstream.count() == 1
    # A new application, because a command stops the batch runner at its end.
    done = run(portal(), file, "--out", str(out), "--yes", "--ask", "renainf", "--doubtful")
    assert "2 plates, 1 stored already." in done.stderr
    assert "'529.982.247-25' is left out" in done.stderr
    assert upstream.count() == 2


def test_renavams_that_decode_cannot_answer_exit_1(
    here: InProcessPortal, upstream: FaultUpstream, tmp_path: Path
) -> None:
    file, out = file_of(tmp_path, "79831854647\n00894638270\nABC1D23\n"), tmp_path / "out.csv"
    done = run(here, file, "--out", str(out), "--yes", "--ask", "decode", "--json")
    assert done.exit_code == 1
    assert "2 Renavams cannot be looked up: decode needs a plate." in done.stderr
    assert "1 of 3 plates have every answer, 0 failed, 2 were not asked." in done.stderr
    outcome = json.loads(done.stdout)
    assert (outcome["done"], outcome["impossible"], outcome["total"]) == (1, 2, 3)
    assert upstream.count() == 1


def test_spreadsheet_is_refused_with_its_format(here: InProcessPortal, tmp_path: Path) -> None:
    file = tmp_path / "placas.xlsx"
    openpyxl.Workbook().save(file)
    done = run(here, str(file), "--out", str(tmp_path / "out.csv"), "--yes")
    assert done.exit_code == 1
    assert done.stderr == f"{file} is not a text but XLSX. Save its plates as CSV.\n"


@pytest.mark.parametrize("ending", ["jsonl", "xlsx"])
def test_format_follows_from_the_ending(here: InProcessPortal, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"out.{ending}"
    file = file_of(tmp_path, "ABC1D23\n")
    assert run(here, file, "--out", str(out), "--yes", "--ask", "decode").exit_code == 0
    if ending == "jsonl":
        assert json.loads(out.read_text())["plate"] == "ABC1D23"
    else:
        assert openpyxl.load_workbook(out).worksheets[0]["A2"].value == "ABC1D23"


def test_failed_plates_exit_1_and_are_asked_again_alone(
    here: InProcessPortal, portal: PortalFactory, upstream: FaultUpstream, tmp_path: Path
) -> None:
    texts = plates(20)
    for plate in texts[::7]:
        upstream.script(f"/detran/v1/decode/{plate}", faults.status(500))
    words = (file_of(tmp_path, "\n".join(texts)), "--out", str(tmp_path / "o.csv"), "--yes")
    assert run(here, *words, "--ask", "decode").exit_code == 1
    assert upstream.count() == 20
    upstream.clear()
    here.wait_out_failures()
    # A new application, because a command stops the batch runner at its end.
    again = run(portal(), *words, "--ask", "decode")
    assert again.exit_code == 1
    assert "0 upstream calls" in again.output
    named = "Failed: AAA0A00, AAA0A07, AAA0A14. Each may have been charged"
    assert named in again.output and "--retry-failed" in again.output
    assert upstream.count() == 20
    done = run(portal(), *words, "--ask", "decode", "--retry-failed")
    assert done.exit_code == 0, done.output
    assert "3 upstream calls" in done.output and "Failed:" not in done.output
    assert upstream.count() == 23


def test_failed_plate_that_was_stored_since_needs_no_option(
    here: InProcessPortal, portal: PortalFactory, upstream: FaultUpstream, tmp_path: Path
) -> None:
    upstream.script("/detran/v1/decode/AAA0A00", faults.status(500))
    words = (file_of(tmp_path, "AAA0A00 AAA0A01"), "--out", str(tmp_path / "o.csv"), "--yes")
    assert run(here, *words, "--ask", "decode").exit_code == 1
    upstream.clear()
    here.wait_out_failures()
    other = portal()
    other.get("/api/v1/vehicles/AAA0A00?ask=decode")
    assert upstream.count() == 3
    done = run(other, *words, "--ask", "decode")
    assert done.exit_code == 0, done.output
    assert upstream.count() == 3


def test_too_many_drafts_are_one_plain_line(
    here: InProcessPortal, upstream: FaultUpstream, tmp_path: Path
) -> None:
    parts = here.parts
    for number in range(20):
        listed = read_strings(plates(number + 1))
        parts.pricing.create(COMMAND_IDENTITY.digest, COMMAND_IDENTITY, ("decode",), listed)
    refused = run(here, file_of(tmp_path, "ABC1D23"), "--out", str(tmp_path / "o.csv"), "--yes")
    assert refused.exit_code == 1
    assert refused.output.splitlines()[-1].startswith(
        "There are 20 batches that were never started"
    )
    assert upstream.count() == 0


def test_no_lookup_without_confirmation(
    here: InProcessPortal, upstream: FaultUpstream, tmp_path: Path
) -> None:
    out = tmp_path / "out.csv"
    done = run(here, file_of(tmp_path, "ABC1D23\n"), "--out", str(out), input="n\n")
    assert done.exit_code == 1
    assert upstream.count() == 0
    assert not out.exists()


def test_nothing_is_paid_for_a_table_that_cannot_be_written(
    here: InProcessPortal, upstream: FaultUpstream, tmp_path: Path
) -> None:
    out = tmp_path / "missing" / "out.csv"
    done = run(here, file_of(tmp_path, "ABC1D23\n"), "--out", str(out), "--yes")
    assert done.exit_code == 1
    assert done.stderr == f"{out} cannot be written.\n"
    assert upstream.count() == 0


def test_daily_limit_exits_1_with_the_reason(
    portal: PortalFactory, upstream: FaultUpstream, tmp_path: Path
) -> None:
    here = portal(DAILY_CALL_LIMIT="3")
    file = file_of(tmp_path, "\n".join(plates(6)))
    done = run(here, file, "--out", str(tmp_path / "o.csv"), "--yes", "--ask", "decode")
    assert done.exit_code == 1
    assert "Paused: the daily limit of the portal is reached." in done.stderr
    assert upstream.count() == 3


@pytest.mark.parametrize(
    ("text", "words", "code"),
    [
        ("", (), 1),
        ("nenhuma\n", (), 1),
        ("ABC1D23\n", ("--ask", "report"), 2),
        ("ABC1D23\n", ("--format", "ods"), 2),
        ("\n".join(plates(501)), (), 1),
    ],
)
def test_wrong_input(
    here: InProcessPortal,
    upstream: FaultUpstream,
    tmp_path: Path,
    text: str,
    words: tuple[str, ...],
    code: int,
) -> None:
    done = run(here, file_of(tmp_path, text), "--out", str(tmp_path / "o.csv"), "--yes", *words)
    assert done.exit_code == code
    assert upstream.count() == 0


def test_missing_file_is_a_usage_error(here: InProcessPortal, tmp_path: Path) -> None:
    assert run(here, str(tmp_path / "none"), "--out", str(tmp_path / "o.csv")).exit_code == 2


def test_pass_through_sends_the_credential_of_the_environment(
    portal: PortalFactory, upstream: FaultUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, out = portal(pass_through(upstream.url)), tmp_path / "o.jsonl"
    words = (file_of(tmp_path, "ABC1D23"), "--out", str(out), "--yes", "--ask", "decode")
    monkeypatch.delenv("DOSSIE_CREDENTIAL", raising=False)
    done = run(here, *words)
    assert (done.exit_code, upstream.count()) == (1, 0)
    assert "set DOSSIE_CREDENTIAL" in done.stderr
    monkeypatch.setenv("DOSSIE_CREDENTIAL", "credential-of-the-caller")
    done = run(here, *words)
    assert done.exit_code == 0, done.output
    (call,) = upstream.calls
    assert call.header("authorization") == "credential-of-the-caller"
    assert json.loads(out.read_text())["state"] == "done"
    assert "credential-of-the-caller" not in done.output


def test_pass_through_pauses_a_batch_whose_credential_is_refused(
    portal: PortalFactory, upstream: FaultUpstream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = portal(pass_through(upstream.url))
    upstream.default(faults.status(401))
    monkeypatch.setenv("DOSSIE_CREDENTIAL", "wrong")
    done = run(here, file_of(tmp_path, "ABC1D23"), "--out", str(tmp_path / "o.csv"), "--yes")
    assert done.exit_code == 1
    assert "the portal or the upstream does not accept your credential" in done.stderr


def test_hits_of_a_command_are_credited(
    here: InProcessPortal, portal: PortalFactory, tmp_path: Path
) -> None:
    words = (file_of(tmp_path, "ABC1D23\n"), "--out", str(tmp_path / "o.csv"), "--ask", "decode")
    assert run(here, *words, "--yes").exit_code == 0
    again = portal(PRICE_DECODE="0.85", PRICE_RENAINF="0", PRICE_RENAJUD="0")
    assert run(again, *words, "--yes").exit_code == 0
    done = again.app.test_cli_runner().invoke(args=["ledger", "--summary", "--json"])
    (decode,) = [row for row in json.loads(done.stdout) if row["operation"] == "decode"]
    assert (decode["calls"], decode["hits"]) == (1, 1)


@pytest.mark.slow
@pytest.mark.long
def test_server_does_not_resume_what_a_command_has_left_paused(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    texts = plates(6)
    upstream.default(faults.status(429, retry_after="1"))
    words = [file_of(tmp_path, "\n".join(texts)), "--out", str(tmp_path / "o.csv"), "--yes"]
    with PortalProcess(managed(upstream.url)) as portal:
        done = portal.command_line("batch", *words, "--ask", "decode")
        assert done.returncode == 1
        assert "Paused: the upstream asks for a pause. Run the command again." in done.stderr
        file = sqlite3.connect(portal.data_dir / "portal.sqlite")
        try:
            (row,) = file.execute("SELECT state, resume_at FROM batches").fetchall()
        finally:
            file.close()
        assert row == ("paused", None)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, *long(signal.SIGTERM, signal.SIGHUP)])
def test_interrupted_command_goes_on_where_it_stopped(
    upstream: FaultUpstream, tmp_path: Path, number: signal.Signals
) -> None:
    """Each signal pauses the batch, so that a running server does not continue it.

    Ctrl-C, a service manager or a closed terminal sends the signal. The command stores the answers
    of the calls in progress.
    """
    texts = plates(60)
    file, out = file_of(tmp_path, "\n".join(texts)), tmp_path / "out.jsonl"
    upstream.default(faults.slow_first_byte(0.2))
    words = ["batch", file, "--out", str(out), "--ask", "decode", "--yes"]
    with PortalProcess(managed(upstream.url)) as portal:
        with (
            (tmp_path / "log").open("wb") as log,
            PreloadedProcess(
                ["-m", "flask", "--app", "app", *words], portal.environment(), log, log
            ) as command,
        ):
            upstream.wait_for_calls(20)
            command.send_signal(number)
            assert command.wait(60) == 1
        assert b"Paused: it was interrupted" in (tmp_path / "log").read_bytes()
        before = upstream.count()
        assert before < 60
        done = portal.command_line(*words)
        assert done.returncode == 0, done.stderr
        assert upstream.count() == 60
        assert len(out.read_text().splitlines()) == 60
