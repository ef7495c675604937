"""Tasks on problems: pages, translations, difficulty, rationales, labels, items."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from omibench.review.contents import Content, list_pictures, make_content
from omibench.review.tasks.drafts import PictureFile, TaskDetails, TaskDraft, draft_task
from omibench.schemas.curation import LabelRow, RationaleCandidate
from omibench.schemas.problem import LABEL, RATIONALE, Problem, Question, Subject, join_labels

AddParts = Callable[[Problem], Content]
"""Returns parts of a problem's task that come from other sources."""
AddPictures = Callable[[Problem], Iterable[PictureFile]]
_SHOWN_WORK: Mapping[str, str] = {"rationale": RATIONALE, "label": LABEL, "item": RATIONALE}
"""The code of the warning if a model wrote a kind's content, by kind."""


@dataclass(frozen=True)
class ElsewhereParts:
    """Task content that is not part of the problem.

    Attributes:
        add_parts: Returns parts from other sources, such as candidates.
        add_pictures: Returns additional pictures, such as the problem's pages.
        simulated_models: Names of simulated models, which may have translated a problem.
        simulated: Ids of problems with parts from a simulated model.
    """

    add_parts: AddParts = lambda problem: {}
    add_pictures: AddPictures = lambda problem: ()
    simulated_models: Collection[str] = ()
    simulated: Collection[str] = ()


def draft_problem_tasks(
    kind: str,
    problems: Iterable[Problem],
    folder: Path,
    elsewhere: ElsewhereParts | None = None,
) -> list[TaskDraft]:
    """Make a task for each problem that a kind applies to.

    Args:
        kind: One of `contents.PROBLEM_KINDS`.
        problems: The problems as changed by the kinds before it.
        folder: The base folder of image paths.
        elsewhere: Content from other sources.

    Returns:
        The tasks in the order of the problems.
    """
    elsewhere = elsewhere or ElsewhereParts()
    drafts = []
    for problem in problems:
        content = make_content(kind, problem)
        if content is None:
            continue
        content |= elsewhere.add_parts(problem)
        pictures = [*list_picture_files(problem, folder), *elsewhere.add_pictures(problem)]
        simulated = is_simulated(kind, problem, elsewhere)
        details = TaskDetails(state_strata(problem), simulated)
        drafts.append(draft_task(kind, problem.id, content, pictures, details))
    return drafts


def list_picture_files(problem: Problem | Question, folder: Path) -> list[PictureFile]:
    """Return the pictures of a problem with their files; missing ones are skipped."""
    figures = [figure for figure in problem.images if figure.sha256]
    return [
        PictureFile(picture, folder / figure.file)
        for picture, figure in zip(list_pictures(problem), figures, strict=True)
    ]


def state_strata(problem: Problem) -> dict[str, str]:
    """Return the strata for samples (OMIBench, A.4.3), and the subject."""
    return {
        "subject": problem.subject,
        "type": problem.answer_type,
        "difficulty": join_labels(problem.attributes.get("difficulty")),
        "source": problem.source,
    }


def is_simulated(kind: str, problem: Problem, elsewhere: ElsewhereParts) -> bool:
    """Return whether a task of a kind shows content from a simulated model."""
    if kind == "page":
        return False
    translator = problem.original.translator if problem.original else None
    code = _SHOWN_WORK.get(kind)
    return (
        translator in elsewhere.simulated_models
        or problem.id in elsewhere.simulated
        or any(warning.is_simulated and warning.code == code for warning in problem.warnings)
    )


# Labels with their reasons, and the list of subfields to choose from.


def show_labels(
    rows: Iterable[LabelRow], subfields: Mapping[Subject, Iterable[str]]
) -> Callable[[Problem], Content]:
    """Return a function for the reasons of a problem's labels, and the existing subfields.

    Args:
        rows: Rows of labels.jsonl.
        subfields: The subfields of each subject. All are listed in the same order for every
            problem, because auditors must not see its subject.
    """
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row.reason and row.kind != "skill":
            reasons.setdefault(row.id, []).append(row.reason)
    options = _list_options(subfields)

    def add_labels(problem: Problem) -> Content:
        return {"reason": "\n".join(reasons.get(problem.id, [])), "subfields": options}

    return add_labels


def _list_options(subfields: Mapping[Subject, Iterable[str]]) -> list[JsonValue]:
    subjects: dict[str, list[str]] = {}
    for subject in sorted(subfields):
        for name in subfields[subject]:
            subjects.setdefault(name, []).append(subject)
    ordered = sorted(subjects, key=lambda name: (subjects[name], name))
    return [{"value": name, "title": f"{', '.join(subjects[name])}: {name}"} for name in ordered]


# Candidate rationales for annotators (OMIBench, A.3.2).

_RIGHT = ("used", "right")


def show_candidates(candidates: Iterable[RationaleCandidate]) -> Callable[[Problem], Content]:
    """Return a function for the candidates of each problem.

    Candidates with the right answer are shown; without any, the drawn wrong ones. A problem without
    candidates has its existing solution as the only one.

    Args:
        candidates: Rows of candidates.jsonl.
    """
    by_problem: dict[str, list[RationaleCandidate]] = {}
    for candidate in candidates:
        by_problem.setdefault(candidate.problem, []).append(candidate)

    def add_candidates(problem: Problem) -> Content:
        entries = _list_entries(_choose(by_problem.get(problem.id, [])))
        if not entries and problem.solution:
            title = "The existing solution"
            entries = [{"id": f"{problem.id}#given", "title": title, "text": problem.solution}]
        return {"candidates": entries}

    return add_candidates


def _choose(candidates: Sequence[RationaleCandidate]) -> list[RationaleCandidate]:
    right = [candidate for candidate in candidates if candidate.reason in _RIGHT]
    return right or [candidate for candidate in candidates if candidate.reason == "wrong_drawn"]


def _list_entries(candidates: Sequence[RationaleCandidate]) -> list[JsonValue]:
    return [
        {
            "id": candidate.id,
            "title": f"Candidate {number}, {_judge(candidate)}",
            "text": candidate.text.strip(),
        }
        for number, candidate in enumerate(candidates, 1)
    ]


def _judge(candidate: RationaleCandidate) -> str:
    verdict = "right" if candidate.reason in _RIGHT else "wrong"
    seen = {"sketch": ", with the reference solution", "answer": ", with the answer"}
    return f"{verdict} answer{seen.get(candidate.reference, '')}"
