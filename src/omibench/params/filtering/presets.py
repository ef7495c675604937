"""Presets of the block `filter:`: the filter reasons of each paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

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
