"""A page client that is signed in."""

from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal
from tests.web.page_client import PageClient


def visitor(portal: InProcessPortal) -> PageClient:
    """A page client, signed in with the portal's token."""
    pages = PageClient(portal.client)
    form = pages.get("/entrar")
    pages.post("/entrar", data={"token": PORTAL_TOKEN, "csrf_token": form.csrf_token()})
    return pages
