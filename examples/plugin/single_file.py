"""A plug-in in one file: copy it next to your params.yaml and list it there.

plugins: [single_file.py]
score: {scorers: [first-letter]}
settings: {mine: {prompt: letter-only}}
infer: {settings: [mine]}
"""

from __future__ import annotations

from omibench.answers.scorers.outcome import make_failed_verdict, passes_through
from omibench.answers.scorers.registry import scorer
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.settings.registry import prompt
from omibench.settings.templates import CHOICES, QUESTION, Prompt


@scorer("first-letter", version=1)
def score(item: ScoredItem) -> Verdict:
    """Return right if a response starts with the gold letter."""
    blocked = passes_through(item, "first-letter", 1)
    if blocked:
        return blocked
    letter = item.prediction.strip()[:1].upper()
    if not letter.isalpha():
        return make_failed_verdict("unparsed", "no letter", "first-letter", 1)
    right = [letter] == item.gold
    return Verdict(
        extracted=letter, method="letter", verdict=float(right), rules="first-letter", version=1
    )


@prompt("letter-only")
def letter_only() -> Prompt:
    """The prompt that asks for one letter."""
    words = f"{QUESTION}\n\n{CHOICES}\n\nAnswer with one letter and nothing else."
    return Prompt(words, words)
