"""Python processes that import nothing from the folder in which they are started.

`python -m` puts the current folder first among the places that modules are imported from, and so
does an empty or relative entry of PYTHONPATH. In a folder of papers or of results that is text of
others: a `pymupdf.py` there would run. Absolute entries of PYTHONPATH are the user's own and stay.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, MutableMapping

SAFE_PATH = "PYTHONSAFEPATH"
_PATH = "PYTHONPATH"


def python_module(name: str, *words: str) -> list[str]:
    """The command that runs a module by its name with this Python, without the current folder."""
    return [sys.executable, "-P", "-m", name, *words]


def isolate_env(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a process that imports, as its children do, nothing from its folder."""
    entries = environment.get(_PATH, "").split(os.pathsep)
    absolute = [entry for entry in entries if os.path.isabs(entry)]  # noqa: PTH117 (text, no path)
    variables = {name: value for name, value in environment.items() if name != _PATH}
    path = {_PATH: os.pathsep.join(absolute)} if absolute else {}
    return variables | path | {SAFE_PATH: "1"}


def isolate(environment: MutableMapping[str, str]) -> None:
    """Change an environment, such as `os.environ`, into its isolated one, for all children."""
    isolated = isolate_env(environment)
    for name in set(environment) - set(isolated):
        del environment[name]
    environment.update(isolated)
