"""Judges and scorers compared with human labels, and disagreements between judge and scorer.

OMIBench, appendix J and table 7: human ratings and the verdicts of each evaluator on the same
responses. OMIBench, C.3 and figure 16: responses on which scorer and judge disagree, with the
source of the disagreement as labelled by annotators.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from itertools import compress
from math import isnan
from typing import Any

import polars as pl

from omibench.results.grouped import estimate_groups
from omibench.results.judgements import DISAGREE, QUADRANTS, RESPONSE, side_by_side
from omibench.results.load import JUDGE_RULES, PUBLISHED_RULES, VOTE_MARK
from omibench.results.statistics.agreement import binary_measures, kappa_measure, share_measure
from omibench.results.statistics.correlation import correlate_by_rank
from omibench.results.statistics.homogeneity import compare_rates, describe_doubts
from omibench.results.statistics.intervals import clustered_wilson
from omibench.results.statistics.paired import paired_difference
from omibench.schemas.certificate import Measure
from omibench.schemas.verdict import RIGHT
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.certificates import match_column
from omibench.stages.analyze.results.result import frame_rows, result, write_estimate
from omibench.stages.certify.labels import SOURCES

Row = dict[str, Any]
QUADRANT, SOURCE = "quadrant", "source"
_LOG = logging.getLogger("omibench")


@result(
    "judges",
    "Each judge and scorer compared with human labels of the same responses",
    source="OMIBench, appendix J and table 7",
)
def tabulate_judges(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the agreement with human labels of each judge, the judges' vote and the scorers.

    Args:
        analysis: The study's results.

    Returns:
        One row per scorer (`gptscore` for the judges' vote, `gptscore/<model>` for each judge of
        several), model (empty: all models) and metric, over responses with both a human label and a
        score: `spearman` between graded labels and verdicts with `p` (two-sided, clustered by
        stem), `agreement` (share of labels repeated), `kappa` (Cohen's), and `tpr` and `fpr` (share
        of right and of wrong responses called right); `judge` lists the models. None if
        `certify.labels` has no labels of correctness.
    """
    labels = _read_labels(analysis)
    if labels is None:
        return None
    results = analysis.results
    scorers = [rules for rules in [*results.rules, *results.votes] if rules != PUBLISHED_RULES]
    verdicts = results.counting_verdicts.filter(
        pl.col("rules").is_in(scorers), pl.col("outcome") == "scored"
    )
    pairs = verdicts.join(labels, on=list(RESPONSE), maintain_order="left")
    rows = [
        row
        for rules in scorers
        for model, part in _split_by_model(pairs.filter(rules=rules))
        for row in _measure_judge(part, analysis.confidence, {"rules": rules, "model": model})
    ]
    return frame_rows(rows)


