"""The judge compared with human labels and with the scorer, and unjudged responses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from omibench.answers.judges.gptscore import find_variant
from omibench.results.judgements import QUADRANTS
from omibench.results.load import JUDGE_RULES, Results
from omibench.results.statistics.homogeneity import FEWEST
from omibench.schemas.certificate import ALL_TYPES, Certificate, ReasoningCertificate
from omibench.schemas.verdict import ALIGNMENT_MARK, MARKS_BY_INSTRUMENT, QUALITY_MARKS
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.certificates import UNCALIBRATED, find_certificate
from omibench.stages.analyze.formatting import (
    NO_VALUE,
    count_noun,
    format_decimals,
    format_level,
    format_p,
    format_percent,
    format_share,
    name_outcome,
    name_scorer,
)
from omibench.stages.analyze.page_table import (
    CELL_COLUMNS,
    Column,
    Entry,
    PageTable,
    Row,
    name_cell,
    name_row,
    show_share,
    show_value,
    spread,
)
from omibench.stages.analyze.results.accuracy import ANSWERED_RIGHT, ANSWERED_WRONG, TOTAL, cells_of
from omibench.stages.analyze.results.judges import QUADRANT
from omibench.stages.analyze.results.reasoning import JUDGE, MEAN, PEOPLE, TYPE
from omibench.stages.analyze.sections.section import ReportSection, section
from omibench.stages.analyze.sentences import calibration_sentence

KINDS = {ALL_TYPES: "all labels", "mcq": "multiple choice", "open": "open answers"}
_CORRECTED = (
    " Corrected: the total corrected for the judge's errors by the certificate (Rogan and Gladen); "
    "its interval includes their uncertainty. The line below names the labels of the error rates."
)
_RATES = {
    "model": "its own labels", "answer_type": "labels by answer type", ALL_TYPES: "all labels",
}  # fmt: skip
_ERRORS_BY = (
    "Does the judge err equally often for all models and answer types? Groups of at least "
    f"{FEWEST} labels; Fisher's exact test, p by Holm over these tests. Where a rate differs, a "
    "total corrected by other labels than its own is biased."
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
        return {
            "tables": [
                *([_describe_certificate(certificate)] if certificate else []),
                *([_compare_errors(self.analysis)] if certificate else []),
                _compare_with_scorer(self.analysis, simulated),
                _list_cells(self.analysis, simulated),
            ],
            "sentence": f"GPTScore, {describe_variant(results)}. "
            + (calibration_sentence(results) if certificate else _ASK)
            + (_LITERAL if literal else ""),
            "simulated": simulated,
            "uncalibrated": certificate is None,
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
        "TPR and FPR: share of right and of wrong responses that it calls right; on right and on "
        "wrong: share of the verdicts of either that the other shares. Where most responses are "
        "alike, kappa is low for a good judge too; AC1 is not."
    )
    caption += "".join(f" {count_noun(n, 'more label')}: {reason}." for n, reason in left_out if n)
    return PageTable(
        caption,
        [
            Column("Labels", "text"), Column("n"),
            *(Column(head, "share") for head in (
                "Agreement, %", "on right, %", "on wrong, %", "TPR, %", "FPR, %")),
            *(Column(head, "number") for head in ("Cohen's kappa", "Gwet's AC1", "Spearman")),
        ],
        [
            [
                KINDS.get(kind, kind),
                q.agreement.n,
                *({"estimate": measure.value, "low": measure.lo, "high": measure.hi}
                  for measure in (q.agreement, q.positive, q.negative, q.tpr, q.fpr, q.kappa, q.ac1,
                                  q.spearman)),
            ]
            for kind, q in certificate.quality.items()
        ],
        simulated=certificate.simulated,
        heading="Compared with human labels",
    )  # fmt: skip


def _compare_errors(analysis: Analysis) -> PageTable:
    """Return the tests of equal error rates, with their findings (`judge-errors`)."""
    findings = {True: "differs", False: "no difference found", None: "too few labels to say"}
    rows = analysis.list_rows("judge-errors")
    return PageTable(
        _ERRORS_BY,
        [
            Column("Rate", "text"), Column("Groups"), Column("n"), Column("Lowest, %"),
            Column("Highest, %"), Column("p"), Column("Finding", "text"),
        ],
        [
            [
                f"{row['metric'].upper()} by {row['slice'].replace('_', ' ')}", row["groups"],
                row["n"], format_share(row["lowest"]), format_share(row["highest"]),
                NO_VALUE if row["p_holm"] is None else format_p(row["p_holm"]),
                findings[row["differs"]],
            ]
            for row in rows
        ],
        simulated=any(row["simulated"] for row in rows),
        heading="Errors by model and answer type",
    )  # fmt: skip


def _count(rows: Sequence[Row], *names: str) -> dict[tuple[str, ...], dict[str, int]]:
    """Return the counts of a result by the values of some columns, and by `value`."""
    counts: dict[tuple[str, ...], dict[str, int]] = {}
    for row in rows:
        counts.setdefault(tuple(row[name] for name in names), {})[row["value"]] = row["count"]
    return counts


def _compare_with_scorer(analysis: Analysis, simulated: bool) -> PageTable:
    """Return the four combinations of verdicts of each model, and of all (`disagreements`)."""
    results = analysis.results
    counts = _count(analysis.list_rows("disagreements", slice=QUADRANT), "model")
    rules = next(r for r in [results.main_rules, *results.rules] if r != JUDGE_RULES)
    rows: list[list[object]] = []
    for model in [*(model for (model,) in counts if model), ""]:
        found = counts.get((model,), dict.fromkeys(QUADRANTS, 0))
        mark = any(s for cell, s in results.simulated_cells.items() if model in ("", cell.model))
        n, equal = sum(found.values()), found["both_right"] + found["both_wrong"]
        rows.append(
            [
                Entry(results.label(model) if model else "All models", simulated=mark),
                *(found[name] for name in QUADRANTS),
                format_percent(equal / n) if n else NO_VALUE,
            ]
        )
    heads = (
        "Both right", "Both wrong", "Only the judge: right", f"Only {rules}: right", "Agreement",
    )  # fmt: skip
    return PageTable(
        f"The judge and {name_scorer(rules)} on the responses scored by the judge.",
        [CELL_COLUMNS[0], *map(Column, heads)],
        rows,
        simulated=simulated,
        heading="Compared with the scorer",
    )


def _list_cells(analysis: Analysis, simulated: bool) -> PageTable:
    """Return for every cell the number of responses the judge called right or wrong, failed on, or
    was not sent; GPTScore; and, with a certificate, GPTScore corrected for the judge's errors."""
    results, certificate = analysis.results, analysis.results.certificate
    scores = analysis.scores.filter(rules=JUDGE_RULES, subject=TOTAL)
    totals = {(row["model"], row["setting"]): row for row in scores.to_dicts()}
    counts = _count(analysis.list_rows("outcomes", rules=JUDGE_RULES), "model", "setting")
    columns = [
        *CELL_COLUMNS,
        *map(Column, ("Right", "Wrong", "Judge failed", "Not judged")),
        Column("GPTScore", "share"),
        *([Column("Corrected", "share")] if certificate else []),
    ]
    rows = []
    for cell in results.study.cells:
        found, total = counts.get(cell, {}), totals.get(cell)
        named = [found.get(n, 0) for n in (ANSWERED_RIGHT, ANSWERED_WRONG, "judge_failed")]
        rest = sum(found.values()) - sum(named)
        row = [*name_cell(results, cell), *named, rest]
        if total:
            row.append(total)
        if total and certificate:
            names = {"estimate": "corrected", "low": "corrected_low", "high": "corrected_high"}
            rates = [_RATES[name] for name in (total["corrected_by"] or "").split("+") if name]
            fixed = {key: total[name] for key, name in names.items()}
            row.append(show_share(fixed, " and ".join(rates)))
        rows.append(row)
    return PageTable(
        _OUTCOMES + (_CORRECTED if certificate else ""),
        columns,
        rows,
        simulated=simulated,
        summary="Verdicts of the judge by cell"
        + (", with corrected totals" if certificate else ""),
    )


