"""The portal's paths as methods."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Final, Generic, Literal, TypeVar, cast
from urllib.parse import quote

import requests

from dossie_veicular_client.answers import (
    Batch,
    BatchFineRow,
    BatchList,
    BatchPriceRow,
    BatchRestrictionRow,
    BatchRow,
    DeclaredLines,
    DecodeAnswer,
    Explained,
    FineRow,
    FinesAnswer,
    IssuedDossier,
    JsonObject,
    LineState,
    LookupName,
    MissingRow,
    Moment,
    PriceRow,
    ReportAnswer,
    RestrictionRow,
    RestrictionsAnswer,
    Usage,
    Verification,
)
from dossie_veicular_client.errors import Failed, InvalidRequest, NotStored, PortalError
from dossie_veicular_client.shape import shaped
from dossie_veicular_client.transport import TIMEOUT_S, Transport

LOOKUPS: Final[tuple[LookupName, ...]] = ("decode", "renainf", "renajud")
_WORDS: Final[Mapping[str, LookupName]] = {
    "dados": "decode",
    "fipe": "decode",
    "multas": "renainf",
    "fines": "renainf",
    "restricoes": "renajud",
    "restrições": "renajud",
    "restrictions": "renajud",
}
TableName = Literal["fines", "restrictions", "prices"]
Ending = Literal["csv", "jsonl"]
FileName = Literal["results", "fines", "restrictions", "prices"]
FileEnding = Literal["csv", "jsonl", "xlsx", "zip"]
Dialect = Literal["brazil", "rfc4180"]
Reuse = Literal["usual", "stored", "refresh"]
_VERIFY: Final = "/api/v1/dossiers/verify"
_LONGEST_WAIT_S: Final = 30
_UNCHANGED_PAUSE_S: Final = 1.0
_CACHE_CONTROL: Final[Mapping[Reuse, str | None]] = {
    "usual": None,
    "stored": "only-if-cached",
    "refresh": "no-cache",
}
_T = TypeVar("_T")


@dataclass(frozen=True)
class Answer(Generic[_T]):
    """An answer of one of the contract's paths.

    ``value`` is the body. ``fetched_at`` is when the source gave it. ``cache_status`` is the header
    of RFC 9211: "portal; hit; …" is a stored answer, "portal; fwd=stale" one past its time.
    """

    value: _T
    fetched_at: datetime
    cache_status: str

    @property
    def is_stored(self) -> bool:
        return "hit" in self.cache_status or self.is_stale

    @property
    def is_stale(self) -> bool:
        return "fwd=stale" in self.cache_status


class Client:
    """A portal. Threads may share a client.

    ``reuse`` of a lookup says which answers will do: "usual" takes a stored answer while it is
    fresh, and asks otherwise; "stored" never asks; "refresh" asks again where the token may.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout_s: float = TIMEOUT_S,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._transport = Transport(url, token, timeout_s=timeout_s, sleep=sleep)
        self._sleep = sleep
        self.is_exposed: Final = self._transport.is_exposed  # http to another host

    # The contract's paths

    def decode(self, plate: str, reuse: Reuse = "usual") -> Answer[DecodeAnswer]:
        return self._lookup("GET", f"/detran/v1/decode/{quote(plate, safe='')}", reuse)

    def renainf(
        self, plate: str, uf: str | None = None, reuse: Reuse = "usual"
    ) -> Answer[FinesAnswer]:
        narrowed = f"/{quote(uf, safe='')}" if uf else ""
        path = f"/detran/v1/restrictions/renainf/{quote(plate, safe='')}{narrowed}"
        return self._lookup("GET", path, reuse)

    def renajud(self, plate: str, reuse: Reuse = "usual") -> Answer[RestrictionsAnswer]:
        return self._lookup(
            "GET", f"/detran/v1/restrictions/renajud/{quote(plate, safe='')}", reuse
        )

    def report(self, plate: str, data: JsonObject, reuse: Reuse = "usual") -> Answer[ReportAnswer]:
        """Have a report written from ``data``. Never repeated, because each one may be charged."""
        body = {"plate": plate, "data": data}
        return self._lookup("POST", "/detran/v1/analytical-reports", reuse, body)

    # A vehicle

    def vehicle(
        self, plate: str, ask: str | Sequence[str] | None = None, reuse: Reuse = "usual"
    ) -> Explained:
        """Return what the portal's page says. A lookup that failed is in ``lookups``."""
        explained: Explained = self._transport.read(
            "GET",
            _vehicle_path(plate),
            Explained,
            is_free=reuse == "stored",
            params=None if ask is None else {"ask": ",".join(lookup_names(ask))},
            headers=_reuse_header(reuse),
        )
        return explained

    def fines(self, plate: str, reuse: Reuse = "usual") -> list[FineRow]:
        return cast("list[FineRow]", _rows(self._table(plate, "fines", "jsonl", reuse)))

    def restrictions(self, plate: str, reuse: Reuse = "usual") -> list[RestrictionRow]:
        return cast(
            "list[RestrictionRow]", _rows(self._table(plate, "restrictions", "jsonl", reuse))
        )

    def prices(self, plate: str, reuse: Reuse = "usual") -> list[PriceRow]:
        return cast("list[PriceRow]", _rows(self._table(plate, "prices", "jsonl", reuse)))

    def table(
        self, plate: str, table: TableName, dialect: Dialect = "brazil", reuse: Reuse = "usual"
    ) -> bytes:
        """Return a vehicle's records as CSV."""
        return self._table(plate, table, "csv", reuse, dialect).content

    def deadlines(self, plate: str) -> bytes:
        """Return the deadlines of the stored fines as a calendar (RFC 5545)."""
        path = f"{_vehicle_path(plate)}/deadlines.ics"
        return self._transport.send("GET", path, is_free=True).content

    def declared(self, plate: str) -> DeclaredLines:
        """Return the lines of a vehicle's checklist. Nothing is asked."""
        path = f"{_vehicle_path(plate)}/declared"
        declared: DeclaredLines = self._transport.read("GET", path, DeclaredLines, is_free=True)
        return declared

    def declare(
        self,
        plate: str,
        line: str,
        state: LineState,
        *,
        amount: float | None = None,
        what: str | None = None,
        source: str | None = None,
        on: str | None = None,
    ) -> DeclaredLines:
        """Declare a line that somebody has checked. "unchecked" takes the declaration back.

        ``amount`` is in R$, ``on`` the day of the check in ISO 8601, by default today. Raises
        Conflict if a record says otherwise; nothing is then stored. Nothing is asked.
        """
        texts = {"what": what, "source": source, "on": on, "amount": amount}
        given = {name: value for name, value in texts.items() if value is not None}
        declared: DeclaredLines = self._transport.read(
            "PUT",
            f"{_vehicle_path(plate)}/declared",
            DeclaredLines,
            is_free=True,
            json={"lines": [{"line": line, "state": state, **given}]},
        )
        return declared

    # Batches

    def create_batch(
        self,
        plates: Sequence[str],
        ask: str | Sequence[str] | None = None,
        idempotency_key: str | None = None,
    ) -> Batch:
        """Create a draft, which asks nothing. With a key, a repeated call gives the same batch."""
        headers = {} if idempotency_key is None else {"Idempotency-Key": idempotency_key}
        body: JsonObject = {"plates": list(plates)}
        if ask is not None:
            body["ask"] = list(lookup_names(ask))
        created: Batch = self._transport.read(
            "POST", "/api/v1/batches", Batch, is_free=bool(headers), json=body, headers=headers
        )
        return created

    def batches(self) -> Iterator[Batch]:
        """Yield the token's batches, the newest first."""
        after: str | None = None
        while True:
            params = {} if after is None else {"after": after}
            page: BatchList = self._transport.read(
                "GET", "/api/v1/batches", BatchList, is_free=True, params=params
            )
            yield from page["batches"]
            after = page["next"]
            if after is None:
                return

    def batch(self, batch: str, wait_s: int = 0) -> Batch:
        """Return a batch, at the latest after ``wait_s`` (at most 30) if it does not change."""
        params = {"wait": str(wait_s)} if wait_s else None
        return self._batch("GET", _batch_path(batch), params=params, timeout_s=wait_s + TIMEOUT_S)

    def start_batch(
        self, batch: str, max_cost: float | None = None, retry: Sequence[str] = ()
    ) -> Batch:
        """Start or resume a batch, which pauses before it would spend more than ``max_cost`` R$.

        What has failed may have been charged. It is looked up again only if ``retry`` names it;
        ``max_cost`` is then the most that these vehicles may cost this time. Without ``retry``, a
        batch that has nothing left to look up does not change, so the call may be repeated.
        """
        body: dict[str, object] = {} if max_cost is None else {"max_cost": max_cost}
        if retry:
            body["retry"] = list(retry)
        is_free = max_cost is not None and not retry
        return self._batch("POST", f"{_batch_path(batch)}/start", body, is_free=is_free)

    def pause_batch(self, batch: str) -> Batch:
        return self._batch("POST", f"{_batch_path(batch)}/pause")

    def cancel_batch(self, batch: str) -> Batch:
        return self._batch("POST", f"{_batch_path(batch)}/cancel")

    def follow(self, batch: str) -> Iterator[Batch]:
        """Yield a batch at each change, until it is done, cancelled, or waits for somebody.

        A batch that pauses for the source goes on by itself, so it is followed further.
        """
        current = self.batch(batch)
        while True:
            yield current
            if current["state"] != "running" and not current["resumes_at"]:
                return
            former, current = current, self.batch(batch, wait_s=_LONGEST_WAIT_S)
            if current["counts"] == former["counts"] and current["state"] == former["state"]:
                self._sleep(_UNCHANGED_PAUSE_S)  # the portal does not always wait

    def results(
        self, batch: str, *, since: datetime | None = None, expired: bool = False
    ) -> list[BatchRow]:
        """Return a row for each vehicle of a batch, in the order of the list.

        ``since`` leaves out vehicles whose answers are all older: for a batch that has ended, the
        time when an earlier batch was created. ``expired`` leaves out those whose answers are all
        fresh. A vehicle that lacks an answer is never left out.
        """
        params = {"expired": "true"} if expired else {}
        if since is not None:
            params["since"] = since.astimezone(timezone.utc).isoformat()
        return _rows(self._batch_file(batch, "results", "jsonl", params))

    def batch_file(
        self, batch: str, name: FileName, ending: FileEnding, dialect: Dialect = "brazil"
    ) -> bytes:
        """Return the results of a batch, or the records of its stored answers, as a file.

        The records exist as csv and jsonl alone.
        """
        params = {"dialect": dialect} if ending == "csv" else {}
        return self._batch_file(batch, name, ending, params).content

    def batch_sheets(self, batch: str, plates: Sequence[str] = ()) -> bytes:
        """Return a PDF with the shop's sheet of each plate of a batch, or of some (at most 40)."""
        params = {"plates": ",".join(plates)} if plates else {}
        return self._batch_file(batch, "sheets", "pdf", params).content

    def batch_fines(self, batch: str) -> list[BatchFineRow | MissingRow]:
        """Return the fines of a batch. A vehicle without an answer has a row with ``missing``."""
        return _rows(self._batch_file(batch, "fines", "jsonl"))

    def batch_restrictions(self, batch: str) -> list[BatchRestrictionRow | MissingRow]:
        return _rows(self._batch_file(batch, "restrictions", "jsonl"))

    def batch_prices(self, batch: str) -> list[BatchPriceRow | MissingRow]:
        return _rows(self._batch_file(batch, "prices", "jsonl"))

    def batch_deadlines(self, batch: str) -> bytes:
        path = f"{_batch_path(batch)}/deadlines.ics"
        return self._transport.send("GET", path, is_free=True).content

    # The token and issued dossiers

    def usage(self) -> Usage:
        spent: Usage = self._transport.read("GET", "/api/v1/usage", Usage, is_free=True)
        return spent

    def issued(self, number: str) -> IssuedDossier:
        """Return the state of an issued dossier, by its number or its link's key."""
        path = f"/api/v1/dossiers/{quote(number, safe='')}"
        dossier: IssuedDossier = self._transport.read("GET", path, IssuedDossier, is_free=True)
        return dossier

    def verify(self, content: bytes) -> Verification:
        """Say whether a file is the dossier that was issued, and what differs.

        A file that the portal knows by its hash is not sent.
        """
        sha256 = hashlib.sha256(content).hexdigest()
        known: Verification = self._transport.read(
            "GET", _VERIFY, Verification, is_free=True, params={"sha256": sha256}
        )
        if known["result"] != "unknown":
            return known
        headers = {"Content-Type": "application/pdf"}
        verification: Verification = self._transport.read(
            "POST", _VERIFY, Verification, is_free=True, data=content, headers=headers
        )
        return verification

    def moment(
        self,
        plate: str,
        ask: str | Sequence[str] | None = None,
        *,
        number: str | None = None,
        max_cost: float | None = None,
        idempotency_key: str | None = None,
    ) -> Moment:
        """Ask again now, court orders by default, compare, and issue a dossier.

        It is compared with the dossier ``number``, or with the newest. Never repeated, because a
        call that fails may have been charged. Raises CostsTooMuch before anything is asked if it
        could cost more than ``max_cost`` R$.
        """
        body: JsonObject = {}
        if ask is not None:
            body["ask"] = list(lookup_names(ask))
        if number is not None:
            body["number"] = number
        if max_cost is not None:
            body["max_cost"] = max_cost
        headers = {} if idempotency_key is None else {"Idempotency-Key": idempotency_key}
        path = f"{_vehicle_path(plate)}/moment"
        asked: Moment = self._transport.read(
            "POST", path, Moment, is_free=False, json=body, headers=headers
        )
        return asked

    def _lookup(
        self, method: str, path: str, reuse: Reuse, body: JsonObject | None = None
    ) -> Answer[Any]:
        try:
            response = self._transport.send(
                method, path, is_free=reuse == "stored", json=body, headers=_reuse_header(reuse)
            )
        except PortalError as error:
            # The contract's errors have no code. A request for a stored answer is never sent on, so
            # it cannot be too slow.
            if reuse == "stored" and error.status == 504:
                raise NotStored(error.message, status=504) from None
            raise
        headers = response.headers
        return Answer(_answer_of(response), _fetched_at(headers), headers.get("Cache-Status", ""))

    def _table(
        self,
        plate: str,
        table: TableName,
        ending: Ending,
        reuse: Reuse,
        dialect: Dialect | None = None,
    ) -> requests.Response:
        return self._transport.send(
            "GET",
            f"{_vehicle_path(plate)}/{table}.{ending}",
            is_free=reuse == "stored",
            params=None if dialect is None else {"dialect": dialect},
            headers=_reuse_header(reuse),
        )

    def _batch_file(
        self, batch: str, name: str, ending: str, params: Mapping[str, str] | None = None
    ) -> requests.Response:
        return self._transport.send(
            "GET",
            f"{_batch_path(batch)}/{name}.{ending}",
            is_free=True,
            params=params,
            timeout_s=600.0,
        )

    def _batch(
        self,
        method: str,
        path: str,
        body: JsonObject | None = None,
        *,
        params: Mapping[str, str] | None = None,
        is_free: bool | None = None,
        timeout_s: float | None = None,
    ) -> Batch:
        changed: Batch = self._transport.read(
            method,
            path,
            Batch,
            is_free=method == "GET" if is_free is None else is_free,
            json=body,
            params=params,
            timeout_s=timeout_s,
        )
        return changed


