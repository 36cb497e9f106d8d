"""What people come for takes no more taps and keys than it did.

``make test`` does each task with one hand. Those of HELD_ELSEWHERE are done there.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.conftest import PageFactory
from tests.effort import long
from tests.fakes.processes import PortalProcess
from tests.quality.tasks import DESK, PHONE, TASKS, Hand, Task
from tests.quality.visits import SETTINGS


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(SETTINGS, workers=1) as running:
        yield running


# With the same taps, on the same pages: the two questions in test_vehicle_page.py
# (test_first_screen_answers_three_questions_in_few_words), the paper there too
# (test_dossier_is_sent_with_two_taps_on_a_phone), and the worst of a list in test_batch.py
# (test_nine_plates_of_a_chat_lead_to_the_worst_in_three_taps).
HELD_ELSEWHERE = ("decide whether to buy", "what is owed", "send the paper", "the worst of forty")
# A desk's first page has the focus where one types; a phone takes a tap more in each task.
BY_DESK = ("find a car",)


def hands(task: Task) -> list[Any]:
    """Return the task with each hand, by which ``make test-long`` does it or ``make test`` too."""
    is_by_thumb = task.name not in BY_DESK
    if task.name in HELD_ELSEWHERE:
        return long((task, True), (task, False))
    return [(task, is_by_thumb), *long((task, not is_by_thumb))]


@pytest.mark.parametrize(
    ("task", "is_thumb"),
    [hand for task in TASKS for hand in hands(task)],
    ids=lambda each: each.name if isinstance(each, Task) else ("phone" if each else "desk"),
)
def test_task_takes_few_taps_and_keys(
    new_page: PageFactory, portal: PortalProcess, task: Task, is_thumb: bool
) -> None:
    hand = Hand(new_page(**(PHONE if is_thumb else DESK)), portal.url, is_thumb)
    task.run(hand)
    taps, keys = task.phone if is_thumb else task.desk
    assert (hand.taps <= taps, hand.keys <= keys) == (True, True), (hand.taps, hand.keys)
