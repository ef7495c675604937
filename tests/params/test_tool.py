"""The block `tools:`: its defaults, and what it refuses in one line."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from omibench.params.setting import Setting


@pytest.mark.parametrize(
    ("block", "why"),
    [
        ({"offered": []}, "at least 1 item"),
        ({"offered": ["crop", "crop"]}, "crop is listed twice"),
        ({"offered": ["shell"]}, "Input should be 'look', 'crop'"),
        ({"max_turns": 1}, "greater than or equal to 2"),
        ({"images": 0}, "greater than or equal to 1"),
        ({"style": "xml"}, "Input should be 'native' or 'text'"),
        ({"manner": "cogflow"}, "'free', 'sketch', 'slow' or 'flow'"),
        ({"turns": 3}, "Extra inputs"),
    ],
)
def test_what_makes_no_sense_is_refused(block: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError) as error:
        Setting.model_validate({"tools": block})
    assert why in str(error.value)


@pytest.mark.parametrize("images", ["none", {"show": "captions", "model": "eyes"}])
def test_tools_need_the_pictures(images: object) -> None:
    with pytest.raises(ValidationError, match="tools need the pictures"):
        Setting.model_validate({"tools": {}, "images": images})
