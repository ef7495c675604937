"""Python processes that import nothing from their working folder.

`python -m` puts the current folder first on the import path, and so does an empty or relative
entry of PYTHONPATH. In a folder of papers or results this is untrusted: a `pymupdf.py` there
would run. Absolute entries of PYTHONPATH are the user's choice and are kept.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, MutableMapping

SAFE_PATH = "PYTHONSAFEPATH"
_PATH = "PYTHONPATH"


def python_module(name: str, *words: str) -> list[str]:
    """Return the command that runs a module with this Python, without the current folder."""
    return [sys.executable, "-P", "-m", name, *words]


def isolate_env(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which processes import nothing from their folder."""
    entries = environment.get(_PATH, "").split(os.pathsep)
    absolute = [entry for entry in entries if os.path.isabs(entry)]  # noqa: PTH117 (text, not a path)
    variables = {name: value for name, value in environment.items() if name != _PATH}
    path = {_PATH: os.pathsep.join(absolute)} if absolute else {}
    return variables | path | {SAFE_PATH: "1"}


def isolate(environment: MutableMapping[str, str]) -> None:
    """Change an environment, such as `os.environ`, to its isolated form, for all children."""
    isolated = isolate_env(environment)
    for name in set(environment) - set(isolated):
        del environment[name]
    environment.update(isolated)
