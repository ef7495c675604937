"""The sections of the report, one module each; `plugins.built_in` gives their order."""

from omibench.stages.analyze.sections.section import (
    SECTIONS,
    Figure,
    Section,
    Table,
    naming_plugin,
    section,
)

__all__ = ["SECTIONS", "Figure", "Section", "Table", "naming_plugin", "section"]
