"""Labels are read from the last line alone, within bounds, each once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.schemas.problem import LONGEST_VALUE
from omibench.schemas.request import Response
from omibench.stages.rationale.labels.taxonomy import MOST_LABELS, parse_labels


@pytest.mark.parametrize(
    ("reply", "labels"),
    [
        ("{CLASS: thin lenses}", ["thin lenses"]),
        ("{CLASS: thin lenses # mirrors}", ["thin lenses", "mirrors"]),
        ("{CLASS: Thin  lenses#thin lenses#mirrors}", ["Thin lenses", "mirrors"]),
        ("{CLASS: #}", []),
        ("{CLASS: optics} and more", []),
        ("optics", []),
        ("", []),
        (f"{{CLASS: {'x' * (LONGEST_VALUE + 1)}}}", []),
        (f"{{CLASS: {'#'.join(map(str, range(MOST_LABELS + 1)))}}}", []),
    ],
)
def test_labels_of_a_reply(reply: str, labels: list[str]) -> None:
    assert parse_labels(Response(text=reply)).labels == labels


@given(st.text())
def test_labels_are_short_and_without_separators_whatever_the_reply(text: str) -> None:
    labels = parse_labels(Response(text=f"{{CLASS: {text}}}")).labels
    assert len(labels) <= MOST_LABELS
    assert all(0 < len(label) <= LONGEST_VALUE and "#" not in label for label in labels)
