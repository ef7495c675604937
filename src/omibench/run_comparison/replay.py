"""Verdicts of mixed runs: responses of one run with gold answers, data or rules of the other.

Verdicts stored in either run are reused. Others are recomputed by the installed scorers, if their
version matches the run. No model is called: verdicts that need one are unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from omibench.errors import PluginError
from omibench.run_comparison.cell_pair import CellPair
from omibench.run_comparison.run_files import CellRun, Scoring
from omibench.schemas.problem import Answer
from omibench.schemas.tables import ResponseRow
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.scorers.registry import SCORERS, score_item
from omibench.stages.score.cache import score_items
from omibench.stages.score.stage import pair_with_gold

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Side = Literal["a", "b"]
SIDES: tuple[Side, ...] = ("a", "b")
_FRAMES = (r"\boxed{%s}", "The answer is %s.")
"""The text in which an extracted answer is passed to another scorer."""


class MixedState(NamedTuple):
    """The source run of each component; None if both runs have the same."""

    response: Side | None = None
    gold: Side | None = None
    data: Side | None = None
    scoring: Side | None = None
    extraction: Side | None = None


class SampleVerdict(NamedTuple):
    """The relevant fields of a verdict on one sample."""

    value: float
    extracted: str | None
    is_scored: bool


ItemVerdicts = dict[str, tuple[SampleVerdict, ...]]
"""Problem -> the verdicts on its samples, in index order."""


class CellReplay:
    """Verdicts of a cell in every mixed state that can be computed offline."""

    def __init__(
        self,
        pair: CellPair,
        answers: Mapping[Side, Mapping[str, Answer]],
        cache: Path | None = None,
    ) -> None:
        """Start without any verdict.

        Args:
            pair: The cell.
            answers: The gold answers of each run.
            cache: A file of known verdicts (`stages.score.cache`).
        """
        self._runs: dict[Side, CellRun] = {"a": pair.a, "b": pair.b}
        self._answers = answers
        self._cache = cache
        self._stored: dict[tuple[Side, Scoring], ItemVerdicts] = {}
        self._replays: dict[tuple[object, ...], ItemVerdicts] = {}
        self._samples: dict[Side, dict[str, list[ResponseRow]]] = {}

    def find_values(self, ids: Sequence[str], state: MixedState) -> NDArray[np.float64]:
        """Return the mean verdict over each problem's samples in a state; NaN if unknown."""
        import numpy as np

        verdicts = self.find_verdicts(ids, state)
        return np.array(
            [
                sum(sample.value for sample in verdicts[name]) / len(verdicts[name])
                if name in verdicts
                else np.nan
                for name in ids
            ]
        )

    def find_verdicts(self, ids: Sequence[str], state: MixedState) -> ItemVerdicts:
        """Return the known verdicts on problems in a state."""
        is_judged = any(run.scoring.is_judged for run in self._runs.values())
        if not is_judged and state.extraction not in (None, state.scoring):
            return self._compare_extractions(ids, state)
        verdicts: ItemVerdicts = {}
        for side in SIDES:
            if self._holds(side, state):
                rows = self._read_stored(side, self._runs[state.scoring or side].scoring)
                verdicts |= {name: rows[name] for name in ids if name in rows}
        missing = [name for name in ids if name not in verdicts]
        return verdicts | self._replay(missing, state) if missing else verdicts

    def _holds(self, side: Side, state: MixedState) -> bool:
        """Return whether a run may contain verdicts of a state."""
        if any(part not in (None, side) for part in (state.response, state.gold, state.data)):
            return False
        scorings = [run.scoring for run in self._runs.values()]
        if not all(scoring.is_judged for scoring in scorings):
            return True
        # Judges of the same name may be different models, so only their run has their verdicts.
        return state.scoring in (None, side) and state.extraction in (None, side)

    def _read_stored(self, side: Side, scoring: Scoring) -> ItemVerdicts:
        """Return a run's verdicts of some rules."""
        import polars as pl

        if (side, scoring) not in self._stored:
            run = self._runs[side]
            rows = (
                run.select(scoring)
                .sort("id", "index")
                .group_by("id", maintain_order=True)
                .agg("verdict", "extracted", pl.col("outcome") == "scored", "index")
            )
            counts = dict(run.responses.group_by("id").len().iter_rows())
            self._stored[side, scoring] = {
                name: tuple(map(SampleVerdict, values, texts, is_scored))
                for name, values, texts, is_scored, indices in rows.iter_rows()
                if len(indices) == counts.get(name)
            }
        return self._stored[side, scoring]

    def _replay(self, ids: Sequence[str], state: MixedState) -> ItemVerdicts:
        """Score responses again; empty if the scorer of the state is not installed."""
        scoring = self._runs[state.scoring or "a"].scoring
        if scoring.is_judged or find_installed_version(scoring.rules) != scoring.version:
            return {}
        place = (state.response or "a", state.gold or "a", state.data or "a", scoring)
        verdicts = self._replays.setdefault(place, {})
        missing = [name for name in ids if name not in verdicts]
        items = self._make_items(missing, state)
        scored = iter(self._score([item for name in missing for item in items[name]], scoring))
        for name in missing:
            verdicts[name] = tuple(_summarise(next(scored)) for _ in items[name])
        return {name: verdicts[name] for name in ids if verdicts[name]}

    def _make_items(self, ids: Sequence[str], state: MixedState) -> dict[str, list[ScoredItem]]:
        """Return the samples of problems with the gold answers and data of a state."""
        samples = self._read_samples(state.response or "a", ids)
        golds, data = self._answers[state.gold or "a"], self._answers[state.data or "a"]
        items = {}
        for name in ids:
            answer = data[name].model_copy(update={"answer": golds[name].answer})
            items[name] = [pair_with_gold(row, {name: answer}, Path(name)) for row in samples[name]]
        return items

    def _read_samples(self, side: Side, ids: Sequence[str]) -> dict[str, list[ResponseRow]]:
        """Return a run's responses to problems, in index order; each is built once."""
        import polars as pl

        samples = self._samples.setdefault(side, {})
        missing = [name for name in ids if name not in samples]
        if missing:
            rows = self._runs[side].responses.filter(pl.col("id").is_in(missing))
            for row in rows.sort("id", "index").iter_rows(named=True):
                samples.setdefault(row["id"], []).append(ResponseRow(**row))
        return samples

    def _score(self, items: Sequence[ScoredItem], scoring: Scoring) -> list[Verdict]:
        return score_items(items, scoring.rules, self._cache) if items else []

    def _compare_extractions(self, ids: Sequence[str], state: MixedState) -> ItemVerdicts:
        """Compare one scorer's extracted answers with the other scorer.

        The result is known if both scorers, given only their own extraction, repeat their verdict
        on the whole response.
        """
        reader_state = state._replace(scoring=state.extraction, extraction=None)
        readings = self.find_verdicts(ids, reader_state)
        verdicts = self.find_verdicts(ids, state._replace(extraction=None))
        reader, comparer = (
            self._runs[side].scoring for side in (state.extraction or "a", state.scoring or "a")
        )
        if any(find_installed_version(s.rules) != s.version for s in (reader, comparer)):
            return {}
        mixed: ItemVerdicts = {}
        both = [name for name in ids if name in readings and name in verdicts]
        for name, items in self._make_items(both, state).items():
            samples = [
                self._compare_extraction(item, reading, verdict, reader, comparer)
                for item, reading, verdict in zip(
                    items, readings[name], verdicts[name], strict=True
                )
            ]
            if None not in samples:
                mixed[name] = tuple(sample for sample in samples if sample is not None)
        return mixed

    def _compare_extraction(
        self,
        item: ScoredItem,
        reading: SampleVerdict,
        verdict: SampleVerdict,
        reader: Scoring,
        comparer: Scoring,
    ) -> SampleVerdict | None:
        """Return `comparer`'s verdict on the answer extracted by `reader`, or None if unknown."""
        if not reading.is_scored:
            return SampleVerdict(0.0, None, is_scored=False)
        if reading.extracted is None or (verdict.is_scored and verdict.extracted is None):
            return None
        if not self._list_faithful_frames(item, reading, reader):
            return None
        frames = self._list_faithful_frames(item, verdict, comparer)
        results = [self._score_framed(item, reading.extracted, comparer, text) for text in frames]
        return next((result for result in results if result.is_scored), next(iter(results), None))

    def _list_faithful_frames(
        self, item: ScoredItem, verdict: SampleVerdict, scoring: Scoring
    ) -> list[str]:
        """Return the frames in which a scorer gives its own extraction the response's verdict."""
        text = verdict.extracted
        if text is None:
            return list(_FRAMES)
        return [
            frame
            for frame in _FRAMES
            if self._score_framed(item, text, scoring, frame).value == verdict.value
        ]

    def _score_framed(
        self, item: ScoredItem, text: str, scoring: Scoring, frame: str
    ) -> SampleVerdict:
        framed = item.model_copy(
            update={
                "prediction": frame % text, "outcome": "answered", "finish_reason": "stop",
                "published_verdict": None,
            }
        )  # fmt: skip
        return _summarise(score_item(framed, scoring.rules))


def find_installed_version(rules: str) -> int | None:
    """Return the installed version of a scorer, or None for an unknown name."""
    try:
        return SCORERS.get(rules).version
    except PluginError:
        return None


def _summarise(verdict: Verdict) -> SampleVerdict:
    return SampleVerdict(verdict.verdict, verdict.extracted, verdict.outcome == "scored")
