"""Balanced samples of a benchmark: equally many per subject, evenly over its strata."""

from __future__ import annotations

from collections.abc import Callable

from omibench.datasets.dataset import Dataset
from omibench.schemas.problem import Answer
from omibench.synthetic.items import make_random
from omibench.synthetic.shares import equal


def draw_stratified(
    dataset: Dataset, stratum: Callable[[Answer], str], per_subject: int, seed: int
) -> Dataset:
    """Draw `per_subject` problems of each subject with `seed`, in the order of `dataset`.

    Strata contribute equally, up to their size. A subject with fewer problems contributes all.
    The draw from a stratum depends on its problems' ids, not on their order.
    """
    strata: dict[str, dict[str, list[str]]] = {}
    for answer in dataset.answers:
        strata.setdefault(answer.subject, {}).setdefault(stratum(answer), []).append(answer.id)
    drawn: set[str] = set()
    for subject, by_stratum in strata.items():
        shares = equal({name: len(ids) for name, ids in sorted(by_stratum.items())}, per_subject)
        for name, share in shares.items():
            drawn.update(make_random(seed, subject, name).sample(sorted(by_stratum[name]), share))
    return Dataset(
        [question for question in dataset.questions if question.id in drawn],
        [answer for answer in dataset.answers if answer.id in drawn],
        dataset.folder,
    )
