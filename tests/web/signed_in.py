"""A person who has signed in at the portal."""

from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
from tests.web.page_client import PageClient


def visitor(portal: InProcessPortal) -> PageClient:
    """A person who has signed in with the portal's token."""
    pages = PageClient(portal.client)
    form = pages.get("/entrar")
    pages.post("/entrar", data={"token": PORTAL_TOKEN, "csrf_token": form.csrf_token()})
    return pages
