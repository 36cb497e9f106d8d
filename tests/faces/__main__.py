"""``python -m tests.faces BASE [HEAD]``: what the faces of all specimens say on two commits.

Renders every specimen on every face on both commits, and prints the differences in normalised text,
grouped by face and by identical change. HEAD is by default the working tree. The exit status is 0
if nothing differs, else 1.
"""

import argparse
import difflib
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.faces.corpus import corpus
from tests.faces.render import ROOT, start

Texts = Mapping[str, Mapping[str, str]]  # by face and specimen
Change = tuple[tuple[str, ...], tuple[str, ...]]  # removed lines, added lines
_WIDTH = 200


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faces", description=__doc__)
    parser.add_argument("base", help="a commit, or . for the working tree")
    parser.add_argument("head", nargs="?", default=".")
    parser.add_argument("--only", default="", help="specimens whose names have this text")
    parser.add_argument("--most", type=int, default=20, help="changes shown for a face")
    given = parser.parse_args(arguments)
    names = [one.name for one in corpus() if given.only in one.name]
    base, head = _both(given.base, given.head, names)
    return _report(base, head, given.most)


def _both(base: str, head: str, names: Sequence[str]) -> tuple[Texts, Texts]:
    """Render two commits, at the same time."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="faces-")))
        roots = [stack.enter_context(_checked_out(each, folder)) for each in (base, head)]
        files = [folder / f"texts-{number}.json" for number in range(2)]
        started = [start(*each, names, "texts") for each in zip(roots, files, strict=True)]
        for process, commit in zip(started, (base, head), strict=True):
            if process.wait():
                sys.exit(f"{commit} was not rendered")
        found: list[Texts] = [json.loads(file.read_bytes())["texts"] for file in files]
        return found[0], found[1]


@contextmanager
def _checked_out(commit: str, folder: Path) -> Iterator[Path]:
    """Yield a folder with a commit's files, as a worktree that is removed afterwards."""
    if commit == ".":
        yield ROOT
        return
    place = folder / f"tree-{len(list(folder.iterdir()))}"
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(place), commit], check=True)
    try:
        yield place
    finally:
        subprocess.run([*git, "remove", "--force", str(place)], check=True)


def _report(base: Texts, head: Texts, most: int) -> int:
    """Print the differences, and return 1 if there are any."""
    plates = {one.name: one.plate for one in corpus()}
    counts: dict[str, tuple[int, int]] = {}
    for face in dict.fromkeys([*base, *head]):
        before, after = base.get(face, {}), head.get(face, {})
        changes: dict[Change, list[str]] = {}
        differing = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        for name in differing:
            texts = (text.get(name, "").replace(plates[name], "PLATE") for text in (before, after))
            for change in set(_changes(*texts)):
                changes.setdefault(change, []).append(name)
        if differing:
            counts[face] = len(differing), len(changes)
            _print_face(face, changes, most)
    shown = Counter(
        {face: len({**base.get(face, {}), **head.get(face, {})}) for face in {**base, **head}}
    )
    print(f"{shown.total()} texts of {len(shown)} faces compared")
    for face, (specimens, changes_made) in counts.items():
        print(f"{face:16} {specimens:4} of {shown[face]} specimens differ, {changes_made} changes")
    if not counts:
        print("nothing differs")
    return 1 if counts else 0


def _changes(before: str, after: str) -> Iterator[Change]:
    old, new = before.splitlines(), after.splitlines()
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for kind, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if kind != "equal":
            yield tuple(old[old_from:old_to]), tuple(new[new_from:new_to])


def _print_face(face: str, changes: Mapping[Change, Sequence[str]], most: int) -> None:
    print(f"== {face}")
    ranked = sorted(changes.items(), key=lambda change: -len(change[1]))
    for (removed, added), names in ranked[:most]:
        print(f"{len(names)} x {', '.join(names[:3])}{', …' if len(names) > 3 else ''}")
        for sign, lines in (("-", removed), ("+", added)):
            for line in lines[:12]:
                print(f"  {sign} {line[:_WIDTH]}{'…' if len(line) > _WIDTH else ''}")
            if len(lines) > 12:
                print(f"  {sign} and {len(lines) - 12} more lines")
    if len(ranked) > most:
        print(f"and {len(ranked) - most} more changes")
    print()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
