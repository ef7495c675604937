"""The model that labels problems, and its requests."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from omibench.schemas.curation import LabelKind, LabelRow
from omibench.schemas.problem import LABEL, LONGEST_VALUE, Problem, ProblemWarning
from omibench.schemas.request import Conversation, Decoding, Request, Response, Tags
from omibench.stages.rationale.candidates import Ask


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


# Labels in a reply: `{CLASS: a#b}` in its last line, with the text before it as the reason.

SEPARATOR: Final = "#"
"""Separator of labels in one reply (OMIBench, A.5)."""
MOST_LABELS: Final = 8
"""Maximum number of labels in one reply."""
LONGEST_REASON: Final = 2000
_CLASS = re.compile(r"\{CLASS: ([^{}]+)\}")


class LabelReply(NamedTuple):
    """The labels of one reply, and its text before them."""

    labels: list[str]
    reason: str


def parse_labels(response: Response) -> LabelReply:
    """Read the labels of a reply.

    Args:
        response: A response whose last line should be `{CLASS: a#b}`.

    Returns:
        Its labels without repetitions (ignoring spaces and case), and the text before that line.
        There are no labels if the line or answer is missing, or a label is too long for an
        attribute.
    """
    text = response.text if response.outcome == "answered" else ""
    named = read_class(text)
    if named is None:
        return LabelReply([], "")
    labels = {
        normalise_label(text): " ".join(text.split())
        for text in reversed(named.split(SEPARATOR))
        if text.strip()
    }
    names = list(reversed(labels.values()))
    if len(names) > MOST_LABELS or any(len(name) > LONGEST_VALUE for name in names):
        return LabelReply([], "")
    return LabelReply(names, "\n".join(text.strip().splitlines()[:-1]).strip()[:LONGEST_REASON])


def read_class(reply: str) -> str | None:
    """Return the X of a reply whose last line is `{CLASS: X}`, else None."""
    lines = reply.strip().splitlines()
    match = _CLASS.fullmatch(lines[-1].strip()) if lines else None
    return match[1] if match else None


def normalise_label(text: str) -> str:
    """Return a label for comparison: single spaces, case ignored."""
    return " ".join(text.split()).casefold()
