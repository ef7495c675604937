"""The blocks `certify` and `analyze`: people's labels, and what the report shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from omibench.errors import PluginError
from omibench.params.blocks import Block, Name, ScorerName
from omibench.params.models.base import ModelBlock
from omibench.params.models.registry import block_class
from omibench.params.roles import Role, select_fields


class CertifyParams(Block):
    """Human labels to certify the judge, and existing certificates."""

    labels: str | None = None
    """File of human labels of this study's responses; a certificate is made from it."""
    certificates: list[str] = []
    """Existing certificates; one applies if judge model and prompt are the same."""
    sources: str | None = None
    """File with the human `source` of disagreements, such as a completed disagreements.jsonl;
    default: `labels`."""
    disagreements: Annotated[int, Field(ge=0)] = 100
    """Responses per model on which scorer and judge disagree, drawn for inspection."""


# The identity of judge models in certificates: the fields that change their answers.


def certificate_identity(model: ModelBlock) -> dict[str, Any]:
    """Return the fields of a model's block that change its answers."""
    return model.identity_fields


def is_certified(identity: Sequence[Mapping[str, Any]], models: Iterable[ModelBlock]) -> bool:
    """Return whether a certificate belongs to these judge models.

    Args:
        identity: The certificate's models, one entry each. Certificates of earlier versions also
            contain the number of GPUs, which is ignored.
        models: The judge's models, in order.
    """
    return [_identity_of_now(entry) for entry in identity] == [
        certificate_identity(model) for model in models
    ]


def _identity_of_now(entry: Mapping[str, Any]) -> dict[str, Any]:
    try:
        block = block_class(entry.get("provider"))
    except PluginError:
        return dict(entry)
    return select_fields(block, entry, (Role.IDENTITY,))


# The block `analyze`: how results are summarised and shown.

LAYOUTS: Final = "tables.yaml"
"""The file next to tables of `published` that describes their columns."""
MOST_ATTRIBUTES = 2
"""Maximum attributes of a slice: with three, the slices contain too few items to be meaningful."""


def split_slice(text: str) -> list[str]:
    """Return the attributes of a slice: "exam, image_type" -> ["exam", "image_type"]."""
    return [name.strip() for name in text.split(",")]


def _check_slice(text: str) -> str:
    names = split_slice(text)
    if not all(names) or len(names) > MOST_ATTRIBUTES or len(set(names)) < len(names):
        raise ValueError(
            f"is {text!r}; give one attribute, or two different ones with a comma between them"
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
    """The baselines of models and settings."""

    models: dict[Name, Name] = {}
    """Model -> its baseline model, under each setting that both have."""
    settings: dict[Name, Name] = {}
    """Setting -> its baseline setting, for each model with both."""
    resamples: Annotated[int, Field(ge=0, le=100_000)] = 0
    """Number of draws of the paired cluster bootstrap for each difference over all items, shown
    next to its test; 10,000 draws of 1,322 items take a second. Default: no bootstrap."""


class PeopleSubset(Block):
    """The problems given to human participants: drawn by seed, as in OMIBench's appendix K."""

    size: Annotated[int, Field(ge=1)] = 52
    """Number of scored problems."""
    familiarisation: Annotated[int, Field(ge=0)] = 10
    """Number of further problems that they answer first for practice; these are never scored."""
    by: str = "subject"
    """The attribute by which the draw is stratified."""
    shares: Literal["equal", "proportional"] = "equal"
    """The same number of each value, or in proportion to the dataset."""
    seed: Annotated[int, Field(ge=0)] | None = None
    """Seed of the draw; default: `study.seed`."""


class AnalyzeParams(Block):
    """How results are summarised and shown."""

    confidence: Annotated[float, Field(gt=0.5, lt=1)] = 0.95
    main_scorer: ScorerName | None = None
    """The scorer of the headline; default: the first of `score.scorers`."""
    published: Tables = []
    """CSV files of published results to show next to yours: one, or several."""
    explorer: bool | Annotated[int, Field(ge=0)] = 5000
    """Write one page per problem and cell, so that every number can be traced to its page:
    always (`true`), never (`false`), or in studies up to this number of responses. The report of
    a larger study gives the `omibench explore` address of each cell."""
    slices: list[Slice] | None = None
    """Attributes of items, models or settings by which results are sliced: `exam`, or two with a
    comma, `exam,image_type`. Default: subject, number of images and answer type."""
    full_settings: list[Name] | None = None
    """The settings over which figures aggregate all models. Default: those that show every
    picture and the whole text unchanged, without those that exist with more tokens."""
    reference_setting: References = []
    """The setting under which the headline compares models, or several: for each model the first
    that it has. Default: the first of `infer.settings` with two models."""
    stem_correlation: Annotated[float, Field(ge=0, le=1)] | None = None
    """Correlation of the differences of two models between problems that share a stem, from which
    `omibench plan` finds the detectable difference. Default: estimated from the verdicts of an
    earlier run, or without them 0.2."""
    baselines: Baselines = Baselines()
    """Baselines of models and settings, over the same items."""
    regression: bool = False
    """Fit a logistic regression of correctness on model, setting, number of images and subject."""
    people: str | None = None
    """CSV file of human answers: person, group, problem, answer, seconds."""
    people_subset: PeopleSubset | None = None
    """Draw the problems given to human participants; models are scored on the same ones."""
    people_cutoffs: str | None = None
    """CSV file of cut-off scores of exams: exam, year, percentile, score, of. They yield an
    estimate of human scores (USNCO-V, figure 5)."""
    external_scores: str | None = None
    """CSV file of scores on other benchmarks: model, benchmark, metric, value, source."""
    full_results: str | None = None
    """Results folder of a study in which other models answered all problems. With
    `study.limit: {sample: N}`, the report then also estimates accuracies over all problems."""

    def writes_pages(self, responses: int) -> bool:
        """Return whether a study gets pages of single problems and cells.

        Args:
            responses: Number of responses of the study.
        """
        if isinstance(self.explorer, bool):
            return self.explorer
        return responses <= self.explorer
