"""Checks across several blocks of params.yaml."""
