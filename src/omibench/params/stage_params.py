"""The parameters of each stage: its own block, and the others that it needs.

A Study is all of these at once; type checks ensure that a stage reads nothing else. `graph.stages`
lists the same blocks, and builds the slices for jobs from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:
    from omibench.params.benchmark import BenchmarkParams
    from omibench.params.models.base import Model
    from omibench.params.review import ReviewParams
    from omibench.params.setting import Cell, Setting
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
    """Parameters to query models: models, store, budget and a benchmark's folder."""

    @property
    def study(self) -> StudyParams:
        """Name, seed, store, limit and budget."""

    @property
    def data(self) -> str | None:
        """Folder of recorded responses."""

    @property
    def models(self) -> dict[str, Model]:
        """The models by name."""


class ConversationParams(AskingParams, Protocol):
    """Parameters to send questions to models under settings."""

    @property
    def settings(self) -> dict[str, Setting]:
        """The settings by name."""


class OcrStageParams(AskingParams, Protocol):
    """Parameters of the stage `ocr`."""

    @property
    def ocr(self) -> OcrParams:
        """Its own block."""


class FilterStageParams(AskingParams, Protocol):
    """Parameters of the stage `filter`."""

    @property
    def filter(self) -> FilterParams:
        """Its own block."""


class RationaleStageParams(AskingParams, Protocol):
    """Parameters of the stage `rationale`."""

    @property
    def rationale(self) -> RationaleParams:
        """Its own block."""


class FreezeStageParams(Protocol):
    """Parameters of the stage `freeze`, which queries no model."""

    @property
    def benchmark(self) -> BenchmarkParams:
        """The problems to freeze."""

    @property
    def data(self) -> str | None:
        """A benchmark's own files."""

    @property
    def review(self) -> ReviewParams:
        """Human decisions."""

    @property
    def freeze(self) -> FreezeParams:
        """Its own block."""


class InferStageParams(ConversationParams, Protocol):
    """Parameters of the stage `infer`."""

    @property
    def infer(self) -> InferParams:
        """Its own block."""


class SaliencyStageParams(ConversationParams, Protocol):
    """Parameters of the stage `saliency`."""

    @property
    def saliency(self) -> SaliencyParams:
        """Its own block."""


class ScoreStageParams(AskingParams, Protocol):
    """Parameters of the stage `score`."""

    @property
    def score(self) -> ScoreParams:
        """Its own block."""


class JudgeStageParams(AskingParams, Protocol):
    """Parameters of the stage `judge`."""

    @property
    def judge(self) -> JudgeParams:
        """Its own block."""


class AggregateStageParams(ScoreStageParams, ConversationParams, Protocol):
    """Parameters of the stage `aggregate`, which are in the settings."""


class ResultsParams(Protocol):
    """Parameters to read a study's results, with the certificates of its judges."""

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
        """The cells to evaluate."""

    @property
    def score(self) -> ScoreParams:
        """The scorers."""

    @property
    def judge(self) -> JudgeParams:
        """The judges of the reasoning."""

    @property
    def certify(self) -> CertifyParams:
        """Labels and existing certificates."""

    @property
    def analyze(self) -> AnalyzeParams:
        """The main scorer and the confidence level of the report."""

    @property
    def cells(self) -> list[Cell]:
        """The cells of `infer`."""

    @property
    def aggregated_cells(self) -> list[Cell]:
        """The cells with several samples per problem."""

    @property
    def judged_cells(self) -> list[Cell]:
        """The cells with judged reasoning."""

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """Return a copy with other blocks."""

    def model_dump(self, *, mode: str = "python", exclude_defaults: bool = False) -> dict[str, Any]:
        """Return all blocks as plain values."""


class CertifyStageParams(ResultsParams, Protocol):
    """Parameters of the stage `certify`."""


class AnalyzeStageParams(ResultsParams, Protocol):
    """Parameters of the stage `analyze`."""

    @property
    def benchmark(self) -> BenchmarkParams:
        """The benchmark to evaluate."""

    @property
    def review(self) -> ReviewParams:
        """The human decisions and their location."""

    @property
    def saliency(self) -> SaliencyParams:
        """The saliency analysis."""

    @property
    def salient_cells(self) -> list[Cell]:
        """The cells with a saliency analysis."""
