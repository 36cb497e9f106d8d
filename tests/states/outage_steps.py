"""Steps that disturb a portal: upstream faults, restarts, kills, Redis outages."""

import math
import shutil
import time
from concurrent.futures import Future, ThreadPoolExecutor

from portal.upstream.breaker import COOLDOWN_S
from portal.vehicle.plate import STATES
from tests.states.model import Ask, Caller, Env, Reply, Violation
from tests.states.numbered import GOOD, KINDS, NumberedUpstream
from tests.states.owner_steps import OwnerSteps
from tests.states.world import EACH_WORKER, restart


class OutageSteps(OwnerSteps):
    """A history with steps that disturb the portal."""

    def set_answer(self, kind: str, upstream: NumberedUpstream) -> None:
        """Set the answer of an upstream from now on."""
        upstream.standing = KINDS[kind]

    def kill_plate(self, plate: str) -> None:
        """Let every base address fail for a vehicle from now on."""
        for upstream in self.world.upstreams:
            upstream.dead.add(plate)

    def slow_primary(self, lookups: int) -> None:
        """Let the primary address hang while a lookup comes now and then.

        Each lookup is answered by the other address. Once the circuit is open, its rest before a
        probe doubles with each failed probe, so that few lookups are paid for at both.
        """
        self.heal()
        self.world.primary.standing = KINDS["hang"]
        self._trouble()
        who = self.callers()[0]
        subjects = (*self.world.plates, self.world.renavam)
        for subject in subjects:
            self._answered_beside_outage(who, subject)
        asked, since = len(self.world.primary.answers), time.monotonic()
        for subject in subjects[:lookups]:
            self.wait(COOLDOWN_S + 0.2)
            self._answered_beside_outage(who, subject)
        waited = time.monotonic() - since
        probes = len(self.world.primary.answers) - asked
        # Rests of 5, 10, 20 … s: after n of them, 5 * (2 ** n - 1) s have passed.
        most = int(math.log2(waited / COOLDOWN_S + 1))
        if probes > most:
            what = f"{probes} probes in {waited:.1f} s, of {lookups} lookups"
            raise Violation("a hanging address is probed more and more rarely", what)
        self.heal()

    def _answered_beside_outage(self, who: Caller, subject: str) -> None:
        # A report has one address, because it may be paid for twice.
        ask = self.world.ask("renainf", subject, self.chance.choice(sorted(STATES)))
        reply = self.look_up(who, ask, "no-cache")
        if reply.status != 200:
            raise Violation("the other address answers", f"{ask}: {reply.status}")

    def stop_upstream(self, upstream: NumberedUpstream) -> None:
        upstream.fake.stop()
        upstream.cut = True
        self._trouble()

    def heal(self) -> None:
        """Make every upstream answer correctly, and check that the portal recovers within 20 s."""
        for upstream in self.world.upstreams:
            restart(upstream.fake)
            upstream.standing = GOOD
            upstream.armed.clear()
            upstream.dead.clear()
        if self.env.mode == "demo":
            return
        self._trouble()
        who, ends_at = self.callers()[0], time.monotonic() + 20
        while True:
            ask = self._new_report()
            if self.look_up(who, ask).status == 200:
                break
            if time.monotonic() > ends_at:
                raise Violation("after each fault the next clean request is answered", str(ask))
            time.sleep(0.5)

    def restart(self, under_way: bool = False) -> None:
        """Stop with SIGTERM and start again. A lookup in progress must be answered."""
        self._end_and_start(self.env, under_way)

    def switch(self, name: str) -> None:
        """Restart with other settings on the same DATA_DIR."""
        self._end_and_start(self.world.envs[name], under_way=False)

    def _end_and_start(self, env: Env, under_way: bool) -> None:
        waiting: list[tuple[Caller, Ask, Future[Reply]]] = []
        with ThreadPoolExecutor(4) as pool:
            if under_way and self.env.mode != "demo":
                waiting = self._held(pool, self.callers()[0])
            stopping = pool.submit(self.world.portal.stop)
            if waiting:
                time.sleep(0.3)
            for upstream in self.world.upstreams:
                upstream.gate.set()
            code = stopping.result()
        if code != 0:
            raise Violation("SIGTERM ends the server in order", f"exit code {code}")
        for who, ask, reply in waiting:
            if reply.result().status == 0:
                raise Violation("SIGTERM loses no lookup under way", str(ask))
            self._check_reply(who, ask, "", reply.result(), alone=True)
        self.settle()
        self.world.env = env
        self.world.portal.use_settings(env.settings)
        self.world.portal.start()
        self.disturbed = False
        self.settle()

    def kill_worker(self, under_way: bool = False) -> None:
        """Kill a worker with SIGKILL.

        The portal may repeat a call in progress, and its lookup may stay unanswered.
        """
        self._killed = True
        self._of_batches.clear()
        for upstream in self.env.upstreams.values():
            self.exact[upstream.name] &= not under_way
        with ThreadPoolExecutor(4) as pool:
            waiting = []
            if under_way and self.env.mode != "demo":
                waiting = self._held(pool, self.callers()[0])
            self.world.portal.kill_worker()
            for upstream in self.world.upstreams:
                upstream.gate.set()
            for who, ask, reply in waiting:
                if reply.result().status:
                    self._check_reply(who, ask, "", reply.result(), alone=False)
        self.world.wait_for_workers()
        self.settle()

    def kill_batches(self) -> None:
        """Kill the process that runs batches, which is replaced while there is work."""
        pid = self.world.portal.batch_pid()
        if pid is not None:
            self._killed = True
            self._of_batches.clear()
            for upstream in self.env.upstreams.values():
                self.exact[upstream.name] = False
            self.world.portal.kill_worker(pid)
        self.settle()

    def _held(
        self, pool: ThreadPoolExecutor, who: Caller, plate: str | None = None
    ) -> list[tuple[Caller, Ask, Future[Reply]]]:
        """Start a lookup that waits until the test opens the upstreams' gates."""
        self._trouble()  # the lookup may time out at its deadline
        upstreams = list(self.env.upstreams.values())
        before = sum(len(each.answers) for each in upstreams)
        for each in upstreams:
            each.gate.clear()
        ask = self._new_report(plate)
        self._expect(who, ask.key, "")
        held = pool.submit(self.world.json, who, ask)
        ends_at = time.monotonic() + 5
        while not held.done() and time.monotonic() < ends_at:
            if sum(len(each.answers) for each in upstreams) > before:
                break
            time.sleep(0.01)
        return [(who, ask, held)]

    def _new_report(self, plate: str | None = None) -> Ask:
        """Return a lookup that no stored answer can satisfy."""
        number = self.chance.randrange(10**9)
        return self.world.ask("report", plate or self.world.plates[2], data=number)

    # Redis and files

    def redis_away(self, pause: bool) -> None:
        """Kill or suspend Redis. From then on, stored answers may be fetched again."""
        redis = self.world.redis
        assert redis is not None
        if pause:
            redis.pause()
        else:
            redis.kill()
        self.model.store_is_well = False
        self._of_batches.clear()
        self.model.forget_stored()

    def redis_back(self) -> None:
        """Resume or restart Redis, and wait until the portal stores answers in it."""
        redis = self.world.redis
        assert redis is not None
        if redis.is_running:
            redis.resume()
        else:
            redis.start()
        self.heal()
        ends_at, stored = time.monotonic() + 30, 0
        while stored < EACH_WORKER:
            who, ask = self.callers()[0], self._new_report()
            is_stored = "stored" in self.look_up(who, ask).cache_status
            stored = stored + 1 if is_stored else 0
            if time.monotonic() > ends_at:
                raise Violation("Redis is used again after its return", str(ask))
        self.model.store_is_well = True

    def remove_leases(self) -> None:
        """Remove the portal's lease files, as a clean-up job might do."""
        for folder in self.world.portal.data_dir.rglob("leases"):
            shutil.rmtree(folder, ignore_errors=True)
