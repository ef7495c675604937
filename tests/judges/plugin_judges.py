"""Judges of reasoning as a plug-in brings them: one with marks, one with labels."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from omibench.answers.judges.instrument import Instrument, make_instrument
from omibench.answers.judges.registry import ResponseSelection, judge
from omibench.answers.judges.scales import LabelScale, NumberScale, Scale
from omibench.params.panel import JudgePanel
from omibench.plugins.files import forget_plugin
from omibench.plugins.registry import loading

FILE = "my_judges.py"
NUMBERS = NumberScale(0, 10)
LABELS = LabelScale({"good": "it is", "bad": "it is not"})


def register(
    name: str, values: Scale, responses: ResponseSelection = "readable", /, **changes: Any
) -> None:
    """Register a judge as a plug-in's file would; `changes` are fields of its instrument."""
    instrument = make_instrument(name, "Judge it.", values)

    def build(panel: JudgePanel) -> Instrument[Any]:
        return Instrument(**vars(instrument) | changes)

    with loading(FILE):
        judge(name, responses=responses)(build)


@contextmanager
def plugin_judges() -> Iterator[None]:
    """`tempo` gives marks to readable responses, `tone` labels to wrong ones."""
    register("tempo", NUMBERS)
    register("tone", LABELS, "wrong")
    try:
        yield
    finally:
        forget_plugin(FILE)
