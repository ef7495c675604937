"""All tables of a study, computed once and shown in files, report and figures."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

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
from omibench.stages.analyze.tables.published import Comparison, compare
from omibench.stages.analyze.tables.reasoning import NO_REASONING, Reasoning, reasoning
from omibench.stages.analyze.tables.saliency import Salience, saliences
from omibench.stages.analyze.tables.samples import SampleScore, sample_scores


@dataclass(frozen=True)
class Summary:
    """What a study found, one typed row a line; `printed` is empty without published results."""

    scores: list[Score]
    images: list[ImageScore]
    failures: list[FailureCount]
    printed: list[Printed]
    comparisons: list[Comparison]
    reasoning: Reasoning = NO_REASONING
    samples: list[SampleScore] = field(default_factory=list)
    saliences: list[Salience] = field(default_factory=list)


def summarise(results: Results, folder: Path | None = None) -> Summary:
    """Compute every table. `folder` is that of the results, with the stages judge and aggregate.

    Raises as `read_tables` does.
    """
    published, manifest = results.study.analyze.published, results.manifest
    printed = read_tables(published, manifest.name, manifest.problems)
    rows = scores(results)
    return Summary(
        scores=rows,
        images=image_scores(results),
        failures=failure_counts(results),
        printed=printed,
        comparisons=compare(results, rows, printed, folder and folder / "aggregate"),
        reasoning=reasoning(results, folder / "judge") if folder else NO_REASONING,
        samples=sample_scores(results, folder / "aggregate") if folder else [],
        saliences=saliences(results, folder / "saliency") if folder else [],
    )
