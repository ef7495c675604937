"""The reasoning in responses, as judged: types of errors, wrong steps, marks, and further judges.

Means and shares are averaged over samples and then problems, with intervals clustered by shared
stem. Failed judgements, and answers that a judge found right, are excluded and counted apart.
Annotators' labels of errors are a distribution of their own.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from omibench.params.setting import Cell
from omibench.results.grouped import estimate_groups
from omibench.results.judgements import RESPONSE
from omibench.results.load import Results
from omibench.results.slices import JOINT
from omibench.results.statistics.intervals import (
    Estimate,
    clustered_mean,
    clustered_ratio,
    clustered_wilson,
)
from omibench.schemas.verdict import HIGHEST_MARK, LOWEST_MARK, MARKS_BY_INSTRUMENT, NO_ERROR
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.certificates import find_certificate, match_column
from omibench.stages.analyze.results.curve_series import label_cells
from omibench.stages.analyze.results.result import frame_rows, result, write_estimate
from omibench.stages.certify.labels import STEPS, WRONG_STEPS
from omibench.stages.certify.reasoning import check_error_types

JUDGE, PEOPLE = "judge", "people"
TYPE = "error_type"
FOUND_RIGHT, MEAN = "found-right", "mean"
_CELL = ("model", "setting", "by")
_JUDGED = ("id", "index", TYPE, "taxonomy", "outcome", "judge", "simulated", "cluster")
"""The columns of judgements for a distribution of errors."""


@result(
    "error-types",
    "Types of errors of failed responses",
    source="OMIBench, F.2 and figure 7; EMMA, section 5 and figure 5; MathReal, figure 6",
)
def tabulate_errors(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the shares of error types among classified failures.

    `judge.errors.draw` selects the failures: all of a cell, or 100 per model as in MathReal. Under
    a scorer with partial credit, a failure is an answer with no right part.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell, `by` (`judge` or `people`), type and subject, and over all subjects: the
        metric `share`, averaged over the failures of a problem and then problems; `count` failures
        of the type among `classified` ones; `taxonomy`. Types without failures have rows of 0.
        Answers that a judge found right are excluded. None if no errors were classified.
    """
    judged = analysis.error_judgements
    labelled = judged.drop_nulls(TYPE).filter(pl.col(TYPE) != NO_ERROR).drop("outcome", "judge")
    if labelled.is_empty():
        return None
    subjects = analysis.items.select("id", "subject")
    frames = [labelled.with_columns(subject=pl.lit("")), labelled.join(subjects, on="id")]
    errors = pl.concat(frame.select(sorted(frame.columns)) for frame in frames)
    by = [*_CELL, "subject"]
    types = errors.select("by", TYPE, "taxonomy").unique(maintain_order=True).sort("by", TYPE)
    problems = errors.join(types, on=["by", "taxonomy"], suffix="_asked", maintain_order="left")
    shares = (
        problems.with_columns(is_type=(pl.col(TYPE) == pl.col(f"{TYPE}_asked")).cast(pl.Float64))
        .drop(TYPE)
        .rename({f"{TYPE}_asked": TYPE})
        .group_by(*by, "taxonomy", TYPE, "id", "cluster", maintain_order=True)
        .agg(
            pl.col("is_type").mean(),
            pl.col("simulated").any(),
            count=pl.col("is_type").sum(),
            classified=pl.len(),
        )
    )
    keys = [*by, "taxonomy", TYPE]
    totals = shares.group_by(keys).agg(
        pl.col("count", "classified").sum().cast(pl.Int64), pl.col("simulated").any()
    )
    estimates = estimate_groups(shares, keys, analysis.confidence, "is_type").drop("n_eff")
    table = estimates.join(totals, on=keys, maintain_order="left")
    is_total = pl.col("subject") == ""
    return (
        label_cells(analysis, table)
        .with_columns(
            metric=pl.lit("share"),
            slice=pl.when(is_total).then(pl.lit(TYPE)).otherwise(pl.lit(f"subject{JOINT}{TYPE}")),
            value=pl.when(is_total)
            .then(TYPE)
            .otherwise(pl.concat_str("subject", TYPE, separator=JOINT)),
        )
        .sort(*_CELL, "subject", "estimate", descending=[False] * 4 + [True], maintain_order=True)
    )


