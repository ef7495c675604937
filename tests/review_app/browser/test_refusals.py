"""What a person sees when the server does not take what they send; nothing they wrote is lost."""

from __future__ import annotations

from typing import Any

import pytest
from tests.review_app.browser.conftest import log_in

pytestmark = pytest.mark.slow


def test_a_task_that_changes_is_read_again(site: Any, seat: Any) -> None:
    desk = seat("Ana Abreu")
    page = desk.open("item:change")
    desk.press("v q 3")
    page.get_by_role("textbox", name="Comment").fill("of the old text")
    tasks = site.folder / "tasks.jsonl"
    lines = tasks.read_text("utf-8").splitlines()
    index = next(i for i, line in enumerate(lines) if '"id":"item:change"' in line)
    before = site.service.content.tasks["item:change"].task
    lines[index] = lines[index].replace(before.content_hash, "ab" * 32).replace("9.81", "9.82 ")
    tasks.write_text("\n".join(lines) + "\n", "utf-8")
    page.keyboard.press("Control+Enter")
    dialog = page.locator("dialog.conflict")
    dialog.wait_for()
    assert "The task has changed" in dialog.inner_text()
    with page.expect_navigation():
        dialog.get_by_role("button", name="with my answers").click()
    page.wait_for_selector("html[data-ready]")
    assert "9.82" in page.locator("[data-part=question]").inner_text()
    assert "The task has changed since you started" in page.locator(".notice").inner_text()
    page = desk.open("item:change")
    assert "The task has changed since you started" in page.locator(".notice").inner_text()
    assert page.get_by_role("textbox", name="Comment").input_value() == "of the old text"
    desk.send()
    (decision,) = site.list_decisions("item:change")
    assert decision.content_hash == "ab" * 32


def test_what_is_missing_is_said_at_its_field(site: Any, seat: Any) -> None:
    desk = seat("Ben Borg")
    page = desk.open("rationale:hostile")
    page.keyboard.press("Control+Enter")
    assert "Needs an answer" in page.locator("[data-field=candidate]").inner_text()
    page.get_by_role("radio", name="None of them").check()
    page.get_by_role("radio", name="Complete rewrite").check()
    page.keyboard.press("Control+Enter")
    message = page.locator("[data-field=solution] .problem")
    message.wait_for()
    assert len(message.inner_text()) > 10
    assert site.list_decisions("rationale:hostile") == []


def test_without_a_server_or_a_login_answers_stay(site: Any, seat: Any, browser: Any) -> None:
    desk = seat("Ana Abreu")
    page = desk.open("item:form")
    desk.press("v q 3")
    page.context.set_offline(True)
    page.keyboard.press("Control+Enter")
    page.get_by_text("The server cannot be reached").wait_for()
    page.context.set_offline(False)
    page.context.clear_cookies()
    page.keyboard.press("Control+Enter")
    page.get_by_text("You are logged out").wait_for()
    # Who logs in next in this tab does not see them; the person does.
    page.context.add_cookies(log_in(site, browser, "Ben Borg")["cookies"])
    desk.open("item:form")
    assert page.locator(".fields input:checked").count() == 0
    page.context.add_cookies(site.logins["Ana Abreu"]["cookies"])
    desk.open("item:form")
    assert page.get_by_role("radio", name="Valid", exact=True).is_checked()
