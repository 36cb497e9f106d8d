"""Shrink a failing case while it fails in the same way."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import TypeVar

from tests.hostile.streams.oracle import Violation
from tests.hostile.streams.script import Case, Exchange, Pause, Script, Send, Step

Play = Callable[[Case], list[Violation]]
Key = tuple[str, str]
Item = TypeVar("Item")

_MOST_TRIES = 300


def shrunk(case: Case, key: Key, play: Play) -> tuple[Case, list[Violation]] | None:
    """Return the smallest failing case and its violations; None if the failure does not repeat."""
    best: tuple[Case, list[Violation]] | None = None
    tries = 0
    candidates = iter([case] * 3)
    while tries < _MOST_TRIES and (tried := next(candidates, None)) is not None:
        tries += 1
        found = play(tried)
        if any((each.kind, each.stream) == key for each in found):
            best = tried, found
            candidates = smaller(tried)
    return best


def smaller(case: Case) -> Iterator[Case]:
    """Yield cases with one part removed, the largest parts first."""
    if len(case.callers) > 1:
        for number in range(len(case.callers)):
            yield dataclasses.replace(case, callers=_without(case.callers, number))
    for number, exchanges in enumerate(case.callers):
        for index in range(len(exchanges) if case.streams > 1 else 0):
            fewer = _without(exchanges, index)
            yield _with_caller(case, number, fewer)
    if case.warm_up:
        yield dataclasses.replace(case, warm_up=False)
    for number, exchanges in enumerate(case.callers):
        for index, exchange in enumerate(exchanges):
            for script in smaller_scripts(exchange.script):
                fewer = (
                    *exchanges[:index],
                    dataclasses.replace(exchange, script=script),
                    *exchanges[index + 1 :],
                )
                yield _with_caller(case, number, fewer)
            if exchange.method == "POST":
                get = dataclasses.replace(exchange, method="GET")
                fewer = (*exchanges[:index], get, *exchanges[index + 1 :])
                yield _with_caller(case, number, fewer)


def smaller_scripts(script: Script) -> Iterator[Script]:
    """Yield scripts with fewer packets, optional elements or pauses."""
    steps = list(script.steps)
    pauses = [step for step in steps if isinstance(step, Pause) and not step.idle]
    if len(pauses) > 1:
        yield script.with_steps([step for step in steps if step not in pauses])
    elements = {step.element for step in steps if isinstance(step, Send) and step.element}
    if len(elements) > 1:
        yield script.with_steps([step for step in steps if not _is_of(step, elements)])
    for element in sorted(elements):
        yield script.with_steps([step for step in steps if not _is_of(step, {element})])
    for index, step in enumerate(steps):
        if isinstance(step, Pause):
            yield script.with_steps(steps[:index] + steps[index + 1 :])


def _is_of(step: Step, elements: set[int]) -> bool:
    return isinstance(step, Send) and step.element in elements


def _with_caller(case: Case, number: int, exchanges: tuple[Exchange, ...]) -> Case:
    callers = (*case.callers[:number], exchanges, *case.callers[number + 1 :])
    return dataclasses.replace(case, callers=callers)


def _without(items: tuple[Item, ...], index: int) -> tuple[Item, ...]:
    return items[:index] + items[index + 1 :]
