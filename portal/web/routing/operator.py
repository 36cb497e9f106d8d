"""What the operator's pages share: who may open them, and a recent sign-in for what they change."""

from collections.abc import Callable
from functools import wraps
from typing import Final

from flask import abort, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from portal.formats import duration
from portal.web.routing.responses import TOO_MANY_TRIES, show_notice
from portal.web.routing.routes import View
from portal.web.web import Web

ENTER_OWN: Final = "Este não é o token com que você entrou."
ENTER_AGAIN: Final = (
    "Entre de novo\nSua entrada pela empresa tem mais de dez minutos; isto pede outra."
)


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


def by_recent_sign_in(view: View) -> View:
    """Return a view that leads a person whose sign-in at the company is not recent to a new one.

    A token is asked for in the form itself (``sign_in_problem``). A person has none.
    """

    @wraps(view)
    def checked(web: Web, *args: object, **parts: str) -> BaseResponse:
        if not web.sessions.is_at_provider or web.sessions.is_fresh:
            return view(web, *args, **parts)
        show_notice(ENTER_AGAIN)
        # Not to the provider itself: a browser follows no redirect of a form to another site.
        return redirect(url_for("open.sign_in_form", next=request.path), 303)

    return checked


def sign_in_problem(web: Web) -> str:
    """Return an error message if the sign-in is too old and cannot be renewed, else "".

    Issuing or revoking a token requires a sign-in within the last FRESH_SIGN_IN_S seconds, because
    another person may use a browser that the operator has left open. A form asks for the session's
    token if the sign-in is too old. The correct token renews the sign-in.
    """
    if web.sessions.is_fresh:
        return ""
    if (wait_s := web.limits.sign_in(request.remote_addr)) is not None:
        return TOO_MANY_TRIES.format(duration(wait_s))
    if not web.sessions.enter_again(request.form.get("token", "").strip()):
        return ENTER_OWN
    web.limits.reset_sign_in(request.remote_addr)
    return ""
