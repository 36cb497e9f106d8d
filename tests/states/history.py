"""Histories: backups and restores, and compound steps around an outage or an expiry."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from tests.states.declared import Line, Values
from tests.states.declaring_steps import DeclaringSteps
from tests.states.model import Caller, Violation
from tests.states.numbered import EMPTY, GOOD, KINDS

POLL_S = 0.03


@dataclass(frozen=True, eq=False)
class Backup:
    """A backup, and what the portal knew at its begin."""

    file: Path
    began_at: float
    batches: tuple[str, ...]
    dossiers: tuple[str, ...]
    issued: Mapping[str, Caller]
    counted: dict[str, int]  # the calls that each upstream had received
    declared: Mapping[Line, Values]


class History(DeclaringSteps):
    """All steps of a history. A Violation ends the history."""

    kept: Backup | None = None

    # Backups

    def back_up(self) -> None:
        began_at = time.time()
        counted = {each.name: len(each.answers) for each in self.world.upstreams}
        file = self.world.portal.directory / f"backup-{began_at}"
        code, printed = self.world.command("backup", str(file))
        if code != 0:
            raise Violation("a backup can be made", printed[-300:])
        self.kept = Backup(
            file,
            began_at,
            tuple(each.id for each in self.batches),
            tuple(each.number for each in self.dossiers),
            dict(self.issued),
            counted,
            self.declared.snapshot(),
        )
        self.settle()

    def back_up_within_a_batch(self, owner: Caller, plates: list[str]) -> None:
        """Make a backup during a batch, which its owner cancels afterwards."""
        batch = self.new_batch(owner, plates)
        with self.held():
            if batch is not None:
                self.start_until_asked(batch)
            self.back_up()
            if batch is not None:
                self.change_batch(batch, "cancel")
        self.settle()

    def restore(self, purges_of: bool) -> None:
        """Restore the backup into an empty data directory, and start.

        With ``purges_of``, the command learns the later purges and revocations from the former
        directory. Without it, the operator repeats them, as the command says.
        """
        assert self.kept is not None
        portal = self.world.portal
        code = portal.stop()
        if code != 0:
            raise Violation("SIGTERM ends the server in order", f"exit code {code}")
        self.settle()
        former = portal.directory / f"former-{time.time()}"
        portal.data_dir.rename(former)
        later = ("--purges-of", str(former)) if purges_of else ()
        code, printed = self.world.command("restore", str(self.kept.file), *later)
        if code != 0:
            raise Violation("a backup can be restored", printed[-300:])
        self._forget_what_is_lost(self.kept)
        self.declared.restore(self.kept.declared, knows_later=purges_of)
        if not purges_of:
            self._repeat_what_was_ended(self.kept)
        portal.start()
        self.disturbed = False
        self.wait(1.0)  # in which a restored batch would go on
        self.read_batches()
        self.open_dossiers()
        self.read_declared()

    def _forget_what_is_lost(self, kept: Backup) -> None:
        self._of_batches.clear()
        if self.world.redis is None:  # the backup holds the answers
            for answer in self.model.answers():
                if answer.known_by is None or answer.known_by >= kept.began_at:
                    answer.forget_stored()
        self.batches = [each for each in self.batches if each.id in kept.batches]
        for batch in self.batches:
            # A restored batch asks nothing before its owner starts it again.
            batch.asks_until = min(batch.asks_until, time.time())
            batch.charged = Decimal(0)
        for dossier in self.dossiers:
            if dossier.number not in kept.dossiers:
                dossier.ended = dossier.ended or "lost"
        for name, who in list(self.issued.items()):
            if kept.issued.get(name) != who:
                # The portal has never heard of this token. In pass-through mode it cannot tell the
                # token from a caller's own credential.
                self.model.revoked_at[self.issued.pop(name).text] = 0.0
        rows = self.world.ledger()
        for upstream in self.world.upstreams:
            words = [word for word, each in self.env.upstreams.items() if each is upstream]
            booked = sum(row["origin"] in words for row in rows)
            counted, before = len(upstream.answers), self.lost_rows[upstream.name]
            if words and booked < kept.counted[upstream.name] - before:
                context = f"{booked} rows, {kept.counted[upstream.name]} calls before the backup"
                raise Violation("a backup holds the whole ledger", context)
            self.lost_rows[upstream.name] = counted - booked
            self.exact[upstream.name] &= bool(words)

    def _repeat_what_was_ended(self, kept: Backup) -> None:
        for purged_at, subjects in self.purges:
            if purged_at > kept.began_at:
                for subject in sorted(subjects):
                    code, printed = self._purge(subject, {})
                    if code != 0:
                        raise Violation("a purge is done", printed[-300:])
        for name, who in kept.issued.items():
            if who.text in self.model.revoked_at:
                settings = self.world.envs[who.issued_in].settings
                self.world.command("token", "revoke", name, **settings)
        for dossier in self.dossiers:
            if dossier.number in kept.dossiers and dossier.ended == "revoked":
                settings = self.world.envs[dossier.env].settings
                self.world.command("dossier", "revoke", dossier.number, **settings)

    # Outages

    def redis_outage(self, pause: bool) -> None:
        """Check that lookups are answered and a purge fails while Redis is unreachable."""
        who, ask = self.callers()[0], self.world.ask
        self.heal()
        for plate in self.world.plates[:2]:
            self.look_up(who, ask("decode", plate))
        self.redis_away(pause)
        for plate in self.world.plates:
            self.look_up(who, ask("decode", plate))
        self.purge(self.world.plates[0])
        self.redis_back()
        for plate in self.world.plates:
            self.look_up(who, ask("decode", plate))

    # Expiry

    def look_up_around_expiry(self, cut: bool) -> None:
        """Look up empty lists and reports, and read a batch, around the end of their freshness.

        The upstreams fail meanwhile, but the portal may not serve these answers stale, or infer
        from them that nothing is recorded.
        """
        who, world = self.callers()[0], self.world
        upstreams = list(self.env.upstreams.values())
        for upstream in upstreams:
            upstream.standing = EMPTY
        states = self.chance.sample(["AC", "AL", "AM", "BA", "CE", "GO", "MA", "MT", "PA"], 2)
        asks = [world.ask("renainf", plate, uf) for plate in world.plates for uf in states]
        asks += [
            world.ask("report", plate, data=self.chance.randrange(10**9)) for plate in world.plates
        ]
        for ask in asks:
            self.look_up(who, ask)
        if batch := self.new_batch(who, world.plates):
            self.start_batch(batch)
            self.quiet()
        for upstream in upstreams:
            upstream.standing = KINDS["status 500"]
            if cut:
                self.stop_upstream(upstream)
        due = [
            (ask, answer) for ask in asks if (answer := self.model.latest(self.env, who, ask.key))
        ]
        while due:
            now = time.time()
            near = []
            for ask, answer in due:
                age, fresh_s = now - answer.sent_at, self.model.lifetime(answer).fresh_s
                if age < fresh_s + 0.2:
                    near.append((ask, answer))
                if fresh_s * 0.88 < age and answer.outcome == "good":
                    self.look_up(who, ask)
            due = near
            if batch is not None:
                self.check_results(batch)
            time.sleep(POLL_S)
        for upstream in upstreams:
            upstream.standing = GOOD
        self.heal()
