"""``flask --app app batch FILE --out OUT``: looks up a list of plates."""

import json
import os
import signal
import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Final

import click
import msgspec

from portal.access.tokens import UnknownToken
from portal.amounts import total
from portal.batch.model import MOST_DRAFTS, Batch, Preview, QuotedItem, Reason
from portal.batch.typed_list import Subject, TypedList, reticked
from portal.commands.failures import Command, fail
from portal.commands.parts import Parts
from portal.data_files import read_toml
from portal.desk.caller import Caller
from portal.desk.desk import Desk
from portal.desk.lists import ListProblem, ListRefused, Lists
from portal.gateway.operations import lookups_of
from portal.presentation.exports.batches import results_table
from portal.presentation.exports.tables import Format, write_table
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.typed import Doubt
from portal.wording import money

_FORMATS: Final[Mapping[str, Format]] = {".jsonl": "jsonl", ".xlsx": "xlsx"}
CREDENTIAL_VARIABLE: Final = "DOSSIE_CREDENTIAL"
MOST_BYTES: Final = 4 * 1024 * 1024
_TICK_S: Final = 0.25
_MOST_WRONG: Final = 20  # maximum number of invalid entries of FILE that are printed


class _Texts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    doubts: dict[Doubt, str]
    reasons: dict[Reason, str]
    refusals: dict[ListProblem, str]


_TEXTS: Final = read_toml(__package__, "batch_texts.toml", _Texts)


def batch_command(portal: Parts) -> Command:
    @click.command("batch", cls=Command)
    @click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
    @click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path))
    @click.option("--ask", default=",".join(LOOKUPS), show_default=True, callback=_ask)
    @click.option("--format", "file_format", type=click.Choice(["csv", "jsonl", "xlsx"]))
    @click.option("--yes", is_flag=True, help="do not ask before lookups that cost money")
    @click.option("--doubtful", is_flag=True, help="look up doubtful entries too, as written")
    @click.option("--retry-failed", is_flag=True, help="look up again what failed before")
    @click.option("--json", "as_json", is_flag=True, help="print the outcome as one JSON object")
    def batch(
        file: Path,
        out: Path,
        ask: tuple[LookupName, ...],
        file_format: Format | None,
        yes: bool,
        doubtful: bool,
        retry_failed: bool,
        as_json: bool,
    ) -> None:
        """Look up every plate and Renavam of FILE and write a table to OUT.

        After an interruption, run the same command again: it looks up only what has no answer yet.
        What has failed may have been charged, and is looked up again only with --retry-failed.
        Exits 0 if every plate has an answer, else 1. A portal without an upstream token sends the
        credential in DOSSIE_CREDENTIAL.
        """
        desk = portal.desk(command_caller(portal))
        lists = desk.lists
        chosen = file_format or _FORMATS.get(out.suffix.lower(), "csv")
        if not os.access(out.parent, os.W_OK | os.X_OK):  # checked before anything is paid
            fail(f"{out} cannot be written.")
        listed = _read(lists, file, ask, doubtful=doubtful)
        quoted = lists.quote(listed.subjects, ask)
        former = _former(lists, quoted, ask)
        failed = _failed(lists, former) if former else ()
        asked = [vehicle for vehicle in quoted if vehicle.subject not in failed]
        # What has been stored since it failed costs nothing.
        again = [
            vehicle
            for vehicle in quoted
            if vehicle.subject in failed and (retry_failed or not vehicle.calls)
        ]
        _describe(listed, [*asked, *again])
        price, price_again = Preview.of(asked).at_most, Preview.of(again).at_most
        if total((price, price_again)) != 0 and not yes and not click.confirm("Go on?", err=True):
            sys.exit(1)
        try:
            number = former or lists.draft(listed, ask)
        except ListRefused as refused:
            fail(_refusal(refused, file))
        spent = lists.get(number).cost.spent
        lists.start(number, total((spent, price)))
        if again:
            lists.retry(number, [item.subject for item in again], price_again)
        ended = _run(portal, lists, number)
        _write(desk, ended, out, chosen)
        desk.witness.exported([item.subject for item in lists.items(number)], number)
        portal.trail.flush()
        # "decode" needs a plate, so a batch with this lookup alone looks up no Renavam.
        impossible = sum(
            item.state == "done" and not lookups_of(item.subject, ask)
            for item in lists.items(number)
        )
        _report(ended, impossible, listed, out)
        _name(_failed(lists, number))
        if as_json:
            print(json.dumps(_outcome(ended, impossible, listed, out)))
        sys.exit(0 if ended.counts.done - impossible == ended.counts.total else 1)

    return batch


