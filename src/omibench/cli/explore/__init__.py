"""The command `omibench explore`."""

from omibench.cli.explore.verb import explore

__all__ = ["explore"]
