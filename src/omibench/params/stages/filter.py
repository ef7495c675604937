"""The block `filter:`: thresholds of the reasons, and the models that judge what is left.

Every threshold belongs to one named reason. A judgement that is left out is not made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import Field, model_validator

from omibench.params.blocks import Block, Rate
from omibench.params.filtering.photographs import Photographs
from omibench.params.filtering.presets import (
    JUDGEMENT_REASONS,
    MODEL_REASONS,
    PRESETS,
    THRESHOLD_REASONS,
    FilterPreset,
    PresetName,
)
from omibench.params.filtering.screens import (
    SCREENS,
    CaptionScreen,
    DifficultyScreen,
    ScreenParams,
    Translation,
)
from omibench.params.names import PartName, ReasonName
from omibench.params.panel import Panel
from omibench.plugins.built_in import BUILT_IN
from omibench.schemas.problem import Subject

AnyReasonName = Annotated[str, PartName("reasons", "reason of the filter", last=MODEL_REASONS)]
"""With those for which models are asked."""


class FilterParams(Block):
    """When a problem is rejected; each threshold belongs to one named reason."""

    preset: PresetName = "default"
    """Which computed reasons are tried: those that a paper names, or `default`: all of ours but
    `image_not_referred_to`."""
    reasons: list[ReasonName] = []
    """Reasons beside those of the preset, built in or of plug-ins; the latter are tried last, in
    this order."""
    omitted_reasons: list[AnyReasonName] = []
    """Reasons for which nothing is rejected, also those of judgements: no model is asked then."""
    subjects: list[Subject] | None = None
    """`out_of_scope`: subjects that are wanted; all of them if left out."""
    languages: list[str] | None = None
    """`out_of_scope`: languages that are wanted; all of them if left out."""
    since: int | None = None
    """`out_of_scope`: the first year of a paper that is wanted."""
    choice_count: Annotated[int, Field(ge=2)] | None = None
    """`out_of_scope`: how many choices a problem must have; those of the preset if left out, which
    is 4 for `usnco-v` and any number, or none, for the others."""
    proofs: bool = False
    """`out_of_scope`: whether tasks to prove or draw something are wanted, though no answer can be
    compared with a proof or a drawing."""
    min_words: Annotated[int, Field(ge=1)] = 6
    """`statement_incomplete`: words that a statement must have."""
    min_legible: Rate = 0.8
    """`statement_illegible`: share of the statement's words that must read as words or numbers."""
    min_images: Annotated[int, Field(ge=0)] | None = None
    """`too_few_images`: distinct images by content that a problem must have; those of the preset if
    left out, which is 1 for `usnco-v` and `mathreal` and 2 for the others."""
    near_duplicate: Rate = 0.85
    """`near_duplicate`: similarity of two statements, in [0, 1], from which on they are one."""
    near_duplicate_translated: Rate = 0.6
    """`near_duplicate`: the same where one of the two statements was translated."""
    near_duplicate_images: Annotated[int, Field(ge=0, le=64)] = 6
    """`near_duplicate`: largest Hamming distance of two 64-bit perceptual hashes called equal."""
    unresolved: list[str] = [
        "math_suspect", "formula_doubtful", "formula_differs", "page_needs_ocr", "garbled_text",
        "correction_misfit",
    ]  # fmt: skip
    """`ocr_error`: warnings of reading with which a problem is rejected."""
    translation: Translation | None = None
    """A model that translates problems into English, each checked against its original."""
    photographs: Photographs | None = None
    """Models that say which photographs show an exercise of a wanted subject with a figure."""
    completeness: Panel | None = None
    """Models that must all agree that a problem is one, complete, and needs its figures; of a
    photograph, that it shows such a problem and no dialogue."""
    one_image: ScreenParams | None = None
    """Models that see the first image only (OMIBench, E.3): what they solve does not need the
    others."""
    captions: CaptionScreen | None = None
    """Models that are given captions instead of images (EMMA, 3.2 and C.1)."""
    difficulty: DifficultyScreen | None = None
    """Models that see all: what every one of them solves is too easy."""

    @model_validator(mode="after")
    def _reasons_agree(self) -> Self:
        both = next((name for name in self.reasons if name in self.omitted_reasons), None)
        if both:
            raise ValueError(f"{both!r} stands in reasons and in omitted_reasons: drop one of them")
        active = set(self.active_reasons)
        for field, reasons in THRESHOLD_REASONS.items():
            changed = getattr(self, field) != type(self).model_fields[field].default
            if changed and active.isdisjoint(reasons):
                raise ValueError(
                    f"{field} is a threshold of {' and '.join(reasons)}, which preset "
                    f"{self.preset!r} does not try or omitted_reasons leaves out: add it to "
                    f"filter.reasons, or drop {field}"
                )
        return self

    @property
    def active_reasons(self) -> list[str]:
        """The computed reasons that are tried, in order: built-in ones, then those of plug-ins."""
        chosen = {*self._preset.reasons, *self.reasons} - {*self.omitted_reasons}
        names = dict.fromkeys([*BUILT_IN["reasons"], *self.reasons])
        return [name for name in names if name in chosen]

    @property
    def least_images(self) -> int:
        """How many distinct images a problem must have."""
        return self._preset.min_images if self.min_images is None else self.min_images

    @property
    def wanted_choices(self) -> int | None:
        """How many choices a problem must have; None where any number will do."""
        return self._preset.choice_count if self.choice_count is None else self.choice_count

    @property
    def judgements(self) -> list[str]:
        """The judgements for which models are named and whose reason is not omitted, in order."""
        named = [name for name in ("photographs", "completeness", *SCREENS) if getattr(self, name)]
        return [name for name in named if not self.omits(name)]

    @property
    def missing_judgements(self) -> list[str]:
        """The judgements that the preset's paper makes, and for which no model is named."""
        absent = (name for name in self._preset.judgements if not getattr(self, name))
        return [name for name in absent if not self.omits(name)]

    def omits(self, judgement: str) -> bool:
        """Whether the reason of a judgement is switched off."""
        return JUDGEMENT_REASONS[judgement] in self.omitted_reasons

    @property
    def _preset(self) -> FilterPreset:
        return PRESETS[self.preset]

    @property
    def screens(self) -> dict[str, ScreenParams]:
        """The panels that try to answer, by judgement, in the order in which they are asked."""
        return {name: getattr(self, name) for name in self.judgements if name in SCREENS}

    def list_references(self) -> Iterator[tuple[str, list[str]]]:
        """Where models are named, and which."""
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

    @property
    def models(self) -> list[str]:
        """Every model that is asked, each once."""
        return list(dict.fromkeys(name for _, names in self.list_references() for name in names))

    @property
    def prompts(self) -> list[str]:
        """The prompts that stand in files of one's own."""
        files = [
            self.translation.prompt if self.translation else None,
            self.photographs.prompt if self.photographs else None,
            self.photographs.completeness_prompt if self.photographs else None,
            self.completeness.prompt if self.completeness else None,
            self.captions.caption_prompt if self.captions else None,
        ]
        files += [file for screen in self.screens.values() for file in screen.prompts.values()]
        return [file for file in files if file]
