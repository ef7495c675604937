"""The judge compared with human labels and with the scorer, and unjudged responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from omibench.judges.gptscore import find_variant
from omibench.results.four_way import QUADRANTS, four_way, side_by_side
from omibench.results.load import JUDGE_RULES, Results
from omibench.schemas.certificate import ALL_TYPES, Certificate, FourWay, JudgeQuality, Measure
from omibench.stages.analyze.claims import calibration_sentence
from omibench.stages.analyze.sections.section import ReportSection, section
from omibench.stages.analyze.tables.accuracy import TOTAL, Score
from omibench.stages.analyze.tables.calibration import UNCALIBRATED
from omibench.stages.analyze.words import (
    NO_VALUE,
    count_noun,
    describe_cell,
    format_bounds,
    format_decimals,
    format_percent,
    format_share,
    name_scorer,
)

KINDS = {ALL_TYPES: "all labels", "mcq": "multiple choice", "open": "open answers"}
_CORRECTED = (
    " Corrected: the total corrected for the judge's errors by the certificate (Rogan and Gladen); "
    "its interval includes their uncertainty."
)
_LITERAL = (
    " Its wording comes from a literal file: no fences keep a response from addressing the judge."
)
_ASK = (
    "No certificate covers this judge model and prompt, so its scores are uncalibrated: label some "
    "responses and run `omibench certify`."
)

_VARIANTS = {
    "justified": "a conclusion without reasoning that justifies it is inconsistent",
    "bare-answers": "a response that gives only its final answer is judged by it",
    None: "by the study's custom wording",
}


@section("judge")
class JudgeSection(ReportSection):
    """The section on the judge; left out if no judge was run."""

    title = "Quality of the judge"
    template = "sections/judge.html.j2"

    def view(self) -> Mapping[str, Any] | None:
        """Return its certificate, the four combinations of its and a scorer's verdicts, and every
        cell."""
        results = self.results
        if JUDGE_RULES not in results.rules:
            return None
        return {
            **describe_judge(results, self.analysis.scores),
            "simulated": results.judge_simulated or results.has_synthetic_problems,
            "uncalibrated": results.certificate is None,
        }


def describe_judge(results: Results, scores: Sequence[Score]) -> dict[str, Any]:
    """Return the template's values for the judge."""
    certificate = results.certificate
    rules = next(r for r in [results.main_rules, *results.rules] if r != JUDGE_RULES)
    rows = four_way(side_by_side(results, rules))
    return {
        "sentence": f"GPTScore, {describe_variant(results)}. "
        + (calibration_sentence(results) if certificate else _ASK)
        + (_LITERAL if results.select_verdicts(JUDGE_RULES)["literal"].any() else ""),
        "certificate": _certificate(certificate) if certificate else None,
        "rules": rules,
        "rules_words": name_scorer(rules),
        "four_way": [_four_way(results, row) for row in rows],
        "corrected_words": _CORRECTED if certificate else "",
        "cells": _cells(results, scores),
    }


def describe_variant(results: Results) -> str:
    """Return the judge's variant of GPTScore, by the hash of its prompt."""
    hashes = results.select_verdicts(JUDGE_RULES)["prompt_sha256"].drop_nulls().unique().sort()
    variants = list(dict.fromkeys(find_variant(sha256) for sha256 in hashes))
    names = [f"variant {name}: {_VARIANTS[name]}" if name else _VARIANTS[name] for name in variants]
    return "; ".join(names) or "without a prompt"


def describe_certificate(results: Results) -> str:
    """Return a short text on the judge's certificate, for the list of facts."""
    certificate = results.certificate
    if certificate is None:
        return UNCALIBRATED
    mark = "SIMULATED " if certificate.simulated else ""
    return (
        f"certified on {count_noun(certificate.n, f'{mark}label')} ({certificate.labels}, SHA-256 "
        f"{certificate.labels_sha256[:12]}), prompt {certificate.prompt_sha256[:12]}"
    )


