"""Certify: judges against the labels of people, and the judge of scores against the rules."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omibench.params.study import Study
    from omibench.stages.certify.stage import Certified


def certify_judge(
    labels: str | Path, results: str | Path, out: str | Path, study: Study
) -> Certified:
    """Certify the judges of a results folder that holds freeze/, infer/, score/ and judge/.

    See `stage.certify`.
    """
    from omibench.stages.certify.stage import certify

    return certify(Path(labels), Path(results), Path(out), study)
