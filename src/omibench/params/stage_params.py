"""What each stage is given of a study: its own block, and the others that it needs.

A Study is all of these at once; that a stage reads no more than it is given is checked by types.
`graph.stages` names the same blocks, and makes the slices that jobs are run with from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:
    from omibench.params.benchmark import BenchmarkParams
    from omibench.params.cell import Cell
    from omibench.params.models.registry import Model
    from omibench.params.review import ReviewParams
    from omibench.params.setting import Setting
    from omibench.params.stages.analyze import AnalyzeParams
    from omibench.params.stages.certify import CertifyParams
    from omibench.params.stages.filter import FilterParams
    from omibench.params.stages.freeze import FreezeParams
    from omibench.params.stages.infer import InferParams
    from omibench.params.stages.judge import JudgeParams
    from omibench.params.stages.ocr import OcrParams
    from omibench.params.stages.rationale import RationaleParams
    from omibench.params.stages.saliency import SaliencyParams
    from omibench.params.stages.score import ScoreParams
    from omibench.params.study_params import StudyParams


class AskingParams(Protocol):
    """To ask models: who they are, the study's store and budget, and a benchmark's folder."""

    @property
    def study(self) -> StudyParams:
        """Name, seed, store, limit and budget."""

    @property
    def data(self) -> str | None:
        """Where recorded responses lie."""

    @property
    def models(self) -> dict[str, Model]:
        """The models by name."""


class ConversationParams(AskingParams, Protocol):
    """To put questions to models under settings."""

    @property
    def settings(self) -> dict[str, Setting]:
        """The settings by name."""


class OcrStageParams(AskingParams, Protocol):
    """Of the stage `ocr`."""

    @property
    def ocr(self) -> OcrParams:
        """Its own block."""


class FilterStageParams(AskingParams, Protocol):
    """Of the stage `filter`."""

    @property
    def filter(self) -> FilterParams:
        """Its own block."""


class RationaleStageParams(AskingParams, Protocol):
    """Of the stage `rationale`."""

    @property
    def rationale(self) -> RationaleParams:
        """Its own block."""


class FreezeStageParams(Protocol):
    """Of the stage `freeze`, which asks no model."""

    @property
    def benchmark(self) -> BenchmarkParams:
        """Which problems are frozen."""

    @property
    def data(self) -> str | None:
        """A benchmark's own files."""

    @property
    def review(self) -> ReviewParams:
        """People's decisions."""

    @property
    def freeze(self) -> FreezeParams:
        """Its own block."""


class InferStageParams(ConversationParams, Protocol):
    """Of the stage `infer`."""

    @property
    def infer(self) -> InferParams:
        """Its own block."""


class SaliencyStageParams(ConversationParams, Protocol):
    """Of the stage `saliency`."""

    @property
    def saliency(self) -> SaliencyParams:
        """Its own block."""


class ScoreStageParams(AskingParams, Protocol):
    """Of the stage `score`."""

    @property
    def score(self) -> ScoreParams:
        """Its own block."""


class JudgeStageParams(AskingParams, Protocol):
    """Of the stage `judge`."""

    @property
    def judge(self) -> JudgeParams:
        """Its own block."""


class AggregateStageParams(ScoreStageParams, ConversationParams, Protocol):
    """Of the stage `aggregate`, whose parameters stand in the settings."""


class ResultsParams(Protocol):
    """To read a study's results, with the certificates of its judges."""

    @property
    def study(self) -> StudyParams:
        """Name, seed and limit."""

    @property
    def models(self) -> dict[str, Model]:
        """The models by name."""

    @property
    def settings(self) -> dict[str, Setting]:
        """The settings by name."""

    @property
    def infer(self) -> InferParams:
        """Which cells there are."""

    @property
    def score(self) -> ScoreParams:
        """By which rules they are scored."""

    @property
    def judge(self) -> JudgeParams:
        """Who judges their reasoning."""

    @property
    def certify(self) -> CertifyParams:
        """Labels, and certificates that stand already."""

    @property
    def analyze(self) -> AnalyzeParams:
        """The rules and confidence of the report."""

    @property
    def cells(self) -> list[Cell]:
        """The cells of `infer`."""

    @property
    def aggregated_cells(self) -> list[Cell]:
        """Those with several samples of a problem."""

    @property
    def judged_cells(self) -> list[Cell]:
        """Those whose reasoning is judged."""

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """The same with other blocks."""

    def model_dump(self, *, mode: str = "python", exclude_defaults: bool = False) -> dict[str, Any]:
        """All blocks as plain values."""


class CertifyStageParams(ResultsParams, Protocol):
    """Of the stage `certify`."""


class AnalyzeStageParams(ResultsParams, Protocol):
    """Of the stage `analyze`."""

    @property
    def benchmark(self) -> BenchmarkParams:
        """Which benchmark is evaluated."""

    @property
    def review(self) -> ReviewParams:
        """What people decided, and where."""

    @property
    def saliency(self) -> SaliencyParams:
        """What was looked into."""

    @property
    def salient_cells(self) -> list[Cell]:
        """The cells whose pictures were."""
