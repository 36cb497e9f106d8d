"""A program forked by ``preloaded`` behaves like one that ``python`` starts."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.preloaded import PreloadedProcess

pytestmark = [pytest.mark.slow, pytest.mark.long]  # tests of what the tests use


def run(folder: Path, program: str, env: dict[str, str] | None = None) -> tuple[int, str, str]:
    """Return the exit code, standard output and standard error of a preloaded program."""
    script = folder / "program.py"
    script.write_text(program, "utf-8")
    files = folder / "stdout", folder / "stderr"
    with (
        files[0].open("wb") as stdout,
        files[1].open("wb") as stderr,
        PreloadedProcess([str(script)], env or {}, stdout, stderr) as running,
    ):
        code = running.wait(60)
    return code, files[0].read_text("utf-8"), files[1].read_text("utf-8")


def test_program_has_its_own_environment_output_and_session(tmp_path: Path) -> None:
    program = "import os, sys; print(dict(os.environ), os.getsid(0) == os.getpid()); sys.exit(3)"
    assert run(tmp_path, program, {"A": "b"}) == (3, "{'A': 'b'} True\n", "")


def test_portal_is_imported_before_the_program_starts(tmp_path: Path) -> None:
    assert run(tmp_path, "import sys; print('portal.factory' in sys.modules)")[1] == "True\n"


@pytest.mark.parametrize(
    ("program", "code", "last_line"),
    [
        ("", 0, ""),
        ("raise SystemExit('a linha do erro')", 1, "a linha do erro"),
        ("raise ValueError('quebrou')", 1, "ValueError: quebrou"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL, ""),
    ],
)
def test_program_ends_as_an_executed_one(
    tmp_path: Path, program: str, code: int, last_line: str
) -> None:
    ended = run(tmp_path, program)
    executed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert ended[0] == executed.returncode == code
    for stderr in (ended[2], executed.stderr):
        assert stderr.splitlines()[-1:] == [last_line] * bool(last_line)


def test_exit_functions_run(tmp_path: Path) -> None:
    program = "import atexit; atexit.register(print, 'the end')"
    assert run(tmp_path, program)[1] == "the end\n"


def test_wait_is_limited_and_kill_ends_the_program(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text("import time; time.sleep(600)", "utf-8")
    with (
        Path(os.devnull).open("wb") as nowhere,
        PreloadedProcess([str(script)], {}, nowhere, nowhere) as running,
    ):
        assert running.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            running.wait(0.1)
        running.kill()
        assert running.wait(60) == -signal.SIGKILL
