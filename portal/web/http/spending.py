"""Decides what a request may spend: nothing unless a user or a client meant it.

A page spends only if a user caused the request. A browser, a bot or another site must not cause
paid upstream calls. A call of the JSON API says by ``Cache-Control`` and ``cached`` what it may
spend.
"""

import re
from typing import Final

from flask import request

from portal.access.tokens import Identity
from portal.gateway.lookup import Spend


def is_user_initiated() -> bool:
    """Return whether a user has probably caused the request.

    Returns False for a prefetch, a request from another site, a known bot, or a method other than
    GET and POST.
    """
    headers = request.headers
    purpose = " ".join(headers.get(name, "") for name in _PURPOSES).lower()
    is_prefetch = any(word in purpose for word in ("prefetch", "prerender", "preview"))
    is_cross_site = headers.get("Sec-Fetch-Site", "").strip().lower() == "cross-site"
    is_bot = _BOTS.search(headers.get("User-Agent", "")) is not None
    return request.method in ("GET", "POST") and not (is_prefetch or is_cross_site or is_bot)


_PURPOSES: Final = ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz")
# Crawlers and link previews. The pattern must not match the User-Agent of people who use a phone of
# the brand Cubot, or the browser in the Telegram or Pinterest app.
_BOTS: Final = re.compile(
    r"(?<!cu)bot|crawl|spider|slurp|preview|facebookexternalhit|facebookcatalog|meta-external"
    r"|whatsapp/|embedly|iframely|slack-imgproxy|ia_archiver|google-read-aloud|googleother"
    r"|google-inspectiontool|mediapartners|apis-google|feedfetcher|bytespider|vkshare|skypeuri",
    re.IGNORECASE,
)


def page_spend() -> Spend:
    """Return what a page may spend."""
    return Spend.ASKED if is_user_initiated() else Spend.NEVER


def first_spend() -> Spend:
    """Return what a page may spend whose script may ask for missing answers later.

    With ``?completo=1`` (complete), the first response contains the answers to all lookups.
    """
    is_complete = request.args.get("completo") == "1"
    spend = page_spend()
    return Spend.LATER if spend is Spend.ASKED and not is_complete else spend


def header_spend(identity: Identity) -> Spend:
    """Return what the header Cache-Control of a JSON request lets it spend.

    ``no-cache`` has an effect only with the scope ``refresh``. A HEAD is treated like
    ``only-if-cached``, so it never causes an upstream call.
    """
    if request.method == "HEAD":
        return Spend.LATER
    header = request.headers.get("Cache-Control")
    if header is None:
        return Spend.ASKED
    directives = {directive.partition("=")[0].strip().lower() for directive in header.split(",")}
    if "only-if-cached" in directives:
        return Spend.LATER
    if "no-cache" in directives and identity.has_scope("refresh"):
        return Spend.AGAIN
    return Spend.ASKED


def call_spend(identity: Identity, *, by_session: bool, is_cached: bool) -> Spend:
    """Return what a call of ``/api/v1`` may spend. ``is_cached`` is the parameter ``cached``.

    If the session cookie authenticates the sender, two rules of the HTML pages apply. The header
    ``no-cache`` has no effect, because a browser sends it with every reload, and a reload must not
    cost an upstream call. A request that no user initiated reads only stored answers.
    """
    spend = Spend.LATER if is_cached else header_spend(identity)
    return spend if spend is Spend.LATER or not by_session else page_spend()
