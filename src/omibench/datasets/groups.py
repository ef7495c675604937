"""Groups of problems that share a stem, identified by shared pictures."""

from __future__ import annotations

from collections.abc import Sequence

from omibench.datasets.dataset import Dataset


def link_by_keys(keys: Sequence[Sequence[str]]) -> list[int]:
    """Return for each item the position of the first item linked to it by common keys.

    Links are transitive: an item that shares one key with a second and another with a third
    joins all.
    """
    root = list(range(len(keys)))

    def find(item: int) -> int:
        while root[item] != item:
            root[item] = root[root[item]]
            item = root[item]
        return item

    first: dict[str, int] = {}
    for item, item_keys in enumerate(keys):
        for key in item_keys:
            holder, current = find(first.setdefault(key, item)), find(item)
            root[max(holder, current)] = min(holder, current)
    return [find(item) for item in range(len(keys))]


def group_problems(dataset: Dataset, keys: Sequence[Sequence[str]]) -> Dataset:
    """Put problems that are linked by keys into one group, named by its first problem.

    Args:
        dataset: The problems.
        keys: The keys of each, such as the hashes of its pictures.
    """
    names = [{"group": dataset.questions[root].id} for root in link_by_keys(keys)]
    return Dataset(
        [q.model_copy(update=g) for q, g in zip(dataset.questions, names, strict=True)],
        [a.model_copy(update=g) for a, g in zip(dataset.answers, names, strict=True)],
        dataset.folder,
    )
