"""The figures of the report, as Altair charts that are drawn to SVG."""
