"""Rendered vehicle pages of the current second.

The cache is needed: without it, the benchmark "a warm page over the cache switched off"
(bench/misses.py) reaches 2 of its 5, because a page of stored answers takes 8 ms to render. The key
is everything that the page depends on, the answers' bytes and the visitor among them. The scheduler
clears the cache every second, so that a purged answer does not stay in memory. With
EDGE_MEMORY_MB=0 nothing is kept, because a page holds answers too.
"""

import secrets
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, Protocol

from flask import render_template

from portal.presentation import Site

MOST_PAGES: Final = 32
# What differs between two requests for one page. No text of the upstream can equal random values.
_CSRF_TOKEN: Final = secrets.token_hex(16)
_REQUEST_ID: Final = secrets.token_hex(16)


class Page(Protocol):
    """A view model that names its template."""

    @property
    def template(self) -> str: ...


class PageCache:
    """Keeps at most MOST_PAGES rendered pages, or none if it is not ``enabled``."""

    def __init__(self, enabled: bool = True) -> None:
        self._rendered = lru_cache(MOST_PAGES if enabled else 0)(_render)

    def render(
        self, site: Site, build: Callable[..., Page], *args: Hashable, **named: Hashable
    ) -> str:
        """Render the page that ``build`` returns for hashable arguments, or return the kept HTML.

        The result of a form is shown once, so a page with one is not kept.
        """
        if site.form_notices:
            page = build(*args, **named)
            return render_template(page.template, page=page, site=site)
        shared = replace(site, csrf_token=_csrf_placeholder, request_id=_REQUEST_ID, notices=tuple)
        html = self._rendered(build, args, tuple(sorted(named.items())), shared)
        if _CSRF_TOKEN in html:
            html = html.replace(_CSRF_TOKEN, site.csrf_token())
        return html.replace(_REQUEST_ID, site.request_id)

    def clear(self) -> None:
        """Forget every page. A periodic task."""
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
