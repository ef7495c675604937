"""The block `images:` of a setting: which of a problem's pictures are shown, and how."""

from __future__ import annotations

from typing import Annotated, Literal, Self, get_args

from pydantic import BeforeValidator, Field, model_validator

from omibench.params.blocks import Block, Name
from omibench.params.names import ConditionName
from omibench.plugins.built_in import BUILT_IN

Degradation = Literal["rotation", "tilt", "shadow", "glare", "exposure", "blur"]
"""Ways in which a photograph suffers, after MathReal, in the order in which they are applied."""
DEGRADATIONS: tuple[Degradation, ...] = get_args(Degradation)
DERIVED = ("composite", "labelled-composite", "degraded", "occluded")
"""The built-in conditions that draw pictures of their own."""
_GOES_WITH: dict[str, tuple[str, ...]] = {
    "k": ("first",),
    "model": ("captions",),
    "prompt": ("captions",),
    "by": ("degraded",),
    "grade": ("degraded",),
    "share": ("occluded",),
    "figure": ("occluded",),
    "seed": ("shuffled", "degraded", "occluded"),
}
_NEEDS: dict[str, tuple[str, str]] = {
    "captions": ("model", "the model that puts pictures into words"),
    "degraded": ("by", f"a list of {', '.join(DEGRADATIONS)}"),
}


class Images(Block):
    """Which of a problem's pictures are shown, and how. `images: first` is short for `show`.

    docs/settings.md says what each condition does and which published study has it.
    """

    show: ConditionName = "all"
    k: Annotated[int, Field(ge=1)] = 1
    """With `first`: how many of the first pictures are shown."""
    model: Name | None = None
    """With `captions`: the model that puts each picture into words."""
    prompt: str | None = None
    """With `captions`: a text file with instructions for it, in place of ours."""
    by: list[Degradation] = []
    """With `degraded`: what the pictures suffer."""
    grade: Annotated[int, Field(ge=0, le=3)] = 2
    """With `degraded`: how much, from 0 (not at all: the original bytes) to 3."""
    share: Annotated[float, Field(gt=0, le=1)] = 0.25
    """With `occluded`: the share of a picture's area under a black patch; 1 hides it whole."""
    figure: Annotated[int, Field(ge=0)] | None = None
    """With `occluded`: the number of the one picture that has the patch; None: each has one."""
    seed: int = 0
    """With `shuffled`, `degraded` and `occluded`: another seed places everything otherwise."""

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        for key, conditions in _GOES_WITH.items():
            # A whole dump of a study names every key, and is a study.
            set_otherwise = getattr(self, key) != type(self).model_fields[key].get_default()
            if set_otherwise and self.show not in conditions and not self._is_plugin:
                raise ValueError(
                    f"{key} goes with show: {' or '.join(conditions)}, not with {self.show}"
                )
        if self.show in _NEEDS:
            key, meaning = _NEEDS[self.show]
            if not getattr(self, key):
                raise ValueError(f"show: {self.show} needs {key}: {meaning}")
        twice = next((kind for kind in self.by if self.by.count(kind) > 1), None)
        if twice:
            raise ValueError(f"by names {twice!r} twice")
        return self

    @property
    def _is_plugin(self) -> bool:
        """Whether a plug-in brings the condition, which takes whatever keys it needs."""
        return self.show not in BUILT_IN["conditions"]

    @property
    def is_derived(self) -> bool:
        """Whether other pictures than the originals are shown."""
        return self._is_plugin or self.show in DERIVED

    @property
    def helpers(self) -> list[str]:
        """The models that are asked before the pictures' stand-ins are there."""
        return [self.model] if self.model else []


def _write_out(value: object) -> object:
    return {"show": value} if isinstance(value, str) else value


ShownImages = Annotated[
    Images, BeforeValidator(_write_out, json_schema_input_type=ConditionName | Images)
]
