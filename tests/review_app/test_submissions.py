"""What people post is bounded, and what is wrong with it is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from omibench.review.app.application import DECISION_BYTES
from review_app.builders import GOOD, make_service, open_browser


@pytest.mark.parametrize(
    ("values", "status", "message"),
    [
        ({"fields": {"valid": "valid", "quality": 9}}, 422, "1 to 5"),
        ({"fields": {"valid": "valid"}}, 422, "is missing"),
        ({"fields": GOOD | {"stars": 1}}, 422, "is not a field"),
        ({"fields": [1]}, 400, "`fields` is not an object"),
        ({"comment": 3}, 400, "`comment`"),
        ({"comment": "x" * 200_001}, 400, "`comment`"),
        ({"comment": "x" * DECISION_BYTES}, 413, "KiB are not accepted"),
        ({"seconds": -1}, 400, "`seconds`"),
        ({"seconds": "1"}, 400, "`seconds`"),
        ({"seconds": 1e9}, 400, "`seconds`"),
        ({"base": 3}, 400, "not a text"),
        ({"content_hash": None}, 400, "not a text"),
    ],
)
def test_a_decision_is_checked(
    tmp_path: Path, values: dict[str, Any], status: int, message: str
) -> None:
    ann = open_browser(make_service(tmp_path), "ann")
    ann.open("item:p1")
    answer = ann.send("item:p1", **values)
    assert answer.status_code == status
    assert message in answer.json()["message"]
    assert ann.open("item:p1")["history"] == []


def test_line_ends_of_a_browser_are_those_of_the_content(tmp_path: Path) -> None:
    ann = open_browser(make_service(tmp_path), "ann")
    ann.open("item:p1")
    fields = GOOD | {"question": "one\r\ntwo"}
    assert ann.send("item:p1", fields=fields, comment="a\r\nb").status_code == 201
    (entry,) = ann.open("item:p1")["history"]
    assert entry["fields"]["question"] == "one\ntwo"
    assert entry["comment"] == "a\nb"
