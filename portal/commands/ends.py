"""``flask --app app ends list | apply``: ends again what was ended before a restore."""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from portal.commands.acts import by_command
from portal.commands.failures import CommandGroup, fail
from portal.commands.parts import Parts
from portal.commands.purge import ended_names, purge_vehicles
from portal.commands.tables import json_array_lines, print_lines, table_lines
from portal.storage.ends import End, Kind
from portal.storage.ends_file import EndsFile
from portal.storage.purge_log import PurgeLog
from portal.system.local_time import iso_time

_COLUMNS: Final = ("at", "kind")
_KINDS: Final[dict[Kind, str]] = {
    "purge": "purges",
    "token": "tokens",
    "dossier": "dossiers",
    "sessions": "people's sessions",
    "session": "single sessions",
    "batch": "batches",
    "draft": "drafts",
    "calendar": "calendar addresses",
    "channels": "addresses for messages",
    "history": "histories",
    "declaration": "declared lines",
}
_FILES: Final = click.argument(
    "files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)


def ends_commands(portal: Parts) -> CommandGroup:
    @click.group("ends", cls=CommandGroup, help="End again what a restored database revived.")
    def ends() -> None:
        pass

    @ends.command("list")
    @_FILES
    @click.option("--json", "as_json", is_flag=True, help="one JSON array")
    def listed(files: Sequence[Path], as_json: bool) -> None:
        """List the purges, revocations and the like that the database lacks.

        They are read from the journals, and from FILES, which are journals of other machines.
        """
        rows = [{"at": iso_time(end.at), "kind": end.kind} for end in _lacking(portal, files)]
        cells = ([row[name] for name in _COLUMNS] for row in rows)
        print_lines(json_array_lines(rows) if as_json else table_lines(_COLUMNS, cells))

    @ends.command("apply")
    @_FILES
    def apply(files: Sequence[Path]) -> None:
        """Purge, revoke and erase again what was ended after the backup."""
        lacking = _lacking(portal, files)
        purges = {end.id: ended_names(portal, end) for end in lacking if end.kind == "purge"}
        names = [name for ended in purges.values() for name in ended]
        failed = {number for number, ended in purges.items() if not ended}
        if names:
            run = purge_vehicles(portal, [*dict.fromkeys(names)])
            run.report(as_json=False)
            if not run.is_whole:
                failed |= purges.keys()
        done = [end for end in lacking if end.id not in failed]
        with portal.database.writing() as db:
            changed = Counter[Kind](portal.ends.apply(db, done))
            changed["purge"] = len(purges.keys() - failed)
            if done:
                portal.trail.write(db, by_command("restored", f"{len(done)} ends"))
        portal.database.erase_deleted()
        print(f"Ended again: {_counts(changed) or 'nothing'}.")
        if failed:
            fail(f"{len(failed)} purges were not repeated, or not wholly: repair that and repeat.")

    return ends


def _lacking(portal: Parts, files: Sequence[Path]) -> list[End]:
    """Return the ends that the database lacks, of all journals."""
    database = PurgeLog(portal.database).identity()
    ends: list[End] = []
    for journal in (*portal.ends_journals, *(EndsFile(file, database) for file in files)):
        try:
            ends += journal.read()
        except OSError as error:
            print(f"The ends in {journal.name} cannot be read: {error}.", file=sys.stderr)
    return portal.ends.lacking(ends)


def _counts(changed: Counter[Kind]) -> str:
    return ", ".join(f"{changed[kind]} {name}" for kind, name in _KINDS.items() if changed[kind])
