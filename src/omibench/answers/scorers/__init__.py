"""Scorers: published and our own scoring rules, one pure function each."""
