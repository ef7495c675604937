"""Settings and cells: images, tools, prompts and samples."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple, Self, get_args

from pydantic import Field, field_validator, model_validator

from omibench.params.blocks import (
    Block,
    ConditionName,
    Name,
    PartName,
    PromptFiles,
    ScorerName,
    StrategyName,
    short_form,
)
from omibench.params.panel import Panel
from omibench.params.presentation import Described, Examples, Perceived, Where, Without
from omibench.plugins.built_in import built_in_parts
from omibench.schemas.request import Decoding

# A cell: the unit of inference and scoring.


class Cell(NamedTuple):
    """One model under one setting."""

    model: str
    setting: str


# The block `images:` of a setting: which pictures of a problem are shown, and how.

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


ShownImages = Annotated[Images, short_form("show", ConditionName | Images)]


# The block `tools:` of a setting: the picture tools of a model, and their use.

ToolName = Literal[
    "look", "crop", "zoom", "draw_points", "draw_lines", "draw_shape", "draw_text", "highlight",
    "blur", "side_by_side",
]  # fmt: skip
HelperTool = Literal["python", "detect", "segment", "depth", "read_text"]
"""Tools that a model block of their own carries out."""
ToolStyle = Literal["native", "text"]
Manner = Literal["free", "sketch", "slow", "flow"]


class Tools(Block):
    """Thinking with images: a loop in which the model edits copies of the pictures."""

    style: ToolStyle = "native"
    """`native`: the provider's tool interface; `text`: blocks in the model's output."""
    manner: Manner = "free"
    """Instructions on how to use the tools (docs/settings.md)."""
    max_turns: Annotated[int, Field(ge=2, le=32)] = 6
    """Maximum turns of a loop; the last is requested without tools."""
    offered: Annotated[tuple[ToolName, ...], Field(min_length=1)] = (
        "look", "crop", "zoom", "draw_points", "draw_lines", "draw_shape", "draw_text",
        "highlight", "blur", "side_by_side",
    )  # fmt: skip
    by: dict[HelperTool, Name] = {}
    """Further tools, each with the model block that carries it out: `{python: sandbox}`."""
    images: Annotated[int, Field(ge=1, le=100)] = 16
    """Maximum pictures in one conversation: those of the problem and those of tools."""

    @field_validator("offered")
    @classmethod
    def _once(cls, offered: tuple[ToolName, ...]) -> tuple[ToolName, ...]:
        twice = next((name for name in offered if offered.count(name) > 1), None)
        if twice:
            raise ValueError(f"{twice} is listed twice")
        return offered

    @property
    def names(self) -> tuple[str, ...]:
        """All tools that the model can call."""
        return (*self.offered, *self.by)


# The block `aggregate` of a setting: how several samples of a problem become one result.

Marking = Literal["one-by-one", "joint"]
AggregationRule = Literal["mean", "first", "majority", "best-of-n", "tournament"]
AggregationName = Annotated[
    str, PartName("aggregations", "rule of aggregation", first=get_args(AggregationRule))
]
BY_JUDGE: tuple[AggregationRule, ...] = ("best-of-n", "tournament")
IN_RUNS: tuple[AggregationRule, ...] = ("first", "majority")
_WITHOUT_SAMENESS = ("published", "mathreal")
SELF = "self"
"""Judge name for the model that generated the samples."""


class Aggregation(Block):
    """One rule for all samples of a problem. `aggregate: majority` is short for it."""

    how: AggregationName = "mean"
    """`mean`: every sample counts. The others choose one: the first; one with the most frequent
    answer; the one with the highest mark; the winner of a tournament; the choice of a plug-in's
    rule (docs/plugins.md)."""
    judge: Panel | None = None
    """The reward model of `best-of-n` and `tournament`: a key of `models`, or `self`."""
    marking: Marking = "one-by-one"
    """For `best-of-n`: each candidate in a separate prompt, or all k of them in one prompt
    (`joint`), in as few prompts as fit into the reward model's context (EMMA, 4.3)."""
    captions: Name | None = None
    """For a reward model without image input: the model that describes the pictures (EMMA, C.4)."""
    caption_prompt: str | None = None
    """Text file that replaces the captioner's instructions."""
    k: list[Annotated[int, Field(ge=1)]] = []
    """Smaller numbers of samples to report as well; each takes the first k samples."""
    runs: Annotated[int, Field(ge=1)] = 1
    """For `first` and `majority`: the equal parts into which the samples divide in the order drawn.
    Each chooses one sample, so that the cell has so many runs (OMIBench, J)."""
    sameness: ScorerName | None = None
    """The scorer that determines which answers are equal, for votes and for consistency@k;
    default: answers with the same normal form."""

    @model_validator(mode="after")
    def _compares_answers(self) -> Self:
        if self.sameness in _WITHOUT_SAMENESS:
            raise ValueError(
                f"sameness: {self.sameness} cannot compare answers by itself; set another scorer"
            )
        return self

    @model_validator(mode="after")
    def _has_its_judge(self) -> Self:
        if (self.how in BY_JUDGE) != (self.judge is not None):
            need = "needs" if self.how in BY_JUDGE else "takes no"
            raise ValueError(f"{self.how!r} {need} `judge`, the model that marks or compares")
        if self.captions and self.judge is None:
            raise ValueError(
                f"{self.how!r} takes no `captions`, since no model is shown the problem; remove it"
            )
        if self.caption_prompt and not self.captions:
            raise ValueError("caption_prompt requires `captions`, the model that gets it")
        if self.marking == "joint" and self.how != "best-of-n":
            raise ValueError(f"marking: joint is only for best-of-n, not for {self.how}")
        if self.runs > 1 and self.how not in IN_RUNS:
            raise ValueError(f"runs are only for {' and '.join(IN_RUNS)}, not for {self.how}")
        return self

    @property
    def prompt_name(self) -> str:
        """Name of the prompt for its reward model."""
        if self.how == "tournament":
            return "comparison"
        return "joint_marks" if self.marking == "joint" else "mark"

    def name_judges(self, respondent: str) -> list[str]:
        """Return the keys in `models` of the models that choose among a respondent's samples."""
        names = self.judge.models if self.judge else []
        return [respondent if name == SELF else name for name in names]


