"""The judges of this stage by name."""

from __future__ import annotations

from typing import Any

from omibench.judges.alignment import ALIGNMENT
from omibench.judges.error_type import error_type
from omibench.judges.instrument import Instrument
from omibench.judges.quality import QUALITY
from omibench.judges.taxonomies import load_taxonomy
from omibench.params.stages.judge import JudgeParams

REASONING = ("quality", "alignment", "error_type")
PARAMS_KEYS = {"quality": "quality", "alignment": "alignment", "error_type": "errors"}
"""Instrument -> its key under `judge`."""


def find_instrument(name: str, params: JudgeParams) -> Instrument[Any]:
    """A judge of this stage. Raises ParamsError for a taxonomy that is neither known nor a file."""
    if name == "error_type":
        return error_type(load_taxonomy(params.errors.taxonomy if params.errors else "omibench"))
    return QUALITY if name == "quality" else ALIGNMENT
