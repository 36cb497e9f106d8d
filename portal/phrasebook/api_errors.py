"""The errors of the JSON API by their codes.

Responses are made from this table, and the API reference and the OpenAPI document show it. The
contract's paths have the same errors, without the codes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from portal.data_files import read_csv


@dataclass(frozen=True, slots=True)
class ApiError:
    """An error's HTTP status, its message, and what the client can do.

    A response may have a message with more detail instead.
    """

    code: str
    status: int
    message: str
    remedy: str


API_ERRORS: Final[Mapping[str, ApiError]] = {
    error.code: error for error in read_csv(__package__, "api_errors.csv", ApiError)
}
INVALID_PLATE: Final = API_ERRORS["plate_invalid"].message
