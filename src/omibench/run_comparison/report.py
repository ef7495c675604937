"""Result of a comparison of two runs: the typed content of `compare.json`.

Accuracies, differences and shares are in [-1, 1]; a difference is the second run, B, minus the
first, A.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from pydantic import PrivateAttr

from omibench.schemas.problem import Noun

if TYPE_CHECKING:
    import polars as pl

Component = Literal["data", "gold", "extraction", "rules", "judge", "responses"]
"""Components in which two runs can differ. `data`: the problems, as asked and scored; `gold`: the
gold
answers; `extraction`: the answers extracted from responses; `rules`: their comparison; `judge`: the
judge; `responses`: the requested responses.
"""
COMPONENTS: tuple[Component, ...] = get_args(Component)
Manner = Literal["replayed", "asked anew", "joined"]
"""How a share was found. `replayed`: scored again without a model, or from stored verdicts;
`asked anew`: other responses; `joined`: components that cannot be distinguished.
"""
LISTED = 100
"""The maximum number of entries of a list in `compare.json`."""


class RunSummary(Noun):
    """One of the two runs."""

    folder: str
    dataset: str
    version: str
    problems: int
    simulated: bool
    """Whether any compared response, verdict or problem is simulated."""


class ScoringSummary(Noun):
    """How the compared verdicts of a run were made."""

    rules: str
    """A scorer, or `gptscore`."""
    versions: list[int]
    """Versions of the scorer or judge; several if cells differ."""
    installed_version: int | None
    """The locally installed version; None for a judge or a scorer that is not installed."""
    judges: list[str]


class DifferenceShare(Noun):
    """The share of one component in a difference, or of several joined components."""

    components: list[Component]
    manner: Manner
    share: float
    items: int
    """Problems with a non-zero share; in the total, the number of problems in cells."""

    @property
    def name(self) -> str:
        """Its components, joined by a plus sign."""
        return "+".join(self.components)


class Contrast(Noun):
    """The accuracies of two runs, their difference, and its shares, which sum to it."""

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
    """common_b - common_a. The rest of `difference` is due to problems in only one run, and is part
    of
    the share of `data`.
    """
    low: float
    """Lower end of the paired interval of `common_difference`, clustered by stem."""
    high: float
    shares: list[DifferenceShare]


class CellComparison(Contrast):
    """One model under one setting."""

    model: str
    setting: str
    simulated: bool


class RunChange(Noun):
    """A difference between the runs, with the number of cells."""

    component: Component
    field: str
    a: str
    b: str
    cells: int


class MovedItem(Noun):
    """A problem of a cell whose verdict differs between the runs."""

    model: str
    setting: str
    rules: str
    """The scorer; `robust > emma` if the runs differ in it."""
    id: str
    verdict_a: float
    """Mean over the samples that count."""
    verdict_b: float
    moved_by: str
    """The component with the largest share of the difference; joined components with a plus sign.
    """
    shares: str
    """All shares, as `gold +1.000, responses -0.500`."""


class SubjectCount(Noun):
    """The number of problems of a subject in each run."""

    subject: str
    a: int
    b: int
    common: int


class ItemComposition(Noun):
    """The problems of the runs."""

    common: int
    only_a: int
    only_b: int
    edited: int
    """Common problems whose statement, pictures or choices differ."""
    other_gold: int
    """Common problems whose gold answer differs."""
    only_a_ids: list[str]
    only_b_ids: list[str]
    edited_ids: list[str]
    other_gold_ids: list[str]
    subjects: list[SubjectCount]


class ScoringComparison(Noun):
    """The verdicts of run B compared with those of run A, with one scorer each.

    Lists have at most `LISTED` entries, except cells; the counts cover all entries.
    """

    scoring_a: ScoringSummary
    scoring_b: ScoringSummary
    total: Contrast
    """Over the common cells: a problem counts once, with its mean over these cells."""
    cells: list[CellComparison]
    changes: list[RunChange]
    """The differences, most frequent first."""
    changes_left_out: int
    moved: int
    """Differing verdicts (problem by cell)."""
    moved_items: list[MovedItem]
    """The largest differences first."""
    notes: list[str]


class RunComparison(ScoringComparison):
    """Run B compared with run A: the content of `compare.json`.

    The top-level fields are about the scorers that you pass, or the first of each run; `gptscore`
    is about the judges if both runs have judgements and you pass no rules. `items` is the whole
    table of changed verdicts.
    """

    format: Literal[1] = 1
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
        """One row for each differing verdict: the columns of `MovedItem`."""
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
