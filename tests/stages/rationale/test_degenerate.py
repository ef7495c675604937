"""Rationales that are too short or repeat the problem, and the tokenizers that measure them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from omibench.errors import MissingInputError, OmibenchError, ParamsError
from omibench.schemas.problem import Choice, Problem
from omibench.stages.rationale.degenerate import (
    DegeneracyRule,
    count_words,
    has_own_result,
    measure_overlap,
    measure_rationale,
    open_tokenizer,
)

# A rationale is degenerate where it is short, or repeats what was asked and adds no step.

Make = Callable[..., Problem]
RULE = DegeneracyRule(count_words, 12, 0.9)
QUESTION = (
    "Figure 1 [IMAGE0] shows a cart of 3 kg and Figure 2 [IMAGE1] its road. How far does it go?"
)


def defect(problem: Problem, reply: str) -> str | None:
    return measure_rationale(reply, problem, RULE).defect


def test_repeated_words_are_no_explanation(make: Make) -> None:
    problem = make(question=QUESTION)
    restated = "Figure 1 shows a cart of 3 kg, and Figure 2 shows its road. It does go 12 m far."
    assert defect(problem, f"{restated}\nFinal Answer: \\boxed{{12 m}}") == "paraphrase"
    assert defect(problem, f"{restated} Step 1: 2 * 6 = 12.") is None, "a number of its own"
    assert defect(problem, f"Step 7. {restated}") == "paraphrase", "steps may be counted"
    explained = "The slope of the curve is constant, so area under it grows with elapsed time."
    assert defect(problem, explained) is None


def test_what_stands_in_choices_counts_as_known_and_a_sketch_has_steps_of_its_own(
    make: Make,
) -> None:
    choices = [Choice(label="A", text="because friction dissipates all kinetic energy downhill")]
    problem = make(question=QUESTION, choices=choices)
    reply = "It does go far because friction dissipates all kinetic energy downhill, of a cart."
    assert defect(problem, reply) == "paraphrase"
    assert defect(make(question=QUESTION), reply) is None
    assert defect(make(question=QUESTION, sketch=reply), reply) is None


def test_the_final_answer_is_no_part_of_an_explanation(make: Make) -> None:
    reply = "Reasoning: so.\nFinal Answer: \\boxed{a long answer of more than a dozen words in it}"
    measures = measure_rationale(reply, make(), RULE)
    assert (measures.tokens, measures.defect) == (2, "short")


@pytest.mark.parametrize(
    ("text", "sources", "overlap"),
    [
        ("", ["a"], 0.0),
        ("The cart, the ROAD", ["the cart", "road"], 1.0),
        ("cart 12.5 m", ["cart 12 m"], 2 / 3),
        ("图一得", ["由图"], 1 / 3),
    ],
)
def test_overlap_is_the_share_of_known_words(text: str, sources: list[str], overlap: float) -> None:
    assert measure_overlap(text, sources) == pytest.approx(overlap)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v = 3", True),
        ("s=vt", False),
        ("1. s = vt\n2. figure 9 says so", False),
        ("Hence t ≈ s", True),
        ("It takes 8 s", True),
        ("It takes 4 s", False),
    ],
)
def test_a_result_of_its_own_stands_in_no_source(text: str, expected: bool) -> None:
    assert has_own_result(text, ["With s = vt and 4 s"]) is expected


def test_hostile_text_is_measured_in_time_that_grows_with_it() -> None:
    start = time.process_time()
    for text in ("=" * 60_000, "a" * 60_000, "a =" * 20_000, "1" * 60_000, "step " * 12_000):
        measure_overlap(text, [text])
        has_own_result(text, ["b"])
    assert time.process_time() - start < 5


# A token is what the named tokenizer says.


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("The cart, 12.5 m", 7), ("由图一得速度。", 7), ("a_b c", 2)],
)
def test_words_numbers_characters_and_signs(text: str, count: int) -> None:
    assert open_tokenizer("words")(text) == count


class _Halves:
    """Stands in for a tokenizer of transformers: two characters a token."""

    def __init__(self, tokenizer_file: str) -> None:
        if "model" not in Path(tokenizer_file).read_text("utf-8"):
            raise Exception("no tokenizer:\nexpected `model`")

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return [0] * (len(text) // 2 + 2 * add_special_tokens)


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = ModuleType("transformers")
    module.__spec__ = ModuleSpec("transformers", None)
    module.PreTrainedTokenizerFast = _Halves
    monkeypatch.setitem(sys.modules, "transformers", module)


@pytest.mark.usefixtures("package")
def test_a_file_is_the_tokenizer_of_a_model(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text('{"model": {}}')
    assert open_tokenizer(str(file))("four" * 3) == 6


@pytest.mark.usefixtures("package")
def test_a_file_that_is_none_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text("{}")
    with pytest.raises(
        ParamsError, match=r"is not a tokenizer\.json: no tokenizer: expected `model`$"
    ):
        open_tokenizer(str(file))


def test_a_file_that_is_not_there_or_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match="wrods"):
        open_tokenizer(str(tmp_path / "wrods"))
    with pytest.raises(OmibenchError):
        open_tokenizer(str(tmp_path))
