"""Measurements of a page: Lighthouse scores, HTML errors, bytes, CPU seconds."""

import json
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urljoin

import requests

from tests.fakes.processes import clean_environment
from tests.quality import tools

CATEGORIES: Final = ("performance", "accessibility", "best-practices", "seo")
_TRIES: Final = 3
_WITHIN_S: Final = 180


def lighthouse(url: str, wanted: Sequence[str], cookie: str = "") -> dict[str, int]:
    """Scores 0–100 with Lighthouse's simulated slow phone; ``cookie`` is a Cookie header.

    Load on the machine can only lower the performance score. A page below 100 is therefore measured
    up to three times, and the best score of each category counts.
    """
    best: dict[str, int] = {}
    for tries_left in reversed(range(_TRIES)):
        try:
            scores = _lighthouse_once(url, wanted, cookie)
        except LighthouseError:
            if not tries_left and not best:
                raise
            continue
        best = {name: max(score, best.get(name, 0)) for name, score in scores.items()}
        if min(best.values()) == 100:
            break
    return best


class LighthouseError(Exception):
    """Lighthouse itself failed, for example because a trace was incomplete."""


def _lighthouse_once(url: str, wanted: Sequence[str], cookie: str) -> dict[str, int]:
    done = subprocess.run(
        [
            *tools.lighthouse(),
            url,
            "--output=json",
            "--quiet",
            "--no-enable-error-reporting",
            f"--only-categories={','.join(wanted)}",
            f"--chrome-flags={' '.join(tools.CHROMIUM_FLAGS)}",
            *([f"--extra-headers={json.dumps({'Cookie': cookie})}"] if cookie else []),
        ],
        env=clean_environment(CHROME_PATH=tools.chromium()),
        cwd=tools.FOLDER,
        capture_output=True,
        text=True,
        timeout=_WITHIN_S,
        check=False,
    )
    if done.returncode != 0:
        raise LighthouseError(done.stderr.strip()[-300:])
    categories = json.loads(done.stdout)["categories"]
    return {name: round(100 * (categories[name]["score"] or 0)) for name in wanted}


def html_errors(files: Sequence[Path]) -> list[str]:
    """The errors of the Nu HTML checker, one line each, without warnings."""
    done = subprocess.run(
        [*tools.html_checker(), "--format", "json", "--errors-only", "--stdout", *map(str, files)],
        capture_output=True,
        text=True,
        timeout=_WITHIN_S,
        check=False,
    )
    return [
        f"{Path(error.get('url', '')).name}:{error.get('lastLine', '?')}: {error['message']}"
        for error in json.loads(done.stdout)["messages"]
    ]


def wire_bytes(url: str, own: Sequence[str], cookie: str = "") -> int:
    """The gzip-encoded body bytes of a page and its own style sheets and scripts."""
    total = 0
    with requests.Session() as session:
        session.trust_env = False
        for address in (url, *(urljoin(url, name) for name in own)):
            answer: Any = session.get(
                address,
                headers={"Accept-Encoding": "gzip", "Cookie": cookie},
                stream=True,
                timeout=60,
            )
            total += len(answer.raw.read(decode_content=False))
    return total


def least_cpu_seconds(work: Callable[[], object], runs: int = 5) -> float:
    """The CPU seconds of the fastest run, because other programs only add to them."""
    spent = []
    for _ in range(runs):
        started = time.process_time()
        work()
        spent.append(time.process_time() - started)
    return min(spent)
