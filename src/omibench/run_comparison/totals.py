"""The cells of a comparison, and their totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING, Any

from omibench.params.cell import Cell
from omibench.run_comparison.cell_pair import BITS, CellPair
from omibench.run_comparison.cell_shares import ItemShares
from omibench.run_comparison.replay import Side, find_installed_version
from omibench.run_comparison.report import (
    LISTED,
    CellComparison,
    Component,
    Contrast,
    DifferenceShare,
    Manner,
    MovedItem,
    ScoringSummary,
)
from omibench.run_comparison.run_files import CellRun, RunFiles, Scoring, name_cells
from omibench.statistics.paired import paired_difference

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

EQUAL = 1e-9
"""Shares and differences below this are zero."""


class ComparisonTotals:
    """Accumulates the cells of a comparison."""

    def __init__(self, a: RunFiles, b: RunFiles, rules: tuple[str, str], confidence: float) -> None:
        """Start without cells."""
        self.cells: list[CellComparison] = []
        self.simulated: dict[Side, bool] = {"a": False, "b": False}
        self._rules = rules
        self._runs: dict[Side, RunFiles] = {"a": a, "b": b}
        self._confidence = confidence
        self._means: dict[Side, ItemMeans] = {"a": ItemMeans(), "b": ItemMeans()}
        self._common: dict[Side, ItemMeans] = {"a": ItemMeans(), "b": ItemMeans()}
        self._shares: dict[int, ItemMeans] = {}
        self._scorings: dict[Side, set[Scoring]] = {"a": set(), "b": set()}
        self._items: list[pl.DataFrame] = []
        self._left_out: list[tuple[Cell, str]] = []

    def add(self, cell: Cell, pair: CellPair, shares: ItemShares) -> None:
        """Add a cell with the shares of its problems."""
        simulated = False
        sides: list[tuple[Side, CellRun, dict[str, float], NDArray[np.float64]]] = [
            ("a", pair.a, pair.all_a, pair.value_a),
            ("b", pair.b, pair.all_b, pair.value_b),
        ]
        for side, run, every, common in sides:
            self._means[side].add(list(every), list(every.values()))
            self._common[side].add(pair.ids, common.tolist())
            self._scorings[side].add(run.scoring)
            run_simulated = bool(
                run.responses["simulated"].any() or run.select(run.scoring)["simulated"].any()
            )
            self.simulated[side] |= run_simulated
            simulated |= run_simulated
        for mask, values in shares.items():
            self._shares.setdefault(mask, ItemMeans()).add(pair.ids, values.tolist())
        counts = {mask: _count_moved(values.tolist()) for mask, values in shares.items()}
        lists = {mask: values.tolist() for mask, values in shares.items()}
        contrast = self._make_contrast(
            (list(pair.all_a.values()), list(pair.all_b.values())),
            (pair.value_a.tolist(), pair.value_b.tolist()), pair.ids, lists, counts,
        )  # fmt: skip
        self.cells.append(
            CellComparison(**contrast, model=cell.model, setting=cell.setting, simulated=simulated)
        )
        self._items.append(_list_moved(cell, pair, shares, " > ".join(dict.fromkeys(self._rules))))

    def leave_out(self, cell: Cell, reason: str) -> None:
        """Add a common cell that cannot be compared."""
        self._left_out.append((cell, reason))

    def find_total(self) -> Contrast:
        """Return the totals over all cells: a problem counts once, with its mean over them."""
        ids = sorted(self._common["a"].sums)
        counts = self._common["a"].counts
        shares = {
            mask: [means.sums.get(name, 0.0) / counts[name] for name in ids]
            for mask, means in self._shares.items()
        }
        moved: dict[int, int] = {}
        for cell in self.cells:
            for share in cell.shares:
                mask = sum(BITS[part] for part in share.components)
                moved[mask] = moved.get(mask, 0) + share.items
        every = self._means["a"].list_means(), self._means["b"].list_means()
        common = self._common["a"].list_means(ids), self._common["b"].list_means(ids)
        return Contrast(**self._make_contrast(every, common, ids, shares, moved))

    def join_items(self) -> pl.DataFrame:
        """Return the problems with changed verdicts, the largest differences first."""
        import polars as pl

        distance = (pl.col("verdict_b") - pl.col("verdict_a")).abs().round(9)
        return pl.concat(self._items).sort(
            distance, "model", "setting", "id", descending=[True, False, False, False]
        )

    def summarise_scoring(self, side: Side) -> ScoringSummary:
        """Return how the verdicts of a run were made."""
        scorings, rules = self._scorings[side], self._rules[side == "b"]
        return ScoringSummary(
            rules=rules,
            versions=sorted({scoring.version for scoring in scorings}),
            installed_version=find_installed_version(rules),
            judges=sorted({scoring.judge for scoring in scorings if scoring.judge}),
        )

    def write_notes(self) -> list[str]:
        """Return the caveats of the comparison."""
        notes = []
        for side, run in self._runs.items():
            notes += [
                f"run {side.upper()}: {scoring.rules} {scoring.version} is not installed; "
                "components that only it could separate are joined"
                for scoring in sorted(self._scorings[side], key=lambda s: (s.rules, s.version))
                if not scoring.is_judged
                and find_installed_version(scoring.rules) != scoring.version
            ]
            if run.unscored_cells:
                notes.append(f"run {side.upper()}: not scored: {name_cells(run.unscored_cells)}")
        notes += [
            f"{cell.model}/{cell.setting}: skipped because it {reason}"
            for cell, reason in self._left_out[:LISTED]
        ]
        if any("+" in share.name for cell in self.cells for share in cell.shares):
            notes.append(
                "components joined by + differ in the same problems and cannot be replayed apart"
            )
        return notes

    def _make_contrast(
        self,
        every: tuple[Sequence[float], Sequence[float]],
        common: tuple[Sequence[float], Sequence[float]],
        ids: Sequence[str],
        shares: Mapping[int, Sequence[float]],
        moved: Mapping[int, int],
    ) -> dict[str, Any]:
        """Return the fields of a Contrast."""
        answers = self._runs["a"].answers
        groups = [answers[name].group or name for name in ids]
        paired = paired_difference(common[1], common[0], groups, self._confidence)
        accuracies = [fsum(values) / len(values) for values in every]
        common_accuracies = [fsum(values) / len(ids) for values in common]
        difference = accuracies[1] - accuracies[0]
        common_difference = common_accuracies[1] - common_accuracies[0]
        means = {mask: fsum(values) / len(ids) for mask, values in shares.items()}
        composition = difference - common_difference
        if abs(composition) > EQUAL or any(len(values) != len(ids) for values in every):
            means[BITS["data"]] = means.get(BITS["data"], 0.0) + composition
        return {
            "accuracy_a": accuracies[0],
            "accuracy_b": accuracies[1],
            "difference": difference,
            "n_a": len(every[0]),
            "n_b": len(every[1]),
            "n_common": len(ids),
            "common_a": common_accuracies[0],
            "common_b": common_accuracies[1],
            "common_difference": common_difference,
            "low": paired.lo,
            "high": paired.hi,
            "shares": [
                DifferenceShare(
                    components=_name_components(mask), manner=_describe_manner(mask),
                    share=means[mask], items=moved.get(mask, 0),
                )
                for mask in sorted(means)
            ],
        }  # fmt: skip


class ItemMeans:
    """Sums and counts by problem over cells."""

    def __init__(self) -> None:
        """Start without problems."""
        self.sums: dict[str, float] = {}
        self.counts: dict[str, int] = {}

    def add(self, ids: Sequence[str], values: Sequence[float]) -> None:
        """Add the values of one cell."""
        for name, value in zip(ids, values, strict=True):
            self.sums[name] = self.sums.get(name, 0.0) + value
            self.counts[name] = self.counts.get(name, 0) + 1

    def list_means(self, ids: Sequence[str] | None = None) -> list[float]:
        """Return the mean of each problem over its cells; for all problems if no ids are given."""
        return [self.sums[name] / self.counts[name] for name in ids or self.sums]


def _name_components(mask: int) -> list[Component]:
    return [component for component, bit in BITS.items() if mask & bit]


def _describe_manner(mask: int) -> Manner:
    if mask.bit_count() > 1:
        return "joined"
    return "asked anew" if mask == BITS["responses"] else "replayed"


def _count_moved(values: Sequence[float]) -> int:
    return sum(abs(value) > EQUAL for value in values)


def _list_moved(cell: Cell, pair: CellPair, shares: ItemShares, rules: str) -> pl.DataFrame:
    """Return one row for each changed verdict of a cell: the columns of MovedItem."""
    import numpy as np
    import polars as pl

    rows = np.flatnonzero(np.abs(pair.value_b - pair.value_a) > EQUAL)
    masks = sorted(shares)
    names = ["+".join(_name_components(mask)) for mask in masks]
    columns = [shares[mask][rows].tolist() for mask in masks]
    parts = [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
    values: dict[str, list[object]] = {
        "model": [cell.model] * len(rows),
        "setting": [cell.setting] * len(rows),
        "rules": [rules] * len(rows),
        "id": [pair.ids[row] for row in rows],
        "verdict_a": pair.value_a[rows].tolist(),
        "verdict_b": pair.value_b[rows].tolist(),
        "moved_by": [max(part, key=lambda name: abs(part[name])) for part in parts],
        "shares": [_describe_shares(part) for part in parts],
    }
    types = {"verdict_a": pl.Float64(), "verdict_b": pl.Float64()}
    schema = {name: types.get(name, pl.String()) for name in MovedItem.model_fields}
    return pl.DataFrame(values if len(rows) else None, schema=schema)


def _describe_shares(part: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {share:+.3f}" for name, share in part.items() if abs(share) > EQUAL)
