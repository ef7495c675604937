"""List the models of a study that are distinguishable: a user's script, fully typed.

python examples/compare_models.py results
"""

from __future__ import annotations

import sys
from itertools import combinations

import omibench


def list_differences(
    results: omibench.ResultTables,
) -> list[tuple[str, omibench.AccuracyDifference]]:
    """Return the difference of each pair of models, with simultaneous intervals for all pairs."""
    models: list[str] = results.verdicts["model"].unique(maintain_order=True).to_list()
    pairs = list(combinations(models, 2))
    return [
        (
            f"{first} - {second}",
            results.compare_models(first, second, comparisons=len(pairs)),
        )
        for first, second in pairs
    ]


def main(folder: str) -> None:
    """Print one line per pair of models."""
    for pair, difference in list_differences(omibench.load_results(folder)):
        told_apart = "differ" if difference.distinguishable else "are not distinguishable"
        print(
            f"{pair}: {difference.value:+.3f} [{difference.lo:+.3f}, {difference.hi:+.3f}] on "
            f"{difference.n} problems: they {told_apart}"
        )


if __name__ == "__main__":
    try:
        main(*sys.argv[1:2] or ["results"])
    except omibench.OmibenchError as error:
        sys.exit(str(error))