def _vehicle_path(plate: str) -> str:
    return f"/api/v1/vehicles/{quote(plate, safe='')}"


def _batch_path(batch: str) -> str:
    return f"/api/v1/batches/{quote(batch, safe='')}"


def _reuse_header(reuse: Reuse) -> Mapping[str, str] | None:
    value = _CACHE_CONTROL[reuse]
    return None if value is None else {"Cache-Control": value}


def lookup_names(ask: str | Sequence[str]) -> tuple[LookupName, ...]:
    """Return the lookups of a list, or of a text such as "decode,renainf". Raises InvalidRequest.

    The words of people, such as "multas", name lookups too.
    """
    words = ask.split(",") if isinstance(ask, str) else ask
    names = []
    for word in words:
        name = str(word).strip().lower()
        names.append(_WORDS.get(name, name))
    wrong = next((name for name in names if name not in LOOKUPS), None)
    if wrong is not None or not names:
        raise InvalidRequest(f"as consultas são {', '.join(LOOKUPS)}, e não {wrong or 'nenhuma'}")
    return tuple(name for name in LOOKUPS if name in names)


def _rows(response: requests.Response) -> list[Any]:
    try:
        lines = response.content.splitlines()
        return [shaped(json.loads(line), dict[str, Any]) for line in lines if line.strip()]
    except (ValueError, RecursionError):
        raise Failed("o portal enviou um arquivo que não é JSON Lines") from None


def _answer_of(response: requests.Response) -> Any:
    """Return the body of a contract's answer. What is in its result is the source's."""
    try:
        body = response.json()
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict) or "result" not in body:
        raise Failed("a resposta não tem a forma das de um portal Dossiê Veicular")
    return body


def _fetched_at(headers: Mapping[str, str]) -> datetime:
    """Return when the source answered: the portal's Date less the answer's Age."""
    date = headers.get("Date")
    now = parsedate_to_datetime(date) if date else datetime.now(timezone.utc)
    age = headers.get("Age", "0")
    return now - timedelta(seconds=int(age) if age.isascii() and age.isdigit() else 0)
