"""The block `filter:`: thresholds of the reasons, and the models that judge what is left.

Every threshold belongs to one named reason. A judgement that is left out is not made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from omibench.params.blocks import Block, Name, Rate
from omibench.params.image import Images
from omibench.params.names import ReasonName
from omibench.params.panel import Panel
from omibench.params.setting import Setting
from omibench.schemas.problem import Subject
from omibench.schemas.request import Decoding

SCREENS = ("one_image", "captions", "difficulty")
"""The judgements in which models try to answer; simulated models have `setting_effects` of these
names."""


class TranslationParams(Block):
    """Who translates problems into English. `translation: NAME` is short for it."""

    model: Name
    prompt: str | None = None
    """A text file whose words take the place of the built-in instructions."""
    max_tokens: Annotated[int, Field(ge=1)] = 4096
    negations: dict[str, list[str]] = {}
    """Language -> its words of negation, where we know none or others are meant."""


def _write_out(value: object) -> object:
    return {"model": value} if isinstance(value, str) else value


Translation = Annotated[
    TranslationParams,
    BeforeValidator(_write_out, json_schema_input_type=Name | TranslationParams),
]


class ScreenParams(Block):
    """Models that try to answer under a handicap: a problem that they solve is rejected."""

    models: Annotated[list[Name], Field(min_length=1)]
    samples: Annotated[int, Field(ge=1, le=64)] = 10
    """Answers that each model gives (EMMA, 3.2: ten)."""
    right: Annotated[int, Field(ge=1, le=64)] = 5
    """Right answers of one model from which on it has solved the problem (EMMA, 3.2: five)."""
    prompt: str = "cot"
    """A built-in prompt's name, or the path of a text file, as in a setting."""
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.7
    max_tokens: Annotated[int, Field(ge=1)] = 4096

    @model_validator(mode="after")
    def _right_can_be_reached(self) -> Self:
        if self.right > self.samples:
            raise ValueError(f"right is {self.right} of {self.samples} samples")
        return self

    def setting(self, name: str) -> Setting:
        """The screen of that name as a setting: how its models are asked."""
        decoding = Decoding(
            temperature=self.temperature, max_tokens=self.max_tokens, samples=self.samples
        )
        return Setting(prompt=self.prompt, images=self._images(name), decoding=decoding)

    def _images(self, name: str) -> Images:
        return Images(show="first") if name == "one_image" else Images()


class CaptionScreen(ScreenParams):
    """The same, from captions instead of images (EMMA, 3.2 and C.1)."""

    captioner: Name
    caption_prompt: str | None = None
    """A text file whose words take the place of the captioner's instructions."""

    def _images(self, name: str) -> Images:
        options = {"prompt": self.caption_prompt} if self.caption_prompt else {}
        return Images(show="captions", model=self.captioner, **options)


class DifficultyScreen(ScreenParams):
    """With all images: rejected when every model solves it."""

    samples: Annotated[int, Field(ge=1, le=64)] = 1
    right: Annotated[int, Field(ge=1, le=64)] = 1
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0


class FilterParams(Block):
    """When a problem is rejected; each threshold belongs to one named reason."""

    subjects: list[Subject] | None = None
    """`out_of_scope`: subjects that are wanted; all of them if left out."""
    languages: list[str] | None = None
    """`out_of_scope`: languages that are wanted; all of them if left out."""
    since: int | None = None
    """`out_of_scope`: the first year of a paper that is wanted."""
    proofs: bool = False
    """`out_of_scope`: whether tasks to prove or draw something are wanted, though no answer can be
    compared with a proof or a drawing."""
    min_words: Annotated[int, Field(ge=1)] = 6
    """`statement_incomplete`: words that a statement must have."""
    min_legible: Rate = 0.8
    """`statement_illegible`: share of the statement's words that must read as words or numbers."""
    min_images: Annotated[int, Field(ge=0)] = 2
    """`too_few_images`: distinct images by content that a problem must have."""
    near_duplicate: Rate = 0.85
    """`near_duplicate`: similarity of two statements, in [0, 1], from which on they are one."""
    near_duplicate_translated: Rate = 0.6
    """`near_duplicate`: the same where one of the two statements was translated."""
    near_duplicate_images: Annotated[int, Field(ge=0, le=64)] = 6
    """`near_duplicate`: largest Hamming distance of two 64-bit perceptual hashes called equal."""
    unresolved: list[str] = ["math_suspect", "page_needs_ocr", "garbled_text"]
    """`ocr_error`: warnings of reading with which a problem is rejected."""
    reasons: list[ReasonName] = []
    """Reasons that plug-ins bring, tried in this order after the built-in ones."""
    translation: Translation | None = None
    """A model that translates problems into English, each checked against its original."""
    completeness: Panel | None = None
    """Models that must all agree that a problem is one, complete, and needs its figures."""
    one_image: ScreenParams | None = None
    """Models that see the first image only (OMIBench, E.3): what they solve does not need the
    others."""
    captions: CaptionScreen | None = None
    """Models that are given captions instead of images (EMMA, 3.2 and C.1)."""
    difficulty: DifficultyScreen | None = None
    """Models that see all: what every one of them solves is too easy."""

    @property
    def screens(self) -> dict[str, ScreenParams]:
        """The panels that try to answer, by judgement, in the order in which they are asked."""
        named = {name: getattr(self, name) for name in SCREENS}
        return {name: screen for name, screen in named.items() if screen}

    def list_references(self) -> Iterator[tuple[str, list[str]]]:
        """Where models are named, and which."""
        if self.translation:
            yield "filter.translation", [self.translation.model]
        if self.completeness:
            yield "filter.completeness", list(self.completeness.models)
        if self.captions:
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
            self.completeness.prompt if self.completeness else None,
            self.captions.caption_prompt if self.captions else None,
        ]
        return [file for file in files if file]
