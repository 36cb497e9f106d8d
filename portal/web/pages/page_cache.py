"""Rendered vehicle pages of the current second.

The cache is needed: without it, the benchmark "a warm page over the cache switched off"
(bench/misses.py) reaches 2 of its 5, because a page of stored answers takes 8 ms to render. The key
is everything that the page depends on, the answers' bytes and the visitor among them. The scheduler
clears the cache every second, so that a purged answer does not stay in memory.
"""

import secrets
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, Protocol

from flask import render_template

from portal.presentation import Site

_MOST_PAGES: Final = 32
# What differs between two requests for one page. No text of the upstream can equal random values.
_CSRF_TOKEN: Final = secrets.token_hex(16)
_REQUEST_ID: Final = secrets.token_hex(16)


class Page(Protocol):
    """A view model that names its template."""

    @property
    def template(self) -> str: ...


def render_cached(
    site: Site, build: Callable[..., Page], *args: Hashable, **named: Hashable
) -> str:
    """Render the page that ``build`` returns for hashable arguments, or return the cached HTML.

    The result of a form is shown once, so a page with one is not cached.
    """
    if site.form_notices:
        page = build(*args, **named)
        return render_template(page.template, page=page, site=site)
    shared = replace(site, csrf_token=_csrf_placeholder, request_id=_REQUEST_ID, notices=tuple)
    html = _rendered(build, args, tuple(sorted(named.items())), shared)
    if _CSRF_TOKEN in html:
        html = html.replace(_CSRF_TOKEN, site.csrf_token())
    return html.replace(_REQUEST_ID, site.request_id)


@lru_cache(_MOST_PAGES)
def _rendered(
    build: Callable[..., Page],
    args: tuple[Hashable, ...],
    named: tuple[tuple[str, Any], ...],
    site: Site,
) -> str:
    page = build(*args, **dict(named))
    return render_template(page.template, page=page, site=site)


clear_rendered_pages: Final = _rendered.cache_clear


def _csrf_placeholder() -> str:
    return _CSRF_TOKEN
