"""Renders view models to HTML without an application."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from portal.dossier.answers import Panel, Panels
from portal.presentation import filters
from portal.presentation.site.site import Site
from portal.vehicle.plate import Plate
from portal.vehicle.wire import result_of
from portal.web.http.assets import Assets
from tests.factories import (
    HIDDEN,
    decode_body,
    fine,
    fipe_entry,
    renainf_body,
    renajud_body,
    restriction,
)
from tests.presentation.pages import Context

ROOT = Path(__file__).parents[2]
ASSETS = Assets(ROOT / "static")
# In São Paulo it is still 20/11/2026 at this time.
NOW = datetime(2026, 11, 21, 0, 15, tzinfo=UTC)
CONTEXT = Context(now=NOW, marker=HIDDEN, mask_names=True)
PLATE = Plate.parse("ABC1D23")
UNASKED = Panel("unasked", price=Decimal(0))
UNASKED_PANELS = Panels(UNASKED, UNASKED, UNASKED)
DOWN = Panel(
    "unavailable",
    reason="A fonte de dados demorou demais para responder.",
    price=Decimal(0),
)


def environment() -> Environment:
    env = Environment(
        loader=FileSystemLoader(ROOT / "templates"), autoescape=True, undefined=StrictUndefined
    )
    filters.register(env)
    return env


ENVIRONMENT = environment()


def site(
    *,
    demo: bool = True,
    signed_in: str | None = None,
    path: str = "/",
    is_operator: bool = False,
) -> Site:
    return Site(
        demo=demo,
        signed_in=signed_in,
        sign_in_offered=not demo,
        request_id="01JD0000",
        csrf_token=lambda: "a-token",
        asset=ASSETS.url,
        path=path,
        origin="https://dossie.example",
        panel_seconds=30,
        is_operator=is_operator,
    )


def render(page: Any, around: Site | None = None) -> str:
    return ENVIRONMENT.get_template(page.template).render(page=page, site=around or site())


def answered(
    body: bytes,
    state: Literal["fresh", "stale"] = "fresh",
    *,
    age: timedelta = timedelta(minutes=3),
    price: str = "0",
) -> Panel:
    result = result_of(body)
    return Panel(state, body, result, NOW - age, "primary", from_cache=True, price=Decimal(price))


def panels(
    decode: bytes | None = None, renainf: bytes | None = None, renajud: bytes | None = None
) -> Panels:
    """Panels of the default vehicle: two price candidates, a fine, a restriction.

    Each argument replaces the body of one answer.
    """
    usual = decode_body(
        str(PLATE),
        informacoesFipe=[fipe_entry(), fipe_entry(fipeId="81850", versao="SPORTBACK 1.4 TFSI")],
    )
    return Panels(
        answered(decode if decode is not None else usual),
        answered(renainf if renainf is not None else renainf_body(fine())),
        answered(renajud if renajud is not None else renajud_body(restriction())),
    )
