"""The model that labels problems, and its requests."""

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
    """A model that labels topics: its name, requests, labels per subject, and reply length."""

    model: str
    ask: Ask
    topics: Mapping[str, Sequence[str]]
    study: str = ""
    max_tokens: int = 4096
    """Maximum tokens of one reply."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """Files that replace prompts, by name."""

    def ask_all(self, conversations: Mapping[str, Conversation]) -> dict[str, Response]:
        """Send requests for several problems at once.

        Args:
            conversations: Conversations by problem id.

        Returns:
            The responses by the same ids.
        """
        return dict(zip(conversations, self.ask_each(list(conversations.items())), strict=True))

    def ask_each(self, conversations: Sequence[tuple[str, Conversation]]) -> list[Response]:
        """Send conversations, each with the id of its problem.

        Args:
            conversations: Any number, also several per problem.

        Returns:
            The responses in order; without conversations no model is called.
        """
        requests = [self.build_request(problem, asked) for problem, asked in conversations]
        return self.ask(requests) if requests else []

    def build_request(self, problem: str, conversation: Conversation) -> Request:
        """Return one request with greedy decoding."""
        return Request(
            conversation=conversation,
            decoding=Decoding(temperature=0.0, max_tokens=self.max_tokens),
            tags=Tags(role="labeller", problem=problem, study=self.study),
        )

    def explain_failure(self, response: Response, failure: str) -> ProblemWarning:
        """Return the warning of a reply without a label: the missing part, or a truncation."""
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
        """Return the reply on one problem as a line of `labels.jsonl`."""
        return LabelRow(
            id=problem.id,
            kind=kind,
            labels=list(labels),
            reason=reason,
            by=self.model,
            simulated=response.simulated,
        )

    def mark_simulated(self, problem: Problem, response: Response) -> Problem:
        """Return the problem with one warning that a simulated model labelled it."""
        mark = ProblemWarning(LABEL, simulated_by=(self.model,))
        if not response.simulated or mark in problem.warnings:
            return problem
        return problem.warn(mark)
