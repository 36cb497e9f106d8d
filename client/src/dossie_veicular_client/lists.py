"""A list of vehicles that is looked up as batches of the portal, within a limit in R$.

The progress stands in a file beside the output, written before each step. A run that was killed
goes on from it: the portal has the batches, so nothing is asked twice.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Final
from xml.etree import ElementTree
from zipfile import BadZipFile, ZipFile

from dossie_veicular_client.answers import Batch, LookupName, WrongEntry
from dossie_veicular_client.client import Client, FileEnding, FileName
from dossie_veicular_client.errors import CostsTooMuch, InvalidRequest, NotFound
from dossie_veicular_client.spending import total

_HEADERS: Final = frozenset({"placa", "placas", "plate", "plates", "renavam", "veiculo", "veículo"})
_SHEET: Final = re.compile(r"xl/worksheets/sheet([0-9]+)\.xml")
_STRINGS: Final = "xl/sharedStrings.xml"
_XLSX: Final = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_MOST_BYTES: Final = 50_000_000  # of a sheet, as XML
_PLATE: Final = re.compile(r"[A-Z]{3}[0-9][0-9A-J][0-9]{2}")
_MOST_DRAFTS: Final = 8  # of the 20 that a portal keeps of a token
# A batch in one of these pauses does not go on soon.
_LONG_PAUSES: Final = frozenset({"day_limit", "token_limit", "budget"})


def read_file(raw: bytes) -> list[str]:
    """Return the vehicles of a text file, or of an XLSX file's first sheet."""
    if raw.startswith(b"PK\x03\x04"):
        return read_plates("\n".join(_first_column(raw)))
    return read_plates(_decoded(raw))


def _decoded(raw: bytes) -> str:
    """Return a text in UTF-16, UTF-8 or else Windows-1252."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16", "replace")
    half = len(raw) // 2
    for encoding, zeros in (("utf-16-le", raw[1::2]), ("utf-16-be", raw[::2])):
        if half and zeros.count(0) > half * 0.7:
            return raw.decode(encoding, "replace")
    if b"\0" in raw:
        raise InvalidRequest("a lista não é texto nem XLSX: salve-a como CSV")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


def _first_column(raw: bytes) -> Iterator[str]:
    """Yield the cells of column A of an XLSX file's first sheet."""
    try:
        with ZipFile(BytesIO(raw)) as archive:
            names = sorted(name for name in archive.namelist() if _SHEET.fullmatch(name))
            if not names:
                raise InvalidRequest("a lista não é texto nem XLSX: salve-a como CSV")
            first = min(names, key=lambda name: int(_SHEET.fullmatch(name)[1]))  # type: ignore[index]
            shared = []
            if _STRINGS in archive.namelist():
                shared = [_text(text) for text in _parsed(archive, _STRINGS).iter(f"{_XLSX}si")]
            for cell in _parsed(archive, first).iter(f"{_XLSX}c"):
                if re.fullmatch("A[0-9]+", cell.get("r", "")):
                    text = _text(cell)
                    yield shared[int(text)] if cell.get("t") == "s" else text
    except (BadZipFile, ElementTree.ParseError, LookupError, ValueError, RuntimeError):
        raise InvalidRequest("a planilha não pôde ser lida: salve-a como CSV") from None


def _parsed(archive: ZipFile, name: str) -> ElementTree.Element:
    """Return a part of an XLSX file, which has no document type (ECMA-376, part 2)."""
    if archive.getinfo(name).file_size > _MOST_BYTES:
        raise InvalidRequest("a planilha é grande demais: salve a coluna das placas como CSV")
    content = archive.read(name)
    if b"<!DOCTYPE" in content:
        raise ValueError(name)
    return ElementTree.fromstring(content)  # noqa: S314 without a document type, no entities


def _text(element: ElementTree.Element) -> str:
    texts = [*element.iter(f"{_XLSX}t"), *element.iter(f"{_XLSX}v")]
    return "".join(part.text or "" for part in texts)


def read_plates(text: str) -> list[str]:
    """Return the first column of a list: one vehicle a line, or a CSV file with a header."""
    cells = [line.replace("\t", ";").replace(",", ";").split(";")[0] for line in text.splitlines()]
    plates = [cell.strip().strip('"').strip() for cell in cells]
    first = next(filter(None, plates), "")
    if first.lower() in _HEADERS:
        plates.remove(first)
    return [plate for plate in plates if plate]


def vehicle_key(typed: str) -> str:
    """Return what one vehicle's plates have in common: ABC1234 and ABC1C34 are one vehicle."""
    signs = "".join(sign for sign in typed.upper() if sign.isalnum())
    if not _PLATE.fullmatch(signs):
        return signs
    letter = "ABCDEFGHIJ"[int(signs[4])] if signs[4].isdigit() else signs[4]
    return f"{signs[:4]}{letter}{signs[5:]}"


