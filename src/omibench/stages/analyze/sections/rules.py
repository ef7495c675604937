"""The same responses under every scorer and the judge: a figure and the totals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from omibench.results.load import JUDGE_RULES, Results
from omibench.stages.analyze.claims import judge_sentence
from omibench.stages.analyze.sections.section import ReportFigure, ReportSection, section
from omibench.stages.analyze.tables.accuracy import TOTAL, Score
from omibench.stages.analyze.words import (
    NO_VALUE,
    describe_cell,
    format_bounds,
    format_level,
    format_share,
    name_rules,
)


@section("rules")
class RulesSection(ReportSection):
    """The section with totals under every scorer; left out if there is only one."""

    title = "Scorers and judge on the same responses"
    numbers = "main"
    template = "sections/rules.html.j2"

    def figure(self) -> ReportFigure:
        """Draw one row per cell, one colour per scorer."""
        from omibench.stages.analyze.charts.rules import draw_rules

        chart = draw_rules(self.results, self.analysis.scores)
        return ReportFigure.draw(chart, judge_sentence(self.results))

    def view(self) -> Mapping[str, Any] | None:
        """Return the totals of every cell under every scorer and every voting judge."""
        results = self.results
        if len(results.rules) < 2:
            return None
        totals = {
            (score.cell, score.rules): score
            for score in self.analysis.scores
            if score.subject == TOTAL
        }
        return {
            "level": format_level(results.study.analyze.confidence),
            "heads": describe_rules(results),
            "rows": [
                {
                    **describe_cell(results, cell),
                    "cells": [
                        _describe_total(totals.get((cell, rules)))
                        for rules in [*results.rules, *results.votes]
                    ],
                }
                for cell in results.study.cells
            ],
        }


def describe_rules(results: Results) -> list[dict[str, Any]]:
    """Return the headings of the columns: scorers, the judge, and the voting judges."""
    return [
        {
            "name": name_rules(rules),
            "simulated": results.has_simulated_judge(rules),
            "uncalibrated": rules in results.votes
            or (rules == JUDGE_RULES and not results.certificate),
        }
        for rules in [*results.rules, *results.votes]
    ]


def _describe_total(score: Score | None) -> dict[str, str]:
    if score is None:
        return {"acc": NO_VALUE, "interval": "", "parts": ""}
    parts = "" if score.credit is None else f"credit {format_share(score.credit)}"
    if score.strict:
        parts = f"strict {format_share(score.strict.mean)}"
    if score.ratio is not None:
        parts = f"ratio {format_share(score.ratio)}"
    return {
        "acc": format_share(score.acc.mean),
        "interval": format_bounds(score.acc),
        "parts": parts,
    }
