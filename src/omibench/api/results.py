"""Tables of problems, and joins of the rows of cells with problems and responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

import polars as pl

from omibench.api.arguments import check_path, takes_scorer
from omibench.api.comparisons import compare_rows, estimate_cell, list_values, select_rows
from omibench.errors import ArgumentError, FileFormatError, MissingInputError
from omibench.files.outputs import unmark_formula
from omibench.files.parquet import read_frame
from omibench.files.reading import read_csv
from omibench.results.statistics.intervals import Estimate
from omibench.results.statistics.paired import AccuracyDifference
from omibench.results.study_files import StudyFiles, find_results_folder
from omibench.review.tags import TAGS, list_current, list_tag_rows, read_tag_events
from omibench.schemas.problem import Answer, Question
from omibench.schemas.validation import suggest_name

RESPONSE = ("model", "setting", "id", "index", "key")
OF_RESPONSE = ("text", "finish_reason", "input_tokens", "output_tokens", "cost_usd", "latency_s")
OF_PROBLEM = ("subject", "group", "language", "n_images", "answer_type", "gold")


def describe_problems(
    questions: Mapping[str, Question], golds: Mapping[str, Answer]
) -> pl.DataFrame:
    """Return one row per problem: question, gold answer and grouping columns."""
    return pl.DataFrame(
        [
            (
                question.id, question.question, golds[question.id].answer,
                golds[question.id].answer_type, question.subject, question.language,
                golds[question.id].group or question.id, golds[question.id].n_images,
            )
            for question in questions.values()
            if question.id in golds
        ],
        schema={
            "id": pl.String, "question": pl.String, "gold": pl.List(pl.String),
            "answer_type": pl.String, "subject": pl.String, "language": pl.String,
            "group": pl.String, "n_images": pl.Int64,
        },
        orient="row",
    )  # fmt: skip


def join_problems(rows: pl.DataFrame, problems: pl.DataFrame) -> pl.DataFrame:
    """Join rows with the columns of their problems.

    Raises:
        FileFormatError: If a row refers to a problem that is not in the dataset.
    """
    facts = problems.select("id", *OF_PROBLEM)
    joined = rows.join(facts, on="id", how="left", maintain_order="left")
    lost = joined.filter(joined["subject"].is_null())
    if lost.height:
        first = lost.row(0, named=True)
        raise FileFormatError(
            f"{first['model']}/{first['setting']}.parquet: the row of {first['id']!r} has no "
            "problem in freeze/answers.jsonl; run this cell again"
        )
    return joined


def join_responses(verdicts: pl.DataFrame, responses: pl.DataFrame) -> pl.DataFrame:
    """Join verdicts with the responses they score."""
    facts = responses.select(
        *RESPONSE, *OF_RESPONSE, response_outcome="outcome", responded_simulated="simulated"
    ).unique(RESPONSE)
    return verdicts.join(facts, on=RESPONSE, how="left", maintain_order="left")


def read_report_table(path: Path) -> pl.DataFrame:
    """Read a CSV file of the report, with numbers parsed and spreadsheet guards removed.

    Raises:
        FileFormatError: If it is not a CSV file.
    """
    rows = [{name: unmark_formula(cell) for name, cell in row.items()} for row in read_csv(path)]
    names = list(rows[0]) if rows else []
    return pl.DataFrame([_read_column(name, [row[name] for row in rows]) for name in names])


def _read_column(name: str, cells: Sequence[str]) -> pl.Series:
    texts = pl.Series(name, [cell or None for cell in cells], dtype=pl.String)
    if texts.drop_nulls().is_in(["true", "false"]).all() and texts.null_count() < len(texts):
        return texts == "true"
    for dtype in (pl.Int64, pl.Float64):
        numbers = texts.cast(dtype, strict=False)
        if numbers.null_count() == texts.null_count() < len(texts):
            return numbers
    return texts


# Results of a study as tables, without its parameters: one frame per kind over all cells.


class ResultTables:
    """The results in a folder; each table is read on first access.

    Every table is a polars frame; its `to_pandas()` works with the extra `stats`. Tables of
    cells begin with the columns `model` and `setting`; tables that the study did not compute are
    empty. The column `simulated` is true for results of simulated models.

    Attributes:
        folder: Results folder.
        manifest: Name, version and counts of the frozen dataset.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = StudyFiles(folder)
        self.manifest = self.files.manifest

    def __repr__(self) -> str:
        return f"<ResultTables of {self.manifest.name!r} in {str(self.folder)!r}>"

    @cached_property
    def problems(self) -> pl.DataFrame:
        """One row per problem: `id`, `question`, `gold`, `answer_type`, `subject`, `language`,
        `group` (problems that share a stem), `n_images`.
        """
        return describe_problems(self.files.questions, self.files.answers)

    @cached_property
    def responses(self) -> pl.DataFrame:
        """One row per response: the fields of `infer/*/*.parquet` (`text`, `outcome`, tokens,
        dollars, ...), joined with the problem.
        """
        return join_problems(self.files.read_all("infer"), self.problems)

    @cached_property
    def verdicts(self) -> pl.DataFrame:
        """One row per verdict: the fields of `score/*/*.parquet` (`rules`, `verdict` in [0, 1],
        `credit`, `outcome`, ...), joined with its response (`text`, `response_outcome`,
        `responded_simulated`) and its problem. `counts` is whether the setting chose this
        sample; if it chooses none, every sample counts.
        """
        rows = join_responses(self.files.read_all("score"), self.responses)
        joined = join_problems(rows, self.problems)
        return joined.select(*(name for name in joined.columns if name != "counts"), "counts")

    @cached_property
    def judgements(self) -> pl.DataFrame:
        """One row per judgement of the reasoning in a response, joined with its problem."""
        return join_problems(self.files.read_all("judge"), self.problems)

    @cached_property
    def aggregates(self) -> pl.DataFrame:
        """One row per problem, scorer, metric and k, if several samples were drawn."""
        return join_problems(self.files.read_all("aggregate"), self.problems)

    @cached_property
    def saliency(self) -> pl.DataFrame:
        """One row per occluded patch of a picture, with the loss of probability of an option; a
        problem that could not be scored has one row with its `outcome` and `reason`.
        """
        return join_problems(self.files.read_all("saliency"), self.problems)

    def tags(self, review: str | Path) -> pl.DataFrame:
        """Return the tags that users of the explorer set on problems and responses.

        Args:
            review: Review folder with which the explorer was started.

        Returns:
            One row per tag: `id`, `model`, `setting` and `index` (null for a tag on the problem
            itself), `tag`, `person`, `time`.

        Raises:
            ArgumentError: If `review` is not a path.
            FileFormatError: If a line of its tags.jsonl cannot be read.
        """
        events = read_tag_events(check_path("review", review) / TAGS).require_whole()
        rows = [
            {**row, "id": row.pop("problem"), "model": row["model"] or None,
             "setting": row["setting"] or None}
            for row in list_tag_rows(list_current(events))
        ]  # fmt: skip
        names = ("id", "model", "setting", "index", "tag", "person", "time")
        types = dict.fromkeys(names, pl.String()) | {"index": pl.Int64()}
        return pl.DataFrame(rows, schema=types).select(names)

    @property
    def report_tables(self) -> list[str]:
        """Names of the tables behind the report: `main`, `by_images`, `failures`, ..."""
        return sorted(path.stem for path in (self.folder / "analyze").glob("*.csv"))

    def report_table(self, name: str) -> pl.DataFrame:
        """Return a table behind the report, such as `main`: accuracies with their intervals.

        Args:
            name: One of `report_tables`.

        Raises:
            MissingInputError: If the report does not exist or has no such table.
        """
        folder = self.folder / "analyze"
        _require_table(folder, "table", name, self.report_tables)
        return read_report_table(folder / f"{name}.csv")

    @property
    def result_names(self) -> list[str]:
        """Names of the study's results: `accuracy`, ... (docs/results.md)."""
        return sorted(path.stem for path in (self.folder / "analyze" / "tables").glob("*.parquet"))

    def result_table(self, name: str) -> pl.DataFrame:
        """Return the tidy table of a result: one row per number, with its interval.

        Args:
            name: One of `result_names`.

        Raises:
            MissingInputError: If the report does not exist or the study has no such result.
            FileFormatError: If the file cannot be read.
        """
        folder = self.folder / "analyze" / "tables"
        _require_table(folder, "result", name, self.result_names)
        return read_frame(folder / f"{name}.parquet")

    @takes_scorer
    def slice(
        self,
        by: str | Sequence[str],
        *,
        metric: str | None = None,
        scorer: str | None = None,
        model: str | None = None,
        setting: str | None = None,
        confidence: float = 0.95,
    ) -> pl.DataFrame:
        """Break down results by one or two attributes of items, models or settings.

        Examples:
            >>> results.slice(by=["exam", "image_type"], metric="accuracy", scorer="usnco-v")

        Args:
            by: One or two attributes, as a list or a comma-separated text.
            metric: One metric, such as `accuracy`, `gptscore`, `pass@4`, `outcome-refused`,
                `characters`; by default all.
            scorer: One scorer; excludes metrics without a scorer, such as lengths.
            model: One model.
            setting: One setting.
            confidence: Two-sided level of the intervals, in (0, 1).

        Returns:
            The columns of every table of results (docs/results.md) and `cells`, the number of
            cells averaged per item if the attribute belongs to models or settings; those
            attributes are available after `omibench analyze`.

        Raises:
            ArgumentError: If the attribute, metric, scorer, model or setting does not exist;
                lists the available ones.
            MissingInputError: If the folder contains no verdicts.
        """
        from omibench.api.slices import SliceChoice, slice_folder

        return slice_folder(self, by, SliceChoice(metric, scorer, model, setting), confidence)

    @takes_scorer
    def estimate_accuracy(
        self, model: str, setting: str, *, scorer: str | None = None, confidence: float = 0.95
    ) -> Estimate:
        """Estimate the accuracy of a model under a setting.

        Args:
            model: Model of the study.
            setting: Setting of the study.
            scorer: By default the first of the study.
            confidence: Two-sided level of the interval, in (0, 1).

        Returns:
            The mean verdict in [0, 1] over `n` problems with a Wilson interval, as in the
                report: at the effective number of problems if some share a stem.

        Raises:
            ArgumentError: If no verdict has this model, setting or scorer.
        """
        rows = select_rows(self._select_rules(scorer), "model", model)
        return estimate_cell(select_rows(rows, "setting", setting), confidence)

    @takes_scorer
    def compare_models(
        self,
        first: str,
        second: str,
        *,
        setting: str | None = None,
        scorer: str | None = None,
        confidence: float = 0.95,
        comparisons: int = 1,
    ) -> AccuracyDifference:
        """Compare the accuracies of two models on the problems that both answered.

        Args:
            first: Model of the study.
            second: Another model.
            setting: Setting of both; by default the first setting that both have.
            scorer: By default the first of the study.
            confidence: Two-sided level of the interval, in (0, 1).
            comparisons: Number of differences you look at together (Bonferroni), at least 1.

        Returns:
            First minus second in [-1, 1] with a paired interval over `n` problems, at the
            effective number of problems if some share a stem. With several samples per problem,
            the sample that the setting selected counts, otherwise their mean.

        Raises:
            ArgumentError: If no verdict has this model, setting or scorer.
        """
        rows = self._select_rules(scorer)
        frames = [select_rows(rows, "model", model) for model in (first, second)]
        name = setting or _find_common(frames, "setting", f"{first!r} and {second!r}", "under")
        chosen = [select_rows(frame, "setting", name) for frame in frames]
        return compare_rows(chosen, confidence, comparisons)

    @takes_scorer
    def compare_settings(
        self,
        first: str,
        second: str,
        *,
        model: str | None = None,
        scorer: str | None = None,
        confidence: float = 0.95,
        comparisons: int = 1,
    ) -> AccuracyDifference:
        """Compare the accuracies of a model under two settings on their common problems.

        Examples:
            >>> results.compare_settings("all-images", "no-images", model="gpt-4o")

        Args:
            first: Setting of the study.
            second: Another setting.
            model: Model; by default the first that has both settings.
            scorer: By default the first of the study.
            confidence: Two-sided level of the interval, in (0, 1).
            comparisons: Number of differences you look at together (Bonferroni), at least 1.

        Returns:
            First minus second, as in `compare_models`.

        Raises:
            ArgumentError: If no verdict has this model, setting or scorer.
        """
        rows = self._select_rules(scorer)
        frames = [select_rows(rows, "setting", setting) for setting in (first, second)]
        name = model or _find_common(frames, "model", f"{first!r} and {second!r}", "of")
        chosen = [select_rows(frame, "model", name) for frame in frames]
        return compare_rows(chosen, confidence, comparisons)

    def _select_rules(self, rules: str | None) -> pl.DataFrame:
        """Return the verdicts of one scorer, by default the first."""
        scorers = list_values(self.verdicts, "rules")
        if not scorers:
            raise MissingInputError(
                f"{self.folder / 'score'}: has no verdicts; run `omibench score` first"
            )
        return select_rows(self.verdicts, "rules", rules or scorers[0])


