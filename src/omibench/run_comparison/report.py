"""What a comparison of two runs says: the typed content of `compare.json`.

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
"""What two runs can differ in. `data`: the problems, as they are asked and scored; `gold`: their
right answers; `extraction`: what was read from a response; `rules`: how that was compared; `judge`:
who judged; `responses`: all that was asked anew."""
COMPONENTS: tuple[Component, ...] = get_args(Component)
Manner = Literal["replayed", "asked anew", "joined"]
"""How a share was found. `replayed`: scored again without any model, or read from stored verdicts;
`asked anew`: other responses; `joined`: components that cannot be told apart."""
LISTED = 100
"""The most entries of a list in `compare.json`."""


class RunSummary(Noun):
    """One of the two runs."""

    folder: str
    dataset: str
    version: str
    problems: int
    simulated: bool
    """Whether a response or verdict that is compared is simulated, or the problems are."""


class ScoringSummary(Noun):
    """By what the verdicts of a run were made that are compared."""

    rules: str
    """A rule book, or `gptscore`."""
    versions: list[int]
    """Of the rule book or judge; several where cells differ."""
    installed_version: int | None
    """The version that is installed here; None for a judge and for a rule book that is not here."""
    judges: list[str]


class DifferenceShare(Noun):
    """The share of a difference that one component has, or several that cannot be told apart."""

    components: list[Component]
    manner: Manner
    share: float
    items: int
    """Problems in which the share is not zero; of the total, in how many problems of cells."""

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
    """Problems with a verdict in both."""
    common_a: float
    """Accuracy of run A over the common problems."""
    common_b: float
    common_difference: float
    """common_b - common_a; what is missing to `difference` belongs to problems that only one run
    has, and is a part of the share of `data`."""
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
    """Something in which the runs differ, and in how many cells."""

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
    """By which it was scored; `robust > emma` where the runs differ in it."""
    id: str
    verdict_a: float
    """Mean over the samples that count."""
    verdict_b: float
    moved_by: str
    """The component with the largest share of the difference; several joined by a plus sign."""
    shares: str
    """All shares, as `gold +1.000, responses -0.500`."""


class SubjectCount(Noun):
    """How many problems of a subject each run has."""

    subject: str
    a: int
    b: int
    common: int


class ItemComposition(Noun):
    """Which problems the runs have."""

    common: int
    only_a: int
    only_b: int
    edited: int
    """Common problems whose statement, pictures or choices differ."""
    other_gold: int
    """Common problems whose right answer differs."""
    only_a_ids: list[str]
    only_b_ids: list[str]
    edited_ids: list[str]
    other_gold_ids: list[str]
    subjects: list[SubjectCount]


class ScoringComparison(Noun):
    """The verdicts of run B held against those of run A, under one rule book each.

    Lists hold at most `LISTED` entries, cells apart; counts beside them are of all.
    """

    scoring_a: ScoringSummary
    scoring_b: ScoringSummary
    total: Contrast
    """Over the cells that both runs have: a problem counts once, with its mean over these cells."""
    cells: list[CellComparison]
    changes: list[RunChange]
    """What differs, those of most cells first."""
    changes_left_out: int
    moved: int
    """Verdicts (problem by cell) that differ."""
    moved_items: list[MovedItem]
    """The largest differences first."""
    notes: list[str]


class RunComparison(ScoringComparison):
    """Run B held against run A: the content of `compare.json`.

    Its own fields are about the rule books that a person names, or the first of each run;
    `gptscore` about the judges, where both runs have judgements and nobody named rules. `items` is
    the whole table of the problems that moved.
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
        """One row for each verdict that differs: the columns of `MovedItem`."""
        frame: pl.DataFrame = self._items
        return frame

    def attach_items(self, items: pl.DataFrame) -> Self:
        """The same with the whole table of the problems that moved."""
        self._items = items
        return self

    @property
    def comparisons(self) -> list[ScoringComparison]:
        """That of the rule books, and that of the judges where there is one."""
        return [self, *([self.gptscore] if self.gptscore else [])]
