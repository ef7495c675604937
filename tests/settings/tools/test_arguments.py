"""Arguments: what is offered to a model, and what any JSON of it comes to."""

from __future__ import annotations

import hashlib
import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.params.setting import ToolName, Tools
from omibench.settings.tools import KINDS, LONGEST, read_arguments, specs

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)


def test_what_is_offered_never_changes_unseen() -> None:
    """The tools are in the keys of bought answers: a change of them buys every loop again."""
    offered = [spec.model_dump() for spec in specs(Tools().offered)]
    names = [spec["name"] for spec in offered]
    assert names == list(KINDS)[: len(names)] == list(get_args(ToolName))
    text = json.dumps(offered, sort_keys=True)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "fb87e793d625cc7f"


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("crop", "", "image: Field required; box: Field required"),
        ("crop", '{"image": "i", "box": [0.5, 0, 0.2, 1]}', "left < right"),
        ("crop", '{"image": "i", "box": [0, 0, 1, 1e400]}', "less than or equal to 1"),
        ("crop", '{"image": "i", "box": [0, 0, 1, NaN]}', "box.3"),
        ("crop", '{"image": "i", "box": [0, 0, 1, 1], "path": "/etc/passwd"}', "path: Extra"),
        ("draw_text", '{"image": "i", "at": [0, 0], "text": "' + "x" * 81 + '"}', "at most 80"),
        ("zoom", '{"image": "i", "box": [0, 0, 1, 1], "times": 9}', "less than or equal to 8"),
        (
            "draw_shape",
            '{"image": "i", "shape": "polygon", "points": [[0, 0], [1, 1]]}',
            "3 points",
        ),
        (
            "draw_shape",
            '{"image": "i", "shape": "ellipse", "points": [[0,0],[1,1],[0,1]]}',
            "2 poi",
        ),
        ("look", "[" * 9000, f"and {LONGEST} are read"),
        ("look", '{"image": "' + "i" * 41 + '"}', "at most 40"),
        ("side_by_side", '{"images": ["a"]}', "at least 2"),
    ],
)
def test_wrong_arguments_say_what_to_mend(name: ToolName, text: str, why: str) -> None:
    said = reason(name, text)
    assert why in said
    assert len(said) < 900


@given(st.sampled_from(sorted(KINDS)), json_values.map(json.dumps) | st.text())
def test_any_text_is_arguments_or_a_short_reason(name: ToolName, text: str) -> None:
    assert len(reason(name, text)) < 900


def reason(name: ToolName, text: str) -> str:
    """Why arguments are wrong; empty for sound ones."""
    try:
        assert read_arguments(name, text).sources
    except ValueError as error:
        return str(error)
    return ""
