"""An escalation, from two readers who differ to the senior who settles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.accessibility import list_violations

pytestmark = pytest.mark.slow


def test_an_escalation_is_settled_by_the_senior(site: Any, seat: Any, root: Path) -> None:
    annotator = seat("Ana Abreu")
    page = annotator.open("item:escalation")
    annotator.press("v q 5")
    page.get_by_role("button", name="Correct it").first.click()
    annotator.press("Control+End")
    page.keyboard.type(" Corrected.")
    page.get_by_role("textbox", name="Comment").fill("a comment of the annotator")
    annotator.send()

    auditor = seat("Ugo Unger")
    page = auditor.open("item:escalation")
    html = page.content()
    assert "Ana" not in html
    assert "a comment of the annotator" not in html
    assert "Corrected." in page.locator("[data-part=question]").inner_text()
    assert page.locator("input:checked").count() == 0
    auditor.press("n q 2")
    auditor.send()

    senior = seat("Sol Serra")
    page = senior.open("item:escalation")
    table = page.locator(".part-history")
    assert "your decision is binding" in table.inner_text().lower()
    assert "Ana Abreu" in table.inner_text()
    assert "Ugo Unger" in table.inner_text()
    # The auditor left the text as the annotator had corrected it.
    assert [text.strip() for text in table.locator("ins").all_inner_texts()] == ["Corrected."] * 2
    rows = [row.inner_text() for row in table.locator("tr.differing th").all()]
    assert [row.removesuffix("people differ") for row in rows] == [
        "Is the problem valid?",
        "Quality",
    ]
    assert list_violations(page, root) == []
    table.get_by_role("button", name="Take these answers").first.click()
    assert page.get_by_role("radio", name="Valid", exact=True).is_checked()
    senior.press("q 4")
    senior.send()
    events = site.list_decisions("item:escalation")
    assert [event.role for event in events] == ["annotator", "auditor", "senior"]
    assert events[-1].fields["valid"] == "valid"
    assert events[-1].fields["quality"] == 4
    # What the annotator corrected does not go back to the text before.
    assert str(events[-1].fields["question"]).endswith("Corrected.")
    assert site.service.states["item:escalation"].settled_by == "senior"
