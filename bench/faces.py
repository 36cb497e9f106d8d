"""Compares the processor time of a vehicle's faces with that of a former commit.

BENCH_FORMER is a folder with the former commit's files. Its portal runs with the libraries of this
one. Both answer the same requests in turn, for vehicles whose answers are stored.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path

from bench.batch import send
from bench.hits import PLATES
from bench.misses import Visitor
from bench.programs import CHECKOUT, Program, Stage, family_of, running_s
from bench.results import Report

# A page is cached for a second, and none of so many vehicles is asked for twice in a second.
VEHICLES = PLATES[:60]


def faces(stage: Stage, report: Report, seconds: float, rounds: int) -> None:
    del seconds
    former = os.environ.get("BENCH_FORMER")
    if former is None:
        report.note("faces left out: BENCH_FORMER names no files of a former commit")
        return
    upstream = stage.upstream()
    portals = {
        name: _Faces(stage.portal_of(checkout, f"{upstream.url}/fines", name, WORKERS="1"))
        for name, checkout in (("present", CHECKOUT), ("former", Path(former).resolve()))
    }
    names = list(portals["present"].asked)
    costs = {(face, name): list[float]() for face in names for name in portals}
    for turn in range(rounds + 1):
        for face in names:
            for name, portal in sorted(portals.items(), reverse=bool(turn % 2)):
                costs[face, name].append(portal.cost_ms(face))
    for face in names:
        # In the first turn, both portals ask the upstream and fill their caches.
        present, peer = (costs[face, name][1:] for name in ("present", "former"))
        title = f"processor time of {face} over the former commit's"
        report.compare(title, present, peer, "ms", 1.0, "at most")


class _Faces:
    """Asks a portal for the faces of vehicles. ``asked`` asks for one face of all of them."""

    def __init__(self, portal: Program) -> None:
        self._portal = portal
        self._visitor = Visitor(portal.port).sign_in()
        self.asked: dict[str, Callable[[], None]] = {
            "a page": lambda: self._each("/placa/{}?completo=1"),
            "a paper": lambda: self._each("/placa/{}/dossie"),
            "a vehicle's JSON": lambda: self._each("/api/v1/vehicles/{}"),
            "a vehicle of a batch": self._batch,
        }

    def cost_ms(self, face: str) -> float:
        """Return the processor time for one vehicle, of all processes of the portal."""
        before = self._running_s()
        self.asked[face]()
        return (self._running_s() - before) / len(VEHICLES) * 1e3

    def _running_s(self) -> float:
        return running_s(*family_of(self._portal.process.pid))

    def _each(self, path: str) -> None:
        for plate in VEHICLES:
            self._visitor.ask(path.format(plate))

    def _batch(self) -> None:
        made = send(self._portal, "/api/v1/batches", {"plates": VEHICLES})
        send(self._portal, f"/api/v1/batches/{made['id']}/start", {})
        while (found := send(self._portal, f"/api/v1/batches/{made['id']}"))["state"] == "running":
            time.sleep(0.1)
        if found["counts"]["done"] != found["counts"]["total"]:
            raise RuntimeError(f"the batch ended as {found['state']}: {found['counts']}")
