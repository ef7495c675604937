"""In-context examples: solved frozen problems to show before others."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from omibench.errors import ParamsError
from omibench.params.presentation import FreezeExamples
from omibench.schemas.example import Example, Take
from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import write_jsonl
from omibench.stages.freeze.rows import is_simulated

NAME = "examples.jsonl"


def make_example_rows(
    questions: Sequence[Question], answers: Sequence[Answer], params: FreezeExamples
) -> list[Example]:
    """Return the rows of examples.jsonl: those set aside, then the first of each subset.

    Examples to set aside are drawn from the problems with a solution, if there are enough.

    Raises:
        ParamsError: There are too few problems, or no subsets.
    """
    golds = {answer.id: answer for answer in answers}
    if params.set_aside >= len(questions):
        raise ParamsError(
            f"freeze.examples.set_aside: {params.set_aside} of {len(questions)} problems leave "
            "none to ask"
        )
    solved = [q for q in questions if _find_solution(golds[q.id])]
    drawn = solved if len(solved) >= params.set_aside else list(questions)
    drawn = sorted(drawn, key=lambda q: _rank(params.seed, q.id))[: params.set_aside]
    first = list(_take_first(questions, params.first))
    if params.first and len({q.subset for q in first}) < 2:
        raise ParamsError(
            "freeze.examples.first: this benchmark does not have two subsets, but examples of a "
            "window come from the other subset; use `set_aside`"
        )
    rows: list[tuple[Take, Question]] = [("sampled", q) for q in drawn]
    rows += [("window", q) for q in first]
    return [_make_example(take, question, golds[question.id]) for take, question in rows]


def _take_first(questions: Sequence[Question], count: int) -> Iterator[Question]:
    for subset in dict.fromkeys(q.subset for q in questions if q.subset):
        yield from [q for q in questions if q.subset == subset][:count]


def _make_example(take: Take, question: Question, gold: Answer) -> Example:
    return Example(take=take, question=question, answer=gold.answer, solution=_find_solution(gold))


def _find_solution(gold: Answer) -> str | None:
    """Return the problem's original solution, else a written one unless simulated."""
    return gold.sketch or (None if is_simulated(gold) else gold.solution)


def _rank(seed: int, problem: str) -> str:
    return hashlib.sha256(f"{seed}\0{problem}".encode()).hexdigest()


def write_examples(out: Path, rows: Sequence[Example]) -> None:
    """Write examples.jsonl into the dataset, or delete that of an earlier freeze."""
    if rows:
        write_jsonl(out / NAME, rows)
    else:
        (out / NAME).unlink(missing_ok=True)