Aggregate = Annotated[Aggregation, short_form("how", AggregationName | Aggregation)]


# The blocks under `settings:`: presentation, decoding and aggregation of a problem.


class Setting(Block):
    """Presentation, decoding and aggregation of a problem (design, section 6)."""

    prompt: str = "cot"
    """Name of a built-in prompt, or path of a text file with {question} and {choices}."""
    prompts: PromptFiles = {}
    """Text files that replace our wording, by prompt name (docs/prompts.md)."""
    images: ShownImages = Images()
    where: Where = {}
    """Problems to include, such as `{subject: mathematics}`; default: all."""
    without: list[Without] = []
    """Part of a problem's text to omit: `question`, `choices`, or both."""
    examples: Examples | None = None
    """Solved problems shown before the question."""
    perception: Perceived | None = None
    """Textual descriptions of the pictures obtained before the question is answered."""
    perceiver: Described | None = None
    """Another model that describes each picture first."""
    tools: Tools | None = None
    """Tools with which the model can zoom into the pictures and draw on copies of them."""
    strategy: StrategyName | None = None
    """A strategy of several turns from a plug-in (docs/plugins.md)."""
    decoding: Decoding = Decoding()
    aggregate: Aggregate = Aggregation()
    """How several samples of a problem become one result."""
    label: str | None = None

    @model_validator(mode="after")
    def _k_is_drawn(self) -> Self:
        samples, runs = self.decoding.samples, self.aggregate.runs
        if samples % runs or (runs > 1 and samples == runs):
            raise ValueError(
                f"aggregate.runs is {runs}, but decoding.samples is {samples}; set it to a "
                f"multiple of {runs}, at least {2 * runs}"
            )
        largest = max(self.aggregate.k, default=0)
        if largest > self.samples_of_a_run:
            per_run = " per run" if runs > 1 else ""
            raise ValueError(
                f"aggregate.k contains {largest}, but decoding.samples is "
                f"{self.samples_of_a_run}{per_run}"
            )
        return self

    @model_validator(mode="after")
    def _perceives_pictures(self) -> Self:
        seeing = self.perception and (self.perception.reads or self.perception.given == "I")
        if self.perception and seeing and self.images.show in ("none", "captions"):
            raise ValueError(
                f"perception: {self.perception.given} needs the pictures, but images: "
                f"{self.images.show} does not show them"
            )
        if self.perception and "question" in self.without:
            raise ValueError("perception determines the text; remove `without: [question]`")
        return self

    @model_validator(mode="after")
    def _tools_have_pictures(self) -> Self:
        seeing = "tools need" if self.tools else "perceiver needs" if self.perceiver else ""
        if seeing and self.images.show in ("none", "captions"):
            raise ValueError(
                f"{seeing} the pictures, but images: {self.images.show} does not show them"
            )
        if self.perceiver and self.perception:
            raise ValueError("perceiver and perception both describe pictures; remove one of them")
        if self.perceiver and self.perceiver.put == "instead" and self.tools:
            raise ValueError("tools need the pictures; remove `put: instead` of the perceiver")
        return self

    @model_validator(mode="after")
    def _takes_turns_in_one_way(self) -> Self:
        if self.tools and self.strategy:
            raise ValueError("tools and strategy both determine the turns; remove one of them")
        return self

    @property
    def samples_of_a_run(self) -> int:
        """The number of samples of a problem from which a run chooses; all without `runs`."""
        return self.decoding.samples // self.aggregate.runs

    @property
    def in_turns(self) -> bool:
        """Whether the respondent itself answers more than once."""
        return bool(self.tools or self.strategy)

    @property
    def in_steps(self) -> bool:
        """Whether the last request depends on earlier answers."""
        return self.images.show == "captions" or bool(
            self.perception or self.perceiver or self.in_turns
        )

    @property
    def reads(self) -> bool:
        """Whether the text of the pictures is read before the question is answered."""
        return self.perception is not None and self.perception.reads

    @property
    def helpers(self) -> list[str]:
        """The models besides the cell's respondent, such as a captioner; each once."""
        readers = [self.perception.by] if self.perception and self.perception.by else []
        readers += [self.perceiver.model] if self.perceiver else []
        carriers = self.tools.by.values() if self.tools else ()
        return list(dict.fromkeys([*self.images.helpers, *readers, *carriers]))
