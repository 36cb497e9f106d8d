"""Steps of owners who declare lines of the checklist, and of operators who rotate keys."""

import json
import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from tests.states.checks import OF_A_PLATE
from tests.states.declared import SETTLED, DeclaredModel, Line, Told
from tests.states.model import Caller, Reply, Violation
from tests.states.operator_steps import OperatorSteps

# The lines of these histories: two that a lookup may settle, and some that none does.
LINES = (*SETTLED, "gravame", "debitos", "roubo-e-furto", "certidoes-do-vendedor")
TOGETHER = 6  # declarations that are sent at the same time


class DeclaringSteps(OperatorSteps):
    """A history with declarations. Each is checked against a model of all owners."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.declared = DeclaredModel()
        super().__init__(*arguments, **options)

    # Declarations

    def declare(
        self,
        who: Caller,
        plate: str,
        states: Mapping[str, str],
        names: Collection[str] = (),
        person: str = "",
    ) -> None:
        """Declare lines of a vehicle, each as ``nothing``, ``something`` or ``unchecked``.

        ``names`` are plates in the declarations' texts. A ``person`` uses the form of the page.
        """
        told = {
            key: None if state == "unchecked" else self.declared.told(state, names)
            for key, state in states.items()
        }
        reply = self._send(who, plate, told, person)
        self._note_reply(who, plate, told, reply)
        self.settle()
        self.read_declared([who], [plate])

    def declare_together(self, who: Caller, plate: str, key: str) -> None:
        """Declare one line several times, and others, at the same moment."""
        others = [each for each in LINES if each not in SETTLED and each != key]
        keys = [key] * (TOGETHER - len(others)) + others
        sent = [{each: self.declared.told("something")} for each in keys]
        with ThreadPoolExecutor(len(sent)) as pool:
            replies = list(pool.map(lambda told: self._send(who, plate, told), sent))
        stored: set[str] = set()  # any of several may be the last
        for told, reply in zip(sent, replies, strict=True):
            self._note_reply(who, plate, told, reply, replaces=stored.isdisjoint(told))
            stored |= told.keys() if reply.status == 200 else set()
        self.settle()
        self.read_declared([who], [plate])

    def declare_beside_a_purge(self, who: Caller, plate: str) -> None:
        """Declare lines while the vehicle is purged, which may come before or after."""
        sent: list[tuple[dict[str, Told | None], Reply]] = []
        is_over = False

        def declare_until_its_end() -> None:
            while not is_over and len(sent) < 12:
                told: dict[str, Told | None] = {"gravame": self.declared.told("something")}
                sent.append((told, self._send(who, plate, told)))
                time.sleep(0.05)

        with ThreadPoolExecutor(1) as pool:
            declaring = pool.submit(declare_until_its_end)
            try:
                self.purge(plate)
            finally:
                is_over = True
                declaring.result()
        for told, reply in sent:
            if reply.status == 200:
                self.declared.put(self._line(who, plate, "gravame"), told["gravame"], surely=False)
        self.settle()
        self.read_declared([who], [plate])

    def read_declared(
        self, callers: Sequence[Caller] = (), plates: Sequence[str] = (), pages: bool = False
    ) -> None:
        """Read the lines of all callers, and compare them with the model."""
        for who in callers or self.callers():
            for plate in plates or self.world.plates:
                reply = self.world.request("GET", _path(plate), {"Authorization": who.text})
                self._check_lines(who, plate, reply)
        if pages:
            for person, (who, _, env) in list(self.world.people.items()):
                for plate in plates or self.world.plates:
                    reply = self.world.page(person, f"/placa/{plate}/folha")
                    if env == self.env.name and reply.status == 200:
                        self.declared.check_text(env, who.name, plate, reply.body)
        self.settle()

    def _send(
        self, who: Caller, plate: str, told: Mapping[str, Told | None], person: str = ""
    ) -> Reply:
        lines = [
            {
                "line": key,
                "state": one.state if one else "unchecked",
                "what": one.what if one else "",
            }
            for key, one in told.items()
        ]
        if not person:
            headers = {"Authorization": who.text, "Content-Type": "application/json"}
            body = json.dumps({"lines": lines}).encode()
            return self.world.request("PUT", _path(plate), headers, body)
        csrf, cookie = self.world.form_keys(person, f"/placa/{plate}/folha")
        fields = [("csrf_token", csrf)] + [pair for line in lines for pair in line.items()]
        headers = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
        action = f"/placa/{plate}/declarar"
        reply = self.world.request("POST", action, headers, urlencode(fields).encode())
        # 303 leads back to the sheet, or, for a person who was signed out, to the sign-in.
        is_done = reply.status == 303 and "/entrar" not in reply.headers.get("location", "")
        return replace(reply, status=200, body=b"") if is_done else reply

    def _note_reply(
        self,
        who: Caller,
        plate: str,
        told: Mapping[str, Told | None],
        reply: Reply,
        replaces: bool = True,
    ) -> None:
        lines = {key: self._line(who, plate, key) for key in told}
        context = f"{who.name}, {plate}: {told}, {reply.status} {reply.body[:300]!r}"
        match reply.status:
            case 200:
                self._check_refusals(who, plate, told, reply)
                for key, one in told.items():
                    self.declared.put(lines[key], one, surely=replaces)
            case 409:
                contrary = [key for key, one in told.items() if one and key in SETTLED]
                if not any(self._answers(who, plate, key) for key in contrary):
                    raise Violation("a declaration is refused for a record alone", context)
            case 0 if self._killed:
                for key, one in told.items():
                    self.declared.put(lines[key], one, surely=False)
            case 429 if self.model.refuses(self.env, who, reply):
                pass
            case 303 | 400 | 401 | 403 if self._may_not_declare(who):
                pass
            case _:
                raise Violation("a declaration is stored or refused", context)

    def _may_not_declare(self, who: Caller) -> bool:
        """Whether a caller may be refused: a token that may read no record declares none."""
        return self._may_refuse(who) or who.scopes.isdisjoint(OF_A_PLATE)

    def _check_refusals(
        self, who: Caller, plate: str, told: Mapping[str, Told | None], reply: Reply
    ) -> None:
        for key, one in told.items():
            state = self._recorded(who, plate, key, reply.ended_at)
            if one is not None and state not in ("", one.state):
                context = f"{who.name}, {plate}: {key} is {state}, and was declared {one.state}"
                raise Violation("a declaration against a record is refused", context)

    def _check_lines(self, who: Caller, plate: str, reply: Reply) -> None:
        if self.model.refuses(self.env, who, reply):
            return
        if reply.status in (401, 403) and self._may_not_declare(who):
            return
        if reply.status != 200:
            if reply.status == 0 and self._killed:
                return
            raise Violation("declared lines are read", f"{who.name}, {plate}: {reply.status}")
        shown = json.loads(reply.body)
        if not shown["readable"]:
            raise Violation("declared lines are read", f"{who.name}, {plate}: unreadable")
        for line in shown["lines"]:
            state = self._recorded(who, plate, line["line"], reply.ended_at)
            if state and (line["by"], line["state"]) != ("record", state):
                context = f"{who.name}, {plate}: {line}, recorded {state}"
                raise Violation("a recorded line never reads declared", context)
        self.declared.check(self.env.name, who.name, plate, shown["lines"])
        self.declared.check_text(self.env.name, who.name, plate, reply.body)

    def _recorded(self, who: Caller, plate: str, line: str, until: float) -> str:
        """Return what a stored answer surely says of a line, or "" if it may say nothing."""
        operation = SETTLED.get(line)
        if operation is None or operation not in who.scopes or not self.model.store_is_well:
            return ""
        if self._under_way or self.live_batches():
            return ""
        ask = self.world.ask(operation, plate)  # type: ignore[arg-type]
        answer = self.model.kept_fresh(self.env, who, ask.key, until)
        if answer is None or answer.outcome != "good":
            return ""
        return "nothing" if answer.empty else "something"

    def _answers(self, who: Caller, plate: str, line: str) -> bool:
        """Whether the portal may know a record of a line."""
        if self.env.mode == "demo":
            return True
        key = self.world.ask(SETTLED[line], plate).key  # type: ignore[arg-type]
        return self.model.latest(self.env, who, key) is not None

    def _line(self, who: Caller, plate: str, key: str) -> Line:
        return Line(self.env.name, who.name, plate, key)

    # Purges and keys

    def _purge(self, plate: str, settings: dict[str, str]) -> tuple[int, str]:
        code, printed = super()._purge(plate, settings)
        is_sure = code == 0 and self.env.mode != "demo"
        self.declared.purge(self._both_spellings(plate), surely=is_sure)
        return code, printed

    def rotate_key(self) -> None:
        """Restart under another secret key, which may still read what the former one wrote."""
        self.world.rotate_key()
        self.restart()
        self.read_declared(pages=True)

    def rotate_token(self, who: Caller) -> None:
        """Replace a token. The new one finds what its owner has declared."""
        code, printed = self.world.command("token", "rotate", who.name, "--overlap", "0")
        if code != 0:
            raise Violation("a token can be replaced", printed[-300:])
        self.model.revoked_at[who.text] = time.time()
        new = replace(who, text=printed.strip().splitlines()[-1])
        self.issued[who.name] = new
        self.world.people.pop(who.name, None)
        for batch in self.batches:
            if batch.owner is who:
                batch.owner = new
        self.settle()
        self.read_declared([new])


def _path(plate: str) -> str:
    return f"/api/v1/vehicles/{plate}/declared"
