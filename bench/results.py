"""Collects the results of a run (ratios and notes), and saves them with data on the machine."""

import csv
import os
import platform
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Literal

RESULTS = Path(__file__).with_name("results")


@dataclass(frozen=True, slots=True)
class Ratio:
    """The portal's figures (``ours``) divided by a peer's (``theirs``), with one value per turn.

    ``goal`` is the goal for the median of the values.
    """

    name: str
    ours: Sequence[float]
    theirs: Sequence[float]
    unit: str
    goal: float
    sense: Literal["at least", "at most"]

    @property
    def values(self) -> list[float]:
        return [a / b for a, b in zip(self.ours, self.theirs, strict=True)]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def holds(self) -> bool:
        return self.median >= self.goal if self.sense == "at least" else self.median <= self.goal


@dataclass(slots=True)
class Report:
    """The benchmarks' results.

    ``notes`` list figures without a peer, and benchmarks and peers that were left out.
    """

    ratios: list[Ratio] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    started_at: float = field(default_factory=time.time)

    def compare(
        self,
        name: str,
        ours: Sequence[float],
        theirs: Sequence[float],
        unit: str,
        goal: float,
        sense: Literal["at least", "at most"],
    ) -> None:
        ratio = Ratio(name, ours, theirs, unit, goal, sense)
        self.ratios.append(ratio)
        print(f"  {_row(ratio)}", flush=True)

    def note(self, text: str) -> None:
        self.notes.append(text)
        print(f"  {text}", flush=True)

    def save(self, name: str) -> Path:
        """Write Markdown, CSV and a plot to ``bench/results``. Return the Markdown file's path."""
        RESULTS.mkdir(exist_ok=True)
        page = RESULTS / f"{name}.md"
        page.write_text(self.markdown(name), encoding="utf-8")
        with (RESULTS / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(["ratio", "turn", "portal", "peer", "unit", "value", "sense", "asked"])
            for each in self.ratios:
                turns = zip(each.ours, each.theirs, each.values, strict=True)
                for turn, (ours, theirs, value) in enumerate(turns, start=1):
                    row = [each.name, turn, f"{ours:.6g}", f"{theirs:.6g}", each.unit]
                    table.writerow([*row, f"{value:.4g}", each.sense, each.goal])
        (RESULTS / f"{name}.svg").write_text(plot(self.ratios), encoding="utf-8")
        return page

    def markdown(self, name: str) -> str:
        lines = [
            f"# Benchmarks, {time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime(self.started_at))}",
            "",
            machine(),
            "",
            "| ratio | median | spread | asked | holds | portal (median) | peer (median) |",
            "|---|---|---|---|---|---|---|",
        ]
        for each in self.ratios:
            ours, theirs = statistics.median(each.ours), statistics.median(each.theirs)
            lines.append(
                f"| {each.name} | **{each.median:.2f}** "
                f"| {min(each.values):.2f}–{max(each.values):.2f} "
                f"| {each.sense} {each.goal:g} | {'yes' if each.holds else 'no'} "
                f"| {_figure(ours)} {each.unit} | {_figure(theirs)} {each.unit} |"
            )
        lines += ["", f"![ratios]({name}.svg)", "", *(f"- {note}" for note in self.notes), ""]
        return "\n".join(lines)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def _row(each: Ratio) -> str:
    spread = f"{min(each.values):.2f}–{max(each.values):.2f}"
    verdict = "holds" if each.holds else "NOT reached"
    return f"{each.name}: {each.median:.2f} ({spread}), asked {each.sense} {each.goal:g}: {verdict}"


def machine() -> str:
    """Describe processor, cores, memory, system, Python and load average."""
    model = platform.machine()
    memory = "?"
    try:
        info = Path("/proc/cpuinfo").read_text()
        model = next(
            (line.partition(":")[2].strip() for line in info.splitlines() if "model name" in line),
            model,
        )
        total = Path("/proc/meminfo").read_text().split()[1]
        memory = f"{int(total) / 2**20:.0f} GiB"
    except OSError:
        pass
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    return (
        f"{model}, {os.cpu_count()} cores, {memory}, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}; load average at the end {load}."
    )


def plot(ratios: Sequence[Ratio]) -> str:
    """Plot the median and spread of each ratio, scaled to a goal of 1.

    Values of 1 and more reach the goal.
    """
    width, left, row, top = 860, 400, 26, 40
    reach = 3.0

    def x(value: float) -> float:
        return left + min(value, reach) / reach * (width - left - 30)

    height = top + row * len(ratios) + 30
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="system-ui, sans-serif" font-size="12" fill="#222">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        '<text x="10" y="20" font-size="14">How far each ratio is within what is asked '
        "(right of the line: reached)</text>",
        f'<line x1="{x(1)}" x2="{x(1)}" y1="{top - 8}" y2="{height - 24}" stroke="#b00"/>',
        f'<text x="{x(1)}" y="{height - 8}" text-anchor="middle">1</text>',
    ]
    for index, each in enumerate(ratios):
        y = top + row * index + row / 2
        within = [
            value / each.goal if each.sense == "at least" else each.goal / max(value, 1e-9)
            for value in each.values
        ]
        middle = statistics.median(within)
        colour = "#060" if each.holds else "#b00"
        out += [
            f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{escape(each.name)}</text>',
            f'<line x1="{x(min(within))}" x2="{x(max(within))}" y1="{y}" y2="{y}" '
            f'stroke="{colour}" stroke-width="3"/>',
            f'<circle cx="{x(middle)}" cy="{y}" r="5" fill="{colour}"/>',
        ]
    return "\n".join([*out, "</svg>", ""])
