"""Names for paths and problem ids."""

from __future__ import annotations

import re


def slug(name: str) -> str:
    """Return the letters, digits, dots and dashes of a name, in any script; `paper` if none
    remain."""
    return re.sub(r"[^\w.\-]+", "_", name).strip("._") or "paper"
