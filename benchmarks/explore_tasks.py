"""Do twenty tasks of an analyst in the explorer, by what a new user sees, and count the actions.

Each task uses names and headings of the pages only, in a fresh page with the study's list. An
action is a click, a key, or a text that is typed; reading is none. A task fails if what it looks
for is not there, and counts as clumsy from more than four actions.

    omibench init mini --study emma_mini && cd mini && omibench run --simulated
    omibench explore results/emma-mini-simulated --review review --port 8766 &
    python benchmarks/explore_tasks.py http://127.0.0.1:8766

The exit code is 1 when a task fails or more than three are clumsy.
"""

from __future__ import annotations

import csv
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

FEW, MOST_CLUMSY = 4, 3
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


class Analyst:
    """A person at a page who counts what they do."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.browser, self.address = browser, address
        self.page = self.open_page()
        self.actions = 0

    def open_page(self, path: str = "/") -> Page:
        """Open a page of the study as a person without a history."""
        context = self.browser.new_context(viewport={"width": 1400, "height": 900})
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.goto(self.address + path)
        page.wait_for_selector("html[data-ready]")
        return page

    def click(self, place: Locator) -> None:
        """Click what is seen, and wait for the list."""
        before = self.page.url
        place.first.click()
        self.actions += 1
        self.page.wait_for_timeout(400)
        if self.page.url != before:
            self.page.wait_for_function("() => !document.querySelector('[aria-busy]')")

    def check(self, name: str) -> None:
        """Check a box by its label."""
        self.click(self.page.get_by_role("checkbox", name=re.compile(f"^{re.escape(name)}")))

    def press(self, *keys: str) -> None:
        """Press keys, or type texts."""
        for key in keys:
            if len(key) > 1 and not key[0].isupper():
                self.page.keyboard.type(key)
            else:
                self.page.keyboard.press(key)
            self.actions += 1
        self.page.wait_for_timeout(700)

    def button(self, name: str) -> Locator:
        """A button by its name."""
        return self.page.get_by_role("button", name=name)

    @property
    def total(self) -> int:
        """The number of problems that the list says."""
        text = self.page.locator(".count-line b").inner_text()
        return int(text.replace(",", ""))

    def read_column(self, number: int, row: str = ".grid tbody tr") -> list[float]:
        """The numbers of a column of measures."""
        texts = self.page.locator(f"{row} td.measure:nth-of-type({number})").all_inner_texts()
        return [float(re.sub(r"[^\d.]", "", text) or 0) for text in texts]

    def open_problem(self) -> None:
        """Open the first problem of the list."""
        self.click(self.page.locator(".item-link"))
        self.page.wait_for_selector("html[data-ready] .column")


def miss(seen: bool, what: str) -> None:
    """Fail the task if what it looks for is not there."""
    if not seen:
        raise AssertionError(what)


def find_all_wrong(a: Analyst) -> None:
    a.check("All models wrong")
    miss(0 < a.total < 400, "problems")


def join_two_filters(a: Analyst) -> None:
    a.check("All models wrong")
    wrong = a.total
    a.check("Suspected key")
    miss(a.total <= wrong and a.page.locator(".chip").count() == 2, "both filters")


def count_in_a_filter(a: Analyst) -> None:
    a.check("Refused")
    count = a.page.locator("li", has_text="physics").locator(".facet-count").first.inner_text()
    a.check("physics")
    miss(a.total == int(count), "the number that the facet says")


def compare_models(a: Analyst) -> None:
    a.click(a.button("Only problems that GPT-4o got right"))
    a.click(a.button("Only problems that Claude 3.5 Sonnet got wrong"))
    miss(0 < a.total < 400, "problems")


def compare_settings(a: Analyst) -> None:
    a.click(a.page.get_by_role("button", name="Only problems that Direct got right", exact=True))
    a.click(a.page.get_by_role("button", name="Only problems that CoT got wrong", exact=True))
    miss(0 < a.total < 400, "problems")


def search_responses(a: Analyst) -> None:
    a.check("response")
    a.press("/", "the answer is")
    a.page.wait_for_selector(".snippet mark")
    a.click(a.page.locator(".hit"))
    a.page.wait_for_selector(".column mark.found")


def sort_by_cost(a: Analyst) -> None:
    a.click(a.button("Cost: sort"))
    costs = a.read_column(3)
    miss(costs == sorted(costs, reverse=True), "falling costs")


def sort_one_model_by_tokens(a: Analyst) -> None:
    a.check("GPT-4o")
    a.click(a.button("Tokens: sort"))
    tokens = a.read_column(2)
    miss(len(tokens) > 1 and tokens == sorted(tokens, reverse=True), "falling tokens")


def find_hardest(a: Analyst) -> None:
    a.click(a.button("Right: sort"))
    right = [int(text.split("/")[0]) for text in a.page.locator(".right-count").all_inner_texts()]
    miss(right == sorted(right), "rising numbers of right cells")


def find_longest_of_a_setting(a: Analyst) -> None:
    a.check("CoT")
    a.click(a.button("Length: sort"))
    lengths = a.read_column(4)
    miss(len(lengths) > 1 and lengths == sorted(lengths, reverse=True), "falling lengths")


def find_by_picture(a: Analyst) -> None:
    a.check("4 images or more")
    loaded = "() => [...document.querySelectorAll('.thumbnail')].some((i) => i.naturalWidth > 0)"
    a.page.wait_for_function(loaded)


def group_answers(a: Analyst) -> None:
    a.open_problem()
    a.click(a.button("Answer: sort"))
    answers = a.page.locator(".outcomes .answer").all_inner_texts()
    miss(len(answers) > 5, "answers side by side")


def add_a_column(a: Analyst) -> None:
    a.open_problem()
    a.click(a.page.locator(".outcome[aria-pressed=false]"))
    miss(a.page.locator(".column").count() == 3, "a third column")


def read_request(a: Analyst) -> None:
    a.open_problem()
    a.click(a.page.get_by_text("Request", exact=True))
    a.page.wait_for_selector(".message")


def read_reason(a: Analyst) -> None:
    a.open_problem()
    miss(a.page.locator(".verdicts thead", has_text="Why").count() > 0, "reasons")


def tag_a_problem(a: Analyst) -> None:
    a.open_problem()
    name = a.page.locator("h1").inner_text()
    a.click(a.page.get_by_label("New tag on the problem"))
    a.press("check key")
    if a.page.get_by_label("Your name, for the tag").first.is_visible():
        a.page.get_by_label("Your name, for the tag").first.fill("Ann")
        a.actions += 1
    a.press("Enter")
    a.button("Remove the tag check key").wait_for()
    other = a.open_page()  # another person
    other.get_by_label("check key").check()
    other.wait_for_url("**tags=*")
    other.wait_for_function("() => document.querySelector('.count-line b').textContent === '1'")
    miss(other.locator(".item-link").inner_text() == name, "the tagged problem")


def tag_a_response(a: Analyst) -> None:
    a.open_problem()
    a.click(a.page.get_by_label("New tag on the response of"))
    a.press("guessed")
    a.page.get_by_label("Your name, for the tag").nth(1).fill("Ann")
    a.actions += 1
    a.press("Enter")
    a.button("Remove the tag guessed").wait_for()


def download_list(a: Analyst) -> None:
    a.check("No answer")
    with TemporaryDirectory() as folder, a.page.expect_download() as download:
        a.click(a.page.get_by_role("link", name="CSV"))
        download.value.save_as(Path(folder) / "list.csv")
        with (Path(folder) / "list.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
    miss(len(rows) == a.total, "the rows of the list")


def send_address(a: Analyst) -> None:
    a.check("No answer")
    a.click(a.button("Tokens: sort"))
    other = a.open_page(a.page.url.removeprefix(a.address))
    same = other.locator(".item-link").all_inner_texts()
    miss(same == a.page.locator(".item-link").all_inner_texts(), "the same list")


def walk_by_keys(a: Analyst) -> None:
    a.check("All models wrong")
    first = a.page.locator(".item-link").nth(1).inner_text()
    a.press("ArrowDown", "Enter")
    a.page.wait_for_selector("html[data-ready] .column")
    a.press("j")
    miss(a.page.locator("h1").inner_text() == first, "the next problem of the filter")


TASKS: dict[str, Callable[[Analyst], None]] = {
    "the problems that all models miss": find_all_wrong,
    "of these, those with a suspected key": join_two_filters,
    "how many problems with refused responses are physics": count_in_a_filter,
    "what GPT-4o gets right and Claude 3.5 Sonnet wrong": compare_models,
    "what is right without and wrong with chain of thought": compare_settings,
    "the responses that say 'the answer is', and one of them": search_responses,
    "the problems that cost most": sort_by_cost,
    "the problems on which GPT-4o writes most tokens": sort_one_model_by_tokens,
    "the hardest problems": find_hardest,
    "the longest responses under one setting": find_longest_of_a_setting,
    "the problems with many pictures, by their pictures": find_by_picture,
    "which cells agree on which answer": group_answers,
    "a third response beside two": add_a_column,
    "what exactly was sent": read_request,
    "why a response counts as wrong": read_reason,
    "tag a problem, which a colleague then finds": tag_a_problem,
    "tag a response": tag_a_response,
    "the problems without an answer as a CSV file": download_list,
    "an address that shows a colleague the same list": send_address,
    "go through a filter by keys": walk_by_keys,
}


def main() -> int:
    """Do the tasks, print the table; returns the exit code."""
    from playwright.sync_api import Error, sync_playwright

    path = next(p for name in CHROMIUM if (p := shutil.which(name)))
    clumsy = failed = 0
    print("| task | actions | |\n|---|---:|---|")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        for name, act in TASKS.items():
            analyst = Analyst(browser, sys.argv[1])
            try:
                act(analyst)
                word = "done" if analyst.actions <= FEW else "clumsy"
            except (AssertionError, Error) as error:
                word = f"failed: {str(error).splitlines()[0]}"
            clumsy += word == "clumsy"
            failed += word.startswith("failed")
            print(f"| {name} | {analyst.actions} | {word} |")
        browser.close()
    print(f"\n{len(TASKS) - clumsy - failed} done, {clumsy} clumsy, {failed} failed")
    return int(failed > 0 or clumsy > MOST_CLUMSY)


if __name__ == "__main__":
    sys.exit(main())
