"""The report: one self-contained HTML file that opens from disk, in light and in dark."""
