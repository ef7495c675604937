"""Labels of problems: classes from a list, and the run over all problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from omibench.errors import ParamsError
from omibench.extras import require_extra
from omibench.models.client.ask import open_asker
from omibench.schemas.problem import (
    LABEL,
    Problem,
    ProblemWarning,
    join_labels,
    list_labels,
    normalise_label,
)
from omibench.stages.rationale.candidates import Ask
from omibench.stages.rationale.labels.clusters import (
    Clustering,
    Embed,
    embed_by_model,
    embed_ngrams,
)
from omibench.stages.rationale.labels.taxonomy import (
    Labelled,
    Labeller,
    LabelReply,
    TaxonomyLabels,
    add_taxonomy,
    label_each,
    read_class,
    set_attribute,
)
from omibench.stages.rationale.prompts import CLASS, TOPIC, list_described, list_lines, write_prompt

if TYPE_CHECKING:
    from omibench.params.study import Study


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
            remark = (
                f"{attribute} {join_labels(stated)!r} is kept, although it is none of {options}"
            )
            return problem.warn(ProblemWarning(LABEL, remark))
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


# Labels as set in a study: topics of fixed lists, a taxonomy, skills and classes.


def label_topics(problems: Sequence[Problem], folder: Path, labeller: Labeller) -> list[Problem]:
    """Return the problems in order, each with one topic of its subject's list, or a warning.

    Existing topics are kept; a problem of subject `other` is offered every list.

    Raises:
        ParamsError: A subject has no list.
    """
    open_problems = [p for p in problems if p.topic is None]
    lists = {p.id: _list_labels(p, labeller.topics) for p in open_problems}
    responses = labeller.ask_all(
        {
            p.id: write_prompt(
                TOPIC, p, folder, {"labels": list_lines(lists[p.id])}, labeller.prompts
            )
            for p in open_problems
        }
    )
    labelled: dict[str, Problem] = {}
    for problem in open_problems:
        response, labels = responses[problem.id], lists[problem.id]
        topic = parse_label(response.text, labels) if response.outcome == "answered" else None
        added = problem.model_copy(update={"topic": topic}) if topic else None
        failure = f"named none of the {len(labels)} topics of {problem.subject}"
        labelled[problem.id] = labeller.note(problem, added, response, failure)
    return [labelled.get(problem.id, problem) for problem in problems]


def parse_label(reply: str, labels: Sequence[str]) -> str | None:
    """Return the label of a reply whose last line is `{CLASS: X}` with X in `labels`, else None."""
    named = read_class(reply)
    return named if named in labels else None


def _list_labels(problem: Problem, topics: Mapping[str, Sequence[str]]) -> Sequence[str]:
    # The subject of a mixed paper may be unknown; then the label determines it.
    if problem.subject == "other" and "other" not in topics:
        return list(dict.fromkeys(name for labels in topics.values() for name in labels))
    labels = topics.get(problem.subject)
    if not labels:
        raise ParamsError(
            f"rationale.topics: no list for the subject {problem.subject!r} of {problem.id}; "
            f"it has {', '.join(topics) or 'none'}"
        )
    return labels


# Labels as set in a study's params: lists of topics, a taxonomy, skills.

_WITHOUT = "; or leave rationale.taxonomy out"


class LabelModels(NamedTuple):
    """Requests to the labeller, and the embedding of topics."""

    ask: Ask
    embed: Embed


def run_labels(
    problems: Sequence[Problem], folder: Path, study: Study, whole: bool = True
) -> TaxonomyLabels:
    """Label problems as set in `rationale`; without a labeller they stay unchanged.

    Args:
        problems: All problems after the filter, or a part of them.
        folder: The folder of their pictures.
        study: The study with the block `rationale` and its models.
        whole: Whether these are all problems; a part is not clustered.

    Raises:
        MissingExtraError: Labels must be clustered, but scikit-learn is not installed.
        ParamsError: A subject has neither a list nor a taxonomy.
    """
    params = study.rationale
    if params.labeller is None:
        return TaxonomyLabels(list(problems), [], {}, {})
    if params.taxonomy and whole:
        require_extra("labels", "rationale.taxonomy: clustering labels", note=_WITHOUT)
    with ExitStack() as stack:
        ask = stack.enter_context(open_asker(study, params.labeller))
        embedder = params.taxonomy.embedder if params.taxonomy else None
        embed_ask = stack.enter_context(open_asker(study, embedder)) if embedder else None
        models = LabelModels(ask, choose_embedding(study, embed_ask))
        return label_problems(problems, folder, study, models, whole)


def label_problems(
    problems: Sequence[Problem],
    folder: Path,
    study: Study,
    models: LabelModels,
    whole: bool = True,
) -> TaxonomyLabels:
    """Label problems with an open labeller: lists of topics first, then the taxonomy.

    Args:
        problems: As for `run_labels`.
        folder: The folder of their pictures.
        study: The study with a `rationale.labeller`.
        models: Requests to the labeller, and the embedding of topics.
        whole: As for `run_labels`.
    """
    params = study.rationale
    labeller = Labeller(
        params.labeller or "",
        models.ask,
        params.topics,
        study.study.name,
        params.labeller_max_tokens,
        params.prompts,
    )
    rows = list(problems)
    if params.lists_topics:
        rows = label_topics(rows, folder, labeller)
    clusters = params.taxonomy.clusters if params.taxonomy else 1
    clustering = Clustering(clusters, models.embed, study.study.seed)
    labels = add_taxonomy(rows, folder, labeller, params, clustering, whole)
    for attribute, classes in params.classes.items():
        picked = pick_classes(labels.problems, folder, labeller, attribute, classes)
        labels = replace(labels, problems=picked.problems, rows=[*labels.rows, *picked.rows])
    return labels


def choose_embedding(study: Study, ask: Ask | None) -> Embed:
    """Return the embedding of topics: by a model, or by character n-grams."""
    taxonomy, seed = study.rationale.taxonomy, study.study.seed
    if ask is None or taxonomy is None or taxonomy.embedder is None:
        return lambda texts: embed_ngrams(texts, seed)
    model, name = taxonomy.embedder, study.study.name
    return lambda texts: embed_by_model(texts, model, ask, name)
