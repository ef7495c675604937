"""The words of simulated respondents: reasoning sentences, endings and the shapes of slips.

No sentence of reasoning states an answer, names an option or holds a box, so that what a scorer
extracts is what the ending says.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

OPENERS = (
    "Let me work through this step by step.\n\n",
    "To solve this, we first read what each figure shows.\n\n",
    "### Step 1: Understanding the problem\n",
    "I will start by collecting the data from the images.\n\n",
    "We need to combine the figures here.\n\n",
    "Okay, let's look at what is given.\n\n",
)
STEPS = (
    "From Figure {i} we read the quantities that are marked on the drawing.",
    "Figure {j} supplies the missing relation, which the text does not state.",
    "Comparing Figure {i} with Figure {j}, the two scales have to be brought to the same unit.",
    "The curve in Figure {i} is close to linear over the range of interest, about {n} divisions.",
    "Note that the labels in Figure {j} are not in the order in which the text mentions them.",
    "Substituting what we read from Figure {i} gives an expression in one unknown.",
    "There are {n} features to keep track of, and only some of them matter here.",
    "By conservation, whatever leaves one side has to appear on the other.",
    "We check the limiting case: when the quantity in Figure {i} is zero, the effect vanishes.",
    "**Step {n}:** eliminate the intermediate variable between the two equations.",
    "The arrow in Figure {j} points in the opposite direction, so the sign has to be reversed.",
    "Counting carefully in Figure {i}, I find {n} of them on the outer edge.",
    "This is consistent with the trend in Figure {j}, where the values fall off after {n} steps.",
    "A quick estimate of the order of magnitude supports this reading.",
    "If instead we had used Figure {i} alone, the problem would be underdetermined.",
    "Rearranging the terms leaves a simple ratio of the two readings.",
)
BRIDGES = (
    "Putting both readings together settles the question.",
    "With this, everything that is needed is known.",
    "The remaining steps are arithmetic.",
    "All conditions of the problem are now satisfied.",
)
BOXED = (
    "Therefore, the final answer is\n\n\\[\n\\boxed{{{a}}}\n\\]",
    "Thus, the answer is \\boxed{{{a}}}.",
    "### Final Answer\n\n\\boxed{{{a}}}",
    "**Final Answer:** $\\boxed{{{a}}}$",
    "So the result is $\\boxed{{{a}}}$.",
)
UNBOXED = (
    "Therefore, the final answer is {a}.",
    "Thus, the answer is {a}.",
    "Hence the correct answer is {a}.",
)
LETTER_SENTENCES = (
    "Only one of the curves has this slope, so option ({a}) fits best.",
    "The other drawings contradict one of the figures, so option ({a}) fits best.",
    "Both readings agree with this, so option ({a}) fits best.",
)
REFUSALS = (
    "I'm sorry, but I can't help with solving this problem from the images.",
    "I'm sorry, but I am unable to view the images, so I cannot answer this question.",
    "I cannot assist with this request.",
)
INTERMEDIATE = (
    "This gives an intermediate value of \\boxed{{{a}}}, which still has to be converted.",
    "As a first result we get $\\boxed{{{a}}}$ for the quantity in Figure 1.",
)
UNITS = {
    "physics": ("m", "m/s", "N", "J"),
    "chemistry": ("mol", "g", "mL"),
    "biology": ("cells", "mm", "h"),
    "mathematics": ("units", "cm"),
}


class Style(NamedTuple):
    """The format that a prompt requests: a box or a bare answer, with reasoning or without."""

    boxed: bool
    brief: bool


def read_style(prompt: str) -> Style:
    """Read the requested format from the words of the prompt."""
    lowered = prompt.lower()
    brief = (
        "only the final answer" in lowered
        or "only contains the final answer" in lowered
        or ("without rationale" in lowered and "step by step" not in lowered)
    )
    return Style("boxed" in lowered, brief)


def pick(options: tuple[str, ...], rng: Random) -> str:
    """Pick one of the options."""
    return options[int(rng.random() * len(options))]


def reasoning(n_images: int, rng: Random) -> str:
    """Return three to eight sentences about the figures, without any answer."""
    figures = max(n_images, 1)
    # An odd stride through the sixteen sentences repeats none of them.
    at, stride = int(rng.random() * len(STEPS)), 1 + 2 * int(rng.random() * 8)
    steps = []
    for step in range(3 + int(rng.random() * 6)):
        first = 1 + int(rng.random() * figures)
        sentence = STEPS[(at + step * stride) % len(STEPS)]
        steps.append(sentence.format(i=first, j=first % figures + 1, n=2 + int(rng.random() * 5)))
    steps.append(pick(BRIDGES, rng))
    gap = " " if rng.random() < 0.5 else "\n\n"
    return pick(OPENERS, rng) + gap.join(steps)


def boxed_ending(answer: str, style: Style, rng: Random) -> str:
    """Return the ending that the prompt requests: a box, or the bare answer."""
    if not style.boxed:
        return answer
    return f"\\boxed{{{answer}}}" if style.brief else pick(BOXED, rng).format(a=answer)


def plain(answer: str) -> str:
    """Format an answer for a sentence: formulas between dollar signs."""
    formula = ("\\" in answer or "^" in answer or "_" in answer) and "$" not in answer
    return f"${answer}$" if formula else answer


def repetition(rng: Random) -> str:
    """Repeat one sentence, like a model caught in a loop."""
    sentence = pick(STEPS, rng).format(i=1, j=2, n=3)
    return " ".join([sentence] * (60 + int(rng.random() * 60)))
