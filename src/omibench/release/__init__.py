"""Releases: a frozen dataset as one immutable folder that others load, cite and check."""
