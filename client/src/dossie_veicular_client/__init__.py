"""Client of a Dossiê Veicular portal: the contract's five paths and ``/api/v1``, typed."""

from dossie_veicular_client.client import Answer, Client
from dossie_veicular_client.errors import (
    Busy,
    Conflict,
    CostsTooMuch,
    Failed,
    InvalidRequest,
    NotAllowed,
    NotFound,
    NotStored,
    PortalError,
    Unreachable,
)

__all__ = [
    "Answer",
    "Busy",
    "Client",
    "Conflict",
    "CostsTooMuch",
    "Failed",
    "InvalidRequest",
    "NotAllowed",
    "NotFound",
    "NotStored",
    "PortalError",
    "Unreachable",
]
