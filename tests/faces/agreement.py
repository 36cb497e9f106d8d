"""The rule of all faces: what two faces show of one vehicle is the same."""

from collections.abc import Iterator, Mapping
from typing import Any

Facts = Mapping[str, Mapping[str, Mapping[str, Any]]]  # by face, specimen and name
# The row of a list has shorter words than the headline. They must follow from it.
_SHORT = {"recent", "history", "batch page", "comparison"}
# These faces say the second half of the headline elsewhere.
_FIRST_HALF = {"page", "panel resumo"}
_FACTS = (
    *("icon", "asked icon", "level", "asked level", "open", "amount", "enforceable", "paid"),
    *("enforceable_amount", "orders", "price", "on timeline"),
)


def disagreements(facts: Facts) -> list[str]:
    """Return a line for each fact of a specimen in which faces differ."""
    names = dict.fromkeys(name for found in facts.values() for name in found)
    lines = [line for name in names for line in _of_specimen(name, facts)]
    return [*lines, *_short_words(facts)]


def _of_specimen(name: str, facts: Facts) -> Iterator[str]:
    shown = {face: found[name] for face, found in facts.items() if name in found}
    for fact in _FACTS:
        values = {face: found[fact] for face, found in shown.items() if fact in found}
        yield from _differing(f"{name}: {fact}", values)
    for fact in ("headline", "asked headline"):
        said = {
            face: found[fact]
            for face, found in shown.items()
            if fact in found and face not in _SHORT
        }
        whole = max(said.values(), key=len, default="")
        if any(text != whole for face, text in said.items() if face not in _FIRST_HALF) or any(
            not text or not whole.startswith(text) for text in said.values()
        ):
            yield from _differing(f"{name}: {fact}", said)
    yield from _fines(name, shown)
    for number, parts in _numbered("candidates", shown):
        for part in ("price", "confidence"):
            values = {face: each[part] for face, each in parts.items() if part in each}
            yield from _differing(f"{name}: price {number}: {part}", values)


def _fines(name: str, shown: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for number, fines in _numbered("fines", shown):
        for part in ("icon", "tone", "amount"):
            values = {face: fine[part] for face, fine in fines.items() if part in fine}
            yield from _differing(f"{name}: fine {number}: {part}", values)
        said = {face: fine["word"] for face, fine in fines.items() if "word" in fine}
        whole = max(said.values(), key=len, default="")
        # A narrow column may hold the beginning of the word.
        short = {face: word for face, word in said.items() if not whole.startswith(word)}
        if short or "" in said.values():
            yield from _differing(f"{name}: fine {number}: word", said)


def _numbered(
    fact: str, shown: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each number of a list of records, with the record on each face that shows it."""
    for number in dict.fromkeys(n for found in shown.values() for n in found.get(fact, {})):
        yield (
            number,
            {
                face: found[fact][number]
                for face, found in shown.items()
                if number in found.get(fact, {})
            },
        )


def _differing(what: str, values: Mapping[str, Any]) -> Iterator[str]:
    groups: dict[str, list[str]] = {}
    for face, value in values.items():
        groups.setdefault(repr(value), []).append(face)
    if len(groups) > 1:
        told = "; ".join(f"{value} on {', '.join(faces)}" for value, faces in groups.items())
        yield f"{what}: {told}"


def _short_words(facts: Facts) -> Iterator[str]:
    """Two vehicles with one headline have the same words in a list, unless it names what lacks."""
    headlines = facts.get("batch csv", {})
    for face in sorted(_SHORT & facts.keys()):
        seen: dict[str, tuple[str, str]] = {}
        for name, found in facts[face].items():
            headline = headlines.get(name, {}).get("headline")
            said = found.get("short", found.get("headline"))
            if headline and said and found.get("icon") != "question":
                before, other = seen.setdefault(headline, (said, name))
                if said != before:
                    yield f"{face}: {headline!r} is {said!r} of {name}, but {before!r} of {other}"