def grouped(plates: Sequence[str]) -> list[list[str]]:
    """Return a list's entries, those of one vehicle together, in the order of the first ones."""
    groups: dict[str, list[str]] = {}
    for plate in plates:
        groups.setdefault(vehicle_key(plate), []).append(plate)
    return list(groups.values())


def sizes_of(groups: Sequence[Sequence[str]], limit: int) -> list[int]:
    """Return the sizes of batches of at most ``limit`` entries that part no group.

    The portal asks one vehicle of a batch once, and names its other entries.
    """
    sizes = [0]
    for group in groups:
        if sizes[-1] and sizes[-1] + len(group) > limit:
            sizes.append(0)
        left = len(group)
        while sizes[-1] + left > limit:
            left -= limit - sizes[-1]
            sizes[-1] = limit
            sizes.append(0)
        sizes[-1] += left
    return sizes


@dataclass
class Part:
    """A batch of the list.

    ``key`` makes its creation repeatable. ``batch`` is its id, once known. ``spent`` is the most
    that it may have spent, in R$, and ``former`` what the part's dropped batches may have spent.
    Each is None if a price is unknown.
    """

    key: str
    size: int
    batch: str | None = None
    spent: float | None = 0.0
    former: float | None = 0.0


@dataclass
class Progress:
    """``question`` identifies the list and what is asked, so that another list starts anew."""

    question: str
    parts: list[Part] = field(default_factory=list)


@dataclass(frozen=True)
class Outcome:
    """How a list ended. ``reason`` is why the portal paused, or None."""

    total: int
    done: int
    failed: int
    spent: float | None
    at_most: float | None
    reason: str | None
    wrong: Sequence[WrongEntry]

    @property
    def is_complete(self) -> bool:
        return self.done == self.total and not self.wrong


