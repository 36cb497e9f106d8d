"""A visitor of a running server."""

import re

from tests.fakes.in_process import PORTAL_TOKEN
from tests.fakes.processes import HttpProcess


def signed_in(server: HttpProcess) -> dict[str, str]:
    """Sign in and return the session cookie as a header."""
    form = server.get("/entrar")
    token = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', form.text)
    assert token is not None
    fields = {"token": PORTAL_TOKEN, "csrf_token": token[1]}
    done = server.post("/entrar", data=fields, cookies=form.cookies)
    assert done.status_code == 303
    return {"Cookie": f"portal={done.cookies['portal']}"}
