"""Compares the issuing of dossiers that are signed with the issuing of unsigned ones."""

import re

from bench.misses import Visitor
from bench.programs import Program, Stage
from bench.results import Report
from tests.fakes.signing import PASSWORD, chain

_PLATE = "MUL0A45"
_FORM = re.compile(r'name="csrf_token"[^>]*value="([^"]+)"')
_EACH = 5


def signing(stage: Stage, report: Report, seconds: float, rounds: int) -> None:
    """Compare the processor time of an issued dossier with 45 fines. No authority stamps it."""
    del seconds
    upstream = stage.upstream()
    servers = {"unsigned": stage.portal(upstream.url, "unsigned", WORKERS="1")}
    for kind in ("ec", "rsa"):
        folder = stage.folder(f"key {kind}")
        settings = {
            "SIGNING_KEY_FILE": str(chain(kind).write(folder)),
            "SIGNING_KEY_PASSWORD": PASSWORD,
        }
        servers[kind] = stage.portal(upstream.url, kind, WORKERS="1", **settings)
    visitors = {name: Visitor(server.port).sign_in() for name, server in servers.items()}
    costs: dict[str, list[float]] = {name: [] for name in servers}
    number = 0
    for turn in range(rounds + 1):
        for name, server in sorted(servers.items(), reverse=bool(turn % 2)):
            # The system counts processor time in hundredths of a second.
            numbers = range(number, number := number + _EACH)
            issued = [_issued_ms(server, visitors[name], each) for each in numbers]
            costs[name].append(sum(issued) / _EACH)
    for kind, goal in (("ec", 1.15), ("rsa", 1.35)):
        # The first dossier of each portal starts the process that renders.
        report.compare(
            f"processor time of a dossier signed with {kind.upper()} over an unsigned one",
            *(costs[kind][1:], costs["unsigned"][1:], "ms", goal, "at most"),
        )


def _issued_ms(server: Program, visitor: Visitor, number: int) -> float:
    page = visitor.ask(f"/placa/{_PLATE}?completo=1").decode()
    found = _FORM.search(page)
    assert found is not None
    before = server.cpu_s()
    fields = {"csrf_token": found[1], "idempotency_key": f"signing-{number}"}
    visitor.ask(f"/placa/{_PLATE}/dossie/emitir", fields)
    return (server.cpu_s() - before) * 1e3
