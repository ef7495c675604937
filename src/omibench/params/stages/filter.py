"""The block `filter:`: thresholds of the reasons, and the models that judge the rest.

Every threshold belongs to one reason. An omitted judgement is not made.
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
from omibench.plugins.built_in import built_in_parts
from omibench.schemas.problem import Subject

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

    @property
    def models(self) -> list[str]:
        """Every model in use, each once."""
        return list(dict.fromkeys(name for _, names in self.list_references() for name in names))

    @property
    def prompts(self) -> list[str]:
        """The prompts that are read from your files."""
        files = [
            self.translation.prompt if self.translation else None,
            self.photographs.prompt if self.photographs else None,
            self.photographs.completeness_prompt if self.photographs else None,
            self.completeness.prompt if self.completeness else None,
            self.captions.caption_prompt if self.captions else None,
        ]
        files += [file for screen in self.screens.values() for file in screen.prompts.values()]
        return [file for file in files if file]
