"""Result of a comparison of two runs: the typed content of `compare.json`.

Accuracies and differences are in [-1, 1]; a difference is the second run, B, minus the first, A.
"""

from __future__ import annotations

from typing import Any, Literal, Self, get_args

import polars as pl
from pydantic import PrivateAttr

from omibench.schemas.problem import FrozenModel

Cause = Literal["problem", "gold", "scorer", "sample", "response"]
"""The first thing that differs between two verdicts on a problem, in this order. `problem`: its
statement, pictures, choices or type; `gold`: the gold answer; `scorer`: the scorer or judge, its
version or prompt, or, if nothing else differs, its code or another judgement; `sample`: which
samples count; `response`: their responses.
"""
CAUSES: tuple[Cause, ...] = get_args(Cause)
LISTED = 100
"""The maximum number of entries of a list in `compare.json`."""


class RunSummary(FrozenModel):
    """One of the two runs."""

    folder: str
    dataset: str
    version: str
    problems: int
    simulated: bool
    """Whether any compared response, verdict or problem is simulated."""


class ScoringSummary(FrozenModel):
    """How the compared verdicts of a run were made."""

    rules: str
    """A scorer, or `gptscore`."""
    versions: list[int]
    """Versions of the scorer or judge; several if cells differ."""
    judges: list[str]


class CauseTotal(FrozenModel):
    """The verdicts that changed for one cause."""

    cause: Cause
    verdicts: int
    change: float
    """Their part of `common_difference`: the parts of all causes sum to it."""


class Contrast(FrozenModel):
    """The accuracies of two runs, their difference, and its causes."""

    accuracy_a: float
    """Over all problems of run A."""
    accuracy_b: float
    difference: float
    """accuracy_b - accuracy_a."""
    n_a: int
    """Problems with a verdict in run A."""
    n_b: int
    n_common: int
    """Problems with a verdict in both runs."""
    common_a: float
    """Accuracy of run A over the common problems."""
    common_b: float
    common_difference: float
    """common_b - common_a. The rest of `difference` is due to problems in only one run."""
    low: float
    """Lower end of the paired interval of `common_difference`, clustered by stem."""
    high: float
    causes: list[CauseTotal]


class CellComparison(Contrast):
    """One model under one setting."""

    model: str
    setting: str
    simulated: bool
    rank_a: int
    """Rank of `common_a` among the compared cells of the setting; equal ones share the best."""
    rank_gold: int
    """The same if only the other gold answers had changed verdicts: common_a + their change."""
    rank_b: int


class RunChange(FrozenModel):
    """A difference between the runs, with the number of cells."""

    cause: Cause
    field: str
    a: str
    b: str
    cells: int


class ChangedVerdict(FrozenModel):
    """A problem of a cell whose verdict differs between the runs."""

    model: str
    setting: str
    rules: str
    """The scorer; `robust > emma` if the runs differ in it."""
    id: str
    verdict_a: float
    """Mean over the samples that count."""
    verdict_b: float
    cause: Cause
    """The first thing that differs."""
    differs: str
    """Everything that differs, as `gold, response`; empty if nothing recorded does."""


class ItemComposition(FrozenModel):
    """The problems of the runs."""

    common: int
    only_a: int
    only_b: int
    edited: int
    """Common problems whose statement, pictures, choices or type differ."""
    other_gold: int
    """Common problems whose gold answer differs."""
    only_a_ids: list[str]
    only_b_ids: list[str]
    edited_ids: list[str]
    other_gold_ids: list[str]


class ScoringComparison(FrozenModel):
    """The verdicts of run B compared with those of run A, with one scorer each.

    Lists have at most `LISTED` entries, except cells; the counts cover all entries.
    """

    scoring_a: ScoringSummary
    scoring_b: ScoringSummary
    total: Contrast
    """Over the common cells: a problem counts once, with its mean over these cells."""
    cells: list[CellComparison]
    changes: list[RunChange]
    """What differs in scorers and requests, most frequent first."""
    changes_left_out: int
    changed: int
    """Differing verdicts (problem by cell)."""
    verdicts: list[ChangedVerdict]
    """The largest differences first."""
    notes: list[str]


class RunComparison(ScoringComparison):
    """Run B compared with run A: the content of `compare.json`.

    The top-level fields are about the scorers that you pass, or the first of each run; `gptscore`
    is about the judges if both runs have judgements and you pass no rules. `items` is the whole
    table of changed verdicts.
    """

    format: Literal[2] = 2
    a: RunSummary
    b: RunSummary
    confidence: float
    cells_only_a: list[str]
    cells_only_b: list[str]
    composition: ItemComposition
    gptscore: ScoringComparison | None = None
    _items: Any = PrivateAttr(default=None)

    @property
    def items(self) -> pl.DataFrame:
        """One row for each differing verdict: the columns of `ChangedVerdict`."""
        frame: pl.DataFrame = self._items
        return frame

    def attach_items(self, items: pl.DataFrame) -> Self:
        """Return the comparison with the whole table of changed verdicts."""
        self._items = items
        return self

    @property
    def comparisons(self) -> list[ScoringComparison]:
        """The comparison of the scorers, and that of the judges, if any."""
        return [self, *([self.gptscore] if self.gptscore else [])]
