"""The block `filter`: photographs, translation, screens, presets and reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Final, Literal, NamedTuple, Self

from pydantic import BeforeValidator, Field, model_validator

from omibench.params.blocks import (
    Block,
    ModelReasonName,
    Name,
    PartName,
    PlainPath,
    PromptFiles,
    Rate,
    ReasonName,
    short_form,
)
from omibench.params.panel import JudgePanel, Panel, write_out
from omibench.params.setting import Images, Setting
from omibench.plugins.built_in import built_in_parts
from omibench.schemas.problem import AttributeName, Subject
from omibench.schemas.request import Decoding

# The block `filter.photographs`: the photographs that become items.


class PhotographScreen(JudgePanel):
    """Models that determine the subject of a photograph and whether it shows a figure.

    A photograph is kept if all agree on a wanted subject and a figure (MathReal, data collection).
    `photographs: NAME` is short for one model.
    """

    subjects: Annotated[list[Subject], Field(min_length=1)] = ["mathematics"]
    """Wanted subjects."""
    completeness_prompt: str | None = None
    """Text file that replaces the instructions with which the models of `filter.completeness`
    vote on photographs."""


Photographs = Annotated[
    PhotographScreen,
    BeforeValidator(write_out, json_schema_input_type=Name | list[Name] | PhotographScreen),
]


# Presets of the block `filter:`: the filter reasons of each paper.

PresetName = Literal["default", "omibench", "emma", "usnco-v", "mathreal"]

JUDGEMENT_REASONS: Final[Mapping[str, str]] = {
    "photographs": "unwanted_photograph",
    "near_duplicate": "near_duplicate",
    "completeness": "not_one_complete_question",
    "one_image": "one_image_suffices",
    "captions": "captions_suffice",
    "difficulty": "too_easy",
}
"""Judgement by models -> its reason of rejection. After a translation, `near_duplicate` also
compares across languages."""
MODEL_REASONS: Final = tuple(
    name for name in dict.fromkeys(JUDGEMENT_REASONS.values()) if name != "near_duplicate"
)
"""Reasons for which only models reject, in their order."""


class FilterPreset(NamedTuple):
    """The computed reasons of a preset, and its thresholds that differ from the defaults.

    `judgements` are those of the paper that need models: set them in `filter`.
    """

    reasons: tuple[str, ...]
    judgements: tuple[str, ...] = ()
    min_images: int = 2
    choice_count: int | None = None


_FORMAT_FILTERING = (
    "statement_incomplete",
    "statement_illegible",
    "answer_missing",
    "answer_ambiguous",
    "too_few_images",
    "exact_duplicate",
    "near_duplicate",
    "ocr_error",
)
"""OMIBench, 3.1 (several images) and A.2, format filtering."""

PRESETS: Final[Mapping[PresetName, FilterPreset]] = {
    "default": FilterPreset(("out_of_scope", *_FORMAT_FILTERING)),
    "omibench": FilterPreset(_FORMAT_FILTERING),
    # EMMA, 3.2: problems that captions suffice for; all others were inspected manually.
    "emma": FilterPreset((), judgements=("captions",)),
    # USNCO-V, Dataset Curation: multiple-choice questions, each with an image and four choices.
    "usnco-v": FilterPreset(("out_of_scope", "too_few_images"), min_images=1, choice_count=4),
    # MathReal, Data Collection Process: samples with a figure, then a vote of three models.
    "mathreal": FilterPreset(("too_few_images",), judgements=("completeness",), min_images=1),
}
"""`default` excludes `image_not_referred_to`, which is in no paper: it would reject a sixth of
the problems that OMIBench has released (docs/building.md)."""

THRESHOLD_REASONS: Final[Mapping[str, tuple[str, ...]]] = {
    "subjects": ("out_of_scope",),
    "languages": ("out_of_scope",),
    "since": ("out_of_scope",),
    "choice_count": ("out_of_scope",),
    "proofs": ("out_of_scope",),
    "min_words": ("statement_incomplete",),
    "min_legible": ("statement_illegible",),
    "min_images": ("too_few_images",),
    "near_duplicate": ("near_duplicate",),
    "near_duplicate_translated": ("near_duplicate",),
    "near_duplicate_images": ("exact_duplicate", "near_duplicate"),
    "unresolved": ("ocr_error",),
}
"""Threshold of `filter:` -> the reasons that use it."""


# Models that judge problems before the freeze: by translating them or trying to answer.

SCREENS = ("one_image", "captions", "difficulty")
"""Judgements in which models try to answer; simulated models have `setting_effects` of these
names."""


class TranslationParams(Block):
    """Models that translate problems into English. `translation: NAME` is short for it."""

    model: Name
    prompt: str | None = None
    """Text file that replaces the built-in instructions."""
    max_tokens: Annotated[int, Field(ge=1)] = 4096
    negations: dict[str, list[str]] = {}
    """Language -> its words of negation, for languages without built-in ones or to override
    them."""


Translation = Annotated[TranslationParams, short_form("model", Name | TranslationParams)]


class ScreenParams(Block):
    """Models that try to answer under a handicap: a problem that they solve is rejected."""

    models: Annotated[list[Name], Field(min_length=1)]
    samples: Annotated[int, Field(ge=1, le=64)] = 10
    """Answers per model (EMMA, 3.2: ten)."""
    right: Annotated[int, Field(ge=1, le=64)] = 5
    """Right answers of one model at which the problem counts as solved (EMMA, 3.2: five)."""
    prompt: str = "cot"
    """Name of a built-in prompt, or path of a text file, as in a setting."""
    prompts: PromptFiles = {}
    """Text files that replace our wording, by prompt name (docs/prompts.md)."""
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.7
    max_tokens: Annotated[int, Field(ge=1)] = 4096

    @model_validator(mode="after")
    def _right_can_be_reached(self) -> Self:
        if self.right > self.samples:
            raise ValueError(f"right is {self.right}, more than the {self.samples} samples")
        return self

    def setting(self, name: str) -> Setting:
        """Return the screen of that name as a setting for its models."""
        decoding = Decoding(
            temperature=self.temperature, max_tokens=self.max_tokens, samples=self.samples
        )
        return Setting(
            prompt=self.prompt,
            prompts=self.prompts,
            images=self._images(name),
            decoding=decoding,
        )

    def _images(self, name: str) -> Images:
        return Images(show="first") if name == "one_image" else Images()


class CaptionScreen(ScreenParams):
    """A screen with captions instead of images (EMMA, 3.2 and C.1)."""

    prompt: str = "emma-captions"
    """As in the other screens; default: EMMA's prompt for responses to captions (table 4)."""
    captioner: Name
    caption_prompt: str | None = None
    """Text file that replaces the captioner's instructions."""

    def _images(self, name: str) -> Images:
        options = {"prompt": self.caption_prompt} if self.caption_prompt else {}
        return Images(show="captions", model=self.captioner, **options)


