"""Releases: a frozen dataset as an immutable folder to load, cite and verify."""
