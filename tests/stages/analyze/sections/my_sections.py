"""Sections of a plug-in: a table, a drawing with a template of its own, one that is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from omibench.stages.analyze.sections import ReportFigure, ReportSection, ReportTable, section

HOSTILE = '<script>alert("pwned")</script>'


@section("languages")
class LanguagesSection(ReportSection):
    """How many problems there are of each language."""

    title = "Problems by language"
    caption = "How many problems there are of each <language>."

    def tables(self) -> Iterable[ReportTable]:
        """`languages.csv`."""
        counts = Counter(question.language for question in self.results.questions.values())
        rows = [{"language": name, "problems": counts[name]} for name in sorted(counts)]
        yield ReportTable("languages", rows)


@section("loudest")
class LoudestSection(ReportSection):
    """A drawing, and words of a stranger."""

    template = """<p id="{{ section.name }}">{{ view.words }}</p>
{{ figure.svg }} {{ figure.takeaway }}"""

    def figure(self) -> ReportFigure:
        """An empty drawing."""
        return ReportFigure("<svg id='own'></svg>", "A <takeaway>.")

    def view(self) -> Mapping[str, str]:
        """What would run, were it not escaped."""
        return {"words": HOSTILE}


@section("unseen")
class UnseenSection(ReportSection):
    """One that has nothing to show."""

    def view(self) -> None:
        """Nothing."""
