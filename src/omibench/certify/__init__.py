"""Certify: the judge against the labels of people, and against the rules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omibench.certificate import Certificate
    from omibench.study import Study


def certify_judge(
    labels: str | Path, results: str | Path, out: str | Path, study: Study
) -> Certificate:
    """Certify the judge of a results folder that holds freeze/, infer/ and score/.

    See `stage.certify`.
    """
    from omibench.certify.stage import certify

    return certify(Path(labels), Path(results), Path(out), study)
