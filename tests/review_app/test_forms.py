"""The fields of a task as its form has them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from omibench.review.app.payload import describe_fields
from omibench.review.kinds import KINDS


def find(kind: str, name: str, content: dict[str, Any]) -> dict[str, Any]:
    fields = describe_fields(KINDS[kind], content)
    return next(field for field in fields if field["name"] == name)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_described_in_json(kind: str) -> None:
    described = json.loads(json.dumps(describe_fields(KINDS[kind], {})))
    assert [field["name"] for field in described] == [field.name for field in KINDS[kind].fields]
    assert not {"critical", "tolerance", "attribute"} & set(described[0])


def test_a_correction_starts_with_the_text_of_its_part() -> None:
    content = {"choices": [{"label": "A", "text": "one"}, {"label": "B", "image": 2}]}
    assert find("item", "choices", content)["start"] == "A. one\nB. [IMAGE2]"
    assert "start" not in find("item", "solution", content)


def test_a_rationale_starts_with_the_candidate_that_is_chosen() -> None:
    content = {"candidates": [{"id": "c3", "text": "First."}, {"id": "c5", "text": "Second."}]}
    field = find("rationale", "solution", content)
    assert field["starts"] == {"c3": "First.", "c5": "Second."}
    assert field["starts_by"] == "candidate"
    options = find("rationale", "candidate", content)["options"]
    assert [option["value"] for option in options] == ["c3", "c5", "none"]
    assert [option["key"] for option in options] == ["1", "2", "0"]


def test_a_label_starts_with_the_one_so_far_unless_it_is_hidden() -> None:
    assert find("label", "subject", {"subject": "physics"})["start"] == "physics"
    assert "start" not in find("label", "subject", {})


def test_a_text_that_starts_with_a_list_has_a_line_for_each_entry() -> None:
    assert find("photo_fields", "answer", {"answer": ["1 m", "2 s"]})["start"] == "1 m\n2 s"
