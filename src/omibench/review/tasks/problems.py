"""Tasks on problems: pages, translations, difficulty, rationales, labels, items."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from omibench.review.contents import Content, list_pictures, make_content
from omibench.review.tasks.drafts import PictureFile, TaskDraft, draft_task
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
        drafts.append(
            draft_task(
                kind,
                problem.id,
                content,
                pictures,
                strata=state_strata(problem),
                simulated=_is_simulated(kind, problem, elsewhere),
            )
        )
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


def _is_simulated(kind: str, problem: Problem, elsewhere: ElsewhereParts) -> bool:
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
    subjects: dict[str, list[str]] = {}
    for subject in sorted(subfields):
        for name in subfields[subject]:
            subjects.setdefault(name, []).append(subject)
    options: list[JsonValue] = [
        {
            "value": name,
            "title": f"{', '.join(subjects[name])}: {name}",
            "subjects": [*subjects[name]],
        }
        for name in sorted(subjects, key=lambda name: (subjects[name], name))
    ]

    def add_labels(problem: Problem) -> Content:
        return {"reason": "\n".join(reasons.get(problem.id, [])), "subfields": options}

    return add_labels


# Candidate rationales for annotators (OMIBench, A.3.2).

_RIGHT = ("used", "right")


def show_candidates(candidates: Iterable[RationaleCandidate]) -> Callable[[Problem], Content]:
    """Return a function for the candidates of each problem.

    Candidates with the right answer are shown; without any, the drawn wrong ones. A problem without
    candidates has its existing solution as the only one.

    Args:
        candidates: Rows of candidates.jsonl.
    """
    by_problem: defaultdict[str, list[RationaleCandidate]] = defaultdict(list)
    for candidate in candidates:
        by_problem[candidate.problem].append(candidate)
    helps = {"sketch": ", with the reference solution", "answer": ", with the answer"}

    def add_candidates(problem: Problem) -> Content:
        found = by_problem[problem.id]
        right = [candidate for candidate in found if candidate.reason in _RIGHT]
        offers = right or [candidate for candidate in found if candidate.reason == "wrong_drawn"]
        verdict = "right" if right else "wrong"
        entries: list[JsonValue] = [
            {
                "id": candidate.id,
                "title": f"Candidate {number}, {verdict} answer"
                f"{helps.get(candidate.reference, '')}",
                "text": candidate.text.strip(),
            }
            for number, candidate in enumerate(offers, 1)
        ]
        if not entries and problem.solution:
            title = "The existing solution"
            entries = [{"id": f"{problem.id}#given", "title": title, "text": problem.solution}]
        return {"candidates": entries}

    return add_candidates
