"""Printed results beside ours: what the responses give, and what print says.

Simulated figures are not held against print: no stand-in is meant to give printed values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from omibench.results.load import Results
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.claims import SIMULATED
from omibench.stages.analyze.sections.section import ReportSection, ReportTable, section
from omibench.stages.analyze.tables.printed import (
    ACC,
    AVERAGE,
    CONS5,
    GPTSCORE,
    PASS5,
    STRICT,
    Printed,
)
from omibench.stages.analyze.tables.published import PrintedComparison, compare, comparison_records
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
_NONE_HERE = "No printed cell belongs to a model and setting of this study with all its responses."


@section("published")
class PublishedSection(ReportSection):
    """What the responses give beside what papers print; left out without a printed table."""

    template = "sections/published.html.j2"

    def __init__(self, analysis: Analysis) -> None:
        """Compare every printed cell for which all responses are here."""
        super().__init__(analysis)
        self.comparisons = compare(
            self.results, analysis.scores, analysis.printed_rows, analysis.folder / "aggregate"
        )

    def tables(self) -> Iterable[ReportTable]:
        """`differences.csv`: every comparison."""
        rows = comparison_records(self.results, self.comparisons)
        yield ReportTable("differences", rows, COLUMNS)

    def view(self) -> Mapping[str, Any] | None:
        """The printed rows, and what differs."""
        return describe_published(self.results, self.analysis.printed_rows, self.comparisons)


def describe_published(
    results: Results, printed: Sequence[Printed], comparisons: Sequence[PrintedComparison]
) -> dict[str, Any] | None:
    """What the template lays out; None without a printed table."""
    if not printed:
        return None
    columns = list(dict.fromkeys(key for row in printed for key in row.values))
    return {
        "file": ", ".join(Path(path).name for path in results.study.analyze.published),
        "sentence": describe_comparisons(comparisons),
        "columns": [_column(subject, metric) for subject, metric in columns],
        "rows": [
            {
                "model": row.model,
                "strategy": row.strategy or row.group,
                "printed_values": [
                    format_decimals(row.values[key], row.digits) if key in row.values else NO_VALUE
                    for key in columns
                ],
            }
            for row in printed
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


def describe_comparisons(comparisons: Sequence[PrintedComparison]) -> str:
    """How many printed cells the responses give, and how many have a simulated figure beside."""
    comparable = [c for c in comparisons if not c.simulated]
    simulated = len(comparisons) - len(comparable)
    sentences = [_describe_reproduction(comparable)] if comparable or not simulated else []
    if simulated:
        sentences.append(
            f"{SIMULATED} figures stand beside {count_noun(simulated, 'printed cell')}, in "
            "differences.csv; they are not held against print, as stand-ins are not meant to "
            "give it."
        )
    return " ".join(sentences)


def _describe_reproduction(comparisons: Sequence[PrintedComparison]) -> str:
    if not comparisons:
        return _NONE_HERE
    differing = sum(bool(c.differs) for c in comparisons)
    verdict = f"{differing} cannot be reproduced" if differing else "and none differs"
    rules = ", ".join(dict.fromkeys(name_rules(c.rules) for c in comparisons))
    return (
        f"Of {count_noun(len(comparisons), 'printed cell')} for which all responses are here, "
        f"{len(comparisons) - differing} follow from the responses ({rules}), {verdict}."
    )


def _format_difference(difference: float) -> str:
    text = format_decimals(difference, 2)
    return text.replace("-", MINUS) if text.startswith("-") else f"+{text}"


def _column(subject: str, metric: str) -> str:
    name = _name_part(subject).capitalize()
    return name if metric == ACC else f"{name}, {_metric(metric)}"


def _name_part(subject: str) -> str:
    return "macro average" if subject == AVERAGE else subject


def _metric(metric: str) -> str:
    return {
        ACC: "ACC", GPTSCORE: "GPTScore", STRICT: "strict", PASS5: "pass@5", CONS5: "consistency@5",
    }[metric]  # fmt: skip
