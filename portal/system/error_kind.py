"""Names of errors for the log."""

import errno
import ssl


def error_kind(error: BaseException) -> str:
    """Return an exception's class with its TLS reason, errno name or SQLSTATE, or its cause's.

    The exception's text is left out: it may hold an address, and with it a plate or a password.
    """
    kind = type(error).__name__
    cause = error.__cause__ or error.__context__
    if (name := _detail(error)) is not None:
        return f"{kind}, {name}"
    if isinstance(cause, OSError) and not isinstance(error, OSError):
        return f"{kind}, {error_kind(cause)}"
    return kind


def _detail(error: BaseException) -> str | None:
    # SQLAlchemy's errors hold the driver's: psycopg's with a SQLSTATE, sqlite3's with a name.
    driver_error = getattr(error, "orig", None)
    if (state := getattr(driver_error, "sqlstate", None)) is not None:
        return f"SQLSTATE {state}"
    if (name := getattr(driver_error, "sqlite_errorname", None)) is not None:
        return str(name)
    match error:
        case ssl.SSLCertVerificationError():
            return str(error.verify_message.partition(",")[0])
        case ssl.SSLError():
            return getattr(error, "reason", None)  # absent if Python raises the error itself
        case OSError(errno=int(number)):
            return errno.errorcode.get(number)
        case _:
            return None
