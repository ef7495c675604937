"""What a report is made from: the results of a study, and tables that its parts share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from omibench.params.stage_params import AnalyzeStageParams
from omibench.results.load import Results
from omibench.stages.analyze.tables.accuracy import (
    FailureCount,
    ImageScore,
    Score,
    failure_counts,
    image_scores,
    scores,
)
from omibench.stages.analyze.tables.printed import Printed, read_tables


@dataclass(frozen=True)
class Analysis:
    """The results of a study, with the tables that several sections share, each computed once."""

    study: AnalyzeStageParams
    """The study as its parameters say; that of `results` holds the cells that are there."""
    results: Results
    folder: Path
    """The folder of the results: those of the stages are below it."""
    report: Path
    """Where the report is written, for links from it."""

    @cached_property
    def scores(self) -> list[Score]:
        """The accuracy of every cell under every rule book, in total and by subject."""
        return scores(self.results)

    @cached_property
    def image_scores(self) -> list[ImageScore]:
        """The accuracy of every cell, and of all together, by number of images."""
        return image_scores(self.results)

    @cached_property
    def failure_counts(self) -> list[FailureCount]:
        """The outcomes without an answer of every cell under every rule book."""
        return failure_counts(self.results)

    @cached_property
    def printed_rows(self) -> list[Printed]:
        """The rows of `analyze.published`; none without printed results.

        Raises:
            MissingInputError: A table is not there.
            FileFormatError: A file is no table of results of this dataset.
        """
        manifest = self.results.manifest
        return read_tables(self.results.study.analyze.published, manifest.name, manifest.problems)
