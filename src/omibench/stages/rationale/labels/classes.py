"""Classes of problems: one of a described list for an attribute, such as the type of an image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from omibench.schemas.problem import (
    LABEL,
    Problem,
    ProblemWarning,
    join_labels,
    list_labels,
    normalise_label,
)
from omibench.stages.rationale.labels.taxonomy import (
    Labelled,
    Labeller,
    LabelReply,
    label_each,
    set_attribute,
)
from omibench.stages.rationale.prompts import CLASS, list_described, write_prompt


def pick_classes(
    problems: Sequence[Problem],
    folder: Path,
    labeller: Labeller,
    attribute: str,
    classes: Mapping[str, str],
) -> Labelled:
    """Pick the class of each problem from a list, as an attribute (USNCO-V, Dataset Curation).

    `classes` is class -> meaning. A class from the source or from a table is kept without a
    request, in the spelling of the list. A class or a reply that is not in the list gives a
    warning.
    """
    spellings = {normalise_label(name): name for name in classes}
    options = f"the {len(classes)} classes of {attribute}"

    def spell(problem: Problem) -> Problem:
        stated = list_labels(problem.attributes.get(attribute))
        known = spellings.get(normalise_label(stated[0])) if len(stated) == 1 else None
        if stated and not known:
            told = f"{attribute} {join_labels(stated)!r} is kept, although it is none of {options}"
            return problem.warn(ProblemWarning(LABEL, told))
        return set_attribute(problem, attribute, known) if known else problem

    def read(_: Problem, reply: LabelReply) -> list[str]:
        names = [spellings.get(normalise_label(name)) for name in reply.labels]
        return [name for name in names if name] if len(names) == 1 else []

    values = {"attribute": attribute, "classes": list_described(classes)}
    conversations = {
        p.id: write_prompt(CLASS, p, folder, values, labeller.prompts)
        for p in problems
        if attribute not in p.attributes
    }
    labelled, rows = label_each(
        [spell(problem) for problem in problems], "class", labeller, {}, conversations, read,
        lambda problem, names: set_attribute(problem, attribute, names[0]),
        lambda _, reply: reply.describe_pick(options),
    )  # fmt: skip
    return Labelled(labelled, [row.model_copy(update={"attribute": attribute}) for row in rows])
