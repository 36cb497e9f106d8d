"""``make quality``: measure every page of the demo portal; exit 1 if a target is missed.

The targets: the Lighthouse scores in ``LIGHTHOUSE`` are 100; no axe violation in light, dark, at
320 px and in print; no failure by IBM's engine in light; valid HTML; less than 60 kB over the wire
for a page with its style sheet and script; at most 0.8 CPU seconds for a PDF of 40 fines. Firefox
and WebKit do five tasks, and nothing overlaps, breaks or overflows in them.
"""

import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import sync_playwright

from portal.pdf.renderer import PDFUnavailable
from tests.fakes.processes import PortalProcess
from tests.pdf.rendering import render_pdf
from tests.presentation import dossiers
from tests.quality import axe, ibm, measures, tools
from tests.quality.engine_tasks import TASKS, layout_faults
from tests.quality.engines import ENGINES, Engine, EngineFault
from tests.quality.visits import (
    DESKTOP,
    MEDIA,
    SETTINGS,
    VISITS,
    dress,
    open_page,
    prepared,
)

WIRE_BUDGET: Final = 60_000
PDF_BUDGET_S: Final = 0.8
_THREE: Final = ("performance", "accessibility", "best-practices")
# Vehicle pages are noindex on purpose, so their SEO score in Lighthouse cannot reach 100.
LIGHTHOUSE: Final[Mapping[str, tuple[str, ...]]] = {
    "search": (*_THREE, "seo"),
    "vehicle": _THREE,
    "dossier": _THREE,
    "batch form": _THREE,
    "batch, draft": _THREE,
    "batch, done": _THREE,
    "history": _THREE,
    "operations": _THREE,
    "glossary": ("seo",),
    "api": ("seo",),
}
_OWN_FILE: Final = re.compile(r'(?:href|src)="(/static/[^"]+\.(?:css|js))"')

Measure = Callable[[PortalProcess], dict[str, list[str]]]


def say(line: str = "") -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def row(name: str, cells: list[str]) -> None:
    say(f"{name:<22}" + "".join(f"{cell:>16}" for cell in cells))


def measure_lighthouse(portal: PortalProcess) -> dict[str, list[str]]:
    broken: dict[str, list[str]] = {}
    row("Lighthouse", list(measures.CATEGORIES))
    for visit in VISITS:
        wanted = LIGHTHOUSE.get(visit.name)
        if wanted is None:
            continue
        path, cookie = prepared(portal.url, visit)
        scores = measures.lighthouse(portal.url + path, wanted, cookie)
        row(visit.name, [str(scores.get(name, "–")) for name in measures.CATEGORIES])
        broken[visit.name] = [
            f"Lighthouse {name} {score}" for name, score in scores.items() if score < 100
        ]
    return broken


def measure_axe(portal: PortalProcess) -> dict[str, list[str]]:
    broken: dict[str, list[str]] = {}
    source, second = tools.axe_source(), tools.ibm_source()
    row("axe violations", [*MEDIA, "IBM"])
    with sync_playwright() as running:
        browser = running.chromium.launch(
            executable_path=tools.chromium(), args=list(tools.CHROMIUM_FLAGS)
        )
        for visit in VISITS:
            context = browser.new_context(viewport=DESKTOP, locale="pt-BR")
            page: Any = context.new_page()
            open_page(page, portal.url, visit)
            found: dict[str, list[str]] = {}
            for medium in MEDIA:
                dress(page, medium)
                found[medium] = axe.violations(page, source)
            dress(page, "light")
            found["IBM"] = ibm.violations(page, second)
            row(visit.name, [str(len(lines)) for lines in found.values()])
            broken[visit.name] = [
                f"{medium}: {line}" for medium, lines in found.items() for line in lines
            ]
            context.close()
        browser.close()
    return broken


def measure_html(portal: PortalProcess) -> dict[str, list[str]]:
    broken: dict[str, list[str]] = {}
    row("HTML and weight", ["errors", "bytes"])
    with tempfile.TemporaryDirectory() as folder:
        files, addresses = {}, {}
        for number, visit in enumerate(VISITS):
            files[visit.name] = Path(folder) / f"{number:02}.html"
            addresses[visit.name] = path, cookie = prepared(portal.url, visit)
            headers = {"Cookie": cookie}
            files[visit.name].write_bytes(portal.get(path, headers=headers).content)
        errors = measures.html_errors(list(files.values()))
        for visit in VISITS:
            own = [error for error in errors if error.startswith(files[visit.name].name)]
            parts = dict.fromkeys(_OWN_FILE.findall(files[visit.name].read_text("utf-8")))
            path, cookie = addresses[visit.name]
            weight = measures.wire_bytes(portal.url + path, list(parts), cookie)
            row(visit.name, [str(len(own)), str(weight)])
            broken[visit.name] = [
                *own,
                *([f"{weight} bytes over the wire"] if weight >= WIRE_BUDGET else []),
            ]
    return broken


def measure_pdf(_portal: PortalProcess) -> dict[str, list[str]]:
    """CPU seconds of a PDF of 40 fines and 6 charts, with equal and with different fines.

    A first PDF loads the library and is not measured.
    """
    try:
        render_pdf(dossiers.usual())
    except PDFUnavailable:
        raise tools.ToolMissing("the libraries that WeasyPrint loads are not installed") from None
    row("PDF of 6 charts", ["CPU seconds"])
    broken = []
    for name, html in (("40 like fines", dossiers.heavy()), ("40 other fines", dossiers.varied())):
        seconds = measures.least_cpu_seconds(partial(render_pdf, html))
        row(name, [f"{seconds:.2f}"])
        if seconds > PDF_BUDGET_S:
            broken.append(f"{name}: {seconds:.2f} s of {PDF_BUDGET_S} s")
    return {"PDF": broken}


def measure_engines(portal: PortalProcess) -> dict[str, list[str]]:
    """Do each task in Firefox and WebKit, then look for faults of the layout."""
    broken: dict[str, list[str]] = {}
    row("Other engines", [*TASKS, "layout"])
    for name, start in ENGINES.items():
        try:
            with start() as engine:
                engine.resize(DESKTOP["width"], DESKTOP["height"])
                faults = {task: _fault(run, engine, portal.url) for task, run in TASKS.items()}
                layout = list(layout_faults(engine, portal.url))
        except tools.ToolMissing as missing:
            say(f"skipped: {missing}")
            continue
        row(name, [*("–" if fault else "done" for fault in faults.values()), str(len(layout))])
        told = [f"{task}: {fault}" for task, fault in faults.items() if fault]
        broken[name] = [*told, *layout]
    return broken


def _fault(run: Callable[[Engine, str], None], engine: Engine, base: str) -> str:
    """Return what went wrong with a task, or ""."""
    try:
        run(engine, base)
    except EngineFault as fault:
        return str(fault)
    return ""


def main() -> int:
    broken: list[str] = []
    try:
        tools.install()
        tools.chromium()
    except tools.ToolMissing as missing:
        say(f"nothing was measured: {missing}")
        return 1
    measurements: tuple[Measure, ...] = (
        measure_pdf,
        measure_axe,
        measure_html,
        measure_lighthouse,
        measure_engines,
    )
    with PortalProcess(SETTINGS, workers=1) as portal:
        for measure in measurements:
            try:
                found = measure(portal)
            except tools.ToolMissing as missing:
                say(f"skipped: {missing}")
                continue
            finally:
                say()
            broken += [f"{name}: {line}" for name, lines in found.items() for line in lines]
    say("\n".join(broken) if broken else "all targets met")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
