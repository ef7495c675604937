"""The typed blocks of params.yaml. One class a block; `params.study` joins them to a Study.

Paths are relative to the folder in which the command runs. The JSON schema that editors complete
from is generated from these types (`omibench schema`).
"""

from __future__ import annotations

from os.path import normpath
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from omibench.params.blocks import Block, Dollars, Name, PlainPath
from omibench.params.judge import JudgePanel, Panel
from omibench.params.limit import LimitOrNumber
from omibench.params.names import BenchmarkName, EngineName, RuleBookName
from omibench.params.presentation import FreezeExamples
from omibench.synthetic.profiles import Like


class StudyParams(Block):
    """What the study is called, and where it keeps its results and its store of responses."""

    name: Name = "study"
    title: str = "omibench study"
    seed: int = 0
    results: PlainPath = "results"
    store: PlainPath = "store"
    limit: LimitOrNumber = None
    """Ask a part of the frozen problems: a number (the first), or one of `n`, `ids`, `sample` with
    its `seed`. The dataset stays whole, and all outputs are marked as a partial run."""
    budget_usd: Dollars | None = None
    """US dollars that the study may spend, over all models, judges and retries. What models cost
    is counted from the first request on that is sent while this stands."""

    @model_validator(mode="after")
    def _store_is_apart(self) -> Self:
        """Results are rebuilt and thrown away; what was bought is not."""
        results, store = (Path(normpath(name)) for name in (self.results, self.store))
        if results == store or results in store.parents or store in results.parents:
            raise ValueError(
                f"results ({self.results!r}) and store ({self.store!r}): neither may hold the "
                "other, for results are thrown away and what was bought never is"
            )
        return self


class BenchmarkParams(Block):
    """Which benchmark is evaluated: `papers` is what the building stages make from exam papers."""

    name: BenchmarkName = "papers"
    language: Literal["zh", "en"] = "zh"
    """Of the questions and answers of MathReal, which has both."""
    pictures: Literal["real", "clean"] = "real"
    """MathReal: the photographs, or the clean pictures of the problems that have one."""
    like: Like = "omibench"
    """`synthetic`: which published study the made-up problems have the shape of."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Of `synthetic`, and of the draw of `emma-mini`."""
    hub: str | None = None
    """A dataset of the Hugging Face hub to read instead of files in `data`: `owner/name`."""
    revision: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")] | None = None
    """The commit of that dataset, all 40 digits: names of branches move."""

    @model_validator(mode="after")
    def _hub_is_pinned(self) -> Self:
        if (self.hub is None) != (self.revision is None):
            raise ValueError("`hub` and `revision` come together: the dataset and its commit")
        return self


class OcrParams(Block):
    """How exam papers are read."""

    sources: str | None = None
    """Manifest that pairs papers with their keys and solutions (`sources.yaml`)."""
    engine: EngineName = "rapidocr"
    """What reads the pages whose text layer does not say what they show; `textlayer`: nothing."""
    pages: Literal["needed", "all"] = "needed"
    """`all` has the engine read every page, also those with a text layer."""
    reader: Name | None = None
    """The model of the study that reads pages for `engine: vision`."""
    max_pages: Annotated[int, Field(ge=1)] = 300
    timeout_s: Annotated[float, Field(gt=0)] = 120.0
    """CPU seconds in which the pages of one file are begun; those that are left are named."""
    page_timeout_s: Annotated[float, Field(gt=0)] = 60.0
    """CPU seconds more for each page that an engine of this machine reads."""
    memory_mb: Annotated[int, Field(ge=256)] = 2048
    dpi: Annotated[int, Field(ge=72, le=600)] = 300
    """Resolution of figure crops, in dots per inch."""

    @property
    def is_remote(self) -> bool:
        """Whether pages are asked ahead of the process that puts a paper together."""
        return self.engine in ("mathpix", "vision")


class RationaleParams(Block):
    """Who writes missing rationales and who labels topics (OMIBench, 3.2 steps 2 and 4)."""

    writer: Name | None = None
    labeller: Name | None = None
    candidates: Annotated[int, Field(ge=1, le=64)] = 4
    """Candidate solutions per problem before the answer is given away (16 in the paper)."""
    labeller_max_tokens: Annotated[int, Field(ge=1)] = 4096
    """Room of one reply of the labeller, in tokens: thinking comes before the label."""
    topics: dict[str, list[str]] = {}
    """The fixed list of topic labels of each subject."""


class ReviewParams(Block):
    """Where people's decisions on problems are kept."""

    decisions: str | None = None


class FreezeParams(Block):
    """What the frozen dataset is called; a changed question needs a new version.

    A release that is read as `frozen` keeps its name and version where they are left out.
    """

    name: Name = "dataset"
    version: Annotated[str, StringConstraints(pattern=r"^\d+\.\d+\.\d+$")] = "1.0.0"
    metadata: Literal["strip", "keep"] = "strip"
    """What cameras and programs noted in pictures (places, devices, names): `keep` freezes pictures
    byte for byte, as a benchmark published them."""
    examples: FreezeExamples = FreezeExamples()
    """Which problems may be shown, solved, before others."""


class ScoreParams(Block):
    """Which rule books score the responses, and which models judge them."""

    rules: Annotated[list[RuleBookName], Field(min_length=1)] = ["robust"]
    judge: Panel | None = None
    """GPTScore: a model's name, several names that vote, or a whole panel (OMIBench, C.2)."""
    grader: Panel | None = None
    """Grades for the rule book `mathreal`; the models of `judge` if left out."""
    extractor: Panel | None = None
    """Finds answers without a box for `mathreal`; the models of the grader if left out."""

    @property
    def graders(self) -> JudgePanel | None:
        """Who grades for `mathreal`."""
        return self.grader or _same_models(self.judge)

    @property
    def extractors(self) -> JudgePanel | None:
        """Who extracts for `mathreal`."""
        return self.extractor or _same_models(self.graders)

    @property
    def panels(self) -> dict[str, JudgePanel]:
        """The panels that scoring asks, by instrument."""
        named = {"gptscore": self.judge}
        if "mathreal" in self.rules:
            named |= {"grade": self.graders, "extraction": self.extractors}
        return {name: panel for name, panel in named.items() if panel}

    def without_gptscore(self) -> ScoreParams:
        """The same, but that the models of `judge` only grade and extract for `mathreal`."""
        named = {"judge": None, "grader": self.graders, "extractor": self.extractors}
        return self.model_copy(update=named)


def _same_models(panel: JudgePanel | None) -> JudgePanel | None:
    return panel and JudgePanel(models=panel.models, max_tokens=panel.max_tokens)


Tables = Annotated[
    list[str],
    BeforeValidator(
        lambda value: [value] if isinstance(value, str) else value or [],
        json_schema_input_type=str | list[str] | None,
    ),
]


class AnalyzeParams(Block):
    """How results are summarised and shown."""

    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    main_rules: RuleBookName | None = None
    """The rule book of the headline; the first of `score.rules` when left out."""
    published: Tables = []
    """CSV files of printed results to stand beside ours: one, or several."""
    explorer: bool = True
    """One page a problem and a cell, so that every number can be followed to its page."""