def command_caller(portal: Parts) -> Caller:
    """Return the caller of the batch's lookups.

    In pass-through mode (without PORTAL_UPSTREAM_TOKEN), the user's upstream credential pays. Exits
    if this credential is missing or is a token of this portal.
    """
    if portal.gatekeeper.mode != "pass-through":
        return Caller.of_command()
    credential = os.environ.get(CREDENTIAL_VARIABLE)
    if not credential:
        fail(
            "This portal has no upstream credential of its own: set "
            f"{CREDENTIAL_VARIABLE} to the one that pays for the lookups."
        )
    try:
        return Caller.of_command(portal.gatekeeper.authenticate(credential))
    except UnknownToken:
        fail(f"{CREDENTIAL_VARIABLE} holds a token of this portal, not an upstream credential.")


def _read(lists: Lists, file: Path, ask: tuple[LookupName, ...], *, doubtful: bool) -> TypedList:
    if file.stat().st_size > MOST_BYTES:
        fail(f"{file} has more than {MOST_BYTES // 1024 // 1024} MiB.")
    try:
        listed = lists.read("", file.read_bytes())
    except ListRefused as refused:
        fail(_refusal(refused, file))
    if doubtful:
        typed = {entry.suggestion for entry in listed.wrong if entry.is_as_typed}
        chosen = reticked(listed, typed | {subject.text for subject in listed.subjects})
        listed = replace(chosen, repeated=listed.repeated)
    for entry in listed.wrong[:_MOST_WRONG]:
        why = _TEXTS.doubts.get(entry.doubt) if entry.doubt else ""
        reason = f", because {why}" if why else ""
        is_meant = entry.suggestion and not entry.is_as_typed
        meant = f"; {entry.suggestion} was probably meant" if is_meant else ""
        print(
            f"Line {entry.index + 1}: {entry.value!r} is left out{reason}{meant}.", file=sys.stderr
        )
    if (more := listed.left_out - _MOST_WRONG) > 0:
        print(f"{_counted(more, 'more entry is', 'more entries are')} left out.", file=sys.stderr)
    try:
        lists.check(listed, ask)
    except ListRefused as refused:
        fail(_refusal(refused, file))
    return listed


def _refusal(refused: ListRefused, file: Path) -> str:
    """Say why the list of a file cannot become a batch."""
    sentence = _TEXTS.refusals[refused.problem]
    return sentence.format(
        file=file,
        format=refused.format,
        count=refused.count,
        limit=refused.limit,
        drafts=MOST_DRAFTS,
    )


def _amount(amount: Decimal | None) -> str:
    return "an unknown amount" if amount is None else money(amount)


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _describe(listed: TypedList, quoted: Sequence[QuotedItem]) -> None:
    preview = Preview.of(quoted)
    stored = sum(item.is_stored for item in quoted)
    repeated = f", {len(listed.repeated)} repeated" if listed.repeated else ""
    print(
        f"{_counted(len(listed.subjects), 'plate', 'plates')}{repeated}, {stored} stored already. "
        f"{_counted(preview.calls, 'upstream call', 'upstream calls')}, "
        f"{_amount(preview.at_most)} at most.",
        file=sys.stderr,
    )
    if preview.impossible:
        cannot = _counted(preview.impossible, "Renavam", "Renavams")
        print(f"{cannot} cannot be looked up: decode needs a plate.", file=sys.stderr)


def _former(lists: Lists, quoted: Sequence[QuotedItem], ask: tuple[LookupName, ...]) -> str | None:
    """Return the id of a batch with the same plates and lookups that can be used again, or None.

    This is an unfinished batch, or a done one in which only failed plates have no stored answer.
    """
    for batch in lists.all():
        if batch.state not in ("running", "paused", "done") or batch.ask != ask:
            continue
        items = lists.items(batch.id)
        if [item.subject for item in items] != [item.subject for item in quoted]:
            continue
        failed = {item.subject for item in items if item.state == "failed"}
        missing = {item.subject for item in quoted if item.calls}
        if batch.state != "done" or (failed and missing <= failed):
            return batch.id
    return None


def _failed(lists: Lists, number: str) -> Collection[Subject]:
    return [item.subject for item in lists.items(number) if item.state == "failed"]


