"""What reviewers do all day, in a real browser: decide by keys, come back to a draft, collide."""

from __future__ import annotations

from typing import Any

import pytest

from omibench.review.kinds import KINDS


def test_an_item_is_decided_by_keys_alone(site: Any, seat: Any) -> None:
    desk = seat("Ana Abreu")
    page = desk.open("item:keys")
    assert page.locator(".katex").count() > 5
    assert page.locator("[data-part=question] img").evaluate("(image) => image.naturalWidth") == 480
    desk.press("v s 4 1 6 1")
    page.get_by_role("button", name="Correct it").first.focus()
    desk.press("Enter Control+End")
    page.keyboard.type(r" Now with $\ce{H2O}$, v and 2.")
    page.wait_for_selector(".preview .katex >> nth=3")
    desk.send()
    (decision,) = site.list_decisions("item:keys")
    assert decision.person == "Ana Abreu"
    assert decision.role == "annotator"
    assert decision.fields["valid"] == "valid"
    assert decision.fields["quality"] == 4
    assert decision.fields["defects"] == ["unreadable"]
    assert str(decision.fields["question"]).endswith(r" Now with $\ce{H2O}$, v and 2.")
    assert decision.fields["answer"] is None
    assert decision.seconds is not None
    assert decision.seconds > 0
    assert desk.messages == []
    assert desk.find_foreign_requests() == []


@pytest.mark.slow
def test_a_decision_that_contradicts_itself_is_asked_about_once(site: Any, seat: Any) -> None:
    desk = seat("Ana Abreu")
    page = desk.open("item:doubt")
    desk.press("v q 4")
    page.get_by_role("checkbox", name="The answer is wrong").check()
    assert "he problem is valid, but its answer is wrong" in desk.ask()
    assert site.list_decisions("item:doubt") == []
    desk.send()
    (decision,) = site.list_decisions("item:doubt")
    assert decision.fields["defects"] == ["wrong_answer"]
    assert desk.messages == []


@pytest.mark.slow
def test_a_draft_outlives_a_reload(site: Any, seat: Any) -> None:
    desk = seat("Ana Abreu")
    page = desk.open("item:draft")
    desk.press("n q 2")
    page.get_by_role("textbox", name="Comment").fill("not\nfinished")
    page.get_by_text("Draft saved").wait_for()
    other_desk = seat("Ana Abreu")
    other_page = other_desk.open("item:draft")
    assert other_page.get_by_role("radio", name="Not valid").is_checked()
    assert other_page.get_by_role("textbox", name="Comment").input_value() == "not\nfinished"
    page.get_by_role("textbox", name="Comment").fill("written right before the reload")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert (
        page.get_by_role("textbox", name="Comment").input_value()
        == "written right before the reload"
    )
    assert site.list_decisions("item:draft") == []


@pytest.mark.slow
def test_who_comes_second_keeps_what_they_wrote(site: Any, seat: Any) -> None:
    first, second = seat("Ana Abreu"), seat("Ben Borg")
    first.open("item:collision")
    page = second.open("item:collision")
    page.wait_for_selector(".notice:not([hidden])")
    second.press("n q 1")
    page.get_by_role("textbox", name="Comment").fill("my words")
    first.press("v q 5")
    first.send()
    page.keyboard.press("Control+Enter")
    dialog = page.locator("dialog.conflict")
    dialog.wait_for()
    assert "my words" in dialog.inner_text()
    assert "Not valid" in dialog.inner_text()
    assert "Ana" not in dialog.inner_text()
    with page.expect_navigation():
        dialog.get_by_role("button", name="with my answers").click()
    page.wait_for_selector("html[data-ready]")
    assert page.get_by_role("textbox", name="Comment").input_value() == "my words"
    assert [event.person for event in site.list_decisions("item:collision")] == ["Ana Abreu"]


def test_hostile_texts_stay_texts(seat: Any) -> None:
    desk = seat("Ana Abreu")
    page = desk.open("item:hostile", own="0")
    assert page.evaluate("window.hacked") is None
    assert desk.find_foreign_requests() == []
    assert desk.messages == []
    text = page.locator("[data-part=question]").inner_text()
    assert "<script>window.hacked = 1</script>" in text
    assert "U+202E" in text
    assert "U+200B" in text
    assert "U+0007" in text
    assert "[IMAGE7]: no such picture" in text
    markup = page.evaluate(
        "[...document.querySelectorAll('.content a, .content script, .content style,"
        " .content iframe, .content base, .content [style*=fixed]')].length"
    )
    assert markup == 0
    # Nothing covers the form, however large a formula says that it is.
    assert page.evaluate(
        """() => [...document.querySelectorAll(".panel .option, .panel .primary")].every((node) => {
          const box = node.getBoundingClientRect();
          if (box.bottom > innerHeight - 70 && !node.matches(".primary")) return true;
          return node.contains(document.elementFromPoint(box.x + box.width / 2, box.y + 8));
        })"""
    )
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_decided(site: Any, seat: Any, kind: str) -> None:
    desk = seat("Ana Abreu")
    page = desk.open(f"{kind}:all")
    answer_everything(page)
    if kind in {"item", "translation", "page"}:  # the texts that it writes drop the pictures
        assert "no longer in the text" in desk.ask()
        assert site.list_decisions(f"{kind}:all") == []
    desk.send()
    (decision,) = site.list_decisions(f"{kind}:all")
    required = [field for field in KINDS[kind].fields if field.required and field.when is None]
    assert all(decision.fields[field.name] is not None for field in required)
    assert desk.messages == []
    assert desk.find_foreign_requests() == []


def answer_everything(page: Any) -> None:
    """Give the first answer to every field that is asked, as far as more are asked."""
    for number in range(40):
        fields = page.locator(".field:not([hidden]):not(.field-comment)")
        if number >= fields.count():
            return
        field = fields.nth(number)
        if field.locator(".step-row").count():
            for row in field.locator(".step-row").all():
                row.locator("label").first.click()
        elif field.locator("input").count():
            field.locator("label").first.click()
        else:
            if field.get_by_role("button", name="it").first.is_visible():
                field.get_by_role("button", name="it").first.click()
            # A text for every part: choices are lines that begin with their letters.
            field.locator("textarea").fill("A. With $\\ce{CO2}$\nB. Without")