@result(
    "disagreements",
    "Disagreements of judge and scorer, with sources as labelled by annotators",
    source="OMIBench, C.3 and figure 16",
)
def tabulate_disagreements(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the four combinations of judge and scorer verdicts, and sources of disagreement.

    Args:
        analysis: The study's results.

    Returns:
        Shares with intervals and counts. Slice `quadrant`: of a model's responses scored by the
        judge, the number right by both, by the judge alone, by the scorer alone and by neither.
        Slice `source`: of the disagreements with a labelled `source`, the number of each, overall
        (`disagreement` empty) and by `judge_only` and `rules_only`. `rules` is the scorer. Rows of
        all models have an empty `model`. None without a judge.
    """
    results = analysis.results
    if JUDGE_RULES not in results.rules:
        return None
    rules = next(scorer for scorer in [results.main_rules, *results.rules] if scorer != JUDGE_RULES)
    columns = [*RESPONSE, "cluster", QUADRANT]
    sides = side_by_side(results, rules).select(*columns, rules=pl.lit(JUDGE_RULES))
    judged = analysis.mark_simulated(sides).with_columns(
        pl.col("simulated") | results.has_simulated_judge(rules)
    )
    tables = [
        _share_values(analysis, _repeat_for_all(judged), QUADRANT, QUADRANTS, ""),
        *_tabulate_sources(analysis, judged),
    ]
    return pl.concat(tables, how="diagonal_relaxed").with_columns(rules=pl.lit(rules))


@result("judge-difference", "GPTScore minus the main scorer on the same responses")
def tabulate_judge_difference(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate the paired difference of the judge and the main scorer over all cells.

    Args:
        analysis: The study's results.

    Returns:
        One row: the metric `difference` with a clustered interval; `n` counts responses,
        `disagreements` those that only one of the two calls right. None without a judge besides
        the main scorer.
    """
    results = analysis.results
    if JUDGE_RULES not in results.rules or results.main_rules == JUDGE_RULES:
        return None
    judge, scorer = (results.select_verdicts(r) for r in (JUDGE_RULES, results.main_rules))
    pairs = judge.join(scorer, on=list(RESPONSE), maintain_order="left")
    first, second = pairs["verdict"], pairs["verdict_right"]
    difference = paired_difference(
        first.to_list(), second.to_list(), pairs["cluster"].to_list(), analysis.confidence
    )
    return pl.DataFrame(
        {
            "rules": results.main_rules, "metric": "difference", **write_estimate(difference),
            "n": difference.n,
            "clusters": pairs["cluster"].n_unique(),
            "disagreements": int(((first - second).abs() >= RIGHT).sum()),
            "simulated": results.rests_on_simulation(JUDGE_RULES),
        }
    )  # fmt: skip


@result("judge-errors", "Whether the judge errs equally often for all models and answer types")
def tabulate_errors(analysis: Analysis) -> pl.DataFrame | None:
    """Tabulate tests of equal error rates of the judge between models and between answer types.

    Args:
        analysis: The study's results.

    Returns:
        One row per `slice` (`model`, `answer_type`) and metric (`tpr`, `fpr`): `estimate` is the
        `highest` minus the `lowest` rate of the `groups` with enough labels, `n` counts their
        labels; `p`, `p_holm` over all these tests, and `differs` (null if labels are too few). A
        difference is logged as a warning. None without a certificate.
    """
    certificate = analysis.results.certificate
    if certificate is None:
        return None
    tests = compare_rates(certificate)
    if any(test.differs for test in tests):
        _LOG.warning(
            "analyze: %s; `corrected_by` names the labels by which each GPTScore is corrected",
            describe_doubts(tests),
        )
    return pl.DataFrame(
        [
            {
                "slice": test.by, "metric": test.rate, "estimate": test.highest - test.lowest,
                "n": test.labels, "groups": test.groups, "lowest": test.lowest,
                "highest": test.highest, "p": test.p, "p_holm": test.adjusted,
                "differs": None if isnan(test.p) else test.differs,
                "simulated": certificate.simulated,
            }
            for test in tests
        ]
    )  # fmt: skip


def _read_labels(analysis: Analysis) -> pl.DataFrame | None:
    """Return the responses labelled right or wrong by annotators, with `label` in [0, 1] and
    `labelled_by`."""
    matched = match_column(analysis.results, analysis.study.certify.labels, "label")
    if matched is None:
        return None
    simulated = {label.place: label.row.simulated for label in matched.labels}
    rows = [
        (*place, float(label), simulated[place]) for place, label in matched.column("label").items()
    ]
    schema = dict.fromkeys(RESPONSE, pl.String) | {
        "index": pl.Int64, "label": pl.Float64, "by_stand_in": pl.Boolean,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row") if rows else None


def _split_by_model(pairs: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Return all models together under an empty name, then each model if there are several."""
    if pairs.is_empty():
        return
    yield "", pairs
    models = pairs["model"].unique(maintain_order=True).to_list()
    for model in models if len(models) > 1 else []:
        yield model, pairs.filter(model=model)


def _measure_judge(part: pl.DataFrame, confidence: float, names: Row) -> Iterator[Row]:
    labels, verdicts = part["label"].to_list(), part["verdict"].to_list()
    clusters = part["cluster"].to_list()
    right = [float(label >= RIGHT) for label in labels]
    called = [float(verdict >= RIGHT) for verdict in verdicts]
    base = names | {
        "judge": _name_judge(part), "clusters": len(set(clusters)),
        "simulated": bool(part.select("responded_simulated", "judge_simulated", "by_stand_in")
                          .to_numpy().any()),
    }  # fmt: skip
    rank = correlate_by_rank(labels, verdicts, clusters, confidence)
    if not isnan(rank.value):
        yield base | {
            "metric": "spearman", **write_estimate(rank), "n": rank.n, "p": rank.p,
        }  # fmt: skip
    agreement = clustered_wilson(
        [float(a == b) for a, b in zip(right, called, strict=True)], clusters, confidence
    )

    def share_called(label: float) -> Measure:
        """Return the share called right among responses with a given human label."""
        kept = [value == label for value in right]
        verdicts, groups = [*compress(called, kept)], [*compress(clusters, kept)]
        return share_measure(clustered_wilson(verdicts, groups, confidence))

    rates = {
        "agreement": share_measure(agreement),
        "kappa": kappa_measure(agreement, right, called),
        **binary_measures(agreement, right, called, clusters, confidence),
        "tpr": share_called(1.0),
        "fpr": share_called(0.0),
    }
    for name, rate in rates.items():
        if rate.n:
            numbers = write_estimate((rate.value, rate.lo, rate.hi))
            yield base | {"metric": name, **numbers, "n": rate.n}


def _name_judge(part: pl.DataFrame) -> str:
    rules = str(part["rules"][0])
    if VOTE_MARK in rules:
        return rules.split(VOTE_MARK, 1)[1]
    return ", ".join(sorted(part["judge"].drop_nulls().unique().to_list()))


def _tabulate_sources(analysis: Analysis, judged: pl.DataFrame) -> Iterator[pl.DataFrame]:
    certify = analysis.study.certify
    matched = match_column(analysis.results, certify.sources or certify.labels, SOURCE)
    if matched is None:
        return
    sources: Mapping[Any, str] = matched.column(SOURCE)
    rows = [(*place, source) for place, source in sources.items()]
    schema = dict.fromkeys(RESPONSE, pl.String) | {"index": pl.Int64, SOURCE: pl.String}
    labels = pl.DataFrame(rows, schema=schema, orient="row")
    disagree = judged.filter(pl.col(QUADRANT).is_in(DISAGREE))
    labelled = _repeat_for_all(disagree.join(labels, on=list(RESPONSE), maintain_order="left"))
    for name in ("", *DISAGREE):
        part = labelled.filter(pl.col(QUADRANT) == name) if name else labelled
        if part.height:
            yield _share_values(analysis, part, SOURCE, SOURCES, name)


def _repeat_for_all(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of each model, and all of them again under an empty name."""
    return pl.concat([rows, rows.with_columns(model=pl.lit(""))])


def _share_values(
    analysis: Analysis, rows: pl.DataFrame, column: str, values: tuple[str, ...], disagreement: str
) -> pl.DataFrame:
    """Return the share of each model's responses with each value of a column."""
    by, is_value = ["model", "value"], pl.col(column) == pl.col("value")
    asked = pl.DataFrame({"value": values})
    hits = rows.join(asked, how="cross", maintain_order="left_right").with_columns(
        verdict=is_value.cast(pl.Float64)
    )
    counts = hits.group_by(by).agg(
        pl.col("simulated").any(), count=pl.col("verdict").sum().cast(pl.Int64)
    )
    shares = estimate_groups(hits, by, analysis.confidence).drop("n_eff")
    return shares.join(counts, on=by, maintain_order="left").with_columns(
        slice=pl.lit(column), metric=pl.lit("share"), disagreement=pl.lit(disagreement)
    )