# Judgements of the reasoning: marks of rationales and types of errors, and further judges.

_ERRORS = (
    "Types of the first fatal error, in per cent of the classified failures, with counts; answers "
    "found right and failed judgements are excluded. Failures without an answer take the type of "
    "their outcome. Intervals in errors.csv."
)
_MARKS = (
    "Marks of rationales from 1 (worst) to 5, means over problems with {level} interval; "
    "alignment if there is a reference solution."
)
_OTHER_HEADS = (
    "Model", "Setting", "Judge", "What", "Value", "Interval", "Problems", "Judge failed",
)  # fmt: skip


@section("reasoning")
class ReasoningSection(ReportSection):
    """The section on marks of rationales and types of errors; left out if nothing was judged."""

    title = "Judgements of the reasoning"
    files = ("rationales", "errors")
    template = "sections/tables.html.j2"

    def __init__(self, analysis: Analysis) -> None:
        """Tabulate the results of the stage `judge`."""
        super().__init__(analysis)
        self.marks = analysis.find_rows("rationale-marks")
        self.errors = analysis.list_rows("error-judgements")

    @property
    def is_simulated(self) -> bool:
        """Whether a judge of the reasoning is simulated."""
        marks = self.marks is not None and bool(self.marks["simulated"].any())
        return marks or any(row["simulated"] for row in self.errors)

    @property
    def has_empty_files(self) -> bool:
        """Whether the study judges the reasoning."""
        return self.results.study.judge.is_named

    def view(self) -> Mapping[str, Any] | None:
        """Return one row per cell of either table."""
        tables = [
            *([self._list_errors()] if self.errors else []),
            *([] if self.marks is None else [self._list_marks(self.marks)]),
        ]
        if not tables:
            return None
        return {
            "tables": tables, "sentence": " ".join(self._describe()),
            "simulated": self.is_simulated,
        }  # fmt: skip

    def _list_errors(self) -> PageTable:
        totals = self.analysis.list_rows("error-types", slice=TYPE)
        found = [row for row in totals if row["count"]]
        counts: Counter[str] = Counter()
        for row in found:
            counts[row["value"]] += row["count"]
        names = sorted(counts, key=lambda name: (-counts[name], name))
        shares = {(r["model"], r["setting"], r["by"], r["value"]): r for r in found}
        rows: list[list[object]] = []
        for row in self.errors:
            place = (row["model"], row["setting"], row["by"])
            none = Entry(format_share(0.0) if row["classified"] else NO_VALUE, ("0",))
            rows.append(
                [
                    *name_row(self.results, row),
                    row["by"],
                    *(
                        Entry(format_share(of["estimate"]), (str(of["count"]),)) if of else none
                        for of in (shares.get((*place, name)) for name in names)
                    ),
                    *(row[name] for name in ("classified", "right_after_all", "judge_failed")),
                ]
            )
        heads = [*map(_capitalize, names), "Classified", "Found right", "Judge failed"]
        judged = [row["calibrated"] for row in self.errors if row["by"] == JUDGE]
        return PageTable(
            _ERRORS,
            [*CELL_COLUMNS, Column("By", "text"), *map(Column, heads)],
            rows,
            simulated=self.is_simulated,
            heading="Types of errors",
            uncalibrated=not all(judged),
        )

    def _list_marks(self, marks: pl.DataFrame) -> PageTable:
        given = marks.group_by("metric").agg(pl.col("calibrated").all())
        certified = dict(given.iter_rows())
        names = [name for name in (*QUALITY_MARKS, ALIGNMENT_MARK) if name in certified]
        cells = dict.fromkeys(cells_of(marks))
        return PageTable(
            _MARKS.format(level=format_level(self.analysis.confidence)),
            [
                *CELL_COLUMNS,
                *(
                    Column(_capitalize(n), "number", () if certified[n] else ("uncalibrated",))
                    for n in names
                ),
            ],
            [
                [*label, *found]
                for label, found in spread(self.results, cells, marks, "metric", names)
            ],
            simulated=self.is_simulated,
        )

    def _describe(self) -> Iterator[str]:
        if self.marks is not None:
            judges = _name_judges(self.results, self.marks["judge"][0])
            yield f"Rationales were marked from 1 to 5 by {judges}."
        for by in (JUDGE, PEOPLE):
            if cells := [row for row in self.errors if row["by"] == by]:
                by_outcome = sum(cell["by_outcome"] for cell in cells)
                judged = sum(cell["classified"] for cell in cells) - by_outcome
                judge = next((cell["judge"] for cell in cells if cell["judge"]), "")
                names = _name_judges(self.results, judge) if by == JUDGE else "people"
                rest = f"; {by_outcome:,} more have no answer and take the type of their outcome"
                yield (
                    f"Errors of {count_noun(judged, 'failure')} were classified by {names}, by the "
                    f"taxonomy {cells[0]['taxonomy']}{rest if by_outcome else ''}."
                )
        certificates = _find_certificates(self.analysis)
        by_judges = any(row["by"] == JUDGE for row in self.errors)
        if not certificates and (self.marks is not None or by_judges):
            yield "None of these judges is calibrated with human labels."
        for certificate in certificates:
            yield from _describe_reasoning_certificate(certificate)