@result("error-judgements", "Judgements of errors, and answers that they found right")
def tabulate_error_judgements(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate how many failures of each cell were classified, or found right after all.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell and `by` (`judge` or `people`), in the order of the study: the metric
        `found-right`, the share of the judged failures whose answer was found right; `n` problems;
        `classified` failures, `by_outcome` of them by their outcome since they have no answer,
        `right_after_all`, `judge_failed`, `taxonomy`, `judge`, and `calibrated` (null for people),
        whether a certificate from human labels exists. None if no errors were judged.
    """
    typed = pl.col(TYPE).is_not_null()
    wrong = typed & (pl.col(TYPE) != NO_ERROR)
    is_judge = pl.col("by") == JUDGE
    counts = {
        "classified": wrong,
        "by_outcome": wrong & pl.col("judge").is_null() & is_judge,
        "right_after_all": typed & ~wrong,
        "judge_failed": pl.col("outcome") != "scored",
    }
    table = analysis.error_judgements.group_by(_CELL, maintain_order=True).agg(
        *(rows.sum().cast(pl.Int64).alias(name) for name, rows in counts.items()),
        pl.col("taxonomy", "judge").drop_nulls().first().fill_null(""),
        pl.col("simulated").any(),
        n=pl.col("id").n_unique(),
        clusters=pl.col("cluster").n_unique(),
    )
    if table.is_empty():
        return None
    calibrated = [
        None if by == PEOPLE else _is_certified(analysis, Cell(model, setting), TYPE)
        for model, setting, by in table.select(_CELL).iter_rows()
    ]
    right = pl.col("right_after_all")
    return label_cells(
        analysis,
        table.with_columns(
            pl.Series("calibrated", calibrated, pl.Boolean),
            metric=pl.lit(FOUND_RIGHT),
            estimate=right / (right + pl.col("classified")),
        ),
    )


def collect_error_judgements(analysis: Analysis) -> pl.DataFrame:
    """Collect the judgements and labels of errors.

    Args:
        analysis: The study's results.

    Returns:
        One row per judgement of `by`: `model`, `setting`, `by`, `id`, `index`, `error_type` (null
        if it failed), `taxonomy`, `outcome`, `judge`, `simulated`, `cluster`; cells in the order
        of the study.

    Raises:
        FileFormatError: A label cannot be read, fits several responses, contradicts another or is
            not a type of the taxonomy.
        MissingInputError: A file does not exist.
    """
    results = analysis.results
    labels = _read_labels(results)
    errors = results.study.judge.errors
    judges = bool(results.study.judge.panels.get(TYPE))
    parts: list[tuple[Cell, str, pl.DataFrame]] = []
    for cell in results.study.cells if errors else ():
        judged = analysis.judgements.get(cell)
        rows = None if judged is None else judged.filter(instrument=TYPE).select(_JUDGED)
        if rows is not None and judges:
            parts.append((cell, JUDGE, rows.filter(pl.col("outcome") != "unjudged")))
        if cell in labels:
            parts.append((cell, PEOPLE, _add_typed_failures(labels[cell], rows)))
    text = dict.fromkeys((*_CELL, *_JUDGED), pl.String())
    schema = {**text, "index": pl.Int64(), "simulated": pl.Boolean()}
    named = (
        frame.with_columns(
            model=pl.lit(cell.model), setting=pl.lit(cell.setting), by=pl.lit(by)
        ).select(*schema)
        for cell, by, frame in parts
    )
    return pl.concat([pl.DataFrame(schema=schema), *named])


def _read_labels(results: Results) -> dict[Cell, pl.DataFrame]:
    """Read the annotators' types of errors, if the study has a file of them.

    Returns:
        One row per labelled response with `_JUDGED`, by cell.
    """
    errors = results.study.judge.errors
    file = (errors.labels or results.study.certify.labels) if errors else None
    matched = match_column(results, file, TYPE)
    if errors is None or matched is None:
        return {}
    check_error_types(matched, errors.taxonomy)
    types = matched.column(TYPE)
    labels: dict[Cell, list[dict[str, Any]]] = {}
    for label in matched.labels:
        place = dict(zip(RESPONSE, label.place, strict=True))
        cell, answer = Cell(place["model"], place["setting"]), results.answers[place["id"]]
        labels.setdefault(cell, []).append(
            {"id": answer.id, "index": place["index"], TYPE: types[label.place],
             "taxonomy": errors.taxonomy, "outcome": "scored", "judge": None,
             "simulated": label.row.simulated or results.simulated_cells[cell],
             "cluster": answer.group or answer.id}
        )  # fmt: skip
    schema = {**dict.fromkeys(_JUDGED, pl.String), "index": pl.Int64, "simulated": pl.Boolean}
    return {cell: pl.DataFrame(rows, schema=schema) for cell, rows in labels.items()}


def _add_typed_failures(labels: pl.DataFrame, judged: pl.DataFrame | None) -> pl.DataFrame:
    """Add the unlabelled failures whose type follows from their outcome, without a judge."""
    if judged is None:
        return labels
    typed = judged.filter(pl.col("judge").is_null(), pl.col(TYPE).is_not_null())
    return pl.concat([labels, typed.join(labels, on=["id", "index"], how="anti")])


@result(
    "wrong-steps",
    "Steps of rationales with an error, as labelled by annotators",
    source="OMIBench, section 5 and B.2",
)
def tabulate_wrong_steps(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the share of labelled key steps with an error.

    Args:
        analysis: The study's results; the labels come from `judge.errors.labels`, otherwise from
            `certify.labels`, with the columns `steps` and `wrong_steps`.

    Returns:
        One row per cell, and one per setting over all labelled models (`model` is empty), as in the
        paper's sum over two: the metric `wrong-steps`, wrong steps over all steps, with an interval
        clustered by problem; `n` is the number of problems, and `steps` and `rationales` are the
        numbers labelled. None without labels of steps.
    """
    steps = _read_steps(analysis.results)
    if steps is None:
        return None
    responses = analysis.add_clusters(steps)
    rows = []
    for models in (responses, responses.with_columns(model=pl.lit(""))):
        for (setting, model), part in models.group_by("setting", "model", maintain_order=True):
            groups = part["cluster"].to_list()
            share = clustered_ratio(
                part[WRONG_STEPS].to_list(), part[STEPS].to_list(), groups, analysis.confidence
            )
            rows.append(
                {
                    "model": model, "setting": setting, "metric": "wrong-steps",
                    **write_estimate(share), "n": part["id"].n_unique(),
                    "clusters": len(set(groups)), "steps": share.n, "rationales": part.height,
                    "simulated": bool(part["simulated"].any()),
                }
            )  # fmt: skip
    return label_cells(analysis, pl.DataFrame(rows))


def _read_steps(results: Results) -> pl.DataFrame | None:
    """Return a row per rationale with labelled steps: `RESPONSE`, the counts and `simulated`."""
    errors = results.study.judge.errors
    file = (errors.labels if errors else None) or results.study.certify.labels
    matched = match_column(results, file, STEPS)
    if matched is None:
        return None
    wrong, every = matched.column(WRONG_STEPS), matched.column(STEPS)
    simulated = {label.place: label.row.simulated for label in matched.labels}
    counts = [
        dict(zip(RESPONSE, place, strict=True))
        | {STEPS: steps, WRONG_STEPS: wrong[place], "simulated": simulated[place]}
        for place, steps in every.items()
    ]
    for row in counts:
        cell = Cell(row["model"], row["setting"])
        row["simulated"] |= results.has_synthetic_problems or results.simulated_cells[cell]
    return pl.DataFrame(counts) if counts else None


@result(
    "rationale-marks",
    "Quality of rationales and their alignment with the reference, by model",
    source="OMIBench, B.2",
)
def tabulate_marks(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the judges' mean marks for the rationales of each cell.

    Args:
        analysis: The study's results.

    Returns:
        One row per cell and mark, which is the `metric` (five dimensions of quality, an overall
        mark, and alignment with the reference): from 1 to 5, averaged over samples and then
        problems. `instrument` is the judge's instrument, `judge` its model, `judge_failed` the
        number of judgements without a mark, `calibrated` whether a certificate from human marks
        exists. None if no rationales were marked.
    """
    rows = [
        {**cell._asdict(), "metric": mark}
        | _average(part, mark, analysis.confidence, (LOWEST_MARK, HIGHEST_MARK))
        | {"instrument": instrument, "judge": _name_judge(part),
           "judge_failed": _count_failed(part),
           "calibrated": _is_certified(analysis, cell, instrument, mark),
           "simulated": bool(part["simulated"].any())}
        for cell, judged in analysis.judgements.items()
        for instrument, marks in MARKS_BY_INSTRUMENT.items()
        if (part := judged.filter(instrument=instrument)).height
        for mark in marks
    ]  # fmt: skip
    return label_cells(analysis, pl.DataFrame(rows, infer_schema_length=None)) if rows else None


@result("other-judges", "Marks and labels of the judges of plug-ins")
def tabulate_other_judges(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the judgements of `judge.others`.

    Args:
        analysis: The study's results.

    Returns:
        By judge (`instrument`) and cell: the metric `mean` of its marks, on a scale from `lowest`
        to `highest`; or the metric `share` of each label (`value`) it gave to any cell, most
        frequent first. `judge` is its model, `judge_failed` the number of failed judgements. None
        without such judges.
    """
    rows: list[dict[str, Any]] = []
    for name in analysis.results.study.judge.others:
        parts = {cell: rows.filter(instrument=name) for cell, rows in analysis.judgements.items()}
        labels = pl.concat(part["label"].drop_nulls() for part in parts.values())
        counts = labels.value_counts().sort("count", "label", descending=[True, False])
        for cell, part in parts.items():
            base = {
                **cell._asdict(), "instrument": name,
                "judge": _name_judge(part), "judge_failed": _count_failed(part),
                "simulated": bool(part["simulated"].any()),
            }  # fmt: skip
            marks = part.drop_nulls("mark")
            if part.height and not counts.height and marks.height:
                scale = (float(marks["lowest"][0]), float(marks["highest"][0]))
                mean = _average(marks, "mark", analysis.confidence, scale)
                rows.append({**base, "value": "", "metric": MEAN, **mean,
                             "lowest": scale[0], "highest": scale[1]})  # fmt: skip
            for label in counts["label"] if part.height else ():
                given = part.drop_nulls("label")
                hits = given.with_columns(is_it=(pl.col("label") == label).cast(pl.Float64))
                share = _average(hits, "is_it", analysis.confidence)
                rows.append({**base, "value": label, "metric": "share", **share,
                             "lowest": 0.0, "highest": 1.0})  # fmt: skip
    return frame_rows(rows)


def _average(
    rows: pl.DataFrame, column: str, confidence: float, scale: tuple[float, float] | None = None
) -> dict[str, Any]:
    """Average a column over samples and then problems: a share, or a mean on a scale."""
    problems = (
        rows.drop_nulls(column)
        .group_by("id", maintain_order=True)
        .agg(pl.col(column).mean(), pl.col("cluster").first())
    )
    values, clusters = problems[column].to_list(), problems["cluster"].to_list()
    found: Estimate = (
        clustered_mean(values, clusters, confidence, *scale)
        if scale
        else clustered_wilson(values, clusters, confidence)
    )
    return {**write_estimate(found), "n": found.n, "clusters": len(set(clusters))}


def _is_certified(analysis: Analysis, cell: Cell, instrument: str, mark: str = "") -> bool:
    rows = analysis.judgements[cell].filter(instrument=instrument)
    certificate = find_certificate(analysis.results, rows)
    return certificate is not None and (not mark or mark in certificate.marks)


def _count_failed(rows: pl.DataFrame) -> int:
    return int((rows["outcome"] != "scored").sum())


def _name_judge(rows: pl.DataFrame) -> str:
    """Return the judges of one instrument, joined by `+`; empty if none was run."""
    return str(rows["judge"].drop_nulls().first() or "")
