"""A simulated browser user, who signs in through the form."""

import re
from dataclasses import dataclass
from typing import Any

from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
from tests.web.page_client import PageClient


@dataclass(frozen=True, slots=True)
class Person:
    """One browser with its own cookies."""

    client: Any

    @classmethod
    def at(cls, portal: InProcessPortal) -> "Person":
        return cls(portal.app.test_client())

    @property
    def pages(self) -> PageClient:
        return PageClient(self.client)

    def csrf_token(self) -> str:
        """Return the token of the sign-in form, without the checks of ``pages``."""
        html = self.client.get("/entrar").get_data(as_text=True)
        found = re.search(r'name="csrf_token" value="([^"]+)"', html)
        assert found, html
        return found[1]

    def sign_in(self, token: str = PORTAL_TOKEN, then: str = "/", **options: Any) -> Any:
        """Submit the sign-in form and return the response."""
        form = {"token": token, "next": then, "csrf_token": self.csrf_token()}
        return self.client.post("/entrar", data=form, **options)

    def signed_in(self, token: str = PORTAL_TOKEN) -> "Person":
        response = self.sign_in(token)
        assert response.status_code == 303, response.get_data(as_text=True)
        return self

    def post(self, path: str, **fields: str | list[str]) -> Any:
        """Post a form with a valid CSRF token."""
        return self.client.post(path, data={"csrf_token": self.csrf_token(), **fields})
