"""Labels with their reasons, and the list of subfields to choose from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from pydantic import JsonValue

from omibench.review.contents import Content
from omibench.schemas.label_row import LabelRow
from omibench.schemas.problem import Problem, Subject


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