def _name(failed: Collection[Subject]) -> None:
    """Print the plates that have failed."""
    if failed:
        shown = ", ".join(subject.text for subject in list(failed)[:_MOST_WRONG])
        more = f" and {len(failed) - _MOST_WRONG} more" if len(failed) > _MOST_WRONG else ""
        print(
            f"Failed: {shown}{more}. Each may have been charged; "
            "the option --retry-failed looks them up again.",
            file=sys.stderr,
        )


def _run(portal: Parts, lists: Lists, number: str) -> Batch:
    """Run the batch until it ends or pauses. Ctrl-C, SIGTERM and SIGHUP pause the batch.

    A batch that paused by itself waits for its owner, too. Otherwise a server would resume it and
    make paid lookups after the command has ended.
    """
    batch = lists.get(number)
    shown = 0
    with (
        _interrupted_by_signals(),
        click.progressbar(
            length=batch.counts.total, file=sys.stderr, show_pos=True, item_show_func=_cost
        ) as bar,
    ):
        try:
            portal.scheduler.start()
            while True:
                batch = lists.get(number)
                ended = batch.counts.total - batch.counts.pending
                bar.update(ended - shown, batch)
                shown = ended
                if batch.state != "running" and not batch.active:
                    break
                time.sleep(_TICK_S)
            if batch.state == "paused":
                lists.pause(number)
            return batch
        except KeyboardInterrupt:
            lists.pause(number)
        finally:
            portal.finish()
    return lists.get(number)


@contextmanager
def _interrupted_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise KeyboardInterrupt, as Ctrl-C does.

    By default these signals end the process at once. The answers to lookups in progress would be
    lost, and the next run would pay for these lookups again.
    """
    # An ignored signal stays ignored. For example, nohup ignores SIGHUP.
    handled = [
        number
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is signal.SIG_DFL
    ]
    for number in handled:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)


def _cost(batch: Batch | None) -> str | None:
    if batch is None:
        return None
    return f"{_amount(batch.cost.spent)} of {_amount(batch.cost.at_most)}"


def _write(desk: Desk, batch: Batch, out: Path, chosen: Format) -> None:
    items = desk.lists.items(batch.id)
    desk.prepare([item.subject for item in items])
    table = results_table(desk.row(item, batch.ask) for item in items)
    part = out.with_name(f".{out.name}.part")
    try:
        with part.open("wb") as file:
            write_table(table, file, chosen)
        part.replace(out)
    except OSError as error:
        part.unlink(missing_ok=True)
        fail(f"{out} cannot be written: {os.strerror(error.errno or 0)}")


def _report(batch: Batch, impossible: int, listed: TypedList, out: Path) -> None:
    counts = batch.counts
    answered, not_asked = counts.done - impossible, counts.pending + impossible
    print(
        f"{answered} of {_counted(counts.total, 'plate has', 'plates have')} every answer, "
        f"{counts.failed} failed, {_counted(not_asked, 'was', 'were')} not asked. "
        f"Spent {_amount(batch.cost.spent)}. Wrote {out}.",
        file=sys.stderr,
    )
    if listed.left_out:
        entries = _counted(listed.left_out, "entry of the file was", "entries of the file were")
        print(f"{entries} left out.", file=sys.stderr)
    if batch.state == "paused":
        print(f"Paused: {_TEXTS.reasons[batch.reason]}. Run the command again.", file=sys.stderr)


def _outcome(batch: Batch, impossible: int, listed: TypedList, out: Path) -> dict[str, object]:
    counts = batch.counts
    return {
        "state": batch.state,
        "reason": batch.reason or None,
        "total": counts.total,
        "done": counts.done - impossible,
        "failed": counts.failed,
        "pending": counts.pending,
        "impossible": impossible,
        "left_out": listed.left_out,
        "wrong": [
            {"line": entry.index + 1, "value": entry.value, "suggestion": entry.suggestion or None}
            for entry in listed.wrong
        ],
        "spent": None if batch.cost.spent is None else float(batch.cost.spent),
        "out": str(out),
    }


def _ask(_: click.Context, __: click.Parameter, value: str) -> tuple[LookupName, ...]:
    names = [name.strip() for name in value.split(",")]
    if wrong := [name for name in names if name not in LOOKUPS]:
        raise click.BadParameter(f"{wrong[0]!r} is none of {', '.join(LOOKUPS)}")
    return tuple(name for name in LOOKUPS if name in names)
