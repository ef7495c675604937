"""The files of a frozen dataset: the two halves of a problem, examples, and original texts."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from omibench.errors import FileFormatError, MissingInputError, ParamsError
from omibench.params.presentation import FreezeExamples
from omibench.schemas.problem import (
    CORRECTED,
    LABEL,
    RATIONALE,
    Answer,
    Example,
    OriginalRow,
    Problem,
    Question,
    Take,
    join_labels,
    list_labels,
)
from omibench.schemas.tables import read_jsonl, write_jsonl

SIMULATED = "[SIMULATED rationale by "
"""Prefix of a rationale by a simulated model."""


def build_answer(problem: Problem) -> Answer:
    """Return the half with gold answer and rationale; a simulated one is marked in its first line.

    Raises:
        MissingInputError: The problem has no answer.
    """
    if not problem.answer:
        raise MissingInputError(
            f"{problem.id}: no answer; give its key in the sources manifest, or edit or drop "
            "the problem in the review decisions"
        )
    simulated = find_simulated_writer(problem)
    mark = f"{SIMULATED}{simulated}]\n" if simulated and problem.solution else ""
    return Answer(
        id=problem.id,
        answer=problem.answer,
        answer_type=problem.answer_type,
        choices=problem.choices,
        solution=mark + problem.solution if problem.solution else None,
        sketch=problem.sketch,
        subject=problem.subject,
        topic=problem.topic,
        group=problem.group,
        n_images=len({figure.sha256 for figure in problem.images}),
        attributes=problem.stated_attributes,
    )


def align_attributes(answers: Sequence[Answer]) -> list[Answer]:
    """Give each attribute one type, so that table loaders read it as one column.

    Args:
        answers: Answers of a dataset.

    Returns:
        The answers; an attribute that is a list of labels in one of them becomes a list in all.
    """
    several = {
        name
        for answer in answers
        for name, value in answer.attributes.items()
        if isinstance(value, list)
    }
    return [
        answer.model_copy(
            update={
                "attributes": {
                    name: list_labels(value) if name in several else value
                    for name, value in answer.attributes.items()
                }
            }
        )
        if several & answer.attributes.keys()
        else answer
        for answer in answers
    ]


def find_simulated_writer(problem: Problem) -> str | None:
    """Return the simulated model that wrote a problem's rationale, or None."""
    models = (", ".join(w.simulated_by) for w in problem.warnings if w.code == RATIONALE)
    return next(filter(None, models), None)


def count_simulated_judgements(problems: Sequence[Problem]) -> dict[str, int]:
    """Return the filter's judgements by simulated models, with the number of problems."""
    return dict(
        Counter(
            warning.code
            for problem in problems
            for warning in problem.warnings
            if warning.is_simulated and warning.code not in (RATIONALE, LABEL)
        )
    )


def list_corrected(problems: Sequence[Problem]) -> dict[str, list[str]]:
    """Return the corrections of the reading of each problem, by id, without people's names."""
    corrected = {
        problem.id: [w.detail.partition(" by ")[0] for w in problem.warnings if w.code == CORRECTED]
        for problem in problems
    }
    return {id_: sorted(set(kinds)) for id_, kinds in corrected.items() if kinds}


def is_simulated(answer: Answer) -> bool:
    """Return whether a simulated model wrote an answer's rationale."""
    return (answer.solution or "").startswith(SIMULATED)


def check_pairs(questions: Sequence[Question], answers: Sequence[Answer]) -> None:
    """Check that questions and answers match one to one, with unique ids.

    Raises:
        FileFormatError: An id is repeated, or has no question; the message gives the first.
        MissingInputError: A question has no answer.
    """
    ids = Counter(question.id for question in questions)
    answered = Counter(answer.id for answer in answers if answer.answer)
    for id_ in ids | answered:
        if max(ids[id_], answered[id_]) > 1:
            raise FileFormatError(f"{id_}: two problems have this id")
        if not answered[id_]:
            raise MissingInputError(f"{id_}: has no answer")
        if not ids[id_]:
            raise FileFormatError(f"{id_}: has an answer, but no question")


# In-context examples: solved frozen problems to show before others.

NAME = "examples.jsonl"


def assign_subsets(problems: Sequence[Problem], params: FreezeExamples) -> list[Problem]:
    """Return problems of papers with the subset that `params.subsets` names, if any.

    Raises:
        ParamsError: A problem does not have this attribute.
    """
    if params.subsets is None:
        return list(problems)
    divided = []
    for problem in problems:
        subset = join_labels(problem.stated_attributes.get(params.subsets))
        if not subset:
            raise ParamsError(
                f"freeze.examples.subsets: {problem.id} has no attribute {params.subsets!r}; set "
                "it in `attributes` of its source"
            )
        divided.append(problem.model_copy(update={"subset": subset}))
    return divided


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


# Original texts of translated problems, stored with the frozen dataset.
#
# They are in a separate file: models do not see them, and the content hashes of questions and
# answers do not depend on them.

ORIGINALS_NAME = "originals.jsonl"


def list_originals(problems: Sequence[Problem]) -> list[OriginalRow]:
    """Return the original texts of translated problems, in their order."""
    return [
        OriginalRow(id=problem.id, original=problem.original)
        for problem in problems
        if problem.original is not None
    ]


def read_originals(folder: Path) -> list[OriginalRow]:
    """Return those of a frozen dataset; empty without the file. Raises as `read_jsonl`."""
    return (
        read_jsonl(folder / ORIGINALS_NAME, OriginalRow)
        if (folder / ORIGINALS_NAME).is_file()
        else []
    )


def write_originals(out: Path, rows: Sequence[OriginalRow]) -> None:
    """Write originals.jsonl into the dataset, empty if no problem was translated."""
    write_jsonl(out / ORIGINALS_NAME, rows)
