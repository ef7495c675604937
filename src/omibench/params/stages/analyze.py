"""The block `analyze`: how results are summarised and shown."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from omibench.params.blocks import Block, Name
from omibench.params.names import RuleBookName

MOST_ATTRIBUTES = 2
"""By how many attributes one slice may be cut: cells of three hold too few items to say much."""


def split_slice(text: str) -> list[str]:
    """The attributes of a slice: "exam, image_type" -> ["exam", "image_type"]."""
    return [name.strip() for name in text.split(",")]


def _check_slice(text: str) -> str:
    names = split_slice(text)
    if not all(names) or len(names) > MOST_ATTRIBUTES or len(set(names)) < len(names):
        raise ValueError(
            f"is {text!r}; name one attribute, or two different ones with a comma between them"
        )
    return ",".join(names)


Slice = Annotated[str, AfterValidator(_check_slice)]

Tables = Annotated[
    list[str],
    BeforeValidator(
        lambda value: [value] if isinstance(value, str) else value or [],
        json_schema_input_type=str | list[str] | None,
    ),
]


References = Annotated[
    list[Name],
    BeforeValidator(
        lambda value: [value] if isinstance(value, str) else value or [],
        json_schema_input_type=Name | list[Name] | None,
    ),
]


class Baselines(Block):
    """What models and settings are compared with."""

    models: dict[Name, Name] = {}
    """Model -> the model that it is compared with, under each setting that both have."""
    settings: dict[Name, Name] = {}
    """Setting -> the setting that it is compared with, of each model that has both."""
    resamples: Annotated[int, Field(ge=0, le=100_000)] = 0
    """How many draws of the paired cluster bootstrap each difference over all items gets beside
    its test; a second for 10,000 of 1,322 items. None if left out."""


class PeopleSubset(Block):
    """Which problems people are given: drawn by seed, as OMIBench's appendix K describes it."""

    size: Annotated[int, Field(ge=1)] = 52
    """How many are scored."""
    familiarisation: Annotated[int, Field(ge=0)] = 10
    """How many more they answer first, to get used to the form; these are never scored."""
    by: str = "subject"
    """The attribute over whose values the draw spreads."""
    shares: Literal["equal", "proportional"] = "equal"
    """As many of each value as the others have, or in proportion to the dataset."""
    seed: Annotated[int, Field(ge=0)] | None = None
    """Equal seeds draw equal problems; `study.seed` if left out."""


class AnalyzeParams(Block):
    """How results are summarised and shown."""

    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    main_rules: RuleBookName | None = None
    """The rule book of the headline; the first of `score.rules` when left out."""
    published: Tables = []
    """CSV files of printed results to stand beside ours: one, or several."""
    explorer: bool | Annotated[int, Field(ge=0)] = 5000
    """Write one page a problem and a cell, so that every number can be followed to its page: in
    studies of at most so many responses, always (`true`) or never (`false`). The report of a larger
    study names `omibench explore`, with the address of each cell."""
    slices: list[Slice] | None = None
    """By which attributes of items, models or settings results are told apart: `exam`, or two
    with a comma, `exam,image_type`. Subject, number of images and answer type if left out."""
    full_settings: list[Name] | None = None
    """The settings over which figures take all models together. If left out: those that show every
    picture and the whole text unchanged, without those that another one has with more tokens."""
    reference_setting: References = []
    """The setting under which the headline compares models, or several: of each model the first
    that it has. If left out, the first of `infer.settings` that two models have."""
    baselines: Baselines = Baselines()
    """What models and settings are compared with, over the same items."""
    regression: bool = False
    """Fit a logistic regression of being right on model, setting, number of images and subject."""
    people: str | None = None
    """A CSV file of people's answers: person, group, problem, answer, seconds."""
    people_subset: PeopleSubset | None = None
    """Draw the problems that people are given; models are scored on the same ones."""
    people_cutoffs: str | None = None
    """A CSV file of cut-offs of exams: exam, year, percentile, score, of. From them follows an
    estimate of what people score (USNCO-V, figure 5)."""
    external_scores: str | None = None
    """A CSV file of scores on other benchmarks: model, benchmark, metric, value, source."""

    def writes_pages(self, responses: int) -> bool:
        """Whether a study gets pages of single problems and cells.

        Args:
            responses: How many the study has.
        """
        if isinstance(self.explorer, bool):
            return self.explorer
        return responses <= self.explorer