class ListRun:
    """Looks up a list. ``tell`` gets each change of a batch, for a progress line."""

    def __init__(
        self,
        client: Client,
        plates: Sequence[str],
        ask: Sequence[LookupName] | None,
        output: Path,
        tell: Callable[[Batch], None] = lambda _: None,
    ) -> None:
        if not plates:
            raise InvalidRequest("a lista não tem placa nem Renavam")
        self._client = client
        self._groups = grouped(plates)
        self._plates = [plate for group in self._groups for plate in group]
        self._ask = ask
        self._output = output
        self._tell = tell
        self._file = output.with_name(f"{output.name}.andamento")
        question = json.dumps([self._plates, ask and list(ask)])
        self._progress = self._read(hashlib.sha256(question.encode()).hexdigest())
        self._batches: list[Batch] = []

    def prepare(self) -> Sequence[Batch]:
        """Create the batches, which asks nothing, and return them with their prices."""
        limit = self._client.usage()["batch_limit"]
        if not self._progress.parts:
            sizes = sizes_of(self._groups, limit)
            self._progress.parts = [Part(uuid.uuid4().hex, size) for size in sizes]
            self._save()
        self._batches = []
        for number in range(len(self._progress.parts)):
            self._batches.append(self._created(number))
            self._save()
            self._release(number)
        return self._batches

    def run(self, max_reais: float | None, *, retry_failed: bool = False) -> str | None:
        """Start one batch after the other. Return why the portal stops, or None at the end.

        What failed in an earlier run is looked up again only with ``retry_failed``.
        """
        for number, part in enumerate(self._progress.parts):
            others = [other.spent for other in self._progress.parts if other is not part]
            spent = total([*others, *(other.former for other in self._progress.parts)])
            left = None
            if max_reais is not None:
                if spent is None:
                    raise CostsTooMuch.beyond(None, max_reais)
                left = round(max_reais - spent, 6)
            reason = self._run_part(number, part, left, retry_failed)
            if reason:
                return reason
        return None

    def _run_part(
        self, number: int, part: Part, max_cost: float | None, retry_failed: bool
    ) -> str | None:
        batch = self._batches[number] = self._created(number)
        failed = self._failed_of(batch) if retry_failed else []
        spent = batch["cost"]["spent"]
        if (batch["counts"]["pending"] or failed) and _is_spent(max_cost, spent):
            return "price"
        if batch["counts"]["pending"]:
            # A batch goes on after this program was killed, and may be dropped before the next run.
            part.spent = batch["cost"]["at_most"] if max_cost is None else max_cost
            self._save()
            self._client.start_batch(batch["id"], max_cost)
        reason = self._follow(number, part)
        if reason or not failed:
            return reason
        spent = self._batches[number]["cost"]["spent"]
        if _is_spent(max_cost, spent):
            return "price"
        left = None
        if max_cost is not None:
            if spent is None:
                raise CostsTooMuch.beyond(None, max_cost)
            left = round(max_cost - spent, 6)
        before, part.spent = part.spent, max_cost
        self._save()
        try:
            self._client.start_batch(batch["id"], left, failed)
        except CostsTooMuch as error:  # what is left does not hold the first of them
            part.spent = before
            self._save()
            if error.code == "cost_above_limit":
                return "price"
            raise
        return self._follow(number, part)

    def _follow(self, number: int, part: Part) -> str | None:
        """Wait until the portal stops. Return why, or None if the batch is done."""
        state = self._batches[number]
        batch = state["id"]
        for state in self._client.follow(batch):
            self._batches[number] = state
            part.spent = state["cost"]["spent"]
            self._tell(state)
            if state["state"] == "paused" and state["reason"] in _LONG_PAUSES:
                break
        self._save()
        return state["reason"] if state["state"] == "paused" else None

    def failed(self) -> list[str]:
        """Return the plates and Renavams that have failed."""
        return [plate for batch in self._batches for plate in self._failed_of(batch)]

    def _failed_of(self, batch: Batch) -> list[str]:
        if not batch["counts"]["failed"]:
            return []
        rows = self._client.results(batch["id"])
        return [row["plate"] for row in rows if row["state"] == "failed"]

    def outcome(self, reason: str | None) -> Outcome:
        counts = [batch["counts"] for batch in self._batches]
        return Outcome(
            total=sum(count["total"] for count in counts),
            done=sum(count["done"] if count["done"] else count["stored"] for count in counts),
            failed=sum(count["failed"] for count in counts),
            spent=total(
                amount for part in self._progress.parts for amount in (part.spent, part.former)
            ),
            at_most=total(batch["cost"]["at_most"] for batch in self._batches),
            reason=reason,
            wrong=[entry for batch in self._batches for entry in batch["wrong"]],
        )

    def write(self, table: FileName, ending: FileEnding) -> None:
        """Write what the portal has of the list. The former file stays whole until then."""
        if ending in ("xlsx", "zip") and (len(self._batches) > 1 or table != "results"):
            raise InvalidRequest(f"um arquivo .{ending} é só de resultados e de um lote; use .csv")
        contents = []
        for number in range(len(self._batches)):
            batch = self._batches[number] = self._created(number)
            contents.append(self._client.batch_file(batch["id"], table, ending))
            self._release(number)
        first, *others = contents
        if ending == "csv":  # the other parts repeat the header
            others = [content.partition(b"\r\n")[2] for content in others]
        new = self._output.with_name(f"{self._output.name}.novo")
        new.write_bytes(b"".join([first, *others]))
        new.replace(self._output)

    def forget(self) -> None:
        """Drop the progress, so that the next run of the same list is a new one."""
        self._file.unlink(missing_ok=True)

    def _created(self, number: int) -> Batch:
        """Return the batch of a part. It is created anew if it has expired or was released."""
        parts = self._progress.parts
        part, start = parts[number], sum(earlier.size for earlier in parts[:number])
        batch = None
        if part.batch is not None:
            try:
                batch = self._client.batch(part.batch)
            except NotFound:
                part.key, part.batch = uuid.uuid4().hex, None
                part.former, part.spent = total([part.former, part.spent]), 0.0
                self._save()
        if batch is None:
            plates = self._plates[start : start + part.size]
            batch = self._client.create_batch(plates, self._ask, part.key)
        part.batch, part.spent = batch["id"], batch["cost"]["spent"]
        return batch

    def _release(self, number: int) -> None:
        """Cancel the part's draft if it is one of too many. Its turn creates it anew."""
        drafts = sum(batch["state"] == "draft" for batch in self._batches[: number + 1])
        part = self._progress.parts[number]
        if part.batch and self._batches[number]["state"] == "draft" and drafts > _MOST_DRAFTS:
            self._client.cancel_batch(part.batch)
            part.key, part.batch = uuid.uuid4().hex, None
            self._save()

    def _read(self, question: str) -> Progress:
        try:
            stored = json.loads(self._file.read_text("utf-8"))
            if stored["question"] == question:
                return Progress(question, [Part(**part) for part in stored["parts"]])
        except (OSError, ValueError, TypeError, KeyError):
            pass
        return Progress(question)

    def _save(self) -> None:
        new = self._file.with_name(f"{self._file.name}.novo")
        new.write_text(json.dumps(asdict(self._progress)), "utf-8")
        new.replace(self._file)


def _is_spent(max_cost: float | None, spent: float | None) -> bool:
    """Return whether a batch has spent more than it may."""
    return max_cost is not None and spent is not None and max_cost < spent
