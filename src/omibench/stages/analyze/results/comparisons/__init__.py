"""Comparisons of models, settings and pictures: differences, tests, ranks and regressions."""