def _certificate(certificate: Certificate) -> dict[str, Any]:
    left_out = [
        (certificate.judge_failed, "judge failed"), (certificate.not_judged, "not judged"),
        (certificate.stale, "of a text that has changed"),
        (certificate.unknown, "of responses outside of the study"),
    ]  # fmt: skip
    return {
        "simulated": certificate.simulated,
        "caption": f"The judge compared with {count_noun(certificate.n, 'label')} of "
        f"{count_noun(certificate.problems, 'problem')}, "
        f"{format_percent(certificate.confidence, 0)} "
        "intervals; "
        "TPR and FPR: share of right and of wrong responses that it calls right."
        + "".join(f" {count_noun(n, 'more label')}: {reason}." for n, reason in left_out if n),
        "rows": [
            {"kind": KINDS.get(kind, kind), "n": q.agreement.n, "measures": _measures(q)}
            for kind, q in certificate.quality.items()
        ],
    }


def _measures(quality: JudgeQuality) -> list[dict[str, str]]:
    shares = [_share(m) for m in (quality.agreement, quality.tpr, quality.fpr)]
    return [*shares, *(_plain(m) for m in (quality.kappa, quality.spearman))]


def _share(measure: Measure) -> dict[str, str]:
    if measure.value is None:
        return {"value": NO_VALUE, "interval": ""}
    return {"value": format_share(measure.value), "interval": _bounds(measure, format_share)}


def _plain(measure: Measure) -> dict[str, str]:
    if measure.value is None:
        return {"value": NO_VALUE, "interval": ""}
    return {"value": format_decimals(measure.value, 2), "interval": _bounds(measure, _two)}


def _two(value: float) -> str:
    return format_decimals(value, 2)


def _bounds(measure: Measure, word: Any) -> str:
    if measure.lo is None or measure.hi is None:
        return ""
    return f"[{word(measure.lo)}, {word(measure.hi)}]"


def _four_way(results: Results, row: FourWay) -> dict[str, Any]:
    counts = [getattr(row, name) for name in QUADRANTS]
    agreed, n = row.both_right + row.both_wrong, sum(counts)
    return {
        "model": results.label(row.model) if row.model else "All models",
        "simulated": any(
            simulated
            for cell, simulated in results.simulated_cells.items()
            if row.model in ("", cell.model)
        ),
        "counts": counts,
        "agreed": format_percent(agreed / n) if n else NO_VALUE,
    }


def _cells(results: Results, scores: Sequence[Score]) -> list[dict[str, Any]]:
    """Return for every cell the number of responses the judge called right or wrong, failed on, or
    was not sent."""
    totals = {s.cell: s for s in scores if (s.rules, s.subject) == (JUDGE_RULES, TOTAL)}
    rows_by_cell = (
        (c, results.select_verdicts(JUDGE_RULES, c).rows(named=True)) for c in results.study.cells
    )
    return [
        {
            **describe_cell(results, cell),
            "counts": _outcomes(rows),
            "totals": _totals(totals[cell]) if cell in totals else [],
        }
        for cell, rows in rows_by_cell
    ]


def _totals(score: Score) -> list[dict[str, str]]:
    """Return GPTScore and, with a certificate, its value corrected for the judge's errors."""
    words = [{"value": format_share(score.acc.mean), "interval": format_bounds(score.acc)}]
    if score.corrected:
        value, interval = format_share(score.corrected.value), format_bounds(score.corrected)
        words.append({"value": value, "interval": interval})
    return words


def _outcomes(rows: Sequence[dict[str, Any]]) -> list[int]:
    scored = [row["verdict"] >= 0.5 for row in rows if row["outcome"] == "scored"]
    failed = sum(row["outcome"] == "judge_failed" for row in rows)
    return [sum(scored), len(scored) - sum(scored), failed, len(rows) - len(scored) - failed]
