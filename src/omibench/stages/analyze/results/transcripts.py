"""OCR accuracy of models that transcribe pictures, and its correlation with answer accuracy.

MathReal, OCR accuracy evaluation (appendix D), table 7 and appendix E. Transcripts are in the
responses under settings whose `perception` transcribes; `judge.transcripts` selects the judge for
the parts that rules cannot measure.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import Any, Final, NamedTuple

import polars as pl

from omibench.answers.transcripts import (
    BY_RULE,
    PARTS,
    combine_parts,
    measure_rule_parts,
    print_text,
)
from omibench.params.setting import Cell
from omibench.results.grouped import estimate_groups
from omibench.results.judgements import read_judgements
from omibench.results.load import JUDGE_RULES
from omibench.results.statistics.correlation import (
    COEFFICIENTS,
    FEWEST,
    correlate,
    correlate_by_rank,
    correlate_values,
)
from omibench.schemas.tables import ResponseRow, read_parquet
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.results.accuracy import CELL
from omibench.stages.analyze.results.result import frame_rows, result, write_estimate

ACC_OCR: Final = "accocr"
METRICS: Final = (ACC_OCR, *PARTS, "normalized")
BY_ITEM: Final = {"pearson": correlate_values, "spearman": correlate_by_rank}
Row = dict[str, Any]


class TranscriptReading(NamedTuple):
    """A model's transcript of a problem, and a judge's marks for it."""

    model: str
    id: str
    text: str
    terms: float | None
    semantics: float | None
    simulated: bool


@result(
    "ocr-readings",
    "Fidelity of each text transcribed from pictures",
    source="MathReal, OCR accuracy evaluation",
)
def tabulate_readings(analysis: Analysis) -> pl.DataFrame | None:
    """Compare every text transcribed from a problem's pictures with the printed one.

    Args:
        analysis: The study's results.

    Returns:
        One row per reading model and problem, with `id`, `cluster` and the columns of `METRICS` in
        [0, 1]. The estimate is `accocr`; it, `terms` and `semantics` are null without a judge's
        marks. None if there are no transcripts.
    """
    clusters = dict(analysis.items.select("id", "cluster").iter_rows())
    questions = analysis.results.questions
    rows = []
    for reading in _list_readings(analysis):
        if reading.id not in questions:
            continue
        rules = measure_rule_parts(reading.text, print_text(questions[reading.id]))
        accuracy = combine_parts(rules, reading.terms, reading.semantics)
        rows.append(
            reading._asdict()
            | rules._asdict()
            | {ACC_OCR: accuracy, "cluster": clusters.get(reading.id, reading.id)}
        )
    schema = {"model": pl.String, "id": pl.String, "cluster": pl.String, "simulated": pl.Boolean}
    schema |= dict.fromkeys(METRICS, pl.Float64)
    return pl.DataFrame(rows, schema=schema).with_columns(
        metric=pl.lit(ACC_OCR), estimate=pl.col(ACC_OCR), n=pl.lit(1), clusters=pl.lit(1)
    )


@result(
    "ocr",
    "OCR accuracy of the models that transcribe the pictures",
    source="MathReal, OCR accuracy evaluation and table 7",
)
def tabulate_ocr(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the OCR accuracy (AccOCR) and its parts over the problems that a model transcribed.

    Args:
        analysis: The study's results.

    Returns:
        One row per reading model and metric: `accocr`, the mean of the five parts with equal
        weights, and each of them; `normalized`, the characters without differences of space, width,
        punctuation, case and LaTeX, is none of them. `terms`, `semantics` and `accocr` only if
        `judge.transcripts` is set. None if no setting transcribes pictures.
    """
    parts = analysis.table("ocr-readings")
    if parts is None:
        return None
    marks = parts.group_by("model", maintain_order=True).agg(pl.col("simulated").any())
    tables = [
        estimate_groups(parts, ["model"], analysis.confidence, metric).with_columns(
            metric=pl.lit(metric)
        )
        for metric in METRICS
        if parts[metric].null_count() < parts.height
    ]
    return pl.concat(tables).join(marks, on="model", maintain_order="left")


