"""The stage: responses and verdicts in, tables, metrics, report and explorer out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from omibench.files.csv_file import write_csv
from omibench.params.study import Study
from omibench.results.load import Results, load_results
from omibench.schemas.tables import write_json, write_text
from omibench.stages.analyze.headline import Headline, headline
from omibench.stages.analyze.links import EXPLORER
from omibench.stages.analyze.tables import accuracy as tables
from omibench.stages.analyze.tables import saliency, samples
from omibench.stages.analyze.tables.calibration import with_certificate
from omibench.stages.analyze.tables.metrics import metrics, write_plots
from omibench.stages.analyze.tables.published import comparison_records
from omibench.stages.analyze.tables.reasoning import records
from omibench.stages.analyze.tables.summary import Summary, summarise

REPORT = "report.html"
Records = Sequence[Mapping[str, Any]]


def analyze(freeze: Path, infer: Path, score: Path, out: Path, study: Study) -> Headline:
    """Summarise every cell of `study` and write tables and report into the folder `out`.

    `freeze`, `infer` and `score` are the folders of those stages; those of `certify`,
    `judge` and `aggregate` are beside them.
    Raises MissingInputError, FileFormatError or ParamsError as `load_results`, `with_certificate`
    and `read_published` do.
    """
    results = with_certificate(load_results(freeze, infer, score, study), score.parent / "certify")
    summary = summarise(results, score.parent)
    found = headline(results, summary, out / REPORT)
    _write_tables(out, results, summary)
    _write_pages(out, results, summary, found)
    return found


FAILURES = (
    "model", "label", "group", "setting", "rules", "outcome", "count", "n", "share", "simulated",
)  # fmt: skip
DIFFERENCES = (
    "model", "label", "setting", "subject", "metric", "rules", "printed", "ours", "difference",
    "n", "differs", "simulated",
)  # fmt: skip


def _write_tables(out: Path, results: Results, summary: Summary) -> None:
    def write(name: str, rows: Records, columns: Sequence[str] = ()) -> None:
        write_csv(out / f"{name}.csv", _mark_partial(results, rows), columns)

    write("main", tables.score_records(results, summary.scores))
    write("by_images", tables.image_records(results, summary.images))
    write("failures", tables.failure_records(results, summary.failures), FAILURES)
    write("differences", comparison_records(results, summary.comparisons), DIFFERENCES)
    marks, errors = records(results, summary.reasoning)
    if results.study.judge.panels:
        write("rationales", marks, ("model", "setting", "mark", "mean"))
        write("errors", errors, ("model", "setting", "error_type", "share"))
    if summary.samples:
        write("samples", samples.records(results, summary.samples))
    if summary.saliences:
        write("saliency", saliency.records(results, summary.saliences))
    write_json(out / "metrics.json", dict(metrics(results, summary.scores)))
    write_plots(out, results, summary.scores, summary.images)


def _mark_partial(results: Results, rows: Records) -> Records:
    """The rows, in a partial run with a last column that says of what."""
    if results.partial is None:
        return rows
    return [{**row, "partial": str(results.partial)} for row in rows]


def _write_pages(out: Path, results: Results, summary: Summary, found: Headline) -> None:
    # The chart library is slow to import, so tables and errors come before it.
    from omibench.stages.analyze.report.figures import pictures
    from omibench.stages.analyze.report.page import write_report

    drawn = pictures(results, summary)
    for picture in drawn:
        write_text(out / "figures" / f"{picture.name}.svg", picture.svg)
    write_report(found.report, results, summary, found, drawn)
    if results.study.analyze.explorer:
        from omibench.stages.analyze.explorer.write import write_explorer

        write_explorer(out / EXPLORER, results, found.report)
