"""A page client that is signed in."""

import re

from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
from tests.web.page_client import PageClient


def visitor(portal: InProcessPortal) -> PageClient:
    """A page client, signed in with the portal's token."""
    # Unlike the pages of a test, the form is not checked, which would take most of the sign-in.
    form = re.search('name="csrf_token" value="([^"]+)"', portal.client.get("/entrar").text)
    assert form is not None
    pages = PageClient(portal.client)
    pages.post("/entrar", data={"token": PORTAL_TOKEN, "csrf_token": form[1]})
    return pages
