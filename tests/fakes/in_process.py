"""The portal inside the test process: the application that create_app builds, and its client."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portal.settings import Settings

OPERATOR_TOKEN = "operator-credential-of-the-tests"  # what the upstream gets in managed mode
PORTAL_TOKEN = "portal-token-of-the-tests"  # what callers hold, all scopes


@dataclass(frozen=True, slots=True)
class InProcessPortal:
    """An application and a client of it; ``settings`` are what it was built from."""

    app: Any
    client: Any
    settings: Any

    def get(self, path: str, token: str | None = PORTAL_TOKEN, **options: Any) -> Any:
        """A JSON lookup with a credential in the header."""
        headers = dict(options.pop("headers", {}))
        if token is not None:
            headers.setdefault("Authorization", token)
        return self.client.get(path, headers=headers, **options)


def managed(url: str, secondary: str | None = None) -> dict[str, str]:
    """Settings of a portal whose operator pays; callers use PORTAL_TOKEN."""
    settings = {
        "PORTAL_UPSTREAM_URL": url,
        "PORTAL_UPSTREAM_TOKEN": OPERATOR_TOKEN,
        "PORTAL_ACCESS_TOKENS": PORTAL_TOKEN,
    }
    return settings | ({"PORTAL_UPSTREAM_SECONDARY_URL": secondary} if secondary else {})


def pass_through(url: str, secondary: str | None = None) -> dict[str, str]:
    """Settings of a portal whose callers bring their own upstream credential."""
    settings = {"PORTAL_UPSTREAM_URL": url}
    return settings | ({"PORTAL_UPSTREAM_SECONDARY_URL": secondary} if secondary else {})


@contextmanager
def built(data_dir: Path, env: Mapping[str, str]) -> Iterator[InProcessPortal]:
    """The application of these settings, with its own data directory."""
    # Late: whoever tests a single room does not load the whole application.
    from app import create_app

    settings = Settings.from_environment({"PORTAL_DATA_DIR": str(data_dir), **env})
    app = create_app(settings)
    with app.extensions["closing"]:
        yield InProcessPortal(app, app.test_client(), settings)
