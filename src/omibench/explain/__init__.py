"""Explanations of verdicts: `omibench score --explain ID`."""
