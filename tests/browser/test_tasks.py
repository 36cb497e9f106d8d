"""What people come for takes no more taps and keys than it did."""

from collections.abc import Iterator

import pytest

from tests.browser.conftest import PageFactory
from tests.fakes.processes import PortalProcess
from tests.quality.tasks import DESK, PHONE, TASKS, Hand, Task
from tests.quality.visits import SETTINGS


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(SETTINGS, workers=1) as running:
        yield running


@pytest.mark.parametrize("is_thumb", [True, False], ids=["phone", "desk"])
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_task_takes_few_taps_and_keys(
    new_page: PageFactory, portal: PortalProcess, task: Task, is_thumb: bool
) -> None:
    hand = Hand(new_page(**(PHONE if is_thumb else DESK)), portal.url, is_thumb)
    task.run(hand)
    taps, keys = task.phone if is_thumb else task.desk
    assert (hand.taps <= taps, hand.keys <= keys) == (True, True), (hand.taps, hand.keys)
