"""Labels as set in a study's params: lists of topics, a taxonomy, skills."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from omibench.client.ask import open_asker
from omibench.extras import require_extra
from omibench.params.stage_params import RationaleStageParams
from omibench.schemas.problem import Problem
from omibench.stages.rationale.labels.clusters import Clustering
from omibench.stages.rationale.labels.embedding import Embed, embed_by_model, embed_ngrams
from omibench.stages.rationale.labels.labeller import Labeller
from omibench.stages.rationale.labels.listed import label_topics
from omibench.stages.rationale.labels.taxonomy import TaxonomyLabels, TaxonomyPlan, add_taxonomy
from omibench.stages.rationale.solutions import Ask

_WITHOUT = "; or leave rationale.taxonomy out"


class LabelModels(NamedTuple):
    """Requests to the labeller, and the embedding of topics."""

    ask: Ask
    embed: Embed


def run_labels(
    problems: Sequence[Problem], folder: Path, study: RationaleStageParams, whole: bool = True
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
    study: RationaleStageParams,
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
    if params.topics or not (params.taxonomy or params.skills):
        rows = label_topics(rows, folder, labeller)
    if not (params.taxonomy or params.skills):
        return TaxonomyLabels(rows, [], {}, {})
    plan = TaxonomyPlan(
        clustering=Clustering(
            params.taxonomy.clusters if params.taxonomy else 1, models.embed, study.study.seed
        ),
        file=params.taxonomy.file if params.taxonomy else None,
        finds_subfields=params.taxonomy is not None,
        skills=params.skills,
        whole=whole,
    )
    return add_taxonomy(rows, folder, labeller, plan)


def choose_embedding(study: RationaleStageParams, ask: Ask | None) -> Embed:
    """Return the embedding of topics: by a model, or by character n-grams."""
    taxonomy, seed = study.rationale.taxonomy, study.study.seed
    if ask is None or taxonomy is None or taxonomy.embedder is None:
        return lambda texts: embed_ngrams(texts, seed)
    model, name = taxonomy.embedder, study.study.name
    return lambda texts: embed_by_model(texts, model, ask, name)
