"""Declares the routes of pages.

A view is a function of the ``Web`` and, under ``at_desk``, of the visitor's desk.
"""

from collections.abc import Callable
from functools import partial, wraps
from typing import TypeVar

from flask import Blueprint, abort, redirect, request, url_for
from flask import Response as FlaskResponse
from werkzeug.wrappers import Response

from portal.web.http.rate_limits import refuse
from portal.web.http.sessions import WITHOUT_SESSION
from portal.web.web import Web

View = Callable[..., Response]
AnyView = TypeVar("AnyView", bound=View)


class Routes:
    """The views of one blueprint, by path and method.

    ``robots`` is the value of the header X-Robots-Tag, or "". If ``limited`` is true, the request
    limits apply.
    """

    def __init__(self, name: str, *, robots: str = "", limited: bool = False) -> None:
        self._name = name
        self._robots = robots
        self._limited = limited
        self._views: list[tuple[str, str, str, View]] = []
        self._handlers: list[tuple[type[Exception], Callable[..., Response]]] = []

    def get(self, path: str, name: str = "") -> Callable[[AnyView], AnyView]:
        """Add a view. Its endpoint is ``name``, by default the name of the view."""
        return self.add(path, "GET", name)

    def post(self, path: str) -> Callable[[AnyView], AnyView]:
        return self.add(path, "POST")

    def handle(self, error: type[Exception]) -> Callable[[Callable[..., Response]], None]:
        return lambda handler: self._handlers.append((error, handler))

    def blueprint(self, web: Web) -> Blueprint:
        pages = Blueprint(self._name, __name__)
        for path, method, name, view in self._views:
            pages.add_url_rule(path, name, partial(view, web), methods=[method])
        for error, handler in self._handlers:
            pages.register_error_handler(error, partial(handler, web))
        if self._robots:
            pages.after_request(self._keep_out_of_indexes)
        if self._limited and web.limits.counts_requests:
            pages.before_request(partial(_check_limit, web))
        return pages

    def add(self, path: str, method: str, name: str = "") -> Callable[[AnyView], AnyView]:
        def add(view: AnyView) -> AnyView:
            self._views.append((path, method, name or view.__name__, view))
            return view

        return add

    def _keep_out_of_indexes(self, response: FlaskResponse) -> FlaskResponse:
        response.headers["X-Robots-Tag"] = self._robots
        return response


def at_desk(view: View) -> View:
    """Return a view that passes the visitor's desk to ``view``.

    If the visitor has no identity, or has not picked a purpose although the operator asks for one,
    the returned view redirects a GET to the sign-in page and answers a POST with 401.
    """

    @wraps(view)
    def seated(web: Web, **parts: str) -> Response:
        desk = web.visitor_desk()
        if desk is not None and has_purpose(web):
            return view(web, desk, **parts)
        if request.method == "POST":
            abort(401)
        return redirect(url_for("open.sign_in_form", next=request.full_path.rstrip("?")), 303)

    return seated


def has_purpose(web: Web) -> bool:
    """Return whether the visitor has picked a purpose, if the operator asks for one."""
    is_asked = web.settings.purposes and web.sessions.signed_in is not None
    return not is_asked or bool(web.sessions.purpose)


def _check_limit(web: Web) -> None:
    # Demo visitors who have not signed in share one token, and a shared dossier's page reads no
    # session. Their requests count only towards the limit of their address.
    identity = None if request.blueprint in WITHOUT_SESSION else web.sessions.signed_in
    refuse(web.limits.request(request.remote_addr, identity.digest if identity else None))
