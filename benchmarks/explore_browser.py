"""Measure the pages of the explorer in Chromium: time, nodes and memory.

Starts `omibench explore` on results (`explore_at_size.py --keep FOLDER` makes large ones), opens
the list and problems each in a new tab, sorts the responses of a problem, and prints medians.

    python benchmarks/explore_browser.py RESULTS
    python benchmarks/explore_browser.py RESULTS --limits    # fail when a limit is missed

The time is that from the start of the navigation until the page is drawn, by the page's own clock;
CPU is that of the server and of the tab. Nodes are the elements of the document. The heap is that
of the page's scripts after a collection; the memory of the tab is the proportional set size of its
process, and that of the browser of all its processes; an empty tab has these too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from explore_at_size import Server, serve

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, CDPSession, Page

ITEM_MS, ITEM_HEAP_MB, ITEM_MEMORY_MB, SORT_CPU_S = 300.0, 200.0, 200.0, 0.3
REPEATS = 7
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WATCH = """new MutationObserver(() => {
  const { ready } = document.documentElement.dataset;
  if (ready && ready !== window.seen) {
    window.seen = ready;
    requestAnimationFrame(() => setTimeout(() => { window.drawnAt = performance.now(); }));
  }
}).observe(document, { attributes: true, subtree: true, attributeFilter: ["data-ready"] });"""


class Look(NamedTuple):
    """One page: medians of some openings."""

    page: str
    drawn_ms: float
    server_s: float
    tab_s: float
    nodes: float
    heap_mb: float
    memory_mb: float
    browser_mb: float


def main() -> int:
    """Open, measure, print the table; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--limits", action="store_true", help="fail when a limit is missed")
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    path = next(p for name in CHROMIUM if (p := shutil.which(name)))
    with serve(options.results) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        looks, sort_s = _look(server, browser)
        browser.close()
    print(f"load average {os.getloadavg()[0]:.1f}\n")
    print("| page | drawn ms | server CPU s | tab CPU s | nodes | heap MB | tab MB | browser MB |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for page, drawn, server_s, tab_s, nodes, heap, tab, whole in looks:
        print(
            f"| {page} | {drawn:,.0f} | {server_s:.2f} | {tab_s:.2f} | {nodes:,.0f} | {heap:.1f} "
            f"| {tab:.0f} | {whole:.0f} |"
        )
    print(f"\nsorting the list of responses: {sort_s:.3f} CPU s of the page")
    item = looks[-1]
    missed = [
        f"{name}: {value:.3g}, of {limit:g}"
        for name, value, limit in (
            ("a problem, ms", item.drawn_ms, ITEM_MS),
            ("heap MB", item.heap_mb, ITEM_HEAP_MB),
            ("memory MB", item.memory_mb, ITEM_MEMORY_MB),
            ("sorting CPU s", sort_s, SORT_CPU_S),
        )
        if value > limit
    ]
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed and options.limits else 0


def _look(server: Server, browser: Browser) -> tuple[list[Look], float]:
    ids = [item["id"] for item in server.get("/api/items?limit=50")["items"]][1 : 2 * REPEATS : 2]
    problems = [f"{server.address}/items/{quote(name, safe='')}" for name in ids]
    size = {"viewport": {"width": 1400, "height": 900}}
    with browser.new_context(**size) as context:  # type: ignore[arg-type]
        _measure(server, context, problems[0])
        looks = [
            _open(server, [context] * REPEATS, "empty tab", ["about:blank"] * REPEATS),
            _open(server, [context] * REPEATS, "list", [server.address + "/"] * REPEATS),
        ]
        fresh = [browser.new_context(**size) for _ in problems]  # type: ignore[arg-type]
        looks.append(_open(server, fresh, "problem, nothing in the cache", problems))
        looks.append(_open(server, [context] * REPEATS, "problem", problems))
        return looks, _sort(context, problems[0])


def _open(server: Server, contexts: list[BrowserContext], name: str, addresses: list[str]) -> Look:
    rows = [_measure(server, *pair) for pair in zip(contexts, addresses, strict=True)]
    return Look(name, *map(statistics.median, zip(*rows, strict=True)))


def _measure(server: Server, context: BrowserContext, address: str) -> list[float]:
    before = server.read_cpu()
    with _open_tab(context, address) as (page, session):
        server_s = server.read_cpu() - before
        drawn = page.evaluate("window.drawnAt ?? 0")
        nodes = page.evaluate("document.getElementsByTagName('*').length")
        tab_s = _read_metrics(session)["ProcessTime"]
        session.send("HeapProfiler.enable")
        session.send("HeapProfiler.collectGarbage")
        heap = _read_metrics(session)["JSHeapUsedSize"] / 2**20
        return [drawn, server_s, tab_s, nodes, heap, *_read_memory(page)]


def _sort(context: BrowserContext, address: str) -> float:
    """Return the median CPU seconds of the page for a change of the order of its responses."""
    with _open_tab(context, address) as (page, session):
        heads = page.locator(".outcomes thead button")
        times = []
        for n in [*range(heads.count())] * 2:
            before = _read_metrics(session)["ProcessTime"]
            heads.nth(n).click()
            page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
            times.append(_read_metrics(session)["ProcessTime"] - before)
        return statistics.median(times) if times else 0.0


@contextmanager
def _open_tab(context: BrowserContext, address: str) -> Iterator[tuple[Page, CDPSession]]:
    page = context.new_page()
    page.add_init_script(WATCH)
    session = context.new_cdp_session(page)
    session.send("Performance.enable")
    page.goto(address)
    if address.startswith("http"):
        page.wait_for_function("() => window.drawnAt !== undefined")
        page.wait_for_load_state("networkidle")
    yield page, session
    page.close()


def _read_metrics(session: CDPSession) -> dict[str, float]:
    answer: dict[str, Any] = session.send("Performance.getMetrics")
    return {row["name"]: row["value"] for row in answer["metrics"]}


def _read_memory(page: Page) -> tuple[float, float]:
    """Return MB of the largest renderer, which has the page, and of the whole browser."""
    browser = page.context.browser
    assert browser is not None
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    sizes = [(p["type"], _read_pss(int(p["id"]))) for p in processes]
    return max(size for kind, size in sizes if kind == "renderer"), sum(size for _, size in sizes)


def _read_pss(pid: int) -> float:
    lines: Iterator[str] = iter(Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines())
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


if __name__ == "__main__":
    sys.exit(main())
