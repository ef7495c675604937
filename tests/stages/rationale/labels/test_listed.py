"""A label is exactly one of the list, on the last line, or there is none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.errors import ParamsError
from omibench.params.stages.rationale import RationaleParams
from omibench.schemas.problem import Problem
from omibench.schemas.request import Response
from omibench.stages.rationale.labels import Labeller, label_topics, parse_label

Make = Callable[..., Problem]
Scripted = Callable[..., Any]
TOPICS = {"physics": ["mechanics", "optics"], "biology": ["genetics"]}
LABELS = TOPICS["physics"]


@pytest.mark.parametrize(
    ("reply", "topic"),
    [
        ("{CLASS: optics}", "optics"),
        ("It is about lenses.\n{CLASS: optics}\n", "optics"),
        ("{CLASS: mechanics}\n{CLASS: optics}", "optics"),
        ("{CLASS: optics}\nThank you.", None),
        ("{CLASS: Optics}", None),
        ("{CLASS: waves}", None),
        ("{CLASS: optics#mechanics}", None),
        ("{CLASS: optics}.", None),
        ("{CLASS: optics} {CLASS: mechanics}", None),
        ("optics", None),
        ("", None),
    ],
)
def test_parse_label(reply: str, topic: str | None) -> None:
    assert parse_label(reply, LABELS) == topic


@given(st.text())
def test_whatever_the_reply_the_label_is_one_of_the_list(reply: str) -> None:
    assert parse_label(reply, LABELS) in (*LABELS, None)
    assert parse_label(f"{reply}\n{{CLASS: mechanics}}", LABELS) == "mechanics"


def label(script: Any, *problems: Problem) -> list[Problem]:
    return label_topics(problems, Path("in"), Labeller("tagger", script, TOPICS))


def test_labels_and_warnings(make: Make, scripted: Scripted) -> None:
    script = scripted(
        {
            "physics-1": [Response(text="{CLASS: optics}", simulated=True)],
            "physics-2": ["I cannot say."],
            "physics-3": [Response(text="{CLASS: optics}", outcome="truncated")],
        }
    )
    problems = [
        make(),
        make(id="physics-2"),
        make(id="physics-3"),
        make(id="physics-4", topic="waves"),
    ]
    first, second, third, own = label(script, *problems)
    assert (first.topic, list(map(str, first.warnings))) == (
        "optics",
        ["label: SIMULATED (tagger)"],
    )
    assert (second.topic, third.topic) == (None, None)
    assert list(map(str, second.warnings)) == [
        "label: tagger named none of the 2 topics of physics"
    ]
    assert own == problems[3]


def test_only_the_list_of_the_subject_is_offered(make: Make, scripted: Scripted) -> None:
    script = scripted({"physics-1": ["{CLASS: genetics}"]})
    (problem,) = label(script, make())
    assert problem.topic is None
    text = script.asked[0].conversation.text
    assert "- mechanics\n- optics" in text
    assert "genetics" not in text
    assert text.rstrip().endswith("{CLASS: label}")


def test_a_subject_without_a_list_is_named(make: Make, scripted: Scripted) -> None:
    with pytest.raises(ParamsError, match=r"no list for the subject 'chemistry' of physics-1"):
        label(scripted({}), make(subject="chemistry"))


def test_a_problem_of_unknown_subject_is_offered_every_list(make: Make, scripted: Scripted) -> None:
    script = scripted({"physics-1": ["{CLASS: genetics}"]})
    (problem,) = label(script, make(subject="other"))
    assert problem.topic == "genetics"
    assert "- mechanics\n- optics\n- genetics" in script.asked[0].conversation.text


def test_a_labeller_has_room_to_think_and_a_cut_off_reply_names_the_parameter(
    make: Make, scripted: Scripted
) -> None:
    cut = Response(text="Lenses are", outcome="truncated", finish_reason="length")
    script = scripted({"physics-1": [cut]})
    (problem,) = label(script, make())
    assert script.asked[0].decoding.max_tokens == RationaleParams().labeller_max_tokens == 4096
    assert list(map(str, problem.warnings)) == [
        "label: tagger was cut off after 4096 tokens; raise rationale.labeller_max_tokens"
    ]
    script = scripted({"physics-1": ["{CLASS: optics}"]})
    label_topics([make()], Path("in"), Labeller("tagger", script, TOPICS, max_tokens=64))
    assert script.asked[0].decoding.max_tokens == 64
