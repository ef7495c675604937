"""The application on a port of this machine, and people who are logged in with a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.browsing import Visitor, open_pages, serve_in_thread
from tests.review_app.browser.hostile import HOSTILE
from tests.review_app.browser.tasks import make_task

from omibench.review.app.demo import draw_pictures
from omibench.review.kinds import KINDS
from omibench.schemas.review import ReviewDecision

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PEOPLE = {
    "Ana Abreu": "annotator",
    "Ben Borg": "annotator",
    "Ugo Unger": "auditor",
    "Sol Serra": "senior",
}
PASSWORD = "a long password of a test"
ITEM_TASKS = (
    "keys",
    "draft",
    "collision",
    "escalation",
    "form",
    "pictures",
    "look",
    "change",
    "doubt",
    "own",
    "axe",
)
SUBFIELDS = [
    {"value": name, "title": f"{subject}: {name}", "subjects": [subject]}
    for subject, name in (
        ("physics", "Mechanics"),
        ("physics", "Optics"),
        ("chemistry", "Kinetics"),
    )
]


@dataclass
class Site:
    """A review that is served.

    Attributes:
        address: Where.
        folder: Of the review.
        service: What the server answers from.
        logins: Cookies of people who have logged in.
    """

    address: str
    folder: Path
    service: Any
    logins: dict[str, Any] = field(default_factory=dict)

    def list_decisions(self, task: str) -> list[ReviewDecision]:
        """The decisions on a task, as the live log has them."""
        return list(self.service.events[task])


def write_review(folder: Path) -> None:
    """A review with a task of every kind, and several items."""
    pictures = draw_pictures(folder)
    tasks = [make_task(kind, "all", pictures) for kind in KINDS]
    tasks += [make_task("item", name, pictures) for name in ITEM_TASKS]
    tasks += [make_task(kind, "hostile", pictures, HOSTILE) for kind in ("item", "rationale")]
    tasks.append(
        make_task("label", "narrow", pictures, {"subject": "physics", "subfields": SUBFIELDS})
    )
    lines = [task.model_dump_json() for task in tasks]
    (folder / "tasks.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    people = [f"- {{name: {name}, roles: [{role}]}}" for name, role in PEOPLE.items()]
    (folder / "reviewers.yaml").write_text("\n".join(people) + "\n", "utf-8")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The application in a thread of this process."""
    pytest.importorskip("argon2")
    from omibench.review.app.application import make_application
    from omibench.review.app.context import ServerSettings
    from omibench.review.app.database import set_password
    from omibench.review.app.service import ReviewService

    folder = tmp_path_factory.mktemp("review")
    write_review(folder)
    service = ReviewService(folder)
    with service.database.write() as connection:
        for name in PEOPLE:
            set_password(connection, name, PASSWORD)
    with serve_in_thread(make_application(service, ServerSettings())) as address:
        yield Site(address, folder, service)
    service.close()


class Desk(Visitor):
    """One person at a page of the review."""

    def open(self, task: str, own: str = "a") -> Page:
        """Open a task, answer its problem by a key if it asks for that, and wait for its form."""
        from omibench.review.app.pages import link_task

        self.go(link_task(task))
        asks = "JSON.parse(document.querySelector('#task').textContent).asks_first"
        if own and self.page.evaluate(asks):
            self.press(f"{own} Enter")
            self.page.wait_for_selector("[data-part=own_answer]")
            self.page.wait_for_selector("html[data-ready]")
        return self.page

    def ask(self) -> str:
        """Send the decision, which must be doubted, and return the question."""
        self.page.keyboard.press("Control+Enter")
        question = self.page.locator(".problem:not([hidden])", has_text="Is this what you mean?")
        question.wait_for()
        # The browser itself logs the answer 428.
        self.messages = [text for text in self.messages if "status of 428" not in text]
        return str(self.page.locator(".panel").inner_text())

    def send(self) -> None:
        """Send the decision and wait for the page that follows."""
        from playwright.sync_api import TimeoutError as PatienceError

        before = self.page.url
        self.page.keyboard.press("Control+Enter")
        try:
            self.page.wait_for_url(lambda url: url != before)
        except PatienceError:
            panel = self.page.locator(".panel").inner_text()
            pytest.fail(f"the page stays: {panel}; {self.requests[-5:]}; {self.messages}")


@pytest.fixture
def seat(site: Site, browser: Browser) -> Iterator[Any]:
    """Seats people: `seat(name)` is a new page of a person, who is logged in."""
    with open_pages(browser) as open_page:

        def sit(name: str, **options: Any) -> Desk:
            if name not in site.logins:
                site.logins[name] = log_in(site, browser, name)
            options = {"viewport": {"width": 1366, "height": 768}} | options
            return Desk(site.address, open_page(storage_state=site.logins[name], **options))

        yield sit


def log_in(site: Site, browser: Browser, name: str) -> Any:
    """Log in as a person does; the cookies that come of it."""
    page = browser.new_page()
    page.goto(site.address)
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(site.address + "/")
    cookies = page.context.storage_state()
    page.close()
    return cookies
