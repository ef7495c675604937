"""The block of the provider `simulated`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from omibench.params.blocks import Block, Rate
from omibench.params.models.base import ModelBlock
from omibench.synthetic.address import is_made_up


class Slips(Block):
    """Shares of responses with one kind of slip of a simulated respondent; at most 1 in total."""

    no_box: Rate = 0.0
    """The answer is in the last sentence, without a box."""
    letter_in_sentence: Rate = 0.0
    """Multiple choice: the letter is only in "so option (B) fits best"."""
    units: Rate = 0.0
    """A unit is added inside the box."""
    two_boxes: Rate = 0.0
    """An intermediate result is boxed before the answer."""
    refusal: Rate = 0.0
    truncation: Rate = 0.0
    repetition: Rate = 0.0
    """The response repeats one sentence endlessly."""


class SimulatedModel(ModelBlock):
    """A seeded simulation of a model in any role, marked SIMULATED wherever it is shown.

    As a respondent: P(correct) = guess + (1 - guess) * sigmoid(ability + setting_effects[setting]
    - image_penalty * (n_images - 2) - difficulty), with guess = 1 / number of choices. Samples of
    one problem share part of their randomness (`lasting_share`), which does not change this mean.
    The defaults of `lasting_share`, `usual_mistake`, `discernment` and `lasting_taste` are fitted
    to EMMA, table 3 (benchmarks/simulated_samples.md).
    """

    is_simulated: ClassVar[bool] = True
    is_free: ClassVar[bool] = True

    provider: Literal["simulated"]
    oracle: str
    """Source of the known answers: a file with one JSON line per problem, or `synthetic:<study>`
    for a synthetic benchmark. Its content is part of the identity."""
    seed: int = 0
    ability: float = 0.0
    setting_effects: dict[str, float] = {}
    image_penalty: float = 0.0
    slips: Slips = Slips()
    lasting_share: Rate = 0.7
    """Share of the variance of the logit's residual that is drawn once per model and problem,
    for all samples and settings; the rest is drawn per sample. 0: independent samples."""
    usual_mistake: Rate = 0.6
    """Share of wrong answers that equal the model's usual wrong answer to the problem."""
    true_positive_rate: Rate = 1.0
    """As judge: share of right answers judged consistent."""
    false_positive_rate: Rate = 0.0
    """As judge: share of wrong answers judged consistent."""
    discernment: Annotated[float, Field(allow_inf_nan=False)] = 0.4
    """As a judge that chooses among samples: the advantage of a right over a wrong response in
    standard deviations of its view; below 0 it prefers wrong ones."""
    lasting_taste: Rate = 0.8
    """As such a judge: share of the variance of its view that depends only on the answer and is
    the same in every prompt; the rest is drawn per prompt."""
    error_rate: Rate = 0.0
    """As captioner, translator, labeller, page reader or writer: share of flawed replies."""
    reward: bool = False
    """Simulate a reward head: return a number per response instead of text."""

    @property
    def gives_reward(self) -> bool:
        """See `reward`."""
        return self.reward

    @property
    def max_images(self) -> int | None:
        """None as a reward head, unlimited in all other roles."""
        return 0 if self.reward else None

    @property
    def named_settings(self) -> Collection[str]:
        """The settings with an effect on its ability."""
        return self.setting_effects

    def files(self, data: str | None, setting: str | None = None) -> list[str]:
        """Return the `oracle` file, if it is a file."""
        return [] if is_made_up(self.oracle) else [self.oracle]
