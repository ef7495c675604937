"""The sections of the report, one module each; `page_order.py` sets their order."""

from omibench.stages.analyze.sections.section import (
    SECTIONS,
    ReportFigure,
    ReportSection,
    ReportTable,
    section,
)

__all__ = ["SECTIONS", "ReportFigure", "ReportSection", "ReportTable", "section"]
