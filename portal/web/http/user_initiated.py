"""Detects whether a user caused a request.

Other requests, such as those of bots, must not cause paid upstream calls.
"""

import re
from typing import Final

from flask import request


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
