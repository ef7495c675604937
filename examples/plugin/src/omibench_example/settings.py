"""Parts of settings: prompt `evidence-first`, image condition `last`, strategy `look-again`."""

from __future__ import annotations

from omibench.settings.conditions import place_where_marked
from omibench.settings.registry import Dialogue, Pictures, Shown, condition, prompt, strategy
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


@strategy("look-again", turns=3)
def look_again(dialogue: Dialogue) -> str | None:
    """Ask again until an answer is in a box, at most twice."""
    last = dialogue.responses[-1].text
    return None if "\\boxed{" in last else "Look again, and put the final answer into \\boxed{}."
