"""The files that browsers request at fixed URLs: the icon and the web app manifest."""

from typing import Final

from flask import Blueprint, Response, current_app

from portal.web.http.assets import Assets

# A changed icon or manifest keeps its URL, so a browser may cache these files for only a day.
_CACHE_CONTROL: Final = {"Cache-Control": "public, max-age=86400"}


def icons_blueprint(assets: Assets) -> Blueprint:
    blueprint = Blueprint("icons", __name__)
    icon = assets.read("icons/favicon.ico")

    @blueprint.get("/favicon.ico")
    def favicon() -> Response:
        return Response(icon.body, content_type=icon.content_type, headers=_CACHE_CONTROL)

    @blueprint.get("/manifest.webmanifest")
    def web_app_manifest() -> Response:
        # Not ``render_template``, whose variable ``site`` would read the session.
        manifest = current_app.jinja_env.get_template("manifest.webmanifest")
        body = manifest.render(asset=assets.url)
        return Response(body, content_type="application/manifest+json", headers=_CACHE_CONTROL)

    return blueprint
