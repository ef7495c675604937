"""The typed blocks of params.yaml. One class a block; `omibench.study` joins them to a Study.

Paths are relative to the folder in which the command runs. The JSON schema that editors complete
from is generated from these types (`omibench schema`).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from omibench.blocks import Block, Name, Rate
from omibench.request import Decoding

RuleBook = Literal["omibench", "emma", "usnco-v", "mathreal", "robust", "published"]
BenchmarkName = Literal["papers", "emma"]
ImageCondition = Literal["all", "first", "none"]


class StudyParams(Block):
    """What the study is called, and where it keeps its results and its store of responses."""

    name: Name = "study"
    title: str = "omibench study"
    seed: int = 0
    results: str = "results"
    store: str = "store"


class BenchmarkParams(Block):
    """Which benchmark is evaluated: `papers` is what the building stages make from exam papers."""

    name: BenchmarkName = "papers"


class OcrParams(Block):
    """How exam papers are read."""

    sources: str | None = None
    """Manifest that pairs papers with their keys and solutions (`sources.yaml`)."""
    engine: Literal["textlayer"] = "textlayer"
    max_pages: Annotated[int, Field(ge=1)] = 300
    timeout_s: Annotated[float, Field(gt=0)] = 120.0
    """Wall seconds that one paper may take before it is given up."""
    memory_mb: Annotated[int, Field(ge=256)] = 2048
    dpi: Annotated[int, Field(ge=72, le=600)] = 300
    """Resolution of figure crops, in dots per inch."""


class FilterParams(Block):
    """When a problem is rejected; each threshold belongs to one named reason."""

    min_images: Annotated[int, Field(ge=0)] = 2
    """`too_few_images`: distinct images by content that a problem must have."""
    near_duplicate: Rate = 0.85
    """`near_duplicate`: similarity of two statements, in [0, 1], from which on they are one."""
    near_duplicate_images: Annotated[int, Field(ge=0, le=64)] = 6
    """`near_duplicate`: largest Hamming distance of two 64-bit perceptual hashes called equal."""
    min_words: Annotated[int, Field(ge=1)] = 6
    """`statement_incomplete`: words that a statement must have."""


class RationaleParams(Block):
    """Who writes missing rationales and who labels topics (OMIBench, 3.2 steps 2 and 4)."""

    writer: Name | None = None
    labeller: Name | None = None
    candidates: Annotated[int, Field(ge=1, le=64)] = 4
    """Candidate solutions per problem before the answer is given away (16 in the paper)."""
    topics: dict[str, list[str]] = {}
    """The fixed list of topic labels of each subject."""


class ReviewParams(Block):
    """Where people's decisions on problems are kept."""

    decisions: str | None = None


class FreezeParams(Block):
    """What the frozen dataset is called; a changed question needs a new version."""

    name: Name = "dataset"
    version: Annotated[str, StringConstraints(pattern=r"^\d+\.\d+\.\d+$")] = "1.0.0"


class Slips(Block):
    """Shares of responses in which a simulated respondent slips in one way; at most 1 in all."""

    no_box: Rate = 0.0
    """The answer stands in the last sentence, without a box."""
    letter_in_sentence: Rate = 0.0
    """Multiple choice: only "so option (B) fits best" names the letter."""
    units: Rate = 0.0
    """A unit is added inside the box."""
    two_boxes: Rate = 0.0
    """An intermediate result is boxed before the answer."""
    refusal: Rate = 0.0
    truncation: Rate = 0.0
    repetition: Rate = 0.0
    """The response repeats one sentence without end."""


class _ModelBlock(Block):
    label: str | None = None
    """Name in tables and figures; the key of the block when left out."""
    group: str | None = None
    """Heading under which the model stands in tables."""


class SimulatedModel(_ModelBlock):
    """A seeded stand-in for a model, in any role, marked SIMULATED wherever it shows.

    As a respondent: P(correct) = guess + (1 - guess) * sigmoid(ability + setting_effects[setting]
    - image_penalty * (n_images - 2) - difficulty), with guess = 1 / number of choices.
    """

    provider: Literal["simulated"]
    oracle: str
    """What the simulation knows: one JSON line a problem. Not part of the model's identity."""
    seed: int = 0
    ability: float = 0.0
    setting_effects: dict[str, float] = {}
    image_penalty: float = 0.0
    slips: Slips = Slips()
    true_positive_rate: Rate = 1.0
    """As judge: share of right answers that it calls consistent."""
    false_positive_rate: Rate = 0.0
    """As judge: share of wrong answers that it calls consistent."""
    error_rate: Rate = 0.0
    """As captioner, translator, labeller, page reader or writer: share of flawed replies."""


class RecordedModel(_ModelBlock):
    """Replays published responses from files, one list of files a setting."""

    provider: Literal["recorded"]
    responses: dict[str, list[str]]
    """Setting -> files (Parquet or JSONL), relative to the study's `data` folder."""
    partial: bool = False
    """The files hold only a part of the items; the others are left out of the model's cells."""


Model = Annotated[SimulatedModel | RecordedModel, Field(discriminator="provider")]


class Setting(Block):
    """How a problem is presented, decoded and aggregated (design, section 6)."""

    prompt: str = "cot"
    """A built-in prompt's name, or the path of a text file with {question} and {choices}."""
    images: ImageCondition = "all"
    decoding: Decoding = Decoding()
    aggregate: Literal["first"] = "first"
    label: str | None = None


class InferParams(Block):
    """Which models answer under which settings: all pairs, unless `only` narrows a model's."""

    models: list[Name] = []
    settings: list[Name] = []
    only: dict[str, list[Name]] = {}


class ScoreParams(Block):
    """Which rule books score the responses, and which model judges them."""

    rules: Annotated[list[RuleBook], Field(min_length=1)] = ["robust"]
    judge: Name | None = None


class AnalyzeParams(Block):
    """How results are summarised and shown."""

    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    main_rules: RuleBook | None = None
    """The rule book of the headline; the first of `score.rules` when left out."""
    published: str | None = None
    """CSV of printed results to stand beside ours."""
    explorer: bool = True
    """One page a problem and a cell, so that every number can be followed to its page."""
