"""Models that judge problems before the freeze: by translating them or trying to answer."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from omibench.params.blocks import Block, Name
from omibench.params.image import Images
from omibench.params.names import PromptFiles
from omibench.params.setting import Setting
from omibench.schemas.request import Decoding

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
