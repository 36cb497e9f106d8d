"""Decorates views of one vehicle, and records visits."""

from collections.abc import Callable
from functools import wraps

from flask import redirect
from werkzeug.wrappers import Response as BaseResponse

from portal.desk.desk import Desk
from portal.phrasebook.api_errors import INVALID_PLATE
from portal.vehicle.plate import InvalidSubject, Plate, Renavam
from portal.vehicle.typed import is_tax_number
from portal.web.http.errors import this_path
from portal.web.http.spending import is_user_initiated
from portal.web.routing.routes import View, at_desk
from portal.web.routing.search import search_response
from portal.web.web import Web


def of_vehicle(kind: type[Plate] | type[Renavam]) -> Callable[[View], View]:
    """Return a decorator of views that get the visitor's desk and the URL's plate or Renavam.

    If the plate or Renavam is not in its canonical form, the decorated view redirects to the URL
    with the canonical form. Eleven zeros and a person's tax number are no Renavam here, although
    the JSON paths accept any eleven digits.
    """

    def decorator(view: View) -> View:
        @wraps(view)
        def checked(web: Web, desk: Desk, text: str, **parts: str) -> BaseResponse:
            try:
                subject = kind.parse(text)
                if isinstance(subject, Renavam) and (subject.is_invented or is_tax_number(subject)):
                    raise InvalidSubject(text)
            except InvalidSubject:
                return search_response(web, 400, text[:80], INVALID_PLATE)
            if subject.text != text:
                return redirect(this_path(text=subject.text), 308)
            return view(web, desk, subject, **parts)

        return at_desk(checked)

    return decorator


def record_visit(desk: Desk, *subjects: Plate | Renavam) -> bool:
    """Return whether a user initiated the request. If so, add the vehicles to the history."""
    if not is_user_initiated():
        return False
    desk.remember(*subjects)
    return True
