"""Compute tables of numbers from verdicts; formatting is done elsewhere."""
