"""Provenance of results: stored with them, so that pulled results can be verified."""
