"""Reasons of the filter: for single problems in `one_problem`, for copies in `duplicates`."""
