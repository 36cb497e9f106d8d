"""The portal inside the test process: the Flask application and its test client."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.gateway.store import FAILURE_SHARED_S
from portal.settings import Settings
from tests.fakes.clock import RunningClock

if TYPE_CHECKING:
    from portal.factory import Portal

OPERATOR_TOKEN = "operator-credential-of-the-tests"  # the portal's own credential for the upstream
PORTAL_TOKEN = "portal-token-of-the-tests"  # a caller's token for the portal, with all scopes
# Settings for tests with hundreds of requests at once. On a busy machine, these requests would
# exceed the default time-outs, which such a test does not check.
PATIENT = {
    "PORTAL_CONNECT_TIMEOUT": "60",
    "PORTAL_FIRST_BYTE_TIMEOUT": "100",
    "PORTAL_DEADLINE": "120",
}


@dataclass(frozen=True, slots=True)
class InProcessPortal:
    """An application, its parts and test client, and the settings it was built from."""

    app: Flask
    parts: "Portal"
    client: FlaskClient
    settings: Settings
    clock: RunningClock | None

    def get(self, path: str, token: str | None = PORTAL_TOKEN, **options: Any) -> TestResponse:
        """Send a GET with ``token`` in the Authorization header."""
        headers = dict(options.pop("headers", {}))
        if token is not None:
            headers.setdefault("Authorization", token)
        return self.client.get(path, headers=headers, **options)

    def wait_out_failures(self) -> None:
        """Let the time pass in which the gateway shares a failure."""
        assert self.clock is not None
        self.clock.advance(FAILURE_SHARED_S)


# Each price of a call. Without them, a managed portal warns at its start.
PRICED: Final = {
    f"PORTAL_PRICE_{name}": "0.30" for name in ("DECODE", "RENAINF", "RENAJUD", "REPORT")
}


def managed(url: str, secondary: str | None = None) -> dict[str, str]:
    """Return the settings of managed mode.

    Callers send PORTAL_TOKEN, and the portal sends OPERATOR_TOKEN to the upstream.
    """
    settings = {
        "PORTAL_UPSTREAM_URL": url,
        "PORTAL_UPSTREAM_TOKEN": OPERATOR_TOKEN,
        "PORTAL_ACCESS_TOKENS": PORTAL_TOKEN,
    }
    return settings | ({"PORTAL_UPSTREAM_SECONDARY_URL": secondary} if secondary else {})


def pass_through(url: str, secondary: str | None = None) -> dict[str, str]:
    """Return the settings of pass-through mode: callers send upstream credentials."""
    settings = {"PORTAL_UPSTREAM_URL": url}
    return settings | ({"PORTAL_UPSTREAM_SECONDARY_URL": secondary} if secondary else {})


@contextmanager
def built(
    data_dir: Path, env: Mapping[str, str], clock: RunningClock | None = None
) -> Iterator[InProcessPortal]:
    """Build the application from the variables in ``env`` and a data directory.

    The gateway reads ``clock``, which a test may advance.
    """
    # Imported here, so that tests of a single package do not load the whole application.
    from app import create_app
    from portal.factory import Portal

    settings = Settings.from_environment({"PORTAL_DATA_DIR": str(data_dir), **env})
    if clock is None:
        app = create_app(settings)
        parts = app.extensions.get("portal") or _former_parts(app)
    else:
        parts = Portal(settings, clock=clock)
        app = parts.app
    with closing(parts):
        yield InProcessPortal(app, parts, app.test_client(), settings, clock)


def _former_parts(app: Flask) -> Any:
    """Return the parts of a former commit's application, which ``tests.faces`` renders."""
    return SimpleNamespace(**app.extensions, close=app.extensions["closing"].close)
