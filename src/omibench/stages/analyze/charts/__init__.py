"""The figures of the report, as Altair charts drawn to SVG."""
