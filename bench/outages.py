"""``python -m bench.outages``: checks the README's guarantees during outages under full load.

Each row of the output is a guarantee with its limit and the measured value. The exit code is 1 if a
guarantee was not kept. The upstream is the tests' fake, which listens on a socket and counts the
calls.
"""

import csv
import io
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from portal.upstream.breaker import COOLDOWN_S
from tests.fakes import Fault, FaultUpstream, faults, wait_until
from tests.fakes.answers import path_of
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess, RedisProcess
from tests.outages.crowd import Answer, Ask, in_turn, one, together
from tests.outages.visitor import signed_in

WORKERS = 4
HEADER = {"Authorization": PORTAL_TOKEN}
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Figure:
    what: str
    limit: str
    measured: str
    kept: bool


@dataclass(frozen=True, slots=True)
class Scene:
    server: PortalProcess
    primary: FaultUpstream
    secondary: FaultUpstream

    @property
    def calls(self) -> int:
        return self.primary.count() + self.secondary.count()

    def ledger(self) -> list[dict[str, str]]:
        printed = self.server.command_line("ledger", "--csv").stdout
        return list(csv.DictReader(io.StringIO(printed)))

    def ledger_agrees(self, died: bool = False) -> bool:
        """Return whether the ledger's rows match the calls that the upstreams counted.

        This method waits for a match, because the fake counts a call later than the portal writes
        its row. With ``died``, an upstream was stopped. Rows with the outcome "broken" may then be
        calls that the fake never read.
        """

        def agrees() -> bool:
            rows = self.ledger()
            unread = sum(row["outcome"] == "broken" for row in rows) if died else 0
            return len(rows) - unread <= self.calls <= len(rows)

        try:
            wait_until(agrees, "a matching ledger", timeout_s=15)
        except AssertionError:
            return False
        return True


@contextmanager
def scene(workers: int = WORKERS, **settings: str) -> Iterator[Scene]:
    with FaultUpstream() as primary, FaultUpstream() as secondary:
        named = {f"PORTAL_{name}": value for name, value in settings.items()}
        with PortalProcess(managed(primary.url, secondary.url) | named, workers) as server:
            wait_until(lambda: len(server.worker_pids()) == workers, "all workers")
            yield Scene(server, primary, secondary)


def plates(count: int) -> list[str]:
    return [
        f"{chr(65 + number // 1000 % 26)}BC{number // 100 % 10}D{number % 100:02}"
        for number in range(count)
    ]


def lookups(names: Sequence[str], operation: str = "decode") -> list[Ask]:
    return [Ask(path_of(operation, plate), HEADER) for plate in names]  # type: ignore[arg-type]


def failed(answers: Sequence[Answer]) -> int:
    return sum(answer.status != 200 for answer in answers)


def p99_ms(answers: Sequence[Answer]) -> float:
    return sorted(answer.seconds for answer in answers)[int(len(answers) * 0.99)] * 1000


def one_plate(delay_s: float) -> Iterator[Figure]:
    with scene() as here:
        cookie = signed_in(here.server)
        here.primary.default(faults.slow_first_byte(delay_s))
        path = path_of("decode")
        kinds = [
            Ask(path, HEADER),
            Ask(f"{path}?at={PORTAL_TOKEN}"),
            Ask("/placa/ABC1D23?completo=1", cookie),
        ]
        answers = together(here.server.port, [kinds[index % 3] for index in range(500)])
        by_operation = [
            here.primary.count(path_of(name)) for name in ("decode", "renainf", "renajud")
        ]
        yield Figure(
            f"500 misses of one plate at once, upstream of {delay_s:g} s",
            "1 call an operation, 0 failed",
            f"{max(by_operation)} call, {failed(answers)} failed, all by "
            f"{max(answer.seconds for answer in answers):.1f} s",
            by_operation == [1, 1, 1] and not failed(answers) and here.ledger_agrees(),
        )


def both_fail() -> Iterator[Figure]:
    with scene() as here:
        for each in (here.primary, here.secondary):
            each.default(faults.slow_first_byte(0.5, faults.status(500)))
        answers = together(here.server.port, lookups(["ABC1D23"] * 500))
        after = max(answer.seconds for answer in answers) - 1.0
        yield Figure(
            "500 at once, both bases answer 500 after 0.5 s",
            "2 calls, all within 2 s of the failure",
            f"{here.calls} calls, {after:.2f} s after it",
            here.calls <= 2 and after <= 2 and all(each.status == 502 for each in answers),
        )


