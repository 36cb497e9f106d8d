"""Examples that follow a batch end when another client has cancelled the batch."""

import json
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.examples.printed import NODE, run
from tests.presentation.rendering import ROOT

BATCH = "/api/v1/batches/7f3k"
MOST_POLLS = 2  # one example polls an ended batch again to print it
LANGUAGES = {".sh": "curl", ".py": "python", ".mjs": "javascript"}
FOLLOWING = [
    pytest.param(path, id=path.name)
    for path in sorted((ROOT / "templates/examples").iterdir())
    if path.suffix in LANGUAGES and "/start" in path.read_text("utf-8")
    if path.suffix != ".mjs" or NODE is not None
]

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed"),
]


@pytest.fixture
def cancelling() -> Iterator[tuple[str, list[str]]]:
    """Serve a batch that is cancelled after its start; yield the address and polls.

    After more than MOST_POLLS polls the batch is "done", so that a wrong example ends too.
    """
    polls: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"] or 0))
            is_new = self.path == "/api/v1/batches"
            self.answer(201 if is_new else 200, "draft" if is_new else "running")

        def do_GET(self) -> None:
            if self.path.partition("?")[0] == BATCH:
                polls.append(self.path)
            self.answer(200, "cancelled" if len(polls) <= MOST_POLLS else "done")

        def answer(self, status: int, state: str) -> None:
            batch = {"id": "7f3k", "state": state, "counts": {}, "cost": {"at_most": 0}}
            body = json.dumps({**batch, "wrong": []}, separators=(",", ":")).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Location", BATCH)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", polls
        finally:
            server.shutdown()
            thread.join()


def test_examples_that_follow_a_batch_are_found() -> None:
    assert len(FOLLOWING) == (6 if NODE is not None else 5)


@pytest.mark.slow
@pytest.mark.parametrize("path", FOLLOWING)
def test_example_ends_when_another_client_cancels_the_batch(
    path: Path, cancelling: tuple[str, list[str]], tmp_path: Path
) -> None:
    address, polls = cancelling
    run(LANGUAGES[path.suffix], path.read_text("utf-8").replace("BASE", address), tmp_path)
    assert 1 <= len(polls) <= MOST_POLLS
