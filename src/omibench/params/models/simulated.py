"""The block of the provider `simulated`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from omibench.params.blocks import Block, Rate
from omibench.params.models.base import ModelBlock
from omibench.synthetic.address import is_made_up


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


class SimulatedModel(ModelBlock):
    """A seeded stand-in for a model, in any role, marked SIMULATED wherever it shows.

    As a respondent: P(correct) = guess + (1 - guess) * sigmoid(ability + setting_effects[setting]
    - image_penalty * (n_images - 2) - difficulty), with guess = 1 / number of choices. Samples of
    one problem share a part of their luck (`lasting_share`), which leaves this mean as it is. The
    defaults of `lasting_share`, `usual_mistake`, `discernment` and `lasting_taste` are fitted to
    EMMA, table 3 (benchmarks/simulated_samples.md).
    """

    is_simulated: ClassVar[bool] = True

    provider: Literal["simulated"]
    oracle: str
    """What the simulation knows: a file with one JSON line a problem, or `synthetic:<study>` where
    the benchmark is made up. Its content is part of the identity."""
    seed: int = 0
    ability: float = 0.0
    setting_effects: dict[str, float] = {}
    image_penalty: float = 0.0
    slips: Slips = Slips()
    lasting_share: Rate = 0.7
    """Share of the variance of the logit's residual that is drawn once for model and problem, for
    all samples and settings; the rest is drawn for each sample. 0: samples are independent."""
    usual_mistake: Rate = 0.6
    """Share of wrong answers that are the model's usual one to the problem."""
    true_positive_rate: Rate = 1.0
    """As judge: share of right answers that it calls consistent."""
    false_positive_rate: Rate = 0.0
    """As judge: share of wrong answers that it calls consistent."""
    discernment: Annotated[float, Field(allow_inf_nan=False)] = 0.4
    """As a judge that chooses among samples: by how many standard deviations of its view a right
    response stands above a wrong one; below 0 it prefers wrong ones."""
    lasting_taste: Rate = 0.8
    """As such a judge: share of the variance of its view that goes with the answer, in every prompt
    the same; the rest is drawn for each prompt."""
    error_rate: Rate = 0.0
    """As captioner, translator, labeller, page reader or writer: share of flawed replies."""
    reward: bool = False
    """Stand in for a reward head: give a response a real number, and no words."""

    @property
    def gives_reward(self) -> bool:
        """As `reward`."""
        return self.reward

    @property
    def max_images(self) -> int | None:
        """None at all as a reward head, any number in all other roles."""
        return 0 if self.reward else None

    @property
    def named_settings(self) -> Collection[str]:
        """Those under which it is better or worse."""
        return self.setting_effects

    def files(self, data: str | None, setting: str | None = None) -> list[str]:
        """The oracle, where it is a file."""
        return [] if is_made_up(self.oracle) else [self.oracle]
