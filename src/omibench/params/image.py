"""The block `images:` of a setting: which pictures of a problem are shown, and how."""

from __future__ import annotations

from typing import Annotated, Literal, Self, get_args

from pydantic import BeforeValidator, Field, model_validator

from omibench.params.blocks import Block, Name
from omibench.params.names import ConditionName
from omibench.plugins.built_in import built_in_parts

Degradation = Literal["rotation", "tilt", "shadow", "glare", "exposure", "blur"]
"""Degradations of a photograph, after MathReal, in the order in which they are applied."""
DEGRADATIONS: tuple[Degradation, ...] = get_args(Degradation)
DERIVED = ("composite", "labelled-composite", "degraded", "occluded")
"""The built-in conditions that generate new pictures."""
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
    "captions": ("model", "the model that describes the pictures"),
    "degraded": ("by", f"a list of {', '.join(DEGRADATIONS)}"),
}


class Images(Block):
    """Which pictures of a problem are shown, and how. `images: first` is short for `show`.

    docs/settings.md describes each condition and the published study that uses it.
    """

    show: ConditionName = "all"
    k: Annotated[int, Field(ge=1)] = 1
    """With `first`: number of pictures shown."""
    model: Name | None = None
    """With `captions`: the model that describes each picture."""
    prompt: str | None = None
    """With `captions`: text file that replaces our instructions."""
    by: list[Degradation] = []
    """With `degraded`: the degradations to apply."""
    grade: Annotated[int, Field(ge=0, le=3)] = 2
    """With `degraded`: strength, from 0 (none: the original bytes) to 3."""
    share: Annotated[float, Field(gt=0, le=1)] = 0.25
    """With `occluded`: share of a picture's area under a black patch; 1 hides it completely."""
    figure: Annotated[int, Field(ge=0)] | None = None
    """With `occluded`: number of the one picture with the patch; None: every picture."""
    seed: int = 0
    """With `shuffled`, `degraded` and `occluded`: seed of the order or placement."""

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        for key, conditions in _GOES_WITH.items():
            # A full dump of a study contains every key, and is valid.
            set_otherwise = getattr(self, key) != type(self).model_fields[key].get_default()
            if set_otherwise and self.show not in conditions and not self._is_plugin:
                raise ValueError(
                    f"{key}: only for show: {' or '.join(conditions)}, not for {self.show}; "
                    "remove it"
                )
        if self.show in _NEEDS:
            key, meaning = _NEEDS[self.show]
            if not getattr(self, key):
                raise ValueError(f"show: {self.show} needs {key}: {meaning}")
        twice = next((kind for kind in self.by if self.by.count(kind) > 1), None)
        if twice:
            raise ValueError(f"by: {twice!r} is listed twice")
        return self

    @property
    def _is_plugin(self) -> bool:
        """Whether a plug-in provides the condition and can take any key."""
        return self.show not in built_in_parts("conditions")

    @property
    def is_derived(self) -> bool:
        """Whether other pictures than the originals are shown."""
        return self._is_plugin or self.show in DERIVED

    @property
    def helpers(self) -> list[str]:
        """The models that are called to generate the replacement of the pictures."""
        return [self.model] if self.model else []


def _write_out(value: object) -> object:
    return {"show": value} if isinstance(value, str) else value


ShownImages = Annotated[
    Images, BeforeValidator(_write_out, json_schema_input_type=ConditionName | Images)
]
