"""A model of the answers that each caller may receive from the portal.

The checks do not depend on the machine's speed. The portal received an answer between ``sent_at``
and ``known_by``. Where the portal may be in either of two states at a measured time, the model
allows both.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tests.fakes.answers import Operation
from tests.states.numbered import MARK, Answer, Key, NumberedUpstream

JITTER = 0.10
REJECTED_FRESH_S = 600.0
PURGE_REACHES_S = 1.2
REVOCATION_REACHES_S = 5.0
FAILURE_SHARED_S = 2.5
# Seconds after a failure in which the portal may reject calls. An open breaker rejects them for
# 5 s, and the rest is a margin.
TROUBLE_S = 9.0
# Beyond so many requests with an unknown token in so many seconds, the portal answers 429.
WRONG_TOKENS = ((30, 60.0), (300, 3600.0))

Mode = Literal["managed", "pass-through", "demo"]
Spend = Literal["", "no-cache", "only-if-cached"]


class Violation(Exception):
    """A broken invariant of the portal; ``promise`` names the invariant."""

    def __init__(self, promise: str, detail: str) -> None:
        super().__init__(f"{promise}: {detail}")
        self.promise = promise


@dataclass(frozen=True)
class Caller:
    """A caller with a portal token or an upstream credential.

    ``issued_in`` names the ``Env`` that issued the token. Another ``Env`` may reject the token.
    """

    name: str
    text: str
    is_token: bool
    scopes: frozenset[str] = frozenset({"decode", "renainf", "renajud", "report", "refresh"})
    issued_in: str = ""


@dataclass(frozen=True)
class Lifetime:
    fresh_s: float
    stale_s: float


@dataclass(frozen=True)
class Env:
    """One configuration of the portal. All configurations share one DATA_DIR."""

    name: str
    mode: Mode
    settings: Mapping[str, str]
    upstreams: Mapping[str, NumberedUpstream]  # by name in the ledger: primary, secondary
    operator: str = ""


@dataclass(frozen=True)
class Ask:
    """A lookup through the portal's JSON API."""

    operation: Operation
    subject: str
    key: Key
    body: bytes | None = None


@dataclass(frozen=True)
class Reply:
    status: int
    body: bytes
    headers: Mapping[str, str]
    asked_at: float
    ended_at: float

    @property
    def cache_status(self) -> str:
        return self.headers.get("cache-status", "")


