"""The models that judge problems before they are frozen: who translates, who tries to answer."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator

from omibench.params.blocks import Block, Name
from omibench.params.image import Images
from omibench.params.names import PromptFiles
from omibench.params.setting import Setting
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
    prompts: PromptFiles = {}
    """Text files that take the place of our words, by the names of prompts (docs/prompts.md)."""
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
        return Setting(
            prompt=self.prompt,
            prompts=self.prompts,
            images=self._images(name),
            decoding=decoding,
        )

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
