"""Names of errors for the log: class and reason, never the text."""

import errno
import ssl

import pytest

from portal.system.error_kind import error_kind


def wrapped(cause: Exception) -> Exception:
    """Return the error that a library raises instead of the cause."""
    try:
        try:
            raise cause
        except Exception:
            raise LookupError("a secret address")  # noqa: B904 - as redis-py does
    except LookupError as error:
        return error


def unverified() -> ssl.SSLError:
    error = ssl.SSLCertVerificationError("a secret address")
    error.verify_message = "self-signed certificate, at depth 0"
    return error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("a secret address"), "ValueError"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "x"), "ConnectionRefusedError, ECONNREFUSED"),
        (unverified(), "SSLCertVerificationError, self-signed certificate"),
        (
            wrapped(unverified()),
            "LookupError, SSLCertVerificationError, self-signed certificate",
        ),
        (wrapped(ValueError("a secret address")), "LookupError"),
    ],
)
def test_error_kind(error: Exception, kind: str) -> None:
    assert error_kind(error) == kind
