"""What callers do: lookups one by one and together, pages and their forms."""

import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode

from tests.states.judge import WRITTEN_BY_A_PAGE, Judged
from tests.states.model import Ask, Env, Reply, Violation, Who, Wish
from tests.states.numbered import KINDS, NumberedUpstream

_CODE = re.compile(r"<p><code>([^<]{20,})</code></p>")


class Visited(Judged):
    """A judged portal with callers."""

    def look_up(self, who: Who, ask: Ask, wish: Wish = "") -> Reply:
        """One lookup alone, judged."""
        self._want(who, ask.key, wish)
        reply = self.world.json(who, ask, wish)
        self._judge(who, ask, wish, reply, alone=True)
        self.settle()
        return reply

    def look_up_together(self, asks: Sequence[tuple[Who, Ask]]) -> list[Reply]:
        """All at the same time. Coalescing is judged by ``settle``: a key is paid once."""
        for who, ask in asks:
            self._want(who, ask.key, "")
        with ThreadPoolExecutor(len(asks)) as pool:
            replies = list(pool.map(lambda each: self.world.json(*each), asks))
        for (who, ask), reply in zip(asks, replies, strict=True):
            self._judge(who, ask, "", reply, alone=False)
        self.settle(together=True)
        return replies

    def look_up_under(
        self, kind: str, upstream: NumberedUpstream, asks: Iterable[tuple[Who, Ask]]
    ) -> None:
        """Lookups of which the first that the kind applies to is answered that way."""
        upstream.armed.append(KINDS[kind])
        try:
            for who, ask in asks:
                self.look_up(who, ask)
        finally:
            upstream.armed.clear()

    def page(self, person: str, plate: str, whole: bool = True) -> Reply:
        """A vehicle's page: all three lookups, or the shell, which asks nothing."""
        who = self._reader(person)
        if whole:
            self._want_all(who, plate)
        reply = self.world.page(person, f"/placa/{plate}" + ("?completo=1" if whole else ""))
        self._judge_page(person, {plate}, reply)
        self.settle()
        return reply

    def act(self, person: str, plate: str, action: str) -> None:
        """``atualizar`` or ``laudo``, as the page's forms do, and the page that follows."""
        who = self._reader(person)
        self._want_all(who, plate, "no-cache" if action == "atualizar" else "")
        if who is not None and action == "laudo":
            self._want(who, WRITTEN_BY_A_PAGE, "")
        reply = self.world.form(person, "/", f"/placa/{plate}/{action}")
        self._judge_page(person, {plate}, reply)
        self.settle()
        self.page(person, plate, whole=False)

    def dossier(self, person: str, plate: str) -> None:
        """The printable dossier; the code on it is known where it was issued, and there alone."""
        self._want_all(self._reader(person), plate)
        reply = self.world.page(person, f"/placa/{plate}/dossie")
        self._judge_page(person, {plate}, reply)
        self.settle()
        if code := _CODE.search(reply.body.decode()):
            self.codes.append((self.env, code[1]))
        for env, issued in self.codes:
            self._check_code(env, issued)

    def _check_code(self, env: Env, code: str) -> None:
        page = self.world.request("GET", "/verificar?" + urlencode({"codigo": code}))
        is_known = "O código confere" in page.body.decode()
        told = f"a code of {env.name} at {self.env.name}"
        if env is self.env and not is_known:
            raise Violation("a dossier's code is known where it was issued", told)
        shares = set(env.upstreams.values()) & set(self.env.upstreams.values())
        if is_known and env is not self.env and not shares:
            raise Violation("upstreams share no dossier code", told)

    def sign_in(self, who: Who) -> bool:
        done = self.world.sign_in(who)
        self.settle()
        return done
