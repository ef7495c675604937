"""The block `rationale.taxonomy`: how domain, subfield and topic are derived from the problems."""

from __future__ import annotations

from typing import Annotated, Final, Self

from pydantic import Field, StringConstraints, model_validator

from omibench.params.blocks import Block, Name, PlainPath, PromptFiles, ScorerName
from omibench.schemas.problem import AttributeName, Subject, normalise_label

ClusterCount = Annotated[int, Field(ge=1, le=200)]


class TaxonomyParams(Block):
    """How domain, subfield and topic are derived from the problems (OMIBench, A.5)."""

    clusters: ClusterCount | tuple[ClusterCount, ClusterCount] = (2, 12)
    """Clusters of topics per subject: a number, or a minimum and maximum, from which the mean
    silhouette chooses."""
    embedder: Name | None = None
    """The model (a key of `models`) that embeds topics, called through the store; default:
    character n-grams with TF-IDF and a truncated SVD, which need no download."""
    file: PlainPath | None = None
    """A manually edited `labels.yaml`, which overrides the labels of models."""

    @model_validator(mode="after")
    def _least_first(self) -> Self:
        if isinstance(self.clusters, tuple) and self.clusters[0] > self.clusters[1]:
            raise ValueError("clusters: give the minimum first, then the maximum, as in [2, 12]")
        return self


# The block `rationale`: the writer of missing rationales and the labeller of topics.

WORDS: Final = "words"
"""The tokenizer that needs no file: words, numbers, Chinese characters and signs."""
_UNUSABLE_RULES: Final = {
    "mathreal": "needs a grading model",
    "published": "reads printed verdicts, which new responses lack",
}
DOMAIN: Final = "domain"
TOPICS: Final = "topics"
"""The attribute with all topics of a problem."""
SUBFIELD_NAME: Final = "subfield"
SKILLS: Final = "skills"
"""The attribute with the skills of a problem."""
OTHER_SKILL: Final = "other_skill"
"""The attribute with the type of a problem that requires no skill of the list."""
_TAXONOMY_ATTRIBUTES: Final = (DOMAIN, TOPICS, SUBFIELD_NAME, SKILLS, OTHER_SKILL)
SkillName = Annotated[
    str, StringConstraints(pattern=r"^[^#{}:\n]+$", strip_whitespace=True, max_length=60)
]
SkillMeaning = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class RationaleParams(Block):
    """The writer of missing rationales and the labeller of topics (OMIBench, 3.2 steps 2 and 4)."""

    writer: Name | None = None
    labeller: Name | None = None
    candidates: Annotated[int, Field(ge=1, le=64)] = 4
    """Candidate solutions per problem before the reference is shown (A.3.1: up to 16)."""
    stop_at_right: bool = False
    """Draw candidates individually until one is right: cheaper, and annotators see one."""
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.6
    """Temperature of the writer (A.3.1: 0.6)."""
    writer_max_tokens: Annotated[int, Field(ge=1)] = 8192
    """Maximum tokens of a reply of the writer."""
    scorer: ScorerName = "robust"
    """The scorer of a candidate's final answer (A.3.1: the benchmark's own)."""
    tokenizer: str = WORDS
    """Unit of `min_tokens`: `words`, or the path of a model's `tokenizer.json`."""
    min_tokens: Annotated[int, Field(ge=0)] = 50
    """Minimum tokens of a candidate's reasoning; a shorter one is degenerate (A.3.1: 50)."""
    max_overlap: Annotated[float, Field(ge=0, le=1)] = 0.8
    """Share of words from the question or the answer at which a candidate without a new number
    or equation is degenerate."""
    wrong_candidates: Annotated[int, Field(ge=0, le=64)] = 3
    """Wrong candidates per problem that are drawn for annotators (A.3.2: 3)."""
    reference_tries: Annotated[int, Field(ge=0, le=64)] = 1
    """If no candidate is right: attempts with the reference solution in the prompt, until one is
    right."""
    labeller_max_tokens: Annotated[int, Field(ge=1)] = 4096
    """Maximum tokens of a reply of the labeller, including thinking before the label."""
    topics: dict[str, list[str]] = {}
    """The fixed list of topic labels of each subject."""
    taxonomy: TaxonomyParams | None = None
    """Find domain, subfield and topic of each problem, as attributes; `{}` for the defaults."""
    skills: dict[Subject, dict[SkillName, SkillMeaning]] = {}
    """Subject -> skill -> its meaning: the labeller lists all skills that a problem needs, or
    none, with a reason (EMMA, C.1)."""
    classes: dict[AttributeName, Annotated[dict[SkillName, SkillMeaning], Field(min_length=2)]] = {}
    """Attribute -> class -> its meaning: the labeller picks the one class that fits, from the
    figures and the text (USNCO-V: five types of images, as `category`). A class that the problem
    already has is kept. Needs a `labeller`."""
    prompts: PromptFiles = {}
    """Text files that replace our wording, by prompt name (docs/prompts.md)."""

    @property
    def files(self) -> list[str]:
        """The referenced files: prompts, a tokenizer, and human labels."""
        tokenizer = [] if self.tokenizer == WORDS else [self.tokenizer]
        labels = [self.taxonomy.file] if self.taxonomy and self.taxonomy.file else []
        return [*self.prompts.values(), *tokenizer, *labels]

    @property
    def embedder(self) -> str | None:
        """The model that embeds topics, if any."""
        return self.taxonomy.embedder if self.labeller and self.taxonomy else None

    @property
    def models(self) -> list[str]:
        """The models of the stage."""
        return [name for name in (self.writer, self.labeller, self.embedder) if name]

    @property
    def label_prompts(self) -> list[str]:
        """The names of the labeller's prompts."""
        if self.labeller is None:
            return []
        found = ["open-topic", "cluster-name", "subfield"] if self.taxonomy else []
        skills = ["skill"] if self.skills else []
        classes = ["class"] if self.classes else []
        return [*(["topic"] if self.lists_topics else []), *found, *skills, *classes]

    @property
    def lists_topics(self) -> bool:
        """Whether the labeller picks topics from lists: if there are any, or nothing else to do."""
        return bool(self.topics) or not (self.taxonomy or self.skills or self.classes)

    @model_validator(mode="after")
    def _classes_can_be_picked(self) -> Self:
        if self.classes and self.labeller is None:
            raise ValueError(
                "classes: a model picks them; set rationale.labeller, or remove rationale.classes"
            )
        for attribute, classes in self.classes.items():
            if attribute in _TAXONOMY_ATTRIBUTES:
                raise ValueError(
                    f"classes: {attribute!r} is an attribute of rationale.taxonomy or "
                    "rationale.skills; give another name"
                )
            spellings: dict[str, str] = {}
            for name in classes:
                twin = spellings.setdefault(normalise_label(name), name)
                if twin != name:
                    raise ValueError(
                        f"classes.{attribute}: {twin!r} and {name!r} differ only in case or "
                        "spaces; remove one of them"
                    )
        return self

    @model_validator(mode="after")
    def _scorer_needs_no_model(self) -> Self:
        if reason := _UNUSABLE_RULES.get(self.scorer):
            raise ValueError(
                f"scorer: {self.scorer!r} {reason}; set a scorer that scores a response alone"
            )
        return self