def _find_certificates(analysis: Analysis) -> list[ReasoningCertificate]:
    """Return the certificates of the judges of errors and marks, one per instrument."""
    found = {
        instrument: certificate
        for instrument in (TYPE, *MARKS_BY_INSTRUMENT)
        for judged in analysis.judgements.values()
        if (certificate := find_certificate(
            analysis.results, judged.filter(instrument=instrument)))
    }  # fmt: skip
    return list(found.values())


def _describe_reasoning_certificate(certificate: ReasoningCertificate) -> Iterator[str]:
    mark = "SIMULATED " if certificate.simulated else ""
    labels = count_noun(certificate.n, f"{mark}label")
    if certificate.agreement:
        kappa = certificate.kappa.value if certificate.kappa else None
        coefficient = "" if kappa is None else f" (kappa {format_decimals(kappa, 2)})"
        share = format_percent(certificate.agreement.value or 0.0)
        yield (
            f"Compared with {labels} of error types, their judge agrees on {share}{coefficient}."
        )
    for name, quality in certificate.marks.items():
        share = format_percent(quality.within_one.value or 0.0)
        rank = quality.spearman.value
        coefficient = "" if rank is None else f" (Spearman {format_decimals(rank, 2)})"
        words = name.replace("_", " ")
        yield f"Compared with {labels} of {words}, it is within one grade on {share}{coefficient}."


