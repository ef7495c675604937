"""Rows of a cell from a model's scores of one problem."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from omibench.params.stages.saliency import SaliencyParams
from omibench.schemas.problem import Question
from omibench.schemas.request import Request, Response
from omibench.schemas.saliency_row import VERSION, SaliencyRow
from omibench.stages.saliency.ask import Occlusion, PatchPlace, UnscoredProblem
from omibench.stages.saliency.maps import (
    Effect,
    Scores,
    measure_effects,
    measure_mass,
    normalise,
)

KeyedResponse = tuple[str, Response]


class OcclusionScores(NamedTuple):
    """A model's scores of one problem: log P over its options, unmodified and under each patch."""

    occlusion: Occlusion
    key: str
    base: Scores
    covered: Mapping[PatchPlace, Scores]
    mass: float
    simulated: bool

    @property
    def final_letter(self) -> str:
        """The option that the model's response ends with."""
        return self.occlusion.context.letter

    def measure_effects(self, number: int, option: str) -> list[Effect]:
        """Return the effect of every position of one picture on one option.

        Args:
            number: The number of the shown picture, from 0.
            option: The option's label.
        """
        covered = [
            (place.patch, scores)
            for place, scores in self.covered.items()
            if place.number == number
        ]
        return measure_effects(self.base, covered, option)


def collect_scores(
    occlusion: Occlusion, answers: Mapping[int, KeyedResponse]
) -> OcclusionScores | UnscoredProblem:
    """Read the log-probabilities of one problem's options.

    Args:
        occlusion: The requests.
        answers: Key and response of each request, by the request's `id()`.

    Returns:
        The scores, normalized over the options; or the problem and its outcome if the request
        without a patch has none for the chosen option.
    """

    def read_scores(request: Request) -> Scores:
        return answers[id(request)][1].option_logprobs or {}

    key, base = answers[id(occlusion.base)]
    raw, chosen = base.option_logprobs or {}, occlusion.context.letter
    if chosen not in raw:
        reason = base.error or f"no log-probability of {chosen}, the option of the response"
        return UnscoredProblem(occlusion.question, "no_logprobs", reason)
    covered = {
        place: normalise(scores)
        for place, request in occlusion.covered.items()
        if (scores := read_scores(request))
    }
    return OcclusionScores(
        occlusion, key, normalise(raw), covered, measure_mass(raw), base.simulated
    )


def make_rows(
    result: OcclusionScores, gold: Sequence[str], params: SaliencyParams
) -> Iterator[SaliencyRow]:
    """Return a row for each picture, option and position of a scored problem."""
    occlusion = result.occlusion
    for number, picture in enumerate(occlusion.pictures):
        for option in result.base:
            for (x, y, side), drop in result.measure_effects(number, option):
                yield SaliencyRow(
                    **_describe(occlusion.question, params), key=result.key, image=number,
                    sha256=picture.sha256, x=x, y=y, side=side, option=option,
                    logprob=result.base[option], drop=drop, mass=result.mass,
                    declares=occlusion.context.declares, chosen=option == result.final_letter,
                    right=option in gold, simulated=result.simulated,
                )  # fmt: skip


def make_unscored_row(problem: UnscoredProblem, params: SaliencyParams) -> SaliencyRow:
    """Return the single row of a problem that is not scored."""
    return SaliencyRow(
        **_describe(problem.question, params), outcome=problem.outcome, reason=problem.reason
    )


def _describe(question: Question, params: SaliencyParams) -> dict[str, Any]:
    return {
        "id": question.id, "version": VERSION, "reading": params.reading,
        "max_pixels": params.max_pixels, "stride": params.stride,
    }  # fmt: skip
