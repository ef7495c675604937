"""Names as parts of paths and of problem ids."""

from __future__ import annotations

import re


def slug(name: str) -> str:
    """Letters, digits, dots and dashes of a name, in any script; `paper` when none is left."""
    return re.sub(r"[^\w.\-]+", "_", name).strip("._") or "paper"
