"""Parts of settings: the prompt `evidence-first` and the image condition `last`."""

from __future__ import annotations

from omibench.settings.conditions import place_where_marked
from omibench.settings.registry import Pictures, Shown, condition, prompt
from omibench.settings.templates import CHOICES, QUESTION, Prompt

WORDS = (
    "First list what each picture supplies, then reason from the list.\n\n"
    f"{QUESTION}\n\n{CHOICES}\n\nPut the final answer into \\boxed{{}}."
)


@prompt("evidence-first")
def evidence_first() -> Prompt:
    """Show the pictures before the reasoning."""
    return Prompt(WORDS, WORDS)


@condition("last")
def show_last(pictures: Pictures) -> Shown:
    """Show only the last `k` pictures: `images: {show: last, k: 2}`."""
    last = list(pictures.originals.items())[-pictures.images.k :]
    return place_where_marked(pictures.question, dict(last))