def load_results(folder: str | Path) -> ResultTables:
    """Load the results of a study; its params.yaml is not needed.

    Examples:
        >>> results = omibench.load_results("results")
        >>> results.verdicts.filter(rules="robust").group_by("model").agg(pl.mean("verdict"))

    Args:
        folder: Results folder with `freeze/`, `infer/` and the output of later stages.

    Returns:
        Its tables, each one frame over all models and settings.

    Raises:
        ArgumentError: If `folder` is not a path.
        MissingInputError: If it contains no responses; suggests the results folder above or
            below it.
        FileFormatError: On access to a table, if one of its files is broken.
        UntrustedError: On access to a table, if one of its files was exchanged or edited.
    """
    return ResultTables(find_results_folder(check_path("folder", folder)))


def _require_table(folder: Path, noun: str, name: str, names: Sequence[str]) -> None:
    """Raise MissingInputError unless a table is among those of a folder."""
    if not names:
        raise MissingInputError(f"{folder}: has no {noun}s; run `omibench analyze` first")
    if name not in names:
        raise MissingInputError(f"{folder}: has no {noun} {name!r}{suggest_name(name, names)}")


def _find_common(frames: Sequence[pl.DataFrame], column: str, both: str, relation: str) -> str:
    """Return the first value of a column that both frames have."""
    first, second = (list_values(frame, column) for frame in frames)
    shared = [value for value in first if value in second]
    if not shared:
        raise ArgumentError(f"{both}: have no common {column} among the verdicts {relation} them")
    return shared[0]
