"""What the author of a decision is asked to confirm."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.review.app.conflicts import find_formula_fault, list_doubts
from omibench.review.check import check_fields
from omibench.review.kinds import find_kind
from review.builders import make_task

CONTENT = {
    "question": "What is $x$ in [IMAGE0] and [IMAGE1]?",
    "answer": ["A"],
    "solution": "It is 2.",
}


def ask(**fields: Any) -> list[tuple[str, str]]:
    """The doubts about an item's decision, as field and message."""
    kind, task = find_kind("item"), make_task(content=CONTENT)
    checked = check_fields(kind, task, {"valid": "valid", "quality": 4} | fields)
    return [(doubt.field, doubt.message) for doubt in list_doubts(kind, task, checked)]


def test_a_plain_decision_is_not_doubted() -> None:
    assert ask() == []
    assert ask(question=r"What is $\frac{x}{2}$ in [IMAGE0] and [IMAGE1]? It costs \$5.") == []


def test_a_correction_that_drops_a_picture_is_doubted() -> None:
    ((field, message),) = ask(question="What is $x$ in [IMAGE0]?")
    assert field == "question"
    assert message.startswith("[IMAGE1] is no longer in the text")
    assert ask(question="What is $x$ in [IMAGE1] and then [IMAGE0]?") == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (r"$\frac{x}{2$", "{ and } do not match"),
        (r"$x}{y$", "{ and } do not match"),
        (r"$\left( x$", r"\left and \right do not match"),
        (r"$$\begin{cases} x$$", r"\begin and \end do not match"),
        (r"The angle \alpha is right", r"\alpha is outside of a formula"),
    ],
)
def test_an_unreadable_formula_is_doubted(text: str, fault: str) -> None:
    ((field, message),) = ask(question=f"{text} [IMAGE0] [IMAGE1]")
    assert field == "question"
    assert fault in message


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"solution_valid": "invalid"}, "solution_valid"),
        ({"defects": ["wrong_solution"]}, "defects"),
        ({"defects": ["unreadable", "wrong_answer"]}, "defects"),
    ],
)
def test_a_valid_item_with_a_wrong_part_is_doubted(fields: dict[str, Any], field: str) -> None:
    assert [name for name, _ in ask(**fields)] == [field]
    assert ask(valid="invalid", **fields) == []


def test_a_corrected_part_is_not_doubted() -> None:
    assert ask(solution_valid="invalid", solution="It is 3.") == []
    assert ask(defects=["wrong_answer"], answer="B") == []


LEAVES = st.sampled_from(["x", "2", r"\alpha", r"\{", r"\}", r"a \le b"])
FORMULAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        inner.map(lambda text: f"{{{text}}}"),
        inner.map(lambda text: rf"\left( {text} \right)"),
        inner.map(lambda text: rf"\begin{{cases}} {text} \end{{cases}}"),
        st.tuples(inner, inner).map(lambda pair: rf"\frac{{{pair[0]}}}{{{pair[1]}}} {pair[0]}"),
    ),
)


@given(FORMULAS)
def test_a_balanced_formula_can_be_read_and_one_without_its_last_brace_cannot(latex: str) -> None:
    assert find_formula_fault(f"Find ${latex}$.") is None
    assert find_formula_fault(f"Find $\\sqrt{{{latex}$.") is not None