def primary_dies(death: str, fault: Fault | None) -> Iterator[Figure]:
    with scene() as here:
        names = plates(2000)
        asks = lookups([names[number * 7919 % 2000] for number in range(10_000)])

        def inject_fault() -> None:
            here.primary.wait_for_calls(800, 120)
            if fault is None:
                here.primary.stop()
            else:
                here.primary.default(fault)

        fault_thread = threading.Thread(target=inject_fault)
        fault_thread.start()
        started = time.monotonic()
        answers = in_turn(here.server.port, asks, clients=64)
        seconds = time.monotonic() - started
        fault_thread.join()
        agrees = here.ledger_agrees(died=fault is None)
        yield Figure(
            f"10,000 requests, 2,000 plates, 64 connections; at 40 % the primary {death}",
            f"0 failed, at most 2,064 calls and a probe each {COOLDOWN_S:.0f} s",
            f"{failed(answers)} failed, {here.calls} calls, {seconds:.0f} s"
            + ("" if agrees else ", the ledger differs"),
            not failed(answers) and here.calls <= 2064 + seconds // COOLDOWN_S and agrees,
        )


def both_refused() -> Iterator[Figure]:
    with scene(FRESH_DECODE="0") as here:
        known, unknown = lookups(plates(100)), lookups(plates(300)[200:])
        in_turn(here.server.port, known, clients=8)
        here.primary.stop()
        here.secondary.stop()
        in_turn(here.server.port, unknown[:20], clients=4)
        stale = in_turn(here.server.port, known, clients=8)
        cold = in_turn(here.server.port, unknown[20:], clients=1)
        yield Figure(
            "both bases refuse: plates with a stale copy",
            "all answered",
            f"{failed(stale)} of {len(stale)} failed",
            not failed(stale),
        )
        slowest = max(answer.seconds for answer in cold) * 1000
        yield Figure(
            "both bases refuse: the rest",
            "503 within 50 ms",
            f"slowest {slowest:.0f} ms",
            slowest <= 50 and {answer.status for answer in cold} == {503},
        )


def hits_beside_hanging_lookups() -> Iterator[Figure]:
    with scene() as here:
        known = lookups(plates(50))
        for _ in range(2):
            in_turn(here.server.port, known * 4, clients=16)
        for each in (here.primary, here.secondary):
            each.default(faults.hang())
        hanging = lookups([f"XYZ{n % 10}K{n % 100:02}" for n in range(200)])
        crowd = threading.Thread(target=together, args=(here.server.port, hanging))
        crowd.start()
        here.primary.wait_for_calls(51, 30)
        time.sleep(0.5)
        answers = in_turn(here.server.port, known * 40, clients=8)
        yield Figure(
            "2,000 hits beside 200 lookups that hang",
            "0 failed, p99 at most 100 ms",
            f"{failed(answers)} failed, p99 {p99_ms(answers):.0f} ms",
            not failed(answers) and p99_ms(answers) <= 100,
        )
        here.primary.stop()
        here.secondary.stop()
        crowd.join()


def a_bomb() -> Iterator[Figure]:
    with scene(workers=1) as here:
        in_turn(here.server.port, lookups(plates(20)), clients=4)
        before = max(here.server.resident_bytes().values())
        for each in (here.primary, here.secondary):
            each.default(faults.gzip_bomb(300))
        answer = one(here.server.port, lookups(["DEF4G56"])[0])
        growth = (max(here.server.resident_bytes().values()) - before) / MIB
        yield Figure(
            "a gzip bomb of 300 MiB",
            "at most 32 MiB of growth",
            f"{growth:.1f} MiB, status {answer.status}",
            growth <= 32 and answer.status in (502, 504),
        )


def redis_dies() -> Iterator[Figure]:
    with (
        RedisProcess() as redis,
        scene(REDIS_URL=redis.url, SECRET_KEY="shared by the bench") as here,
    ):
        known = lookups(plates(100))
        for _ in range(5):
            together(here.server.port, known * 4)
        answers: list[Answer] = []
        traffic = threading.Thread(
            target=lambda: answers.extend(in_turn(here.server.port, known * 100, clients=32))
        )
        traffic.start()
        time.sleep(0.5)
        redis.kill()
        time.sleep(1)
        redis.start()
        traffic.join()
        more = here.calls - 100
        yield Figure(
            "Redis killed and restored in 10,000 warm requests",
            "0 failed",
            f"{failed(answers)} failed, {more} paid again",
            not failed(answers),
        )


SCENES: Sequence[Callable[[], Iterator[Figure]]] = (
    lambda: one_plate(0.5),
    lambda: one_plate(7.0),
    both_fail,
    lambda: primary_dies("is killed", None),
    lambda: primary_dies("hangs", faults.hang()),
    lambda: primary_dies("resets", faults.reset_before_a_byte()),
    lambda: primary_dies("answers 500", faults.status(500)),
    both_refused,
    hits_beside_hanging_lookups,
    a_bomb,
    redis_dies,
)


def main() -> int:
    """Print a table of guarantees and measured values."""
    kept = True
    print("| what happens | promised | measured | |\n|---|---|---|---|")
    for run_scene in SCENES:
        for figure in run_scene():
            kept &= figure.kept
            mark = "kept" if figure.kept else "BROKEN"
            print(f"| {figure.what} | {figure.limit} | {figure.measured} | {mark} |", flush=True)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
