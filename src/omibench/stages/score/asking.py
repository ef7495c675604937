"""Judges of a study's scores, with requests through the store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from omibench.judges.extraction import EXTRACTION
from omibench.judges.gptscore import GPTSCORE, VARIANTS
from omibench.judges.grade import GRADE
from omibench.judges.instrument import Instrument, build_prompt
from omibench.judges.panel import Judge, OpenPanel, PanelRequest, open_panels
from omibench.params.panel import JudgePanel
from omibench.params.stage_params import ScoreStageParams
from omibench.params.stages.gptscore import GptscorePanel, GptscoreVariant
from omibench.params.stages.score import PANEL_KEYS

INSTRUMENTS: dict[str, Instrument[Any]] = {
    instrument.name: instrument for instrument in (GPTSCORE, GRADE, EXTRACTION)
}


class ScoreJudges(NamedTuple):
    """The judges of scores; None without a model."""

    gptscore: OpenPanel | None = None
    grade: OpenPanel | None = None
    extraction: OpenPanel | None = None
    variant: GptscoreVariant = "justified"


def find_instrument(name: str, panel: JudgePanel) -> Instrument[Any]:
    """Return the instrument of a scoring panel; for GPTScore its variant."""
    return VARIANTS[panel.variant] if isinstance(panel, GptscorePanel) else INSTRUMENTS[name]


@contextmanager
def open_judges(study: ScoreStageParams) -> Iterator[ScoreJudges]:
    """Open the panels of `score`, each model once.

    Raises:
        ModelError: A panel has an unknown model.
        ParamsError: A prompt file is invalid.
    """
    panels = study.score.panels
    panel_requests = [
        PanelRequest(panel, find_instrument(name, panel), f"score.{PANEL_KEYS[name]}")
        for name, panel in panels.items()
    ]
    variant = study.score.judge.variant if study.score.judge else "justified"
    with open_panels(study, panel_requests) as opened:
        yield _make_judges(dict(zip(panels, opened, strict=True)), variant)


def make_score_judges(judge: Judge) -> ScoreJudges:
    """Return panels with the same judge for all roles, with the built-in prompts."""
    return _make_judges(
        {
            name: OpenPanel([judge], build_prompt(instrument))
            for name, instrument in INSTRUMENTS.items()
        }
    )


def _make_judges(
    panels: Mapping[str, OpenPanel], variant: GptscoreVariant = "justified"
) -> ScoreJudges:
    return ScoreJudges(
        panels.get(GPTSCORE.name), panels.get(GRADE.name), panels.get(EXTRACTION.name), variant
    )
