"""What happens around a portal: faults and outages, restarts, kills, Redis away and back."""

import shutil
import time
from concurrent.futures import Future, ThreadPoolExecutor

from tests.states.model import Ask, Env, Reply, Violation, Who
from tests.states.numbered import GOOD, KINDS, NumberedUpstream
from tests.states.visits import Visited
from tests.states.world import EACH_WORKER, restart


class Surrounded(Visited):
    """A portal with callers and a world that fails."""

    def stand(self, kind: str, upstream: NumberedUpstream) -> None:
        """From now on an upstream answers this way."""
        upstream.standing = KINDS[kind]

    def stop_upstream(self, upstream: NumberedUpstream) -> None:
        upstream.fake.stop()
        upstream.cut = True
        self._trouble()

    def heal(self) -> None:
        """Every upstream answers well; within 20 s so does the portal."""
        for upstream in self.world.upstreams:
            restart(upstream.fake)
            upstream.standing = GOOD
            upstream.armed.clear()
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

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)
        self.settle()

    def restart(self, under_way: bool = False) -> None:
        """SIGTERM and a new start; lookups under way are answered first."""
        self._end_and_start(self.env, under_way)

    def switch(self, name: str) -> None:
        """The same DATA_DIR under other settings."""
        self._end_and_start(self.world.envs[name], under_way=False)

    def _end_and_start(self, env: Env, under_way: bool) -> None:
        waiting: list[tuple[Who, Ask, Future[Reply]]] = []
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
            self._judge(who, ask, "", reply.result(), alone=True)
        self.settle()
        self.world.env = env
        self.world.portal.configure(env.settings)
        self.world.portal.start()
        self.disturbed = False
        self.settle()

    def kill_worker(self, under_way: bool = False) -> None:
        """SIGKILL; with a call under way it may be paid again, and no answer is promised."""
        self._killed = True
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
                    self._judge(who, ask, "", reply.result(), alone=False)
        self.world.wait_for_workers()
        self.settle(together=True)

    def _held(
        self, pool: ThreadPoolExecutor, who: Who, plate: str | None = None
    ) -> list[tuple[Who, Ask, Future[Reply]]]:
        """A lookup that waits for its upstream's answer until the gates are opened."""
        self._trouble()  # or until its time is up
        upstreams = list(self.env.upstreams.values())
        before = sum(len(each.answers) for each in upstreams)
        for each in upstreams:
            each.gate.clear()
        ask = self._new_report(plate)
        self._want(who, ask.key, "")
        held = pool.submit(self.world.json, who, ask)
        ends_at = time.monotonic() + 5
        while not held.done() and time.monotonic() < ends_at:
            if sum(len(each.answers) for each in upstreams) > before:
                break
            time.sleep(0.01)
        return [(who, ask, held)]

    def _new_report(self, plate: str | None = None) -> Ask:
        """A lookup that nothing stored can answer."""
        number = self.chance.randrange(10**9)
        return self.world.ask("report", plate or self.world.plates[2], data=number)

    # Redis and files

    def redis_away(self, pause: bool) -> None:
        """Killed, or silent. What was stored may be paid for again from here on."""
        redis = self.world.redis
        assert redis is not None
        if pause:
            redis.pause()
        else:
            redis.kill()
        self.model.store_is_well = False
        self.model.forget_stored()

    def redis_back(self) -> None:
        """Resumed with its contents, or started again without any."""
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
        """What a cleaner of temporary files may do to a running portal."""
        for folder in self.world.portal.data_dir.rglob("leases"):
            shutil.rmtree(folder, ignore_errors=True)
