"""The block `rationale`: who writes missing rationales and who labels topics."""

from __future__ import annotations

from typing import Annotated, Final, Self

from pydantic import Field, StringConstraints, model_validator

from omibench.params.blocks import Block, Name
from omibench.params.names import PromptFiles, RuleBookName
from omibench.params.taxonomy import TaxonomyParams
from omibench.schemas.problem import Subject

WORDS: Final = "words"
"""The tokenizer that needs no file: words, numbers, Chinese characters and signs."""
_UNUSABLE_RULES: Final = {
    "mathreal": "needs a model that grades",
    "published": "reads printed verdicts, which no new response has",
}
SkillName = Annotated[
    str, StringConstraints(pattern=r"^[^#{}:\n]+$", strip_whitespace=True, max_length=60)
]
SkillMeaning = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class RationaleParams(Block):
    """Who writes missing rationales and who labels topics (OMIBench, 3.2 steps 2 and 4)."""

    writer: Name | None = None
    labeller: Name | None = None
    candidates: Annotated[int, Field(ge=1, le=64)] = 4
    """Candidate solutions of each problem before the reference is shown (A.3.1: up to 16)."""
    stop_at_right: bool = False
    """Draw candidates one by one and no more once one is right: cheaper, and annotators see one."""
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.6
    """Of the writer (A.3.1: 0.6)."""
    writer_max_tokens: Annotated[int, Field(ge=1)] = 8192
    """Room of one reply of the writer, in tokens."""
    rules: RuleBookName = "robust"
    """The rule book by which a candidate's final answer is right (A.3.1: the benchmark's own)."""
    tokenizer: str = WORDS
    """What a token of `min_tokens` is: `words`, or the path of a model's `tokenizer.json`."""
    min_tokens: Annotated[int, Field(ge=0)] = 50
    """A candidate whose reasoning is shorter, in tokens, is degenerate (A.3.1: 50)."""
    max_overlap: Annotated[float, Field(ge=0, le=1)] = 0.8
    """From this share of words of the question or the answer on, a candidate without a number
    or equation of its own is degenerate."""
    wrong_candidates: Annotated[int, Field(ge=0, le=64)] = 3
    """Wrong candidates of each problem that are drawn for annotators (A.3.2: 3)."""
    reference_tries: Annotated[int, Field(ge=0, le=64)] = 1
    """Where no candidate is right: tries with the reference solution in the prompt, until one is
    right."""
    labeller_max_tokens: Annotated[int, Field(ge=1)] = 4096
    """Room of one reply of the labeller, in tokens: thinking comes before the label."""
    topics: dict[str, list[str]] = {}
    """The fixed list of topic labels of each subject."""
    taxonomy: TaxonomyParams | None = None
    """Find domain, subfield and topic of each problem, as attributes; `{}` for the defaults."""
    skills: dict[Subject, dict[SkillName, SkillMeaning]] = {}
    """Subject -> skill -> what it means: the labeller names all that a problem demands, or none of
    them, with the reason (EMMA, C.1)."""
    prompts: PromptFiles = {}
    """Text files that take the place of our words, by the names of prompts (docs/prompts.md)."""

    @property
    def files(self) -> list[str]:
        """The files that it names: prompts, a tokenizer, and labels of people."""
        tokenizer = [] if self.tokenizer == WORDS else [self.tokenizer]
        labels = [self.taxonomy.file] if self.taxonomy and self.taxonomy.file else []
        return [*self.prompts.values(), *tokenizer, *labels]

    @property
    def embedder(self) -> str | None:
        """The model that makes vectors of topics, where one does."""
        return self.taxonomy.embedder if self.labeller and self.taxonomy else None

    @property
    def models(self) -> list[str]:
        """The models that the stage asks."""
        return [name for name in (self.writer, self.labeller, self.embedder) if name]

    @property
    def label_prompts(self) -> list[str]:
        """The names of the prompts that the labeller is sent."""
        if self.labeller is None:
            return []
        listed = ["topic"] if self.topics or not (self.taxonomy or self.skills) else []
        found = ["open-topic", "cluster-name", "subfield"] if self.taxonomy else []
        return [*listed, *found, *(["skill"] if self.skills else [])]

    @model_validator(mode="after")
    def _rules_need_no_model(self) -> Self:
        if reason := _UNUSABLE_RULES.get(self.rules):
            raise ValueError(
                f"rules: {self.rules!r} {reason}: name a rule book that scores a response alone"
            )
        return self
