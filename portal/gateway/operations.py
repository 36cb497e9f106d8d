"""The upstream's operations (docs/contract.md): paths and response formats."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

from portal.vehicle.operation_name import LOOKUPS, LookupName, OperationName
from portal.vehicle.plate import Plate, Renavam


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the upstream (docs/contract.md).

    The JSON body of a 200 has a member ``status``, which equals ``status_word``, and a member
    ``result`` of the type ``result_type``. The operation takes a plate, and also a Renavam if
    ``takes_renavam`` is true.
    """

    name: OperationName
    method: Literal["GET", "POST"]
    path: str
    status_word: Literal["DONE", "SUCCESS"]
    result_type: type[dict[str, object]] | type[list[object]]
    takes_renavam: bool = False

    def takes(self, subject: Plate | Renavam) -> bool:
        return self.takes_renavam or isinstance(subject, Plate)


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """The operator's settings for an operation: lifetimes (s) and price (R$).

    A price of 0 is free, and None is unknown.
    """

    fresh_s: int
    stale_s: int
    price: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """The operator's settings for upstream calls.

    ``deadline_s`` limits the duration of a lookup. ``hidden_marker`` is the text that the upstream
    sends in place of a value that it withholds. If ``operator_credential`` is None, the caller's
    own credential is sent upstream.
    """

    terms: Mapping[OperationName, CachePolicy]
    deadline_s: float
    hidden_marker: str
    operator_credential: str | None


DECODE = Operation("decode", "GET", "/detran/v1/decode", "DONE", dict)
# Renainf is the national register of traffic fines, and Renajud the register of court restrictions.
RENAINF = Operation(
    "renainf", "GET", "/detran/v1/restrictions/renainf", "SUCCESS", list, takes_renavam=True
)
RENAJUD = Operation(
    "renajud", "GET", "/detran/v1/restrictions/renajud", "SUCCESS", list, takes_renavam=True
)
REPORT = Operation("report", "POST", "/detran/v1/analytical-reports", "DONE", dict)

OPERATIONS: Mapping[OperationName, Operation] = {
    operation.name: operation for operation in (DECODE, RENAINF, RENAJUD, REPORT)
}
LOOKUP_OPERATIONS: Final[tuple[Operation, ...]] = tuple(OPERATIONS[name] for name in LOOKUPS)


def lookups_of(
    subject: Plate | Renavam, names: Iterable[LookupName] = LOOKUPS
) -> tuple[LookupName, ...]:
    """Return the lookups in ``names`` that take ``subject``, in the order of ``names``."""
    return tuple(name for name in names if OPERATIONS[name].takes(subject))
