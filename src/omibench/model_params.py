"""The blocks under `models:` in params.yaml: one class a provider.

A model's identity, which enters the key of its requests, is what changes its answers: provider,
served id, revision, endpoint class and the switches below marked so; never its URL, key, limits,
price, label or group.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from omibench.blocks import Block, Rate


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


class ModelBlock(Block):
    label: str | None = None
    """Name in tables and figures; the key of the block when left out."""
    group: str | None = None
    """Heading under which the model stands in tables."""


class SimulatedModel(ModelBlock):
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


class RecordedModel(ModelBlock):
    """Replays published responses from files, one list of files a setting."""

    provider: Literal["recorded"]
    responses: dict[str, list[str]]
    """Setting -> files (Parquet or JSONL), relative to the study's `data` folder."""
    partial: bool = False
    """The files hold only a part of the items; the others are left out of the model's cells."""


Model = Annotated[SimulatedModel | RecordedModel, Field(discriminator="provider")]
