"""Slots are filled once, and what others wrote fills none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.settings.prompts import fill_text, list_slot_names

NAMES = st.sampled_from(["question", "gold"])


@given(st.lists(st.one_of(NAMES.map("{{{}}}".format), st.text())), st.text(), st.text())
def test_filling_is_one_pass_over_the_template(pieces: list[str], first: str, second: str) -> None:
    template = "".join(pieces)
    values = {"question": first, "gold": second}
    expected, rest = "", template
    while rest:
        name = next((n for n in values if rest.startswith(f"{{{n}}}")), None)
        expected += values[name] if name else rest[0]
        rest = rest[len(name) + 2 :] if name else rest[1:]
    assert fill_text(template, values) == expected


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{question} and {question}", ["question"]),
        (r"\boxed{answer} \frac{a}{b} x_{n} {{word}} {ANSWER} { spaced }", []),
        ('{"score": N} {CLASS: X}', []),
        ("{context}{question}\n{options}", ["context", "question", "options"]),
    ],
)
def test_braces_of_formulas_are_no_slots(text: str, names: list[str]) -> None:
    assert list_slot_names(text) == names
