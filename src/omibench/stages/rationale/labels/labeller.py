"""Who names labels, and how a labeller is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from omibench.schemas.label_row import LabelKind, LabelRow
from omibench.schemas.problem import Problem
from omibench.schemas.problem_warning import LABEL, ProblemWarning
from omibench.schemas.request import Conversation, Decoding, Request, Response, Tags
from omibench.stages.rationale.solutions import Ask


@dataclass(frozen=True)
class Labeller:
    """A model that labels topics: its name, how to ask it, each subject's labels, its room."""

    model: str
    ask: Ask
    topics: Mapping[str, Sequence[str]]
    study: str = ""
    max_tokens: int = 4096
    """Room of one reply, in tokens."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """Files that take the place of prompts, by their names."""

    def ask_all(self, conversations: Mapping[str, Conversation]) -> dict[str, Response]:
        """Ask about several problems at once.

        Args:
            conversations: By the id of the problem that each is about.

        Returns:
            The responses by the same ids.
        """
        return dict(zip(conversations, self.ask_each(list(conversations.items())), strict=True))

    def ask_each(self, conversations: Sequence[tuple[str, Conversation]]) -> list[Response]:
        """Ask conversations, each beside the id of a problem that it is about.

        Args:
            conversations: Any number; a problem may stand beside several.

        Returns:
            The responses in their order; no model is asked where there is nothing to ask.
        """
        requests = [self.build_request(problem, asked) for problem, asked in conversations]
        return self.ask(requests) if requests else []

    def build_request(self, problem: str, conversation: Conversation) -> Request:
        """One request, decoded greedily."""
        return Request(
            conversation=conversation,
            decoding=Decoding(temperature=0.0, max_tokens=self.max_tokens),
            tags=Tags(role="labeller", problem=problem, study=self.study),
        )

    def explain_failure(self, response: Response, failure: str) -> ProblemWarning:
        """The warning of a reply without a label: what lacks, or that the reply was cut off."""
        if response.outcome == "truncated":
            return ProblemWarning(
                LABEL,
                f"{self.model} was cut off after {self.max_tokens} tokens; "
                "raise rationale.labeller_max_tokens",
            )
        return ProblemWarning(LABEL, f"{self.model} {failure}")

    def build_row(
        self,
        problem: Problem,
        kind: LabelKind,
        labels: Sequence[str],
        response: Response,
        reason: str = "",
    ) -> LabelRow:
        """What it said of one problem, as a line of `labels.jsonl`."""
        return LabelRow(
            id=problem.id,
            kind=kind,
            labels=list(labels),
            reason=reason,
            by=self.model,
            simulated=response.simulated,
        )

    def mark_simulated(self, problem: Problem, response: Response) -> Problem:
        """The problem with the warning that a simulated model labelled it, once."""
        mark = ProblemWarning(LABEL, simulated_by=(self.model,))
        if not response.simulated or mark in problem.warnings:
            return problem
        return problem.warn(mark)
