"""The judge compared with human labels and with the scorer, and unjudged responses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from omibench.answers.judges.gptscore import find_variant
from omibench.params.setting import Cell
from omibench.results.judgements import QUADRANTS
from omibench.results.load import JUDGE_RULES, Results
from omibench.schemas.certificate import ALL_TYPES, Certificate, Measure, ReasoningCertificate
from omibench.schemas.verdict import ALIGNMENT_MARK, MARKS_BY_INSTRUMENT, QUALITY_MARKS
from omibench.stages.analyze.certificates import UNCALIBRATED, find_certificate
from omibench.stages.analyze.formatting import (
    NO_VALUE,
    count_noun,
    describe_cell,
    format_bounds,
    format_decimals,
    format_level,
    format_limits,
    format_number,
    format_percent,
    format_share,
    name_outcome,
    name_scorer,
)
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
    spread,
)
from omibench.stages.analyze.results.accuracy import ANSWERED_RIGHT, ANSWERED_WRONG, TOTAL, cells_of
from omibench.stages.analyze.results.judges import QUADRANT
from omibench.stages.analyze.results.reasoning import JUDGE, MEAN, PEOPLE, TYPE
from omibench.stages.analyze.sections.section import ReportSection, section
from omibench.stages.analyze.sentences import calibration_sentence

if TYPE_CHECKING:
    import polars as pl

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
        self.errors = analysis.find_rows("error-judgements")

    @property
    def is_simulated(self) -> bool:
        """Whether a judge of the reasoning is simulated."""
        tables = [table for table in (self.marks, self.errors) if table is not None]
        return any(bool(table["simulated"].any()) for table in tables)

    @property
    def has_empty_files(self) -> bool:
        """Whether the study judges the reasoning."""
        return self.results.study.judge.is_named

    def view(self) -> Mapping[str, Any] | None:
        """Return one row per cell of either table."""
        blocks = []
        if self.errors is not None:
            judged = self.errors.filter(by=JUDGE)["calibrated"]
            blocks.append(
                Block(
                    self._list_errors(self.errors),
                    "Types of errors",
                    uncalibrated=judged.len() > 0 and not judged.all(),
                )
            )
        if self.marks is not None:
            blocks.append(Block(self._list_marks(self.marks)))
        if not blocks:
            return None
        return describe_card(blocks, " ".join(self._describe()), simulated=self.is_simulated)

    def _list_errors(self, cells: pl.DataFrame) -> PageTable:
        types = self.analysis.find_rows("error-types")
        totals = [] if types is None else types.filter(slice=TYPE).to_dicts()
        found = [row for row in totals if row["count"]]
        counts: dict[str, int] = {}
        for row in found:
            counts[row["value"]] = counts.get(row["value"], 0) + row["count"]
        names = sorted(counts, key=lambda name: (-counts[name], name))
        shares = {(r["model"], r["setting"], r["by"], r["value"]): r for r in found}
        rows = [
            [
                *name_cell(self.results, Cell(row["model"], row["setting"]),
                           simulated=row["simulated"]),
                Entry(row["by"], is_name=True),
                *(_show_type(row, shares.get((row["model"], row["setting"], row["by"], name)))
                  for name in names),
                *(Entry(row[n]) for n in ("classified", "right_after_all", "judge_failed")),
            ]
            for row in cells.to_dicts()
        ]  # fmt: skip
        heads = [*map(_capitalize, names), "Classified", "Found right", "Judge failed"]
        columns = [*CELL_HEADS, *name_heads("By"), *map(Entry, heads)]
        return PageTable(_ERRORS, columns, rows, simulated=self.is_simulated)

    def _list_marks(self, marks: pl.DataFrame) -> PageTable:
        given = set(marks["metric"])
        names = [name for name in (*QUALITY_MARKS, ALIGNMENT_MARK) if name in given]
        certified = {name: marks.filter(metric=name)["calibrated"].all() for name in names}
        heads = [
            Entry(_capitalize(name), () if certified[name] else ("uncalibrated",)) for name in names
        ]
        cells = dict.fromkeys(cells_of(marks))
        return PageTable(
            _MARKS.format(level=format_level(self.analysis.confidence)),
            [*CELL_HEADS, *heads],
            spread(self.results, cells, marks, ("metric", names), show_number),
            simulated=self.is_simulated,
        )

    def _describe(self) -> Iterator[str]:
        if self.marks is not None:
            judges = _name_judges(self.results, self.marks["judge"][0])
            yield f"Rationales were marked from 1 to 5 by {judges}."
        for by in (JUDGE, PEOPLE):
            cells = [] if self.errors is None else self.errors.filter(by=by).to_dicts()
            if cells:
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
        by_judges = self.errors is not None and JUDGE in self.errors["by"]
        if not certificates and (self.marks is not None or by_judges):
            yield "None of these judges is calibrated with human labels."
        for certificate in certificates:
            yield from _describe_certificate_reasoning(certificate)


def _find_certificates(analysis: Analysis) -> list[ReasoningCertificate]:
    """Return the certificates of the judges of errors and marks, one per instrument."""
    found = {}
    for instrument in (TYPE, *MARKS_BY_INSTRUMENT):
        for judged in analysis.judgements.values():
            rows = judged.filter(instrument=instrument)
            certificate = find_certificate(analysis.results, rows)
            if certificate:
                found[instrument] = certificate
    return list(found.values())


def _describe_certificate_reasoning(certificate: ReasoningCertificate) -> Iterator[str]:
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


def _show_type(cell: Row, row: Row | None) -> Entry:
    if row:
        return Entry(format_share(row["estimate"]), (str(row["count"]),))
    return Entry(format_share(0.0) if cell["classified"] else NO_VALUE, ("0",))


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
        table = self.analysis.find_rows("other-judges")
        return table is not None and bool(table["simulated"].any())

    def view(self) -> Mapping[str, Any] | None:
        """Return one row per cell and judge, or per cell, judge and label."""
        table = self.analysis.find_rows("other-judges")
        if table is None:
            return None
        return {"columns": _OTHER_HEADS, "rows": [self._row(row) for row in table.to_dicts()]}

    def _row(self, row: Row) -> list[object]:
        cell = describe_cell(self.results, Cell(row["model"], row["setting"]))
        mark = " SIMULATED" if row["simulated"] else ""
        what = f"mean, {row['lowest']:g} to {row['highest']:g}"
        shown = (what, format_number(row["estimate"]), format_limits(row["low"], row["high"]))
        if row["metric"] != MEAN:
            share, bounds = format_share(row["estimate"]), format_bounds(row["low"], row["high"])
            shown = (name_outcome(row["value"]), share, bounds)
        judge = f"{name_outcome(row['instrument'])}{mark}"
        numbers = (row["n"], row["judge_failed"])
        return [cell["label"], cell["setting"], judge, *shown, *numbers]
