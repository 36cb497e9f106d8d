"""The fragment cache: markup is reused for the same answer only."""

import re
from dataclasses import dataclass

from markupsafe import Markup

from portal.web.pages.fragment_cache import MAX_FRAGMENTS, Fragments
from tests.conftest import PortalFactory
from tests.fakes import Clock
from tests.fakes.in_process import InProcessPortal
from tests.web.page_client import PageClient

PLATE = "ABC1D23"


@dataclass(frozen=True)
class Subject:
    name: str = "equal"


class CountingRenderer:
    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> Markup:
        self.calls += 1
        return Markup(f"<p>{self.calls}</p>")


def test_subject_is_rendered_once() -> None:
    fragments, renderer, subject = Fragments(), CountingRenderer(), Subject()
    assert [fragments.remembered(subject, renderer) for _ in range(3)] == ["<p>1</p>"] * 3
    assert renderer.calls == 1


def test_equal_subject_is_rendered_separately() -> None:
    fragments, renderer = Fragments(), CountingRenderer()
    one, other = Subject(), Subject()
    assert one == other
    assert fragments.remembered(one, renderer) != fragments.remembered(other, renderer)


def test_forget_clears_fragments_and_facts() -> None:
    fragments, renderer, subject = Fragments(), CountingRenderer(), Subject()
    fragments.remembered(subject, renderer)
    fragments.forget()
    fragments.remembered(subject, renderer)
    assert renderer.calls == 2


def test_fragments_are_bounded() -> None:
    fragments, renderer = Fragments(), CountingRenderer()
    subjects = [Subject(str(number)) for number in range(MAX_FRAGMENTS + 5)]
    for subject in subjects:
        fragments.remembered(subject, renderer)
    assert len(fragments._fragments) == MAX_FRAGMENTS


def test_cached_page_equals_the_freshly_rendered_page(portal: PortalFactory) -> None:
    here = portal({})
    client, path = PageClient(here.client), f"/placa/{PLATE}?completo=1"
    client.get(path)
    remembered = client.get(path)
    here.app.jinja_env.globals["remembered"].__self__.forget()
    fresh = client.get(path)
    per_request_text = re.compile(r"Pedido \w+|\d+ segundos?")
    assert per_request_text.sub("", remembered.text) == per_request_text.sub("", fresh.text)


def test_cache_of_size_0_renders_every_time() -> None:
    fragments, renderer, subject = Fragments(most=0), CountingRenderer(), Subject()
    fragments.remembered(subject, renderer)
    fragments.remembered(subject, renderer)
    assert renderer.calls == 2


# A purge


def fragments_of(portal: InProcessPortal) -> Fragments:
    fragments: Fragments = portal.app.jinja_env.globals["remembered"].__self__
    return fragments


def purge(portal: InProcessPortal) -> None:
    """Run the operator's purge command on the portal's data."""
    done = portal.app.test_cli_runner().invoke(args=["purge", PLATE])
    assert done.exit_code == 0, done.output


def test_purge_by_another_process_clears_the_cache(portal: PortalFactory) -> None:
    """Within two 0.5 s ticks; without them the page was cached for up to 30 s."""
    here, other = portal({}), portal({})
    PageClient(here.client).get(f"/placa/{PLATE}?completo=1")
    assert fragments_of(here)._fragments
    purge(other)
    assert fragments_of(here)._fragments
    ticks = [task for task in here.app.extensions["housekeeper"]._chores if task.every_s <= 0.5]
    for task in ticks:
        task.do()
    assert not fragments_of(here)._fragments


def test_fragment_rendered_after_a_purge_from_older_data_is_cleared() -> None:
    clock = Clock(0.0)
    fragments, renderer, subject = Fragments(20.0, clock=clock), CountingRenderer(), Subject()
    fragments.purged()
    fragments.remembered(subject, renderer)
    clock.advance(0.5)
    fragments.tick()
    assert not fragments._fragments
    clock.advance(20.0)
    fragments.remembered(subject, renderer)
    fragments.tick()
    assert fragments._fragments