class DifficultyScreen(ScreenParams):
    """A screen with all images: a problem is rejected if every model solves it."""

    samples: Annotated[int, Field(ge=1, le=64)] = 1
    right: Annotated[int, Field(ge=1, le=64)] = 1
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0


# The block `filter.selection`: the problems of papers that a table names.


class ProblemSelection(Block):
    """A table of the wanted problems, such as the published metadata of a benchmark without its
    texts (USNCO-V, data availability). Papers' problems that it does not have are rejected.

    Its column `answer` settles the answer, `topic` names the topic if the paper has none.
    """

    file: PlainPath
    """The table: CSV, JSONL, JSON or Parquet."""
    by: Annotated[list[str], Field(min_length=1)] = ["exam", "year", "number"]
    """Columns that identify a problem: its number in the paper, and the year, competition or
    attributes of its source."""
    attributes: list[AttributeName] = []
    """Columns that become attributes of the problem."""


# The block `filter:`: thresholds of the reasons, and the models that judge the rest.
#
# Every threshold belongs to one reason. An omitted judgement is not made.

AnyReasonName = Annotated[str, PartName("reasons", "reason of the filter", last=MODEL_REASONS)]
"""Also the reasons of models."""


class FilterParams(Block):
    """When a problem is rejected; each threshold belongs to one reason."""

    preset: PresetName = "default"
    """The computed reasons to apply: those of a paper, or `default`: all of ours except
    `image_not_referred_to`."""
    reasons: list[ReasonName] = []
    """Reasons in addition to the preset, built-in or of plug-ins; the latter are applied last,
    in this order."""
    omitted_reasons: list[AnyReasonName] = []
    """Reasons that reject nothing, including those of judgements: no model is called for them."""
    subjects: list[Subject] | None = None
    """`out_of_scope`: wanted subjects; default: all."""
    languages: list[str] | None = None
    """`out_of_scope`: wanted languages; default: all."""
    since: int | None = None
    """`out_of_scope`: first wanted year of a paper."""
    choice_count: Annotated[int, Field(ge=2)] | None = None
    """`out_of_scope`: number of choices that a problem must have; default: that of the preset, 4
    for `usnco-v` and any number, or none, for the others."""
    proofs: bool = False
    """`out_of_scope`: whether tasks to prove or draw something are wanted, although no answer
    can be compared with a proof or a drawing."""
    min_words: Annotated[int, Field(ge=1)] = 6
    """`statement_incomplete`: minimum words of a statement."""
    min_legible: Rate = 0.8
    """`statement_illegible`: minimum share of the statement's words that read as words or
    numbers."""
    min_images: Annotated[int, Field(ge=0)] | None = None
    """`too_few_images`: minimum distinct images (by content); default: that of the preset, 1 for
    `usnco-v` and `mathreal` and 2 for the others."""
    near_duplicate: Rate = 0.85
    """`near_duplicate`: similarity in [0, 1] at which two statements count as one."""
    near_duplicate_translated: Rate = 0.6
    """`near_duplicate`: the same if one of the two statements was translated."""
    near_duplicate_images: Annotated[int, Field(ge=0, le=64)] = 6
    """`near_duplicate`: largest Hamming distance at which two 64-bit perceptual hashes count as
    equal."""
    unresolved: list[str] = [
        "math_suspect", "formula_doubtful", "formula_differs", "page_needs_ocr", "garbled_text",
        "correction_misfit", "ink_unread",
    ]  # fmt: skip
    """`ocr_error`: warnings of reading for which a problem is rejected."""
    translation: Translation | None = None
    """Model that translates problems into English; each translation is checked against its
    original."""
    selection: ProblemSelection | None = None
    """Table of the wanted problems: all others are rejected as `not_selected`."""
    photographs: Photographs | None = None
    """Models that find the photographs of an exercise of a wanted subject with a figure."""
    completeness: Panel | None = None
    """Models that must all agree that a text is one complete problem that needs its figures; for
    a photograph, that it shows such a problem and no dialogue."""
    one_image: ScreenParams | None = None
    """Models that see only the first image (OMIBench, E.3): problems that they solve do not need
    the others."""
    captions: CaptionScreen | None = None
    """Models that get captions instead of images (EMMA, 3.2 and C.1)."""
    difficulty: DifficultyScreen | None = None
    """Models that see everything: problems that all of them solve are too easy."""

    model_reasons: dict[ModelReasonName, Panel] = {}
    """Reasons of plug-ins for which models reject, and their models; they are asked last, about the
    problems that are left (docs/plugins.md)."""

    @model_validator(mode="after")
    def _reasons_agree(self) -> Self:
        both = next((name for name in self.reasons if name in self.omitted_reasons), None)
        if both:
            raise ValueError(f"{both!r} is in both reasons and omitted_reasons; remove one of them")
        active = set(self.active_reasons)
        for field, reasons in THRESHOLD_REASONS.items():
            changed = getattr(self, field) != type(self).model_fields[field].default
            if changed and active.isdisjoint(reasons):
                raise ValueError(
                    f"{field} is a threshold of {' and '.join(reasons)}, which preset "
                    f"{self.preset!r} does not apply or omitted_reasons omits; add it to "
                    f"filter.reasons, or remove {field}"
                )
        return self

    @property
    def active_reasons(self) -> list[str]:
        """The computed reasons to apply, in order: built-in ones, then those of plug-ins."""
        chosen = {*self._preset.reasons, *self.reasons} - {*self.omitted_reasons}
        names = dict.fromkeys([*built_in_parts("reasons"), *self.reasons])
        return [name for name in names if name in chosen]

    @property
    def least_images(self) -> int:
        """Minimum distinct images of a problem."""
        return self._preset.min_images if self.min_images is None else self.min_images

    @property
    def wanted_choices(self) -> int | None:
        """Required number of choices; None for any number."""
        return self._preset.choice_count if self.choice_count is None else self.choice_count

    @property
    def judgements(self) -> list[str]:
        """The judgements with models whose reason is not omitted, in order."""
        named = [name for name in ("photographs", "completeness", *SCREENS) if getattr(self, name)]
        return [name for name in named if not self.omits(name)]

    @property
    def missing_judgements(self) -> list[str]:
        """The judgements of the preset's paper without a model."""
        absent = (name for name in self._preset.judgements if not getattr(self, name))
        return [name for name in absent if not self.omits(name)]

    def omits(self, judgement: str) -> bool:
        """Return whether the reason of a judgement is omitted."""
        return JUDGEMENT_REASONS[judgement] in self.omitted_reasons

    @property
    def _preset(self) -> FilterPreset:
        return PRESETS[self.preset]

    @property
    def screens(self) -> dict[str, ScreenParams]:
        """The panels that try to answer, by judgement, in the order in which they run."""
        return {name: getattr(self, name) for name in self.judgements if name in SCREENS}

    def list_references(self) -> Iterator[tuple[str, list[str]]]:
        """List the references to models with their keys."""
        if self.translation:
            yield "filter.translation", [self.translation.model]
        if self.photographs and "photographs" in self.judgements:
            yield "filter.photographs", list(self.photographs.models)
        if self.completeness and "completeness" in self.judgements:
            yield "filter.completeness", list(self.completeness.models)
        if self.captions and "captions" in self.judgements:
            yield "filter.captions.captioner", [self.captions.captioner]
        for name, screen in self.screens.items():
            yield f"filter.{name}.models", list(screen.models)
        for name, panel in self.model_reasons.items():
            yield f"filter.model_reasons.{name}", list(panel.models)

    @property
    def models(self) -> list[str]:
        """Every model in use, each once."""
        return list(dict.fromkeys(name for _, names in self.list_references() for name in names))

    @property
    def files(self) -> list[str]:
        """Your files that the stage reads: the table of wanted problems, and prompts."""
        files = [
            self.selection.file if self.selection else None,
            self.translation.prompt if self.translation else None,
            self.photographs.prompt if self.photographs else None,
            self.photographs.completeness_prompt if self.photographs else None,
            self.completeness.prompt if self.completeness else None,
            self.captions.caption_prompt if self.captions else None,
        ]
        files += [panel.prompt for panel in self.model_reasons.values()]
        files += [file for screen in self.screens.values() for file in screen.prompts.values()]
        return [file for file in files if file]
