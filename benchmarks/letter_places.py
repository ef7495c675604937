"""Count the responses in which saliency finds the final letter, and inspect the text before it.

    python benchmarks/letter_places.py FOLDER

FOLDER holds Parquet files of responses with the columns `type`, `options`, `answer` and
`response`, as EMMA published them for EMMA-mini. One row per file: the multiple-choice responses
that end, the share whose letter has a place, and of these the share whose text before the letter
(or, under `before_answer`, before the answer) declares the same option already, and the share of
their characters that each reading keeps.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

from omibench.answers.extraction.extract import LetterMissing
from omibench.params.stages.saliency import Reading
from omibench.schemas.problem import Choice
from omibench.stages.saliency.ask import LetterContext, read_context

READINGS: tuple[Reading, ...] = ("final_letter", "before_answer")
LETTERS = "ABCDEFGHIJ"


class AnsweredQuestion(NamedTuple):
    """A response to a multiple-choice question."""

    response: str
    choices: list[Choice]


def main() -> None:
    """Print the table and the reasons."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    files = sorted(parser.parse_args().folder.glob("*.parquet"))
    reasons: Counter[str] = Counter()
    print(f"{'file':44} {'n':>5} {'placed':>7} {'declared before':>16} {'kept':>12}")
    everything: list[AnsweredQuestion] = []
    for file in files:
        questions = list(read_questions(file))
        everything += questions
        print_row(file.stem, questions)
        reasons.update(list_reasons(questions))
    print_row("all", everything)
    print("\nwithout a place:")
    for reason, count in reasons.most_common():
        print(f"{count:6}  {reason}")


def read_questions(file: Path) -> Iterator[AnsweredQuestion]:
    """The multiple-choice rows of a file that have words."""
    frame = pl.read_parquet(file, columns=["type", "options", "response"])
    for kind, options, response in frame.iter_rows():
        if kind.lower() == "multiple choice" and options and response:
            labels = zip(LETTERS, options, strict=False)
            yield AnsweredQuestion(response, [Choice(label=a, text=text) for a, text in labels])


def print_row(name: str, questions: list[AnsweredQuestion]) -> None:
    """One row: both readings beside each other."""
    if not questions:
        return
    contexts = {reading: list(read_contexts(questions, reading)) for reading in READINGS}
    placed = len(contexts["final_letter"])
    shares = [sum(c.declares for _, c in contexts[r]) / max(1, placed) for r in READINGS]
    kept = [measure_kept(contexts[reading]) for reading in READINGS]
    print(
        f"{name[:44]:44} {len(questions):5} {placed / len(questions):7.1%} "
        f"{shares[0]:7.1%} {shares[1]:7.1%}  {kept[0]:6.1%} {kept[1]:6.1%}"
    )


def measure_kept(contexts: list[tuple[AnsweredQuestion, LetterContext]]) -> float:
    """The share of the responses' characters before the letter."""
    total = sum(len(question.response) for question, _ in contexts)
    return sum(len(context.text) for _, context in contexts) / max(1, total)


def read_contexts(
    questions: Iterable[AnsweredQuestion], reading: Reading
) -> Iterator[tuple[AnsweredQuestion, LetterContext]]:
    """The text before each letter that has a place."""
    for question in questions:
        context = read_context(question.response, question.choices, reading)
        if isinstance(context, LetterContext):
            yield question, context


def list_reasons(questions: Iterable[AnsweredQuestion]) -> Iterator[str]:
    """Why letters have no place."""
    for question in questions:
        context = read_context(question.response, question.choices, "final_letter")
        if isinstance(context, LetterMissing):
            yield context.reason


if __name__ == "__main__":
    main()
