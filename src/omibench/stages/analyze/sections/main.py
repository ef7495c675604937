"""The main table: accuracy by subject, one row per cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from omibench.results.load import JUDGE_RULES
from omibench.stages.analyze.links import EXPLORER, INDEX, describe_command, has_pages
from omibench.stages.analyze.sections.main_chance import describe_chance
from omibench.stages.analyze.sections.main_data import describe_rows
from omibench.stages.analyze.sections.main_ranks import word_ranks
from omibench.stages.analyze.sections.main_rows import (
    count_decimals,
    describe_reading,
    failure_head,
    group_rows,
    has_strict,
    list_cells,
    main_caption,
)
from omibench.stages.analyze.sections.section import ReportSection, ReportTable, section
from omibench.stages.analyze.tables.accuracy import score_records, subjects

_PAGES_SHOW = "statement, figures, responses, verdicts and the position in the paper"
_STRICT = " ACC is the mean share of right parts; Strict is the share with all parts right."
_PAGES_WITHOUT_PICTURES_SHOW = "statement, responses and verdicts"


@section("main")
class MainSection(ReportSection):
    """The main table: every cell under the main scorer, with subjects, GPTScore, failures and
    printed rows."""

    title = "Leaderboard"
    template = "sections/main.html.j2"

    def tables(self) -> Iterable[ReportTable]:
        """Return `main.csv`: every cell under every scorer in every subject."""
        yield ReportTable("main", score_records(self.results, self.analysis.scores))

    def view(self) -> Mapping[str, Any]:
        """Return formatted rows by group, missing cells, and the link to the explorer."""
        results = self.results
        judged = JUDGE_RULES in results.rules
        names, strict = subjects(results), has_strict(results, self.analysis.scores)
        ranks = word_ranks(self.analysis)
        groups = group_rows(
            results,
            self.analysis.scores,
            self.analysis.printed_rows,
            self.analysis.printed_comparisons,
            ranks,
        )
        return {
            "chance": describe_chance(self.analysis, count_decimals(groups)),
            "simulated": results.main_simulated,
            "caption": main_caption(results) + (_STRICT if strict else ""),
            "judged": judged,
            "judge_simulated": results.judge_simulated or results.has_synthetic_problems,
            "uncalibrated": judged and results.certificate is None,
            "subjects": names,
            "strict": strict,
            "columns": 6 + len(names) + judged + strict + bool(ranks),
            "ranked": bool(ranks),
            "data": describe_rows(results, list_cells(groups), self.analysis.scores),
            "failure_head": failure_head(results),
            "groups": groups,
            "missing": [
                (results.label(cell.model), results.setting_label(cell.setting))
                for cell in results.missing
            ],
            "reading": describe_reading(results),
            "index_href": f"{EXPLORER}/{INDEX}" if has_pages(results) else None,
            "explore": describe_command(results),
            "pages_show": _PAGES_SHOW if results.pictures_held else _PAGES_WITHOUT_PICTURES_SHOW,
        }