def _capitalize(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _name_judges(results: Results, judges: str) -> str:
    names = [results.label(name) for name in judges.split("+") if name in results.study.models]
    return ", ".join(names) or "no judge"


@section("other-judges")
class OtherJudgesSection(ReportSection):
    """The section with one table of further judges; left out if `judge.others` is empty."""

    title = "Further judges"
    files = ("other-judges",)
    caption = (
        "Means of marks, and shares of labels in per cent, over problems, without failed "
        "judgements. These judges have no certificates: they are not calibrated with human labels."
    )

    @property
    def is_simulated(self) -> bool:
        """Whether one of these judges or its input is simulated."""
        return any(row["simulated"] for row in self.analysis.list_rows("other-judges"))

    def view(self) -> Mapping[str, Any] | None:
        """Return one row per cell and judge, or per cell, judge and label."""
        rows = [self._row(row) for row in self.analysis.list_rows("other-judges")]
        return {"columns": _OTHER_HEADS, "rows": rows} if rows else None

    def _row(self, row: Row) -> list[object]:
        is_mean = row["metric"] == MEAN
        what = f"mean, {row['lowest']:g} to {row['highest']:g}"
        cell = show_value(Column("", "number" if is_mean else "share"), row)
        mark = " SIMULATED" if row["simulated"] else ""
        return [
            self.results.label(row["model"]),
            self.results.setting_label(row["setting"]),
            f"{name_outcome(row['instrument'])}{mark}",
            what if is_mean else name_outcome(row["value"]),
            cell.text,
            *cell.lines,
            row["n"],
            row["judge_failed"],
        ]
