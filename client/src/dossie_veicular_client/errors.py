"""The errors of a portal as exceptions, chosen by the error's code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dossie_veicular_client.money import reais


class PortalError(Exception):
    """The portal did not do what was asked.

    ``code`` is the stable code of an error under ``/api/v1``, or None: the contract's paths have
    no codes. ``retry_after_s`` says when the same request may succeed. ``request_id`` names the
    request in the portal's log.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        code: str | None = None,
        request_id: str | None = None,
        retry_after_s: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.request_id = request_id
        self.retry_after_s = retry_after_s


class InvalidRequest(PortalError):
    """The request has a wrong plate, parameter or body. Nothing was asked."""


class NotAllowed(PortalError):
    """The token is missing, unknown or ended, or lacks the scope."""


class NotFound(PortalError):
    """The source has no record of the vehicle, or the portal has no such path or batch."""


class NotStored(PortalError):
    """The request allows only stored answers, and there is none. Nothing was asked."""


class Conflict(PortalError):
    """The batch's state does not allow the action, or a key was used with another body."""


class Busy(PortalError):
    """A limit is reached, or nothing can be asked at present. Nothing was asked."""


class Failed(PortalError):
    """The source or the portal failed. The lookup may have been charged."""


class Unreachable(PortalError):
    """No answer came from the portal. ``may_be_paid``: the portal may have got the request."""

    def __init__(self, message: str, *, may_be_paid: bool) -> None:
        super().__init__(message)
        self.may_be_paid = may_be_paid


class CostsTooMuch(PortalError):
    """The lookups would cost more than allowed. Nothing was asked."""

    @classmethod
    def beyond(cls, price: float | None, allowed: float) -> CostsTooMuch:
        """Amounts are in R$. A price of None is unknown, which is more than any limit."""
        limit = reais(allowed)
        if price is None:
            return cls(f"o portal não informa quanto custaria, e o limite é {limit}")
        return cls(f"custaria até {reais(price)}, e o limite é {limit}")


_MOST_DIGITS = 12
# The codes of which nobody can say from the status alone what they mean.
BY_CODE: Mapping[str, type[PortalError]] = {
    "not_stored": NotStored,
    "cost_unknown": CostsTooMuch,
    "cost_above_limit": CostsTooMuch,
    "upstream_unreachable": Busy,
    "upstream_busy": Failed,  # another address may have been charged before
    "portal_daily_limit": Busy,
    "ledger_unavailable": Busy,
    "portal_unavailable": Busy,
    "busy": Busy,
    "pdf_not_ready": Busy,
    "lookup_not_asked": InvalidRequest,
}
_BY_STATUS: Mapping[int, type[PortalError]] = {
    400: InvalidRequest,
    401: NotAllowed,
    403: NotAllowed,
    404: NotFound,
    405: InvalidRequest,
    409: Conflict,
    413: InvalidRequest,
    415: InvalidRequest,
    422: Conflict,
    429: Busy,
}


def error_class(status: int, code: str | None) -> type[PortalError]:
    return BY_CODE.get(code or "") or _BY_STATUS.get(status, Failed)


def error_of(status: int, document: object, headers: Mapping[str, str]) -> PortalError:
    """Return the exception for an answer that is no success."""
    body: Mapping[str, Any] = document if isinstance(document, Mapping) else {}
    code = body.get("code")
    code = code if isinstance(code, str) else None
    message, request_id = body.get("message"), body.get("request_id")
    return error_class(status, code)(
        message if isinstance(message, str) and message else f"o portal respondeu {status}",
        status=status,
        code=code,
        request_id=request_id if isinstance(request_id, str) else headers.get("X-Request-Id"),
        retry_after_s=_seconds(body.get("retry_after_s", headers.get("Retry-After"))),
    )


def _seconds(value: object) -> int | None:
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < _MOST_DIGITS else None
