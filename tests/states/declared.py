"""A model of what each owner has declared of the checklist's lines.

What a purge or a killed worker has left open has several possible values, until a reply shows one.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.states.model import Violation

# Unlike the numbers of answers, these have a letter, and no plate contains or is contained in one.
TEXT = re.compile(rb"declared no\. (\d+) ")
# The lines that the answers of these upstreams settle, by the lookup.
SETTLED = {"justica": "renajud", "multas": "renainf"}


@dataclass(frozen=True)
class Told:
    """A declaration. ``names`` are the plates in its text."""

    state: str
    number: int
    names: frozenset[str] = frozenset()

    @property
    def what(self) -> str:
        return f"declared no. {self.number} of {' and '.join(sorted(self.names)) or 'none'}"


@dataclass(frozen=True)
class Line:
    """A line of a vehicle's checklist, for one owner in one configuration."""

    env: str
    owner: str
    plate: str
    key: str


Values = frozenset[Told | None]
NONE: Values = frozenset([None])


class DeclaredModel:
    """What each line may hold. ``check`` compares a reply with it."""

    def __init__(self) -> None:
        self._values: dict[Line, Values] = {}
        self._last = 0

    def told(self, state: str, names: Collection[str] = ()) -> Told:
        """Return a declaration whose text no other has."""
        self._last += 1
        return Told(state, self._last, frozenset(names))

    def of(self, line: Line) -> Values:
        return self._values.get(line, NONE)

    def put(self, line: Line, told: Told | None, *, surely: bool = True) -> None:
        self._values[line] = frozenset([told]) | (frozenset() if surely else self.of(line))

    def purge(self, subjects: Collection[str], *, surely: bool) -> None:
        """Forget vehicles, and the texts on others that name them, of all owners."""
        for line, values in self._values.items():
            kept = (
                frozenset()
                if line.plate in subjects
                else frozenset(one for one in values if one and not one.names & set(subjects))
            )
            lost = {None} if len(kept) < len(values) else set[Told | None]()
            self._values[line] = kept | lost if surely else values | lost

    def snapshot(self) -> Mapping[Line, Values]:
        return dict(self._values)

    def restore(self, kept: Mapping[Line, Values], *, knows_later: bool) -> None:
        """Go back to a backup. With ``knows_later``, what it has is as it became later."""
        later = self._values
        self._values = dict(kept)
        if knows_later:
            for line, values in kept.items():
                now = later.get(line, NONE)
                self._values[line] = (now if values != NONE else NONE) | (values & NONE)

    def check(self, env: str, owner: str, plate: str, lines: Sequence[Mapping[str, Any]]) -> None:
        """Compare the lines of a JSON document, and learn of what was open."""
        for shown in lines:
            line = Line(env, owner, plate, shown["line"])
            possible = self.of(line)
            context = f"{owner} in {env}, {plate}: {shown}, possible {sorted(map(str, possible))}"
            if shown["by"] == "record":
                if line.key not in SETTLED:
                    raise Violation("a record settles its own line alone", context)
                seen = frozenset(
                    one
                    for one in possible
                    if (one is not None and one.state != shown["state"]) == shown["contradicted"]
                )
            else:
                text = (shown["state"], shown["what"]) if shown["by"] else None
                seen = frozenset(one for one in possible if (one and (one.state, one.what)) == text)
            if not seen:
                raise Violation("an owner's declarations are kept, and no others", context)
            self._values[line] = seen

    def check_text(self, env: str, owner: str, plate: str, page: bytes) -> None:
        """Check that a page has all texts of the owner on the vehicle, and no others."""
        possible, certain = set[int](), set[int]()
        for line, values in self._values.items():
            if (line.env, line.owner, line.plate) == (env, owner, plate):
                numbers = {one.number for one in values if one}
                possible |= numbers
                # A record takes the place of a declaration that says the same.
                certain |= numbers if len(values) == 1 and line.key not in SETTLED else set()
        found = {int(match[1]) for match in TEXT.finditer(page)}
        context = f"{owner} in {env}, {plate}: {sorted(found)} of {sorted(possible)}"
        if not found <= possible:
            raise Violation("no other owner's declaration is shown", context)
        if not certain <= found:
            raise Violation("what was declared is shown", context)
