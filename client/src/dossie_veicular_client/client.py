"""The portal's paths as methods."""

from __future__ import annotations

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
    DecodeAnswer,
    Explained,
    FineRow,
    FinesAnswer,
    IssuedDossier,
    JsonObject,
    LookupName,
    MissingRow,
    PriceRow,
    ReportAnswer,
    RestrictionRow,
    RestrictionsAnswer,
    Usage,
)
from dossie_veicular_client.errors import NotStored, PortalError
from dossie_veicular_client.transport import TIMEOUT_S, Transport

LOOKUPS: Final[tuple[LookupName, ...]] = ("decode", "renainf", "renajud")
TableName = Literal["fines", "restrictions", "prices"]
Ending = Literal["csv", "jsonl"]
FileName = Literal["results", "fines", "restrictions", "prices"]
FileEnding = Literal["csv", "jsonl", "xlsx", "zip"]
Dialect = Literal["brazil", "rfc4180"]
Reuse = Literal["usual", "stored", "refresh"]
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
        self, plate: str, ask: Sequence[LookupName] | None = None, reuse: Reuse = "usual"
    ) -> Explained:
        """Return what the portal's page says. A lookup that failed is in ``lookups``."""
        response = self._transport.send(
            "GET",
            _vehicle_path(plate),
            is_free=reuse == "stored",
            params=None if ask is None else {"ask": ",".join(ask)},
            headers=_reuse_header(reuse),
        )
        return cast(Explained, response.json())

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

    # Batches

    def create_batch(
        self,
        plates: Sequence[str],
        ask: Sequence[LookupName] | None = None,
        idempotency_key: str | None = None,
    ) -> Batch:
        """Create a draft, which asks nothing. With a key, a repeated call gives the same batch."""
        headers = {} if idempotency_key is None else {"Idempotency-Key": idempotency_key}
        body: JsonObject = {"plates": list(plates)}
        if ask is not None:
            body["ask"] = list(ask)
        response = self._transport.send(
            "POST", "/api/v1/batches", is_free=bool(headers), json=body, headers=headers
        )
        return cast(Batch, response.json())

    def batches(self) -> Iterator[Batch]:
        """Yield the token's batches, the newest first."""
        after: str | None = None
        while True:
            params = {} if after is None else {"after": after}
            response = self._transport.send("GET", "/api/v1/batches", is_free=True, params=params)
            page = cast(BatchList, response.json())
            yield from page["batches"]
            after = page["next"]
            if after is None:
                return

    def batch(self, batch: str, wait_s: int = 0) -> Batch:
        """Return a batch, at the latest after ``wait_s`` (at most 30) if it does not change."""
        params = {"wait": str(wait_s)} if wait_s else None
        return self._batch("GET", _batch_path(batch), params=params, timeout_s=wait_s + TIMEOUT_S)

    def start_batch(self, batch: str, max_cost: float | None = None) -> Batch:
        """Start or resume a batch, which pauses before it would spend more than ``max_cost`` R$.

        A batch that has all it asked for does not change, so the call may be repeated.
        """
        body = {} if max_cost is None else {"max_cost": max_cost}
        return self._batch(
            "POST", f"{_batch_path(batch)}/start", body, is_free=max_cost is not None
        )

    def pause_batch(self, batch: str) -> Batch:
        return self._batch("POST", f"{_batch_path(batch)}/pause")

    def cancel_batch(self, batch: str) -> Batch:
        return self._batch("POST", f"{_batch_path(batch)}/cancel")

    def follow(self, batch: str) -> Iterator[Batch]:
        """Yield a batch at each change, until it is done, cancelled, or waits for somebody.

        A batch that pauses for the source goes on by itself, so it is followed further.
        """
        found = self.batch(batch)
        while True:
            yield found
            if found["state"] != "running" and not found["resumes_at"]:
                return
            former, found = found, self.batch(batch, wait_s=_LONGEST_WAIT_S)
            if found["counts"] == former["counts"] and found["state"] == former["state"]:
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
        return cast(Usage, self._transport.send("GET", "/api/v1/usage", is_free=True).json())

    def issued(self, number: str) -> IssuedDossier:
        """Return the state of an issued dossier, by its number or its link's key."""
        path = f"/api/v1/dossiers/{quote(number, safe='')}"
        return cast(IssuedDossier, self._transport.send("GET", path, is_free=True).json())

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
        return Answer(response.json(), _fetched_at(headers), headers.get("Cache-Status", ""))

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
        response = self._transport.send(
            method,
            path,
            is_free=method == "GET" if is_free is None else is_free,
            json=body,
            params=params,
            timeout_s=timeout_s,
        )
        return cast(Batch, response.json())


def _vehicle_path(plate: str) -> str:
    return f"/api/v1/vehicles/{quote(plate, safe='')}"


def _batch_path(batch: str) -> str:
    return f"/api/v1/batches/{quote(batch, safe='')}"


def _reuse_header(reuse: Reuse) -> Mapping[str, str] | None:
    value = _CACHE_CONTROL[reuse]
    return None if value is None else {"Cache-Control": value}


def _rows(response: requests.Response) -> list[Any]:
    return [json.loads(line) for line in response.content.splitlines() if line.strip()]


def _fetched_at(headers: Mapping[str, str]) -> datetime:
    """Return when the source answered: the portal's Date less the answer's Age."""
    date = headers.get("Date")
    now = parsedate_to_datetime(date) if date else datetime.now(timezone.utc)
    age = headers.get("Age", "0")
    return now - timedelta(seconds=int(age) if age.isdigit() else 0)
