"""Printed results compared with those of the responses.

Simulated models are not compared: they are not meant to reproduce printed values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from omibench.papers.layouts import AVERAGE
from omibench.results.load import Results
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.claims import SIMULATED
from omibench.stages.analyze.sections.section import ReportSection, ReportTable, section
from omibench.stages.analyze.tables.printed import (
    ACC,
    CONS5,
    GPTSCORE,
    PASS5,
    STRICT,
    PrintBeside,
    Printed,
)
from omibench.stages.analyze.tables.published import PrintedComparison, comparison_records
from omibench.stages.analyze.tables.unmatched import describe_unmatched
from omibench.stages.analyze.words import (
    MINUS,
    NO_VALUE,
    count_noun,
    describe_cell,
    format_decimals,
    name_rules,
)

COLUMNS = (
    "model", "label", "setting", "subject", "metric", "rules", "printed", "ours", "difference",
    "n", "differs", "simulated",
)  # fmt: skip
_NONE_HERE = "No printed cell belongs to a model and setting of this study with complete responses."


@section("published")
class PublishedSection(ReportSection):
    """The section that compares results with printed ones; left out without printed tables."""

    title = "Comparison with printed results"
    template = "sections/published.html.j2"

    def __init__(self, analysis: Analysis) -> None:
        """Compare every printed cell with complete responses."""
        super().__init__(analysis)
        self.comparisons = analysis.printed_comparisons

    def tables(self) -> Iterable[ReportTable]:
        """Return `differences.csv`: every comparison."""
        rows = comparison_records(self.results, self.comparisons)
        yield ReportTable("differences", rows, COLUMNS)

    def view(self) -> Mapping[str, Any] | None:
        """Return the printed rows and the differing values."""
        return describe_published(self.results, self.analysis.print_beside, self.comparisons)


def describe_published(
    results: Results, beside: PrintBeside, comparisons: Sequence[PrintedComparison]
) -> dict[str, Any] | None:
    """Return the template's values; None without a printed table."""
    if not beside.tables and not beside.errors:
        return None
    files = dict.fromkeys(row.file for row in beside.rows)
    return {
        "sentence": describe_comparisons(comparisons),
        "errors": [str(error) for error in beside.errors],
        "unmatched": describe_unmatched(results, beside.rows),
        "tables": [
            _describe_table([row for row in beside.rows if row.file == file]) for file in files
        ],
        "differences": [
            {
                **describe_cell(results, c.cell),
                "subject": _name_part(c.subject),
                "metric": _metric(c.metric),
                "printed": format_decimals(c.printed, c.digits),
                "ours": format_decimals(c.measured, 2),
                "difference": _format_difference(c.measured - c.printed),
                "n": c.n,
            }
            for c in comparisons
            if c.differs
        ],
    }


def _describe_table(rows: Sequence[Printed]) -> dict[str, Any]:
    """Return the printed rows of one table, with their columns."""
    columns = list(dict.fromkeys(key for row in rows for key in row.values))
    return {
        "source": rows[0].source,
        "file": rows[0].file,
        "columns": [_column(subject, metric) for subject, metric in columns],
        "rows": [
            {
                "model": row.model,
                "strategy": row.strategy or row.group,
                "printed_values": [_print(row, key) for key in columns],
            }
            for row in rows
        ],
    }


def _print(row: Printed, key: tuple[str, str]) -> str:
    """Return the value as printed, with its interval or deviation if printed."""
    cell = row.cells_by_key.get(key)
    if cell is None:
        return NO_VALUE
    text = format_decimals(cell.number.value, row.digits)
    if cell.interval:
        low, high = (format_decimals(bound.value, bound.digits) for bound in cell.interval)
        return f"{text} [{low}, {high}]"
    if cell.deviation:
        return f"{text} ± {format_decimals(cell.deviation.value, cell.deviation.digits)}"
    return text


def describe_comparisons(comparisons: Sequence[PrintedComparison]) -> str:
    """Return the numbers of printed cells with responses, and of those with a simulated value."""
    comparable = [c for c in comparisons if not c.simulated]
    simulated = len(comparisons) - len(comparable)
    sentences = [_describe_reproduction(comparable)] if comparable or not simulated else []
    if simulated:
        sentences.append(
            f"differences.csv lists {SIMULATED} values for "
            f"{count_noun(simulated, 'printed cell')}; they are not compared, since simulated "
            "models are not meant to reproduce printed values."
        )
    return " ".join(sentences)


def _describe_reproduction(comparisons: Sequence[PrintedComparison]) -> str:
    if not comparisons:
        return _NONE_HERE
    differing = sum(bool(c.differs) for c in comparisons)
    verdict = f"{differing} cannot be reproduced" if differing else "and none differs"
    rules = ", ".join(dict.fromkeys(name_rules(c.rules) for c in comparisons))
    return (
        f"Of {count_noun(len(comparisons), 'printed cell')} with complete responses, "
        f"{len(comparisons) - differing} follow from the responses ({rules}), {verdict}."
    )


def _format_difference(difference: float) -> str:
    text = format_decimals(difference, 2)
    return text.replace("-", MINUS) if text.startswith("-") else f"+{text}"


def _column(subject: str, metric: str) -> str:
    name = _name_part(subject)
    name = name[:1].upper() + name[1:]
    return name if metric == ACC else f"{name}, {_metric(metric)}"


def _name_part(subject: str) -> str:
    return "macro average" if subject == AVERAGE else subject


def _metric(metric: str) -> str:
    return {
        ACC: "ACC", GPTSCORE: "GPTScore", STRICT: "strict", PASS5: "pass@5", CONS5: "consistency@5",
    }.get(metric, metric)  # fmt: skip
