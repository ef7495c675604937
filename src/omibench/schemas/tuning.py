"""Files of the stage `tune`: training conversations, their report, and the tuned weights."""

from __future__ import annotations

from typing import Literal

from omibench.schemas.problem import FrozenModel


class TrainingTurn(FrozenModel):
    """One turn of a conversation: texts, and indices of the conversation's pictures."""

    role: Literal["system", "user", "assistant"]
    content: list[str | int]

    @property
    def text(self) -> str:
        """The texts without pictures."""
        return " ".join(part for part in self.content if isinstance(part, str))


class TrainingConversation(FrozenModel):
    """A conversation to learn the assistant's turns of."""

    id: str
    turns: list[TrainingTurn]
    pictures: list[str]
    """Paths of the pictures, in the order of their first mention."""


class Leak(FrozenModel):
    """A training conversation that shares something with a frozen problem."""

    conversation: str
    problem: str
    kind: Literal["text", "picture"]
    share: float
    """Text: share of the problem's three-word runs in the conversation; picture: 1 for the same
    bytes, otherwise the share of equal bits of the perceptual hashes."""


class TrainingReport(FrozenModel):
    """What became of a training set."""

    file: str
    sha256: str
    read: int
    kept: int
    regions: int
    """Marks of picture regions that were removed from the assistant's turns."""
    left_out: dict[str, int]
    """Number of conversations by reason."""
    examples: dict[str, list[str]]
    """Up to ten ids by reason."""
    leaks: list[Leak]
    """The first 1,000; dropped if `drop_leaks` is set."""
    leaking: int
    """Number of conversations with a leak."""


class LossRow(FrozenModel):
    """One logged step of training."""

    step: int
    epoch: float
    loss: float
    """Mean cross-entropy per token of the answers, in nats, since the last row."""
    lr: float


class TunedWeights(FrozenModel):
    """The record of finished weights: what they were made from, and their hash."""

    base: str
    """The hub id or folder of the base model."""
    revision: str | None
    method: Literal["lora", "full"]
    conversations: int
    data_sha256: str
    """Of the conversations after all omissions, in order, with the bytes of their pictures."""
    steps: int
    per_step: int
    """Conversations of one step: batch, accumulation and GPUs multiplied."""
    seed: int
    weights_sha256: str
    versions: dict[str, str]
