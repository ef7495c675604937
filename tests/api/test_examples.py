"""Examples of docstrings and of docs/python.md give what they say."""

from __future__ import annotations

import ast
import doctest
import re
from pathlib import Path

import pytest

import omibench
from omibench.answers.scorers.registry import SCORERS

ROOT = Path(__file__).parents[2]
SELF_CONTAINED = ("compare_answers", "score", "build_conversation")
"""The functions whose examples need no study."""


@pytest.mark.parametrize("name", SELF_CONTAINED)
def test_the_example_of_a_docstring_is_true(name: str) -> None:
    function = getattr(omibench, name)
    names = {"omibench": omibench, name: function}
    tests = doctest.DocTestFinder(recurse=False).find(function, name, globs=names)
    assert sum(len(test.examples) for test in tests) > 0
    lines: list[str] = []
    runner = doctest.DocTestRunner(
        verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )
    for test in tests:
        runner.run(test, out=lines.append)
    assert not lines, "".join(lines)


def list_blocks(heading: str) -> list[str]:
    text = (ROOT / "docs/python.md").read_text("utf-8")
    section = text[text.index(f"## {heading}") :].partition("\n## ")[0]
    return re.findall(r"```python\n(.*?)```", section, re.DOTALL)


@pytest.mark.parametrize(
    ("heading", "values"), [("Scores", 2), ("Parts of your own", 1)], ids=["scores", "parts"]
)
def test_the_examples_of_the_guide_are_true(heading: str, values: int) -> None:
    """A line that ends in `# value` gives this value."""
    checked = 0
    names: dict[str, object] = {"omibench": omibench, "__name__": "guide"}
    try:
        for block in list_blocks(heading):
            exec(compile(block, heading, "exec"), names)
            for line in block.splitlines():
                code, _, comment = line.partition("  # ")
                try:
                    expected = ast.literal_eval(comment)
                except (SyntaxError, ValueError):
                    continue
                assert eval(code, names) == expected, line
                checked += 1
    finally:
        SCORERS.forget("guide")
    assert checked == values
