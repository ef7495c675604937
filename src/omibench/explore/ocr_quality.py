"""OCR accuracy of MathReal: five parts of how well a transcript preserves the print.

The parts are numbers, key terms, semantics, structure and one minus the normalized Levenshtein
distance, each in [0, 1], and their weighted mean. The paper's formula is an image that our copy of
its text lacks, so all parts have the same weight by default. A judge rates key terms and semantics;
without one, these and the mean are None.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field

from omibench.answers.judges.case import JudgeCase
from omibench.answers.judges.panel import OpenPanel, Opinion, PanelRequest, consult, open_panels
from omibench.answers.judges.transcript import TRANSCRIPT, TranscriptScores
from omibench.answers.transcripts import PARTS, best_window, combine_parts, measure_rule_parts
from omibench.errors import FileFormatError
from omibench.params.panel import JudgePanel
from omibench.schemas.problem import FrozenModel
from omibench.schemas.tables import read_jsonl, write_jsonl
from omibench.settings.prompt_names import list_prompt_files

if TYPE_CHECKING:
    from omibench.params.study import Study

Weight = Annotated[float, Field(ge=0)]


class Pair(BaseModel):
    """An OCR text and its printed reference; other fields of the row are ignored."""

    id: str
    text: str
    reference: str


class Weights(FrozenModel):
    """The weight of each part in the mean; only their ratios matter."""

    numbers: Weight = 1.0
    terms: Weight = 1.0
    semantics: Weight = 1.0
    structure: Weight = 1.0
    lexical: Weight = 1.0


class OcrScore(FrozenModel):
    """How well one transcript preserves the print; each part is in [0, 1].

    `terms`, `semantics` and therefore `accuracy` are None without a judge or if it failed.
    """

    id: str
    numbers: float
    terms: float | None
    semantics: float | None
    structure: float
    lexical: float
    """One minus the normalized Levenshtein distance."""
    accuracy: float | None
    """The weighted mean of the five parts."""
    window: float
    """The similarity of the best window: additional text is not penalized."""
    judge: str | None = None
    simulated: bool = False


def score_pairs(
    pairs: Sequence[Pair], weights: Weights | None = None, panel: OpenPanel | None = None
) -> list[OcrScore]:
    """Return the scores of pairs, in order; `panel` judges the parts without rules."""
    opinions: list[Opinion[TranscriptScores] | None] = [None] * len(pairs)
    if panel:
        cases = [JudgeCase(p.id, "", (), p.text, reference=p.reference) for p in pairs]
        opinions = list(consult(cases, TRANSCRIPT, panel))
    return [
        _score_pair(pair, opinion, weights or Weights(), panel)
        for pair, opinion in zip(pairs, opinions, strict=True)
    ]


def _score_pair(
    pair: Pair, opinion: Opinion[TranscriptScores] | None, weights: Weights, panel: OpenPanel | None
) -> OcrScore:
    shares = opinion.value if opinion else None
    terms, semantics = (shares.terms, shares.semantics) if shares else (None, None)
    rules = measure_rule_parts(pair.text, pair.reference)
    order = [getattr(weights, part) for part in PARTS]
    return OcrScore(
        id=pair.id,
        numbers=rules.numbers,
        terms=terms,
        semantics=semantics,
        structure=rules.structure,
        lexical=rules.lexical,
        accuracy=combine_parts(rules, terms, semantics, order),
        window=best_window(pair.text, pair.reference),
        judge=panel.name if panel else None,
        simulated=opinion.is_simulated if opinion else False,
    )


def choose_panel(study: Study, judges: Sequence[str]) -> JudgePanel:
    """Return the judges of transcripts, with the study's prompts, if any.

    Raises:
        ParamsError: The prompt folder cannot be listed.
    """
    files = list_prompt_files(study.prompts) if study.prompts else {}
    return JudgePanel(models=list(judges), prompt=files.get(TRANSCRIPT.name))


def score_transcripts(
    pairs: Path, out: Path, study: Study, judges: Sequence[str] = (), weights: Weights | None = None
) -> list[OcrScore]:
    """Score a JSONL file of pairs into another; judges are models of the study.

    Raises:
        FileFormatError: The file is not a list of pairs. Opening a model can also raise.
    """
    rows = list(read_jsonl(pairs, Pair))
    if len({row.id for row in rows}) < len(rows):
        raise FileFormatError(f"{pairs}: an id occurs twice; give each pair a different one")
    with ExitStack() as stack:
        panel = None
        if judges:
            panel_request = PanelRequest(choose_panel(study, judges), TRANSCRIPT, "--judge")
            (panel,) = stack.enter_context(open_panels(study, [panel_request]))
        scores = score_pairs(rows, weights, panel)
    write_jsonl(out, scores)
    return scores


def summarise_scores(scores: Sequence[OcrScore]) -> str:
    """Return one line: the mean of each part over the pairs for which it is known."""
    parts = []
    for name in ("accuracy", "numbers", "terms", "semantics", "structure", "lexical", "window"):
        values = [value for score in scores if (value := getattr(score, name)) is not None]
        parts.append(f"{name} {fmean(values):.3f}" if values else f"{name} not judged")
    mark = "SIMULATED judge: " if any(score.simulated for score in scores) else ""
    return f"{mark}{len(scores)} pairs: {', '.join(parts)}"
