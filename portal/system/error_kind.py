"""Describes an error for the log, without the error's text."""

import errno
import ssl


def error_kind(error: BaseException) -> str:
    """Return the name of an exception's class, and the exception's code if it has one.

    The code is a TLS reason, an errno name, a SQLSTATE or an SQLite error name. If an exception
    without a code was caused by an OSError, the result also contains the OSError's class and code.
    The exception's message is left out, because it may contain a plate or a password.
    """
    kind = type(error).__name__
    cause = error.__cause__ or error.__context__
    if (name := _detail(error)) is not None:
        return f"{kind}, {name}"
    if isinstance(cause, OSError) and not isinstance(error, OSError):
        return f"{kind}, {error_kind(cause)}"
    return kind


def _detail(error: BaseException) -> str | None:
    # ``orig`` of an SQLAlchemy error is the error of the driver, psycopg or sqlite3.
    driver_error = getattr(error, "orig", None)
    if (state := getattr(driver_error, "sqlstate", None)) is not None:
        return f"SQLSTATE {state}"
    if (name := getattr(driver_error, "sqlite_errorname", None)) is not None:
        return str(name)
    match error:
        case ssl.SSLCertVerificationError():
            return str(error.verify_message.partition(",")[0])
        case ssl.SSLError():
            return getattr(error, "reason", None)  # None if Python itself raised the error
        case OSError(errno=int(number)):
            return errno.errorcode.get(number)
        case _:
            return None
