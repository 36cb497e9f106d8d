"""Reads the Cache-Control header of a request."""

from flask import request

from portal.access import Identity
from portal.gateway import Directive


def directive_of(identity: Identity) -> Directive:
    """Return the request's cache directive.

    ``no-cache`` has an effect only with the scope ``refresh``. A HEAD is treated like
    ``only-if-cached``, so it never causes an upstream call.
    """
    directives = {
        directive.partition("=")[0].strip().lower()
        for directive in request.headers.get("Cache-Control", "").split(",")
    }
    if request.method == "HEAD" or "only-if-cached" in directives:
        return Directive.ONLY_IF_CACHED
    if "no-cache" in directives and identity.has_scope("refresh"):
        return Directive.REFRESH
    return Directive.NORMAL
