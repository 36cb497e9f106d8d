"""Decorates the operator's views."""

from collections.abc import Callable
from functools import wraps

from flask import abort, redirect, url_for
from werkzeug.wrappers import Response as BaseResponse

from portal.web.routing.routes import View
from portal.web.web import Web


def operator(view: Callable[..., BaseResponse]) -> View:
    """Return a view that admits only operators and passes the identity to ``view``.

    In pass-through mode, the returned view refuses all visitors, because upstream credentials have
    no scope ``admin``.
    """

    @wraps(view)
    def guarded(web: Web, **parts: str) -> BaseResponse:
        if web.sessions.is_pass_through:
            abort(403)
        identity = web.sessions.signed_in
        if identity is None:
            return redirect(url_for("open.sign_in_form", next=url_for("operations.overview")), 303)
        if not identity.has_scope("admin"):
            abort(403)
        return view(web, identity, **parts)

    return guarded
