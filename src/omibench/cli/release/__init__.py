"""The commands `omibench release build|verify|diff`."""

from omibench.cli.release.commands import release_app

__all__ = ["release_app"]
