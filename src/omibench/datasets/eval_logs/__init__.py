"""Cells of a study as Inspect logs for `inspect view`."""
