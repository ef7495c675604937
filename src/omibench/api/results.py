"""Results of a study as tables, without its parameters: one frame over all cells for each kind."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from omibench.api.arguments import check_path
from omibench.api.cell_tables import (
    describe_problems,
    join_problems,
    join_responses,
    read_cells,
    read_report_table,
)
from omibench.api.comparisons import (
    compare_rows,
    estimate_cell,
    list_values,
    mark_counting,
    select_rows,
)
from omibench.errors import ArgumentError, MissingInputError
from omibench.files.intake import read_frame
from omibench.results.folder import find_results_folder
from omibench.schemas.problem import Answer, Question
from omibench.schemas.saliency_row import SaliencyRow
from omibench.schemas.tables import (
    AggregateRow,
    FrozenManifest,
    JudgementRow,
    ResponseRow,
    VerdictRow,
    read_json,
    read_jsonl,
)
from omibench.schemas.validation import suggest_name
from omibench.statistics.intervals import Estimate
from omibench.statistics.paired import AccuracyDifference

if TYPE_CHECKING:
    import polars as pl


class ResultTables:
    """The results in a folder; each table is read when it is first asked for.

    Every table is a polars frame, whose `to_pandas()` works with the extra `stats`. Those of cells
    begin with the columns `model` and `setting`; those that a study has not made are empty. What
    simulated models gave has true in the column `simulated`.

    Attributes:
        folder: The results folder.
        manifest: Name, version and counts of the frozen dataset.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest = read_json(folder / "freeze" / "manifest.json", FrozenManifest)

    def __repr__(self) -> str:
        return f"<ResultTables of {self.manifest.name!r} in {str(self.folder)!r}>"

    @cached_property
    def problems(self) -> pl.DataFrame:
        """One row a problem: `id`, `question`, `gold`, `answer_type`, `subject`, `language`,
        `group` (problems that share a stem), `n_images`."""
        freeze = self.folder / "freeze"
        return describe_problems(
            read_jsonl(freeze / "questions.jsonl", Question),
            read_jsonl(freeze / "answers.jsonl", Answer),
        )

    @cached_property
    def responses(self) -> pl.DataFrame:
        """One row a response: the fields of `infer/*/*.parquet` (`text`, `outcome`, tokens,
        dollars, ...), joined with its problem."""
        return join_problems(read_cells(self.folder, "infer", ResponseRow), self.problems)

    @cached_property
    def verdicts(self) -> pl.DataFrame:
        """One row a verdict: the fields of `score/*/*.parquet` (`rules`, `verdict` in [0, 1],
        `credit`, `outcome`, ...), joined with its response (`text`, `response_outcome`,
        `responded_simulated`) and its problem. `counts` says whether the setting chose this sample
        by a vote, marks or a tournament; where it did not choose, every sample counts."""
        rows = read_cells(self.folder, "score", VerdictRow)
        joined = join_problems(join_responses(rows, self.responses), self.problems)
        return mark_counting(joined, self.aggregates)

    @cached_property
    def judgements(self) -> pl.DataFrame:
        """One row a judgement of the reasoning in a response, joined with its problem."""
        return join_problems(read_cells(self.folder, "judge", JudgementRow), self.problems)

    @cached_property
    def aggregates(self) -> pl.DataFrame:
        """One row a problem, rule book, metric and k, where several samples were drawn."""
        return join_problems(read_cells(self.folder, "aggregate", AggregateRow), self.problems)

    @cached_property
    def saliency(self) -> pl.DataFrame:
        """One row a place of a picture that was covered: by how much an option lost; a problem
        that could not be scored has one row with its `outcome` and `reason`."""
        return join_problems(read_cells(self.folder, "saliency", SaliencyRow), self.problems)

    @property
    def report_tables(self) -> list[str]:
        """The names of the tables behind the report: `main`, `by_images`, `failures`, ..."""
        return sorted(path.stem for path in (self.folder / "analyze").glob("*.csv"))

    def report_table(self, name: str) -> pl.DataFrame:
        """A table behind the report, such as `main`: accuracies with their intervals.

        Args:
            name: One of `report_tables`.

        Raises:
            MissingInputError: The report was not made, or has no such table.
        """
        names = self.report_tables
        if name not in names:
            raise MissingInputError(
                f"{self.folder / 'analyze'}: holds no table {name!r}{suggest_name(name, names)}"
                if names
                else f"{self.folder / 'analyze'}: holds no tables; run `omibench analyze` first"
            )
        return read_report_table(self.folder / "analyze" / f"{name}.csv")

    @property
    def result_names(self) -> list[str]:
        """The names of the study's results: `accuracy`, ... (docs/results.md)."""
        return sorted(path.stem for path in (self.folder / "analyze" / "tables").glob("*.parquet"))

    def result_table(self, name: str) -> pl.DataFrame:
        """The tidy table of a result: one row a number, with its interval.

        Args:
            name: One of `result_names`.

        Raises:
            MissingInputError: The report was not made, or the study has no such result.
            FileFormatError: The file cannot be read.
        """
        folder, names = self.folder / "analyze" / "tables", self.result_names
        if name not in names:
            raise MissingInputError(
                f"{folder}: holds no result {name!r}{suggest_name(name, names)}"
                if names
                else f"{folder}: holds no results; run `omibench analyze` first"
            )
        return read_frame(folder / f"{name}.parquet")

    def slice(
        self,
        by: str | Sequence[str],
        *,
        metric: str | None = None,
        rules: str | None = None,
        model: str | None = None,
        setting: str | None = None,
        confidence: float = 0.95,
    ) -> pl.DataFrame:
        """Tell results apart by one or two attributes of items, models or settings.

        Example:
            >>> results.slice(by=["exam", "image_type"], metric="accuracy", rules="usnco-v")

        Args:
            by: An attribute, or two: a list, or a text with a comma between them.
            metric: One metric, such as `accuracy`, `gptscore`, `pass@4`, `outcome-refused`,
                `characters`; all of them by default.
            rules: One rule book; lengths, which have none, are left out then.
            model: One model.
            setting: One setting.
            confidence: The two-sided level of the intervals, in (0, 1).

        Returns:
            The columns of every table of results (docs/results.md), and `cells`: over how many
            cells an item's value is the mean, where the attribute is of models or settings; these
            are known once the study was analyzed.

        Raises:
            ArgumentError: Nothing has such an attribute, metric, rule book, model or setting; names
                those that there are.
            MissingInputError: The folder holds no verdicts.
        """
        from omibench.api.slices import SliceChoice, slice_folder

        return slice_folder(self, by, SliceChoice(metric, rules, model, setting), confidence)

    def estimate_accuracy(
        self, model: str, setting: str, *, rules: str | None = None, confidence: float = 0.95
    ) -> Estimate:
        """Estimate the accuracy of a model under a setting.

        Args:
            model: A model of the study.
            setting: A setting of the study.
            rules: The rule book; by default the first by which the study was scored.
            confidence: The two-sided level of the interval, in (0, 1).

        Returns:
            The mean verdict in [0, 1] over `n` problems with a Wilson interval, as in the report:
            at the effective number of problems where some share a stem.

        Raises:
            ArgumentError: No verdict has this model, setting or rule book.
        """
        rows = select_rows(self._select_rules(rules), "model", model)
        return estimate_cell(select_rows(rows, "setting", setting), confidence)

    def compare_models(
        self,
        first: str,
        second: str,
        *,
        setting: str | None = None,
        rules: str | None = None,
        confidence: float = 0.95,
        comparisons: int = 1,
    ) -> AccuracyDifference:
        """Compare the accuracies of two models on the problems that both answered.

        Args:
            first: A model of the study.
            second: Another one.
            setting: Both under this setting; by default the first that both were asked under.
            rules: The rule book; by default the first by which the study was scored.
            confidence: The two-sided level of the interval, in (0, 1).
            comparisons: How many differences you look at together (Bonferroni), from 1 on.

        Returns:
            First minus second in [-1, 1] with a paired interval, at the effective number of
            problems where some share a stem; `n` problems. Of several samples of a problem the
            one counts that the setting chose, or else their mean.

        Raises:
            ArgumentError: No verdict has this model, setting or rule book.
        """
        rows = self._select_rules(rules)
        frames = [select_rows(rows, "model", model) for model in (first, second)]
        name = setting or _find_common(frames, "setting", f"{first!r} and {second!r}", "under")
        chosen = [select_rows(frame, "setting", name) for frame in frames]
        return compare_rows(chosen, confidence, comparisons)

    def compare_settings(
        self,
        first: str,
        second: str,
        *,
        model: str | None = None,
        rules: str | None = None,
        confidence: float = 0.95,
        comparisons: int = 1,
    ) -> AccuracyDifference:
        """Compare the accuracies of a model under two settings on the problems asked under both.

        Example:
            >>> results.compare_settings("all-images", "no-images", model="gpt-4o")

        Args:
            first: A setting of the study.
            second: Another one.
            model: The model; by default the first that was asked under both.
            rules: The rule book; by default the first by which the study was scored.
            confidence: The two-sided level of the interval, in (0, 1).
            comparisons: How many differences you look at together (Bonferroni), from 1 on.

        Returns:
            First minus second, as `compare_models` gives it.

        Raises:
            ArgumentError: No verdict has this model, setting or rule book.
        """
        rows = self._select_rules(rules)
        frames = [select_rows(rows, "setting", setting) for setting in (first, second)]
        name = model or _find_common(frames, "model", f"{first!r} and {second!r}", "of")
        chosen = [select_rows(frame, "model", name) for frame in frames]
        return compare_rows(chosen, confidence, comparisons)

    def _select_rules(self, rules: str | None) -> pl.DataFrame:
        """The verdicts of one rule book, by default of the first."""
        books = list_values(self.verdicts, "rules")
        if not books:
            raise MissingInputError(
                f"{self.folder / 'score'}: holds no verdicts; run `omibench score` first"
            )
        return select_rows(self.verdicts, "rules", rules or books[0])


def load_results(folder: str | Path) -> ResultTables:
    """Load the results of a study; its params.yaml is not needed.

    Example:
        >>> results = omibench.load_results("results")
        >>> results.verdicts.filter(rules="robust").group_by("model").agg(pl.mean("verdict"))

    Args:
        folder: The results folder: it holds `freeze/`, `infer/` and what later stages wrote.

    Returns:
        Its tables, each one frame over all models and settings.

    Raises:
        ArgumentError: `folder` is no path.
        MissingInputError: It holds no responses; names the results folder above or below it.
        FileFormatError: When a table is asked for: a file of it is broken.
        UntrustedError: When a table is asked for: a file was exchanged or edited.
    """
    return ResultTables(find_results_folder(check_path("folder", folder)))


def _find_common(frames: Sequence[pl.DataFrame], column: str, both: str, relation: str) -> str:
    """The first value of a column that both frames have."""
    first, second = (list_values(frame, column) for frame in frames)
    shared = [value for value in first if value in second]
    if not shared:
        raise ArgumentError(f"{both}: there are verdicts {relation} no common {column}")
    return shared[0]
