"""Cache of rendered vehicle pages, cleared every second.

Rendering a page from stored answers takes 10 ms. The benchmark ``warm_page`` in ``bench/misses.py``
requires that the portal serves five times as many pages a second as a portal that stores no
answers. Without the page cache, the portal serves only twice as many pages.

The cache key contains everything that the page depends on, such as the answers' bytes and the
visitor's name. The scheduler clears the cache, so that a purged answer does not stay in memory. The
setting EDGE_MEMORY_MB=0 disables the cache.
"""

import secrets
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, Protocol

from flask import render_template

from portal.presentation.site.site import Site

MOST_PAGES: Final = 32
# A cached page contains these placeholders for the texts that differ between requests. The
# placeholders are random, so that no text of the upstream can equal a placeholder.
_CSRF_TOKEN: Final = secrets.token_hex(16)
_REQUEST_ID: Final = secrets.token_hex(16)


class Page(Protocol):
    """A view model with the name of its template."""

    @property
    def template(self) -> str: ...


class PageCache:
    """Caches at most ``most`` rendered pages."""

    def __init__(self, most: int = MOST_PAGES) -> None:
        self._rendered = lru_cache(most)(_render)

    def render(
        self, site: Site, build: Callable[..., Page], *args: Hashable, **named: Hashable
    ) -> str:
        """Return the HTML of the page ``build(*args, **named)``, from the cache if possible.

        A page with a notice about the last submitted form is not cached, because the notice is
        shown only once.
        """
        if site.form_notices:
            return _render(build, args, tuple(named.items()), site)
        shared = replace(site, csrf_token=_csrf_placeholder, request_id=_REQUEST_ID, notices=tuple)
        html = self._rendered(build, args, tuple(sorted(named.items())), shared)
        if _CSRF_TOKEN in html:
            html = html.replace(_CSRF_TOKEN, site.csrf_token())
        return html.replace(_REQUEST_ID, site.request_id)

    def clear(self) -> None:
        self._rendered.cache_clear()


def _render(
    build: Callable[..., Page],
    args: tuple[Hashable, ...],
    named: tuple[tuple[str, Any], ...],
    site: Site,
) -> str:
    page = build(*args, **dict(named))
    return render_template(page.template, page=page, site=site)


def _csrf_placeholder() -> str:
    return _CSRF_TOKEN
