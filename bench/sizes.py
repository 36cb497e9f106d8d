"""Measures the processor time of each view of an answer with few and with many records.

The table is saved as ``bench/results/sizes.md``. The peer of each ratio is the same view of an
answer with one record, or with a word of two letters.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests

from bench.misses import Visitor
from bench.programs import PORTAL_TOKEN, Program, Stage, family_of, processor_s
from bench.results import RESULTS, Report
from tests import factories

RECORDS = (1, 100, 5_000, 690_000)
LETTERS = (2, 200, 20_000)
VIEWS = (
    *("page", "panel", "explained", "CSV", "recent", "comparison", "negotiation", "PDF"),
    "batch row",
)


def sizes(stage: Stage, report: Report, seconds: float, rounds: int) -> None:
    del seconds, rounds
    answers = {
        **{f"{count:,} records": _records(count) for count in RECORDS},
        **{f"a word of {letters:,}": _word(letters) for letters in LETTERS},
    }
    bodies = {f"ZZZ9Z{number:02}": body for number, body in enumerate(answers.values(), start=10)}
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(bodies))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    portal = stage.portal(f"http://127.0.0.1:{server.server_port}", WORKERS="1")
    visitor = Visitor(portal.port).sign_in()
    visitor.ask("/placa/ZZZ9Z09?completo=1")
    visitor.ask("/placa/ZZZ9Z09/dossie.pdf")
    before, largest = max(portal.rss_mib()), [0.0]
    threading.Thread(target=_watch, args=(portal, largest), daemon=True).start()
    lines = [f"| processor time, s | {' | '.join(VIEWS)} |", "|---" * (len(VIEWS) + 1) + "|"]
    for name, plate in zip(answers, bodies, strict=True):
        visitor.ask(f"/placa/{plate}?completo=1")
        costs = [_cost_s(portal, partial(visitor.ask, path)) for path in _paths(plate)]
        _batch(portal.port, "ZZZ9Z09")  # starts the batch process
        costs.append(_cost_s(portal, partial(_batch, portal.port, plate)))
        lines.append(f"| {name} | {' | '.join(f'{cost:.2f}' for cost in costs)} |")
    server.shutdown()
    grown = f"The worker had {before:.0f} MiB before, and at most {largest[0]:.0f} MiB meanwhile."
    (RESULTS / "sizes.md").write_text("\n".join([*lines, "", grown, ""]), encoding="utf-8")
    for line in (*lines, grown):
        report.note(line)


def _paths(plate: str) -> tuple[str, ...]:
    page, api = f"/placa/{plate}", f"/api/v1/vehicles/{plate}"
    return (
        f"{page}?completo=1",
        f"{page}/painel/multas",
        api,
        f"{api}/fines.csv",
        "/historico",
        f"/comparar?placas={plate},ZZZ9Z09&completo=1",
        f"{page}/negociacao",
        f"{page}/dossie.pdf",
    )


def _cost_s(portal: Program, view: Callable[[], object]) -> float:
    time.sleep(1.01)  # a rendered page is cached for a second
    before = _processor_s(portal)
    with suppress(RuntimeError):  # an export of an answer that is too large is a 502
        view()
    return _processor_s(portal) - before


def _batch(port: int, plate: str) -> None:
    """Run a batch of one plate, whose answers are stored, and read its row."""
    headers, batches = {"Authorization": PORTAL_TOKEN}, f"http://127.0.0.1:{port}/api/v1/batches"
    made = requests.post(batches, json={"plates": [plate]}, headers=headers, timeout=30).json()
    batch = f"{batches}/{made['id']}"
    requests.post(f"{batch}/start", headers=headers, timeout=30)
    while requests.get(batch, headers=headers, timeout=30).json()["state"] == "running":
        time.sleep(0.05)
    requests.get(f"{batch}/results.csv", headers=headers, timeout=30)


def _processor_s(portal: Program) -> float:
    """Return the processor time of the program's workers and their PDF processes."""
    return processor_s(*(pid for worker in portal.family() for pid in family_of(worker)))


def _watch(portal: Program, largest: list[float]) -> None:
    while portal.process.poll() is None:
        largest[0] = max(largest[0], *portal.rss_mib(), 0.0)
        time.sleep(0.02)


def _records(count: int) -> bytes:
    return b'{"status":"SUCCESS","result":[' + b",".join([b"{}"] * count) + b"]}"


def _word(letters: int) -> bytes:
    return factories.renainf_body(factories.fine(localInfracao="W" * letters))


def _handler(bodies: dict[str, bytes]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            *_, operation, plate = self.path.split("/")
            body = factories.renajud_body()
            if operation == "decode":
                body = factories.decode_body(plate)
            elif operation == "renainf":
                body = bodies.get(plate, factories.renainf_body())
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler
