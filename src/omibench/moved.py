"""Earlier names of modules that plug-ins and Snakefiles of version 0.1 import."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

MOVED: Final[Mapping[str, str]] = {
    "omibench.files.shipped": "omibench.files.locations",
    "omibench.judges": "omibench.answers.judges",
    "omibench.judges.case": "omibench.answers.judges.case",
    "omibench.judges.instrument": "omibench.answers.judges.instrument",
    "omibench.judges.registry": "omibench.answers.judges.registry",
    "omibench.judges.scales": "omibench.answers.judges.scales",
    "omibench.scorers": "omibench.answers.scorers",
    "omibench.scorers.outcome": "omibench.answers.scorers.outcome",
    "omibench.scorers.registry": "omibench.answers.scorers.registry",
}
"""Earlier name -> module."""


class MovedModules(MetaPathFinder, Loader):
    """Import a moved module under its earlier name, with a DeprecationWarning."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for an earlier name, else None."""
        return ModuleSpec(fullname, self) if fullname in MOVED else None

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave the module to `exec_module`: it replaces the one made here."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the module of today in place of the earlier name."""
        name = module.__name__
        warnings.warn(f"{name} is now {MOVED[name]}", DeprecationWarning, stacklevel=2)
        sys.modules[name] = importlib.import_module(MOVED[name])
