"""The stage `analyze`: from verdicts to tables with honest intervals, report and explorer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from omibench.params.study import Study
    from omibench.stages.analyze.headline import Headline


def analyze_study(results: str | Path, out: str | Path, study: Study) -> Headline:
    """Analyze a results folder that holds freeze/, infer/ and score/; see `stage.analyze`."""
    from omibench.stages.analyze.stage import analyze

    folder = Path(results)
    return analyze(folder / "freeze", folder / "infer", folder / "score", Path(out), study)
