"""Accuracy by number of images: a figure, and the numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from omibench.stages.analyze.claims import images_sentence
from omibench.stages.analyze.sections.section import (
    ReportFigure,
    ReportSection,
    ReportTable,
    section,
)
from omibench.stages.analyze.tables.accuracy import image_bins, image_records
from omibench.stages.analyze.words import (
    NO_VALUE,
    describe_cell,
    format_share,
    name_image_bin,
    name_scorer,
)


@section("images")
class ImagesSection(ReportSection):
    """The section on accuracy by number of images; left out if all problems have the same
    number."""

    title = "Accuracy by number of images"
    numbers = "by_images"
    template = "sections/images.html.j2"

    def tables(self) -> Iterable[ReportTable]:
        """Return `by_images.csv`: every cell, and all pooled, under every scorer."""
        yield ReportTable("by_images", image_records(self.results, self.analysis.image_scores))

    def figure(self) -> ReportFigure:
        """Draw the pooled cells with intervals, and every model."""
        from omibench.stages.analyze.charts.images import draw_images

        scores = self.analysis.image_scores
        chart = draw_images(self.results, scores)
        return ReportFigure.draw(chart, images_sentence(self.results, scores))

    def view(self) -> Mapping[str, Any] | None:
        """Return the numbers of every cell under the main scorer."""
        bins = image_bins(self.results)
        if len(bins) < 2:
            return None
        return {
            "simulated": self.results.main_simulated,
            "scored_by": name_scorer(self.results.main_rules),
            "bins": [name_image_bin(name) for name in bins],
            "rows": self._rows(bins),
        }

    def _rows(self, bins: list[str]) -> list[dict[str, Any]]:
        results = self.results
        accuracies = {
            (score.cell, score.images): score.acc
            for score in self.analysis.image_scores
            if score.rules == results.main_rules
        }
        return [
            {
                **describe_cell(results, cell),
                "cells": [
                    {"acc": format_share(acc.mean), "n": acc.n}
                    if acc
                    else {"acc": NO_VALUE, "n": 0}
                    for acc in (accuracies.get((cell, name)) for name in bins)
                ],
            }
            for cell in results.study.cells
        ]
