"""Random declarations at two portals that share only a PostgreSQL, a Redis and a secret key.

``STATES_SEED`` is the seed, to repeat a run. ``FUZZ_MINUTES`` sets the length with FUZZ=full.
"""

import json
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, Final, cast

import pytest
import requests

from portal.gateway.local_cache import CONFIRMED_FOR_S
from tests.effort import seconds
from tests.factories import renajud_body, restriction
from tests.fakes import FaultUpstream, faults, wait_until
from tests.fakes.answers import path_of
from tests.fakes.databases import PostgresProcess
from tests.fakes.in_process import PATIENT, managed
from tests.fakes.processes import PortalProcess, RedisProcess
from tests.states.declared import DeclaredModel, Line, Told
from tests.states.declaring_steps import LINES
from tests.states.model import Violation
from tests.states.run import Run

ENV: Final = "both"
TOKENS: Final = {"one": "token-of-the-first-owner", "other": "token-of-the-other-owner"}
PLATES: Final = ("DEF2K34", "GHJ5L67", "KLM8N90")
FREE_LINES: Final = [key for key in LINES if key not in ("justica", "multas")]
Sent = tuple[str, str, str, Told | None]  # owner, plate, line, declaration


class TwoMachines:
    """Two running portals, a model of what their owners have declared, and steps."""

    def __init__(self, portals: list[PortalProcess], upstream: FaultUpstream, seed: int) -> None:
        self.portals = portals
        self.upstream = upstream
        self.chance = random.Random(seed)
        self.model = DeclaredModel()
        self.recorded: dict[str, str] = {}  # what Renajud's stored answer says, by the plate
        self.story: list[str] = []
        self.keys = [portals[0].env["PORTAL_SECRET_KEY"]]
        self.steps: Mapping[str, Callable[[], None]] = {
            "declare": self.declare,
            "declare at both": self.declare_at_both,
            "declare on the sheet's line of orders": self.declare_orders,
            "look up": self.look_up,
            "purge": self.purge,
            "rotate the key": self.rotate_key,
            "kill a worker": self.kill_worker,
        }

    def step(self) -> str:
        weights = [8, 4, 4, 2, 2, 1, 1]
        (name,) = self.chance.choices(list(self.steps), weights)
        self.story.append(name)
        self.steps[name]()
        self.read()
        return name

    def portal(self) -> PortalProcess:
        return self.chance.choice(self.portals)

    # Steps

    def declare(self) -> None:
        self._note(self._drawn(FREE_LINES), surely=True)

    def declare_at_both(self) -> None:
        """Declare at both machines at once. Each line holds one of what was sent for it."""
        sent = [self._drawn(FREE_LINES) for _ in range(6)]
        targets = self.portals * 3
        with ThreadPoolExecutor(len(sent)) as pool:
            replies = list(pool.map(self._put, targets, sent))
        done = set[tuple[str, str, str]]()
        for one, reply in zip(sent, replies, strict=True):
            if reply.status_code != 200:
                raise Violation("a declaration is stored", f"{one}: {reply.status_code}")
            self.model.put(_line(one), one[3], surely=one[:3] not in done)
            done.add(one[:3])

    def declare_orders(self) -> None:
        one = self._drawn(["justica"])
        told, record = one[3], self.recorded.get(one[1], "")
        reply = self._put(self.portal(), one)
        expected = 409 if told and record not in ("", told.state) else 200
        if reply.status_code != expected:
            raise Violation("a declaration is refused only against a record", f"{one}, {record}")
        if reply.status_code == 200:
            self.model.put(_line(one), told)

    def look_up(self) -> None:
        """Look up court orders at one machine. Both then have the record."""
        plate, state = self.chance.choice(PLATES), self.chance.choice(["nothing", "something"])
        body = renajud_body(*([restriction()] if state == "something" else []))
        self.upstream.script(path_of("renajud", plate), faults.answer("application/json", body))
        headers = {"Authorization": TOKENS["one"], "Cache-Control": "no-cache"}
        reply = self.portal().get(path_of("renajud", plate), headers=headers)
        if reply.status_code != 200:
            raise Violation("a lookup is answered", f"{plate}: {reply.status_code}")
        self.recorded[plate] = state
        # Until then, a process may use what it has confirmed, the former record among it.
        time.sleep(CONFIRMED_FOR_S + 0.2)

    def purge(self) -> None:
        plate = self.chance.choice(PLATES)
        done = self.portal().command_line("purge", plate)
        if done.returncode != 0:
            raise Violation("a purge is done", done.stdout + done.stderr)
        self.model.purge([plate], surely=True)
        self.recorded.pop(plate, None)

    def rotate_key(self) -> None:
        """Restart one machine after the other, as the manual says: first each knows both keys."""
        old = self.keys[-1]
        self.keys.append(f"{self.chance.getrandbits(128):032x}")
        for current, known in ((old, self.keys), (self.keys[-1], self.keys)):
            others = ",".join(each for each in known if each != current)
            for portal in self.portals:
                portal.configure(PORTAL_SECRET_KEY=current, PORTAL_SECRET_KEYS_OLD=others)
                portal.stop()
                portal.start()
                self.read()

    def kill_worker(self) -> None:
        portal = self.portal()
        portal.kill_worker()
        portal.wait_for_workers()
        wait_until(portal.answers, "an answer", 60)

    # Checks

    def read(self) -> None:
        """Read all lines of all owners at both machines."""
        for portal in self.portals:
            for owner, token in TOKENS.items():
                for plate in PLATES:
                    path = f"/api/v1/vehicles/{plate}/declared"
                    reply = portal.get(path, headers={"Authorization": token})
                    if reply.status_code != 200 or not reply.json()["readable"]:
                        raise Violation("declared lines are read", f"{reply.status_code}")
                    lines = reply.json()["lines"]
                    self._check_record(plate, lines)
                    self.model.check(ENV, owner, plate, lines)
                    self.model.check_text(ENV, owner, plate, reply.content)

    def _check_record(self, plate: str, lines: list[dict[str, Any]]) -> None:
        (orders,) = [each for each in lines if each["line"] == "justica"]
        state = self.recorded.get(plate)
        if (orders["by"] == "record") != (state is not None):
            raise Violation("a recorded line never reads declared", f"{plate}: {orders}, {state}")
        if state is not None and orders["state"] != state:
            raise Violation("a record wins", f"{plate}: {orders}, {state}")

    def _drawn(self, keys: list[str]) -> Sent:
        owner, plate = self.chance.choice(list(TOKENS)), self.chance.choice(PLATES)
        state = self.chance.choice(["nothing", "something", "something", "unchecked"])
        names = [self.chance.choice(PLATES)] if self.chance.random() < 0.2 else []
        told = None if state == "unchecked" else self.model.told(state, names)
        return owner, plate, self.chance.choice(keys), told

    def _note(self, one: Sent, *, surely: bool) -> None:
        reply = self._put(self.portal(), one)
        if reply.status_code != 200:
            raise Violation("a declaration is stored", f"{one}: {reply.status_code} {reply.text}")
        self.model.put(_line(one), one[3], surely=surely)

    def _put(self, portal: PortalProcess, one: Sent) -> requests.Response:
        owner, plate, key, told = one
        line = {"line": key, "state": told.state if told else "unchecked"}
        line |= {"what": told.what} if told else {}
        headers = {"Authorization": TOKENS[owner], "Content-Type": "application/json"}
        body = json.dumps({"lines": [line]})
        path = f"/api/v1/vehicles/{plate}/declared"
        return portal.request("PUT", path, data=body, headers=headers)


