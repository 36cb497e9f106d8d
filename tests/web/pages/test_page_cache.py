"""The cache of rendered pages gives no visitor the data of another visitor."""

from dataclasses import replace

import pytest

from portal.presentation.site.public_pages import GlossaryPage
from portal.presentation.site.site import Site
from portal.web.http import page_cache
from portal.web.http.page_cache import PageCache
from tests.conftest import PortalFactory
from tests.factories import renajud_body
from tests.fakes import FaultUpstream, faults, wait_until
from tests.fakes.answers import path_of
from tests.fakes.in_process import PORTAL_TOKEN
from tests.presentation.rendering import site
from tests.web.json_paths import issue
from tests.web.page_client import PageClient
from tests.web.person import Person

PAGE = "/placa/ABC1D23?completo=1"
ALL = frozenset({"decode", "renainf", "renajud", "report", "refresh"})


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list for the names of built pages; a short text replaces their template."""

    def rendered(_: str, *, page: GlossaryPage, site: Site) -> str:
        return f"{page} {site.csrf_token()} {site.request_id}"

    monkeypatch.setattr(page_cache, "render_template", rendered)
    return []


def test_equal_pages_are_built_once(built: list[str]) -> None:
    """Each request gets its own CSRF token and request id in the shared HTML."""
    cache = PageCache()

    def build(name: str) -> GlossaryPage:
        built.append(name)
        return GlossaryPage()

    shown = [
        cache.render(replace(site(), request_id=number, csrf_token=lambda: "mine"), build, name)
        for name, number in (("a", "1"), ("a", "2"), ("b", "3"))
    ]
    assert built == ["a", "b"]
    assert [text[-6:] for text in shown] == ["mine 1", "mine 2", "mine 3"]
    told = replace(site(), notices=lambda: ["Pronto"])
    cache.render(told, build, "a")
    assert built == ["a", "b", "a"]
    cache.clear()
    cache.render(site(), build, "a")
    assert built == ["a", "b", "a", "a"]


def test_disabled_cache_keeps_no_page(built: list[str]) -> None:
    """With EDGE_MEMORY_MB=0 no answer stays in memory, not even as rendered HTML."""
    cache = PageCache(most=0)

    def build(name: str) -> GlossaryPage:
        built.append(name)
        return GlossaryPage()

    for _ in range(2):
        cache.render(site(), build, "a")
    assert built == ["a", "a"]


def test_rendered_pages_stay_in_memory_for_about_a_second(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A purge must also remove the vehicle from the memory of the worker processes."""
    cleared: list[int] = []

    class WatchedCache(PageCache):
        def clear(self) -> None:
            cleared.append(self._rendered.cache_info().currsize)
            super().clear()

    monkeypatch.setattr("portal.factory.PageCache", WatchedCache)
    Person.at(portal()).signed_in(PORTAL_TOKEN).pages.get(PAGE)
    wait_until(lambda: 1 in cleared, "the clearing of the cache")


def test_visitors_have_their_own_csrf_tokens_and_names(portal: PortalFactory) -> None:
    built = portal()
    people = [
        Person.at(built).signed_in(issue(built, name, ALL)).pages for name in ("loja", "balcao")
    ]
    tokens = set()
    for name, pages in zip(("loja", "balcao"), people, strict=True):
        page = pages.get(PAGE)
        page = pages.get(PAGE)
        assert name in page.html
        tokens.add(page.csrf_token())
    assert len(tokens) == 2
    assert page_cache._CSRF_TOKEN not in page.html
    assert page_cache._REQUEST_ID not in page.html


def test_scopes_of_one_visitor_do_not_reach_another(portal: PortalFactory) -> None:
    built = portal()
    whole = Person.at(built).signed_in(PORTAL_TOKEN).pages
    narrow = Person.at(built).signed_in(issue(built, "so-multas", frozenset({"renainf"}))).pages
    assert "Audi" in whole.get(PAGE).text
    assert "Audi" not in narrow.get(PAGE).text
    assert "Audi" in whole.get(PAGE).text


def test_new_answer_is_shown_at_once(buyer: PageClient, upstream: FaultUpstream) -> None:
    page = buyer.get(PAGE)
    upstream.script(path_of("renajud", "ABC1D23"), faults.answer("given", renajud_body()))
    buyer.post("/placa/ABC1D23/atualizar", data={"csrf_token": page.csrf_token()})
    refreshed = buyer.get(PAGE)
    assert "Atualizado às" in refreshed.text
    assert "Atualizado às" not in buyer.get(PAGE).text
    assert "restricao-1" not in buyer.get(PAGE).html
