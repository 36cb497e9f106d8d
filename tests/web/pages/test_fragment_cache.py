"""What was drawn of an answer is shown again, and only of that very answer."""

import re
from dataclasses import dataclass

from markupsafe import Markup

from portal.presentation import read_ahead, read_facts
from portal.presentation.panels import Panel
from portal.web.pages.fragment_cache import MAX_FRAGMENTS, Fragments
from tests import factories
from tests.conftest import PortalFactory
from tests.fakes import Clock
from tests.fakes.in_process import InProcessPortal
from tests.presentation.rendering import NOW, READING
from tests.web.page_client import PageClient

PLATE = "ABC1D23"


@dataclass(frozen=True)
class Subject:
    name: str = "equal"


class Drawing:
    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> Markup:
        self.times += 1
        return Markup(f"<p>{self.times}</p>")


def test_a_subject_is_drawn_once() -> None:
    fragments, draw, subject = Fragments(), Drawing(), Subject()
    assert [fragments.remembered(subject, draw) for _ in range(3)] == ["<p>1</p>"] * 3
    assert draw.times == 1


def test_an_equal_subject_is_another() -> None:
    fragments, draw = Fragments(), Drawing()
    one, other = Subject(), Subject()
    assert one == other
    assert fragments.remembered(one, draw) != fragments.remembered(other, draw)


def test_forgotten_drawings_are_drawn_again() -> None:
    fragments, draw, subject = Fragments(), Drawing(), Subject()
    fragments.remembered(subject, draw)
    fragments.forget()
    fragments.remembered(subject, draw)
    assert draw.times == 2
    assert read_facts.cache_info().currsize == 0


def test_no_more_than_a_few_are_kept() -> None:
    fragments, draw = Fragments(), Drawing()
    subjects = [Subject(str(number)) for number in range(MAX_FRAGMENTS + 5)]
    for subject in subjects:
        fragments.remembered(subject, draw)
    assert len(fragments._fragments) == MAX_FRAGMENTS


def test_a_page_out_of_what_was_drawn_is_the_page_drawn_anew(portal: PortalFactory) -> None:
    here = portal({})
    client, path = PageClient(here.client), f"/placa/{PLATE}?completo=1"
    client.get(path)
    remembered = client.get(path)
    here.app.jinja_env.globals["remembered"].__self__.forget()
    anew = client.get(path)
    of_the_moment = re.compile(r"Pedido \w+|\d+ segundos?")
    assert of_the_moment.sub("", remembered.text) == of_the_moment.sub("", anew.text)


def test_another_answer_is_another_vehicle() -> None:
    one = read_facts(factories.decode_body(PLATE, marca="AUDI"), factories.HIDDEN, READING.today)
    other = read_facts(factories.decode_body(PLATE, marca="FIAT"), factories.HIDDEN, READING.today)
    assert one.name != other.name


def test_an_answer_waited_for_is_read_before_the_page_needs_it() -> None:
    body = factories.decode_body("XYZ9A87")
    read_facts.cache_clear()
    read_ahead("decode", Panel("fresh", body, NOW), factories.HIDDEN)
    assert read_facts.cache_info().currsize == 1
    read_facts(body, factories.HIDDEN, READING.today)
    assert read_facts.cache_info().hits == 1


def test_reading_ahead_passes_over_what_it_cannot_read() -> None:
    read_facts.cache_clear()
    read_ahead("decode", Panel("fresh", b"[]", NOW), factories.HIDDEN)
    read_ahead("decode", Panel("unavailable"), factories.HIDDEN)
    read_ahead("renainf", Panel("fresh", factories.renainf_body(), NOW), factories.HIDDEN)
    assert read_facts.cache_info().currsize == 0


def test_a_portal_that_keeps_no_memory_keeps_no_drawings() -> None:
    fragments, draw, subject = Fragments(most=0), Drawing(), Subject()
    fragments.remembered(subject, draw)
    fragments.remembered(subject, draw)
    assert draw.times == 2


# A purge


def drawn_of(portal: InProcessPortal) -> Fragments:
    fragments: Fragments = portal.app.jinja_env.globals["remembered"].__self__
    return fragments


def purge(portal: InProcessPortal) -> None:
    """As the operator's command beside the server: another process with the same data."""
    done = portal.app.test_cli_runner().invoke(args=["purge", PLATE])
    assert done.exit_code == 0, done.output


def test_a_purge_by_another_process_leaves_nothing_drawn_or_read(portal: PortalFactory) -> None:
    """Within the two ticks of a second; without it the page stayed for half a minute."""
    here, other = portal({}), portal({})
    PageClient(here.client).get(f"/placa/{PLATE}?completo=1")
    assert drawn_of(here)._fragments
    assert read_facts.cache_info().currsize == 1
    purge(other)
    assert drawn_of(here)._fragments
    ticks = [chore for chore in here.app.extensions["housekeeper"]._chores if chore.every_s <= 0.5]
    for chore in ticks:
        chore.do()
    assert not drawn_of(here)._fragments
    assert read_facts.cache_info().currsize == 0


def test_what_a_late_page_draws_of_what_it_read_before_a_purge_goes_too() -> None:
    clock = Clock(0.0)
    fragments, draw, subject = Fragments(20.0, clock=clock), Drawing(), Subject()
    fragments.purged()
    fragments.remembered(subject, draw)
    clock.advance(0.5)
    fragments.tick()
    assert not fragments._fragments
    clock.advance(20.0)
    fragments.remembered(subject, draw)
    fragments.tick()
    assert fragments._fragments
