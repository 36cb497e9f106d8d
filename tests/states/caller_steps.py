"""Steps of callers: single and concurrent lookups, pages and their forms."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from tests.states.checks import WRITTEN_BY_A_PAGE, CheckedHistory
from tests.states.model import Ask, Caller, Reply, Spend
from tests.states.numbered import KINDS, NumberedUpstream


class CallerSteps(CheckedHistory):
    """A history with steps of callers."""

    def look_up(self, who: Caller, ask: Ask, directive: Spend = "") -> Reply:
        """Make one lookup and check its reply."""
        self._expect(who, ask.key, directive)
        reply = self.world.json(who, ask, directive)
        self._check_reply(who, ask, directive, reply, alone=True)
        self.settle()
        return reply

    def look_up_together(self, asks: Sequence[tuple[Caller, Ask]]) -> list[Reply]:
        """Make all lookups at the same time.

        ``settle`` checks that the upstream is called only once for each distinct lookup.
        """
        for who, ask in asks:
            self._expect(who, ask.key, "")
        with ThreadPoolExecutor(len(asks)) as pool:
            replies = list(pool.map(lambda each: self.world.json(*each), asks))
        for (who, ask), reply in zip(asks, replies, strict=True):
            self._check_reply(who, ask, "", reply, alone=False)
        self.settle()
        return replies

    def look_up_under(
        self, kind: str, upstream: NumberedUpstream, asks: Iterable[tuple[Caller, Ask]]
    ) -> None:
        """Make lookups; the first suitable one gets an upstream answer of ``kind``."""
        upstream.armed.append(KINDS[kind])
        try:
            for who, ask in asks:
                self.look_up(who, ask)
        finally:
            upstream.armed.clear()

    def page(self, person: str, plate: str, whole: bool = True) -> Reply:
        """Open a vehicle's page, which makes all three lookups if ``whole`` is set."""
        who = self._reader(person)
        if whole:
            self._expect_all(who, plate)
        reply = self.world.page(person, f"/placa/{plate}" + ("?completo=1" if whole else ""))
        self._check_page(person, {plate}, reply)
        self.settle()
        return reply

    def act(self, person: str, plate: str, action: str) -> None:
        """Post ``atualizar`` (refresh) or ``laudo`` (report), then open the page."""
        who = self._reader(person)
        self._expect_all(who, plate, "no-cache" if action == "atualizar" else "")
        if who is not None and action == "laudo":
            self._expect(who, WRITTEN_BY_A_PAGE, "")
        reply = self.world.form(person, "/", f"/placa/{plate}/{action}")
        self._check_page(person, {plate}, reply)
        self.settle()
        self.page(person, plate, whole=False)

    def dossier(self, person: str, plate: str) -> None:
        """Open the printable dossier."""
        self._expect_all(self._reader(person), plate)
        reply = self.world.page(person, f"/placa/{plate}/dossie")
        self._check_page(person, {plate}, reply)
        self.settle()

    def sign_in(self, who: Caller) -> bool:
        done = self.world.sign_in(who)
        self.settle()
        return done
