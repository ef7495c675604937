"""Take the pictures of the README and the guides from the sample study.

    make study && python scripts/pictures.py

Writes to docs/images: the report, the explorer, both next to each other (overview), the inspection
page of a paper, and the review application with its example tasks. Needs chromium on the PATH.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs/images"
OMIBENCH = [sys.executable, "-c", "from omibench.cli.main import main; main()"]
WINDOW = (1280, 900)
"""Size of the browser window in CSS pixels."""
OVERVIEW = """<!doctype html><style>
body {{margin: 0; padding: 28px; display: flex; gap: 28px; background: #e8ebf0; width: 1880px}}
img {{width: 926px; border-radius: 8px; box-shadow: 0 4px 18px rgb(0 0 0 / 25%)}}
</style><img src="{report}"><img src="{explorer}">"""


@contextmanager
def serve(*words: str) -> Iterator[tuple[str, str]]:
    """Run a command of omibench that serves pages; yields their address and what it printed."""
    with subprocess.Popen(
        [*OMIBENCH, *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        printed = ""
        try:
            for line in server.stdout or ():
                printed += line
                address = re.search(r"http://\S+", line)
                if address is not None:
                    break
            else:
                raise RuntimeError(f"omibench {' '.join(words)}: {printed}")
            yield address[0].rstrip("/"), printed
        finally:
            server.terminate()


def take_picture(browser: Browser, address: str, path: Path, size: tuple[int, int]) -> None:
    """Save what a browser window of `size` CSS pixels shows of an address."""
    page = browser.new_page(viewport={"width": size[0], "height": size[1]})
    page.goto(address, wait_until="networkidle")
    page.screenshot(path=path)
    page.close()


def take_report(browser: Browser, results: Path, problem: str) -> None:
    """Take the report, the explorer, and both."""
    report, explorer = IMAGES / "report.png", IMAGES / "explorer.png"
    take_picture(browser, (results / "analyze/report.html").as_uri(), report, WINDOW)
    with serve("explore", str(results), "--port", "0") as (address, _):
        take_picture(browser, f"{address}/items/{problem}", explorer, WINDOW)
    page = IMAGES / "overview.html"
    page.write_text(OVERVIEW.format(report=report.as_uri(), explorer=explorer.as_uri()))
    take_picture(browser, page.as_uri(), IMAGES / "overview.png", (1936, 708))
    page.unlink()


def take_inspection(browser: Browser, source: str) -> None:
    """Take the inspection page of a paper of the sample study."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        words = ["ocr", "--manifest", "sample/sources.yaml", "--out", str(folder / "reading")]
        subprocess.run(
            [*OMIBENCH, *words, "--look", str(folder / "pages")],
            cwd=ROOT, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        page = folder / "pages" / f"{source}.html"
        take_picture(browser, page.as_uri(), IMAGES / "look.png", (1300, 760))


def take_review(browser: Browser) -> None:
    """Take a task, a disagreement and the progress of the review's demonstration."""
    shots = [
        ("Ada", "/tasks/page:demo-1", "review-task.png"),
        ("Cleo", "/tasks/item:demo-3", "review-senior.png"),
        ("Cleo", "/progress", "review-progress.png"),
    ]
    with serve("review", "serve", "--demo", "--port", "0") as (address, printed):
        for person, path, picture in shots:
            password = re.search(rf"^{person}\s+(\S+)", printed, re.MULTILINE)
            if password is None:
                raise RuntimeError(f"the demonstration has no reviewer {person}")
            page = browser.new_page(viewport={"width": 1366, "height": 768})
            page.goto(address)
            page.get_by_label("Name").fill(person)
            page.get_by_label("Password").fill(password[1])
            page.keyboard.press("Enter")
            page.wait_for_url(f"{address}/")
            page.goto(address + path, wait_until="networkidle")
            page.screenshot(path=IMAGES / picture)
            page.close()


def main(results: Path, problem: str, source: str) -> None:
    """Take all pictures."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        take_report(browser, results, problem)
        take_inspection(browser, source)
        take_review(browser)
        browser.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--results", type=Path, default=ROOT / "results")
    parser.add_argument("--problem", default="physics-2", help="problem in the explorer")
    parser.add_argument("--source", default="physics", help="paper of the inspection page")
    options = parser.parse_args()
    main(options.results.resolve(), options.problem, options.source)