def _line(one: Sent) -> Line:
    return Line(ENV, one[0], one[1], one[2])


@pytest.fixture
def machines(upstream: FaultUpstream, postgres: PostgresProcess) -> Iterator[TwoMachines]:
    seed = int(os.environ.get("STATES_SEED") or random.randrange(10**6))
    with ExitStack() as stack, RedisProcess() as store, ThreadPoolExecutor(2) as starting:
        settings = {
            **managed(upstream.url),
            **PATIENT,
            "PORTAL_ACCESS_TOKENS": ",".join(TOKENS.values()),
            "PORTAL_SECRET_KEY": "the key of two machines",
            "PORTAL_REDIS_URL": store.url,
            "PORTAL_DATABASE_URL": postgres.new_database(),
        }
        both = [PortalProcess(settings, workers=2) for _ in range(2)]
        for portal in both:
            stack.callback(portal.close)
        started = cast(list[PortalProcess], list(starting.map(PortalProcess.start, both)))
        machine = TwoMachines(started, upstream, seed)
        machine.story.append(f"seed {seed}")
        yield machine


@pytest.mark.long
def test_declarations_at_two_machines_break_no_invariant(
    machines: TwoMachines, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Run(seconds(short=15, full=60 * float(os.environ.get("FUZZ_MINUTES") or 5)))
    while not run.is_over:
        try:
            run.totals.rules[machines.step()] += 1
        except Violation as violation:
            pytest.fail(f"{violation}\n{', '.join(machines.story)}")
    with capsys.disabled():
        print(f"\ntwo machines: {machines.story[0]}; {dict(run.totals.rules)}")  # noqa: T201