@result(
    "ocr-accuracy",
    "Answer accuracy and OCR accuracy of the same models",
    source="MathReal, table 7",
)
def tabulate_ocr_accuracy(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate each cell's answer accuracy with the OCR accuracy of its model.

    Args:
        analysis: The study's results.

    Returns:
        The rows of the result `accuracy` for models that transcribe, under the main scorer, with
        `measure` (`accocr`, or `lexical` without a judge for the parts that need one), its mean
        `ocr` and interval `ocr_low` to `ocr_high`. None if there are no transcripts.
    """
    ocr, accuracy = analysis.table("ocr"), analysis.table("accuracy")
    if ocr is None or accuracy is None:
        return None
    measure = _choose_measure(ocr)
    sides = ocr.filter(metric=measure).select(
        "model", ocr="estimate", ocr_low="low", ocr_high="high", read_by_stand_in="simulated"
    )
    cells = accuracy.filter(rules=analysis.results.main_rules, metric="accuracy")
    return (
        cells.join(sides, on="model", maintain_order="left")
        .with_columns(pl.col("simulated") | pl.col("read_by_stand_in"), measure=pl.lit(measure))
        .drop("result", "read_by_stand_in")
    )


@result(
    "ocr-correlation",
    "Correlation of OCR accuracy and answer accuracy, over problems and over models",
    source="MathReal, appendix E, analysis of OCR accuracy and answer accuracy",
)
def tabulate_ocr_correlations(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the correlation of OCR accuracy with answer accuracy.

    Args:
        analysis: The study's results.

    Returns:
        One row per correlation, in [-1, 1], with `p` (two-sided) and `measure` (`accocr`, or
        `lexical` without a judge). `over` is `items` for a model's transcripts and its verdicts
        under a setting (Pearson's and Spearman's, clustered by stem), and `models` for models'
        means under a setting (those and Kendall's; three models or more). None if neither varies.
    """
    parts = analysis.table("ocr-readings")
    if parts is None:
        return None
    rows = [*_correlate_items(analysis, parts), *_correlate_models(analysis)]
    return frame_rows(rows)


def _list_readings(analysis: Analysis) -> Iterator[TranscriptReading]:
    """Return one transcript per model and problem; settings and samples share it."""
    found: set[tuple[str, str]] = set()
    for cell in analysis.results.study.cells:
        perception = analysis.results.study.settings[cell.setting].perception
        if perception is None or not perception.reads:
            continue
        reader, shares = perception.by or cell.model, _read_shares(analysis, cell)
        file = analysis.folder / "infer" / cell.model / f"{cell.setting}.parquet"
        rows = read_parquet(file, ResponseRow).select("id", "readings", "simulated").drop_nulls()
        for id, readings, simulated in rows.iter_rows():
            if (reader, id) not in found:
                found.add((reader, id))
                terms, semantics, by_stand_in = shares.get(id, (None, None, False))
                yield TranscriptReading(
                    reader, id, readings[0], terms, semantics, simulated or by_stand_in
                )


def _read_shares(analysis: Analysis, cell: Cell) -> dict[str, tuple[float, float, bool]]:
    """Return a judge's marks for each problem's transcript, and whether they are simulated."""
    results = analysis.results
    if "transcript" not in results.study.judge.panels or cell not in results.study.judged_cells:
        return {}
    rows = read_judgements(results, analysis.folder / "judge", cell)
    scored = rows.filter(instrument="transcript", outcome="scored")
    marks = scored.select("id", "terms", "semantics", "simulated")
    return {id: tuple(mark) for id, *mark in marks.iter_rows()}


def _choose_measure(ocr: pl.DataFrame) -> str:
    return ACC_OCR if ACC_OCR in ocr["metric"] else BY_RULE[-1]


def _correlate_items(analysis: Analysis, parts: pl.DataFrame) -> Iterator[Row]:
    """Return each cell's verdicts on the problems its model transcribed, with its OCR accuracy."""
    ocr = analysis.table("ocr")
    if ocr is None:
        return
    measure = _choose_measure(ocr)
    readings = parts.select("model", "id", "simulated", read=measure)
    values = analysis.item_values.filter(
        pl.col("rules").is_in([analysis.results.main_rules, JUDGE_RULES])
    )
    pairs = values.join(readings, on=["model", "id"], maintain_order="left").drop_nulls("read")
    for keys, part in pairs.partition_by(CELL, as_dict=True, maintain_order=True).items():
        sides = part["read"].to_list(), part["verdict"].to_list(), part["cluster"].to_list()
        for metric, correlate_sides in BY_ITEM.items():
            found = correlate_sides(*sides, analysis.confidence)
            if not isnan(found.value):
                yield {
                    **dict(zip(CELL, keys, strict=True)), "metric": metric,
                    **write_estimate(found), "n": found.n, "clusters": found.clusters, "p": found.p,
                    "over": "items",
                    "measure": measure, "simulated": bool(part["simulated"].any()),
                }  # fmt: skip


def _correlate_models(analysis: Analysis) -> Iterator[Row]:
    """Return the models' mean answer accuracy under each setting with their OCR accuracy."""
    table = analysis.table("ocr-accuracy")
    if table is None:
        return
    for (setting,), part in table.partition_by(
        "setting", as_dict=True, maintain_order=True
    ).items():
        if part.height < FEWEST:
            continue
        for coefficient in COEFFICIENTS:
            found = correlate(
                part["ocr"].to_list(), part["estimate"].to_list(), coefficient, analysis.confidence
            )
            if not isnan(found.value):
                yield {
                    "model": "", "setting": setting, "rules": part["rules"][0],
                    "metric": coefficient, **write_estimate((found.value, *found.interval)),
                    "n": found.n, "clusters": found.n, "p": found.p, "over": "models",
                    "measure": part["measure"][0], "simulated": bool(part["simulated"].any()),
                }  # fmt: skip
