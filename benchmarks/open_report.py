"""Measure the size of a large study's report, and the response time of its leaderboard.

Makes results of OMIBench's size without calling a model (as `analyze_at_size.py` does), writes
their report, and opens it from disk in Chromium. *Interactive* is the time from the start of
loading until a click on a column has sorted the leaderboard and the browser has painted it. Each
number is the median of some runs, each in a new page without a cache; CPU seconds are those of the
page's process, all threads, which other work on the machine does not stretch.

    python benchmarks/open_report.py                        # 31 models x 20 settings
    python benchmarks/open_report.py --report report.html   # a report that exists already

The exit code is 1 when a limit (set for 620 cells) is missed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analyze_at_size import make_results, make_study

from omibench.params.study import parse_study_file
from omibench.stages.analyze import analyze_study

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BYTES_MB, INTERACTIVE_S, SORT_CPU_S = 5.0, 1.4, 0.3
LIMITS_HOLD_FOR = 620
SORT = "sort again"
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PAINTED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
VISIBLE_ROWS = """() => [...document.querySelectorAll("#leaderboard tr.cell")]
  .filter((row) => row.getClientRects().length > 0).length"""


class Timing(NamedTuple):
    """One step: seconds that a person waits (median and largest of some runs), and median CPU."""

    step: str
    median_s: float
    worst_s: float
    cpu_s: float


class Clock:
    """Wall and CPU seconds of a page.

    Args:
        page: The page.
    """

    def __init__(self, page: Page) -> None:
        self._session = page.context.new_cdp_session(page)
        self._session.send("Performance.enable")
        self.start()

    def start(self) -> None:
        """Start to count."""
        self._cpu_s, self._wall_s = self._read_cpu(), time.monotonic()

    def read(self) -> tuple[float, float]:
        """Wall and CPU seconds since the start."""
        wall_s = time.monotonic() - self._wall_s
        return wall_s, self._read_cpu() - self._cpu_s

    def _read_cpu(self) -> float:
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return float(next(m["value"] for m in metrics if m["name"] == "ProcessTime"))


def main() -> int:
    """Write the report, open it, print the table; returns the exit code."""
    options = _options()
    if options.report:
        return _measure(Path(options.report), options.runs)
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        make_study(folder, options.models, options.settings)
        make_results(folder)
        os.chdir(folder)
        out = folder / "results" / "analyze"
        analyze_study(folder / "results", out, parse_study_file(folder / "params.yaml"))
        return _measure(out / "report.html", options.runs)


def _measure(report: Path, runs: int) -> int:
    from playwright.sync_api import sync_playwright

    size_mb = report.stat().st_size / 1e6
    path = next((found for name in CHROMIUM if (found := shutil.which(name))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        version = browser.version
        rows, timings = _open_often(browser, report, runs)
        browser.close()
    print(f"Chromium {version}, load average {', '.join(f'{x:.1f}' for x in os.getloadavg())}\n")
    print(f"{size_mb:.1f} MB, {rows} rows in the leaderboard\n")
    print("| step | median, s | worst, s | CPU, s |\n|---|---:|---:|---:|")
    for step, *seconds in timings:
        print(f"| {step} | {' | '.join(f'{value:.3f}' for value in seconds)} |")
    missed = list(_list_missed(size_mb, rows, timings))
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed else 0


def _open_often(browser: Browser, report: Path, runs: int) -> tuple[int, list[Timing]]:
    """How many rows the leaderboard has, and what each step took."""
    waits: dict[str, list[tuple[float, float]]] = {}
    rows = 0
    for _ in range(runs):
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        for step, seconds in _time_steps(page, report):
            waits.setdefault(step, []).append(seconds)
        rows = page.locator("#leaderboard tr.cell").count()
        page.close()
    timings = []
    for step, pairs in waits.items():
        walls, cpus = zip(*pairs, strict=True)
        timings.append(Timing(step, statistics.median(walls), max(walls), statistics.median(cpus)))
    return rows, timings


def _time_steps(page: Page, report: Path) -> Iterator[tuple[str, tuple[float, float]]]:
    page.goto("about:blank")
    clock = Clock(page)

    def wait_for(act: Callable[[], object]) -> tuple[float, float]:
        clock.start()
        act()
        page.evaluate(PAINTED)
        return clock.read()

    total = page.locator("#leaderboard thead button.sort", has_text="Total")
    more = page.locator("button.more")

    def open_and_sort() -> None:
        page.goto(report.absolute().as_uri(), wait_until="commit")
        total.click()

    yield "interactive: opened and sorted", wait_for(open_and_sort)
    page.wait_for_load_state("load")
    yield SORT, wait_for(total.click)
    search = page.locator("#board-search")
    word = page.locator("#leaderboard .name").last.inner_text()
    yield "search", wait_for(lambda: search.fill(word))
    if page.evaluate(VISIBLE_ROWS) == page.locator("#leaderboard tr.cell").count():
        sys.exit("the search hid no row: the report is none of this benchmark's")
    yield "clear the search", wait_for(lambda: search.fill(""))
    group = page.locator("#board-group")
    if group.count():
        yield "filter a group", wait_for(lambda: group.select_option(index=1))
    rules = page.locator("#board-rules")
    yield "another scorer", wait_for(lambda: rules.select_option(index=1))
    page.get_by_role("button", name="Reset").click()
    if more.is_visible():
        yield "show all rows", wait_for(more.click)
        yield "sort all rows", wait_for(total.click)


def _list_missed(size_mb: float, rows: int, timings: list[Timing]) -> Iterator[str]:
    if rows > LIMITS_HOLD_FOR:
        return
    if size_mb > BYTES_MB:
        yield f"{size_mb:.1f} MB, of {BYTES_MB:g}"
    opened = timings[0]
    if opened.median_s > INTERACTIVE_S:
        yield f"interactive after {opened.median_s:.2f} s, of {INTERACTIVE_S:g}"
    cpu_s = next(timing.cpu_s for timing in timings if timing.step == SORT)
    if cpu_s > SORT_CPU_S:
        yield f"sorted in {cpu_s:.2f} CPU s, of {SORT_CPU_S:g}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=31)
    parser.add_argument("--settings", type=int, default=20)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--report", help="measure this file instead")
    parser.add_argument("--folder", help="where to make the temporary folder")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
