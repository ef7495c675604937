"""The judge compared with human labels and with the scorer, and unjudged responses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from omibench.judges.gptscore import find_variant
from omibench.results.four_way import QUADRANTS
from omibench.results.load import JUDGE_RULES, Results
from omibench.schemas.certificate import ALL_TYPES, Certificate, Measure
from omibench.stages.analyze.certificates import UNCALIBRATED
from omibench.stages.analyze.claims import calibration_sentence
from omibench.stages.analyze.page_table import (
    CELL_HEADS,
    Block,
    Entry,
    PageTable,
    Row,
    describe_card,
    name_cell,
    name_heads,
    show_number,
    show_share,
)
from omibench.stages.analyze.results.accuracy import ANSWERED_RIGHT, ANSWERED_WRONG, TOTAL
from omibench.stages.analyze.results.judges import QUADRANT
from omibench.stages.analyze.sections.section import ReportSection, section
from omibench.stages.analyze.words import (
    NO_VALUE,
    count_noun,
    format_percent,
    name_scorer,
)

if TYPE_CHECKING:
    from omibench.stages.analyze.analysis import Analysis

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
_OUTCOMES = (
    "Responses by outcome; judge failed: no valid verdict or a tied vote, not judged: no answer."
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
    template = "sections/tables.html.j2"

    def view(self) -> Mapping[str, Any] | None:
        """Return its certificate, the four combinations of its and a scorer's verdicts, and every
        cell."""
        results = self.results
        if JUDGE_RULES not in results.rules:
            return None
        certificate = results.certificate
        simulated = results.judge_simulated or results.has_synthetic_problems
        literal = results.select_verdicts(JUDGE_RULES)["literal"].any()
        blocks = [
            Block(_compare_with_scorer(self.analysis, simulated), "Compared with the scorer"),
            Block(
                _list_cells(self.analysis, simulated),
                summary="Verdicts of the judge by cell"
                + (", with corrected totals" if certificate else ""),
            ),
        ]
        if certificate:
            table = _describe_certificate(certificate)
            blocks.insert(0, Block(table, "Compared with human labels"))
        sentence = f"GPTScore, {describe_variant(results)}. "
        sentence += calibration_sentence(results) if certificate else _ASK
        return describe_card(
            blocks,
            sentence + (_LITERAL if literal else ""),
            simulated=simulated,
            uncalibrated=certificate is None,
        )


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


def _describe_certificate(certificate: Certificate) -> PageTable:
    left_out = [
        (certificate.judge_failed, "judge failed"), (certificate.not_judged, "not judged"),
        (certificate.stale, "of a text that has changed"),
        (certificate.unknown, "of responses outside of the study"),
    ]  # fmt: skip
    caption = (
        f"The judge compared with {count_noun(certificate.n, 'label')} of "
        f"{count_noun(certificate.problems, 'problem')}, "
        f"{format_percent(certificate.confidence, 0)} intervals; "
        "TPR and FPR: share of right and of wrong responses that it calls right."
    )
    caption += "".join(f" {count_noun(n, 'more label')}: {reason}." for n, reason in left_out if n)
    heads = ("n", "Agreement, %", "TPR, %", "FPR, %", "Cohen's kappa", "Spearman")
    rows = [
        [
            Entry(KINDS.get(kind, kind), is_name=True),
            Entry(quality.agreement.n),
            *(show_share(_row(m)) for m in (quality.agreement, quality.tpr, quality.fpr)),
            *(show_number(_row(m)) for m in (quality.kappa, quality.spearman)),
        ]
        for kind, quality in certificate.quality.items()
    ]
    columns = [*name_heads("Labels"), *map(Entry, heads)]
    return PageTable(caption, columns, rows, simulated=certificate.simulated)


def _row(measure: Measure) -> Row:
    return {"estimate": measure.value, "low": measure.lo, "high": measure.hi}


def _compare_with_scorer(analysis: Analysis, simulated: bool) -> PageTable:
    """Return the four combinations of verdicts of each model, and of all (`disagreements`)."""
    results = analysis.results
    table = analysis.find_rows("disagreements")
    counts: dict[str, dict[str, int]] = {}
    rules = next(r for r in [results.main_rules, *results.rules] if r != JUDGE_RULES)
    if table is not None:
        rows = table.filter(slice=QUADRANT)
        for model, name, count in rows.select("model", "value", "count").iter_rows():
            counts.setdefault(model, {})[name] = count
    models = [model for model in counts if model]
    heads = ("Both right", "Both wrong", "Only the judge: right", f"Only {rules}: right")
    return PageTable(
        f"The judge and {name_scorer(rules)} on the responses scored by the judge.",
        [*name_heads("Model"), *map(Entry, (*heads, "Agreement"))],
        [
            [
                Entry(
                    results.label(model) if model else "All models",
                    is_name=True,
                    simulated=any(
                        mark for cell, mark in results.simulated_cells.items()
                        if model in ("", cell.model)
                    ),
                ),
                *(Entry(by_quadrant[name]) for name in QUADRANTS),
                Entry(_format_agreement(by_quadrant)),
            ]
            for model in [*models, ""]
            for by_quadrant in (counts.get(model, dict.fromkeys(QUADRANTS, 0)),)
        ],
        simulated=simulated,
    )  # fmt: skip


def _format_agreement(counts: Mapping[str, int]) -> str:
    n = sum(counts.values())
    return format_percent((counts["both_right"] + counts["both_wrong"]) / n) if n else NO_VALUE


def _list_cells(analysis: Analysis, simulated: bool) -> PageTable:
    """Return for every cell the number of responses the judge called right or wrong, failed on, or
    was not sent; GPTScore; and, with a certificate, GPTScore corrected for the judge's errors."""
    results, certificate = analysis.results, analysis.results.certificate
    scores = analysis.scores.filter(rules=JUDGE_RULES, subject=TOTAL)
    totals = {(row["model"], row["setting"]): row for row in scores.to_dicts()}
    outcomes = analysis.rows("outcomes").filter(rules=JUDGE_RULES)
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for model, setting, name, count in outcomes.select(
        "model", "setting", "value", "count"
    ).iter_rows():
        counts.setdefault((model, setting), {})[name] = count
    rows = []
    for cell in results.study.cells:
        by_outcome, total = counts.get(cell, {}), totals.get(cell)
        named = [by_outcome.get(n, 0) for n in (ANSWERED_RIGHT, ANSWERED_WRONG, "judge_failed")]
        numbers = [*named, sum(by_outcome.values()) - sum(named)]
        shown = [show_share(total)] if total else []
        if total and certificate:
            shown.append(show_share(total, "corrected"))
        rows.append([*name_cell(results, cell), *map(Entry, numbers), *shown])
    heads = ["Right", "Wrong", "Judge failed", "Not judged", "GPTScore"]
    return PageTable(
        _OUTCOMES + (_CORRECTED if certificate else ""),
        [*CELL_HEADS, *map(Entry, heads + ["Corrected"] * bool(certificate))],
        rows,
        simulated=simulated,
    )