@dataclass
class Model:
    """All answers that the upstreams have sent, and who may receive them."""

    lifetimes: Mapping[Operation, Lifetime]
    upstreams: Sequence[NumberedUpstream]
    revoked_at: dict[str, float] = field(default_factory=dict)
    trouble_until: float = 0.0
    store_is_well: bool = True
    # When the replies to requests with an unknown token (401) had come.
    wrong_tokens: list[float] = field(default_factory=list)

    def forget_stored(self, subjects: Collection[str] | None = None) -> None:
        """Stop expecting these vehicles' answers in the store; None means all vehicles."""
        for answer in self.answers():
            if subjects is None or answer.subject in subjects:
                answer.forget_stored()

    def answers(self) -> Iterable[Answer]:
        for upstream in self.upstreams:
            yield from upstream.answers

    def lifetime(self, answer: Answer) -> Lifetime:
        if answer.outcome == "rejected":
            return Lifetime(REJECTED_FRESH_S, 0)
        terms = self.lifetimes[answer.operation]
        return Lifetime(terms.fresh_s / 4, 0) if answer.empty else terms

    def surely_fresh(self, answer: Answer, until: float) -> bool:
        return until < answer.sent_at + self.lifetime(answer).fresh_s * (1 - JITTER)

    def surely_past(self, answer: Answer, since: float, seconds: float) -> bool:
        return answer.known_by is not None and since > answer.known_by + seconds

    def latest(self, env: Env, who: Caller, key: Key) -> Answer | None:
        """Return the newest upstream answer to a caller's lookup, or None."""
        own = [
            each
            for each in self.answers()
            if each.key == key
            and each.env == env.name
            and each.outcome in ("good", "rejected")
            and each.credential == credential(env, who)
        ]
        return max(own, key=lambda each: each.received_at, default=None)

    def kept_fresh(self, env: Env, who: Caller, key: Key, until: float) -> Answer | None:
        """Return the stored answer that a caller must receive at ``until``, or None."""
        last = self.latest(env, who, key)
        if last is None or last.stored_by > until or last.purged_at is not None:
            return None
        return last if self.surely_fresh(last, until) else None

    def may_refuse(self, env: Env, who: Caller) -> bool:
        """Return whether the portal may answer 401 or 403 to whatever a caller asks.

        In pass-through mode, this includes every token that the portal has issued.
        """
        is_known = who.is_token == (env.mode != "pass-through") and env.mode != "demo"
        return not is_known or who.text in self.revoked_at or who.issued_in not in ("", env.name)

    def refuses(self, env: Env, who: Caller, reply: Reply) -> bool:
        """Return whether a reply refuses a caller as the portal may.

        The portal answers an unknown token with 429 only after too many of them.
        """
        if reply.status not in (401, 403, 429) or not self.may_refuse(env, who):
            return False
        return reply.status != 429 or any(
            sum(at > reply.asked_at - window_s for at in self.wrong_tokens) >= most
            for most, window_s in WRONG_TOKENS
        )

    def check_paid_once(
        self, answer: Answer, of_step: Collection[Answer], step_began_at: float
    ) -> None:
        """Check that a call was not sent while the portal had its answer.

        ``of_step`` are the answers of the same step, whose calls are made once. An answer of an
        earlier step was surely stored only if a reply had shown it before the step: a process may
        keep an answer that the store has lost, and give it back to the store beside the call.
        """
        before = [
            each
            for each in self.answers()
            if each is not answer
            and (each.key, each.env, each.credential) == (answer.key, answer.env, answer.credential)
            and (each.sent_at or each.received_at) < answer.received_at
            and (each.outcome == "rejected" or each.sent_at)
        ]
        last = max(before, key=lambda each: each.received_at, default=None)
        if last is None or last.purged_at is not None:
            return
        was_stored = last.stored_by <= step_began_at or last in of_step
        if was_stored and self.surely_fresh(last, answer.received_at):
            raise Violation("a good answer is paid once a lifetime", f"{last}, again: {answer}")

    def check_knowledge(
        self, env: Env, who: Caller | None, answer: Answer, asked_at: float
    ) -> None:
        """Check that a caller may receive an answer."""
        if env.mode == "demo":
            raise Violation("demo shows no real answer", str(answer))
        if answer.upstream not in env.upstreams.values():
            raise Violation("upstreams share no answer", f"{env.name} shows {answer}")
        if who is None or who.is_token != (env.mode == "managed"):
            raise Violation("a stranger is shown nothing", f"{env.name} shows {answer}")
        if answer.credential != credential(env, who):
            raise Violation("no other caller's answer", f"{who.name} is shown {answer}")
        if answer.operation not in who.scopes:
            raise Violation("no answer out of scope", f"{who.name} is shown {answer}")
        if asked_at > self.revoked_at.get(who.text, asked_at) + REVOCATION_REACHES_S:
            raise Violation("a revoked token gets nothing after 5 s", f"{who.name}: {answer}")
        if answer.outcome != "good":
            raise Violation("no bad answer is relayed", str(answer))
        if answer.purged_at is not None and asked_at > answer.purged_at + PURGE_REACHES_S:
            late = asked_at - answer.purged_at
            raise Violation("nothing purged is served", f"{answer}, {late:.1f} s after its purge")

    def check_page(self, env: Env, who: Caller | None, subjects: set[str], reply: Reply) -> None:
        """Check that a page shows only unexpired answers that its reader may receive."""
        by_needle = {each.needle: each for each in self.answers() if each.needle}
        for match in MARK.finditer(reply.body):
            answer = by_needle.get(match[0])
            if answer is None:
                raise Violation("a page shows answers alone", f"unknown number {match[0]!r}")
            if answer.subject not in subjects:
                raise Violation("no other vehicle's answer", f"page of {subjects}: {answer}")
            self.check_knowledge(env, who, answer, reply.asked_at)
            terms = self.lifetime(answer)
            if self.surely_past(answer, reply.asked_at, terms.fresh_s + terms.stale_s + 1):
                raise Violation("a page shows nothing past its retention", str(answer))
            for needle in answer.made_of:
                source = by_needle.get(needle)
                if source is not None and who is not None and source.operation not in who.scopes:
                    raise Violation(
                        "no report made of answers out of scope", f"{who.name}: {answer}, {source}"
                    )

    def check_success(
        self, env: Env, who: Caller, ask: Ask, directive: Spend, reply: Reply, alone: bool
    ) -> None:
        """Check a 200 of the JSON API.

        ``alone`` means that no other request was in progress.
        """
        answer = next((each for each in self.answers() if each.body == reply.body), None)
        if env.mode == "demo":
            if answer is not None:
                raise Violation("demo shows no real answer", str(answer))
            return
        if answer is None:
            numbers = [match[0] for match in MARK.finditer(reply.body)]
            raise Violation(
                "bytes equal the upstream's",
                f"{env.name}, {ask.operation} {ask.subject}, {reply.cache_status!r}: "
                f"{numbers or reply.body[:120]!r} is no answer of an upstream",
            )
        if answer.key != ask.key:
            raise Violation(
                "no other vehicle's answer",
                f"{ask.operation} {ask.subject} ({reply.cache_status}) is given {answer}",
            )
        self.check_knowledge(env, who, answer, reply.asked_at)
        self._check_age(answer, directive, reply, alone)
        if self.store_is_well and re.search("hit|stored", reply.cache_status):
            answer.note_stored(reply.ended_at)

    def _check_age(self, answer: Answer, directive: Spend, reply: Reply, alone: bool) -> None:
        terms, status = self.lifetime(answer), reply.cache_status
        context = f"{answer} as {status!r} at {reply.asked_at:.2f}"
        if "; hit" in status:
            if self.surely_past(answer, reply.asked_at, terms.fresh_s):
                raise Violation("no hit past the end of freshness", context)
        elif "fwd=stale" in status:
            if self.surely_past(answer, reply.asked_at, terms.fresh_s + terms.stale_s):
                raise Violation("nothing is served past its stale time", context)
            # After a failed no-cache refresh, the portal may serve a stored answer that is fresh.
            if not terms.stale_s and alone and directive != "no-cache":
                what = "an empty list" if answer.empty else f"a {answer.operation} without one"
                raise Violation("no stale answer without a stale time", f"{what}: {context}")
        elif "collapsed" not in status and answer.received_at < reply.asked_at:
            raise Violation("a miss is asked for now", context)

    def check_failure(
        self, env: Env, who: Caller, ask: Ask, directive: Spend, reply: Reply, alone: bool
    ) -> None:
        """Check that the JSON API had a reason for a status other than 200."""
        context = f"{env.name}, {who.name}, {ask.operation} {ask.subject}: {reply.status}"
        context += f" {reply.body[:80]!r}"
        recent = [
            each
            for each in self.answers()
            if each.key == ask.key
            and (each.known_by or reply.asked_at) > reply.asked_at - FAILURE_SHARED_S
            and each.env == env.name
        ]
        outcomes = {each.outcome for each in recent}
        kept = self.kept_fresh(env, who, ask.key, reply.ended_at) if alone else None
        match reply.status:
            case _ if self.refuses(env, who, reply):
                return
            case 401 | 403 if ask.operation not in who.scopes:
                return
            case 401 | 403 if env.mode == "pass-through" and outcomes & {"refused"}:
                return
            case _ if kept is not None and kept.outcome == "good" and directive != "no-cache":
                raise Violation("what is stored and fresh is served", f"{context}: {kept}")
            case 400 | 404:
                # The portal remembers both for ten minutes.
                outcome = "rejected" if reply.status == 400 else "absent"
                rejected = [
                    each
                    for each in self.answers()
                    if each.key == ask.key
                    and each.outcome == outcome
                    and each.env == env.name
                    and each.received_at > reply.asked_at - REJECTED_FRESH_S
                ]
                for each in rejected:
                    if alone and self.store_is_well:
                        each.note_stored(reply.ended_at)
                    each.sent_at = each.sent_at or each.received_at
                if rejected:
                    return
                raise Violation(f"a {reply.status} is the upstream's own", context)
            case 429 if env.mode == "pass-through" and "busy" in outcomes:
                return
            case 502 | 503 | 504:
                if env.mode == "demo" or reply.asked_at < self.trouble_until:
                    return
                if outcomes - {"good"}:
                    return
        if directive == "only-if-cached" and reply.status == 504:
            return
        raise Violation("a failure has a reason", context)


def credential(env: Env, who: Caller) -> str:
    """Return the credential that the portal sends upstream for a caller."""
    return env.operator if env.mode == "managed" else who.text
