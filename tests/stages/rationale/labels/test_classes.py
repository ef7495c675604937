"""The labeller picks one class of a list, such as the type of an image."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from omibench.params.stages.rationale import RationaleParams
from omibench.schemas.problem import Problem
from omibench.schemas.request import ImagePart
from omibench.stages.rationale.labels.run import pick_classes
from omibench.stages.rationale.labels.taxonomy import Labeller

Make = Callable[..., Problem]
TYPES = {"table": "values in rows", "chart": "a graph: of data", "other": "anything else"}


@pytest.mark.parametrize(
    ("reply", "picked", "told"),
    [
        ("{CLASS: chart}", "chart", None),
        ("It has axes.\n{CLASS:  Chart }", "chart", None),
        ("{CLASS: chart#table}", None, "named 2 labels instead of one of"),
        ("{CLASS: photograph}", None, "picked none of"),
        ("chart", None, "picked none of"),
    ],
)
def test_a_class_is_one_of_the_list(
    make: Make, scripted: type, reply: str, picked: str | None, told: str | None
) -> None:
    script = scripted({"physics-1": [reply]})
    labelled = pick_classes([make()], Path(), Labeller("tagger", script, {}), "category", TYPES)
    (problem,), (row,) = labelled
    assert problem.attributes.get("category") == picked
    assert (row.kind, row.attribute, row.labels) == (
        "class", "category", [picked] if picked else [],
    )  # fmt: skip
    assert [str(w) for w in problem.warnings] == (
        [f"label: tagger {told} the 3 classes of category"] if told else []
    )


def test_the_labeller_sees_the_pictures_and_the_meanings(make: Make, scripted: type) -> None:
    script = scripted({"physics-1": ["{CLASS: table}"]})
    pick_classes([make()], Path(), Labeller("tagger", script, {}), "category", TYPES)
    (request,) = script.asked
    parts = request.conversation.messages[-1].parts
    assert sum(isinstance(part, ImagePart) for part in parts) == 2
    assert "which category the" in request.conversation.text
    assert "- chart: a graph: of data\n" in request.conversation.text


def test_a_stated_class_is_kept_without_a_request(make: Make, scripted: type) -> None:
    problems = [
        make(attributes={"category": "CHART"}),
        make(id="physics-2", attributes={"category": "plot of the source"}),
        make(id="physics-3", attributes={"category": ["chart", "table"]}),
        make(id="physics-4", attributes={"category": ["Table"]}),
    ]
    labeller = Labeller("tagger", scripted({}), {})
    labelled = pick_classes(problems, Path(), labeller, "category", TYPES)
    assert [p.attributes["category"] for p in labelled.problems] == [
        "chart", "plot of the source", ["chart", "table"], "table",
    ]  # fmt: skip
    rest = "is kept, although it is none of the 3 classes of category"
    assert [[str(w) for w in p.warnings] for p in labelled.problems] == [
        [], [f"label: category 'plot of the source' {rest}"],
        [f"label: category 'chart; table' {rest}"], [],
    ]  # fmt: skip
    assert labelled.rows == []


def test_classes_alone_need_no_list_of_topics() -> None:
    params = RationaleParams(labeller="tagger", classes={"category": TYPES})
    assert params.label_prompts == ["class"]
    assert not params.lists_topics


def test_one_class_is_no_choice_and_a_reserved_name_no_attribute() -> None:
    with pytest.raises(ValueError, match="at least 2 items"):
        RationaleParams(labeller="tagger", classes={"category": {"table": "rows"}})
    with pytest.raises(ValueError, match="name of a column of every table"):
        RationaleParams(labeller="tagger", classes={"subject": TYPES})


@pytest.mark.parametrize("attribute", ["domain", "topics", "subfield", "skills", "other_skill"])
def test_an_attribute_of_the_taxonomy_is_not_for_classes(attribute: str) -> None:
    with pytest.raises(ValueError, match=f"'{attribute}' is an attribute of rationale.taxonomy"):
        RationaleParams(labeller="tagger", classes={attribute: TYPES})


def test_classes_that_no_reply_can_tell_apart_are_refused() -> None:
    classes = {"category": {"A b": "one", "other": "else", "a  B": "two"}}
    with pytest.raises(ValueError, match=r"category: 'A b' and 'a  B' differ only in case"):
        RationaleParams(labeller="tagger", classes=classes)


def test_classes_need_a_labeller() -> None:
    with pytest.raises(ValueError, match=r"set rationale\.labeller, or remove rationale\.classes"):
        RationaleParams(classes={"category": TYPES})
