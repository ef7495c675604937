"""Numbers of responses by problem and cell: output tokens, dollars, seconds, characters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from omibench.explore.filters import average_samples
from omibench.explore.run import Items, Run

OF_RESPONSES: Final[Mapping[str, str]] = {
    "tokens": "output_tokens",
    "cost": "cost_usd",
    "time": "latency_s",
    "length": "length",
}
"""The column of responses behind each measure."""
_FIGURES: Final = 6
"""Significant digits of a mean for pages."""


def compute_measure(items: Items, run: Run, name: str) -> NDArray[np.float64]:
    """Return the mean of a measure over the samples of each item (rows) in each cell of a run.

    Args:
        items: The items.
        run: The run.
        name: One of `OF_RESPONSES`.

    Returns:
        NaN where no response states it.
    """
    frame = run.lengths if name == "length" else run.responses
    (values,) = average_samples(items, run, frame.lazy(), [pl.col(OF_RESPONSES[name])])
    return values


def round_number(value: float) -> float | None:
    """Return a number for JSON, which has no NaN."""
    return None if np.isnan(value) else float(f"{value:.{_FIGURES}g}")


def describe_numbers(measures: Mapping[str, NDArray[np.float64]], place: int) -> dict[str, Any]:
    """Return a value of each measure for JSON.

    Args:
        measures: By name.
        place: The place of the value.
    """
    return {name: round_number(values[place]) for name, values in measures.items()}
