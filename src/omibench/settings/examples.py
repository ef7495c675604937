"""In-context examples: solved problems before the question, in its message or as earlier turns.

OMIBench, H.4: drawn once per question, the same under every condition, in one message, with no
picture, one picture or all. USNCO-V, methods: a window that slides over the other subset, as a
dialogue of several turns. Never the question itself, nor a sibling of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from omibench.errors import ParamsError
from omibench.params.image import Images
from omibench.params.presentation import Examples
from omibench.params.setting import Setting
from omibench.prompts.catalogue import PromptEntry, add_prompt
from omibench.prompts.slots import Slot
from omibench.prompts.wording import read_wording
from omibench.schemas.example import Example, are_siblings
from omibench.schemas.problem import Question
from omibench.schemas.request import Message, TextPart
from omibench.settings.ablation import ablate
from omibench.settings.conditions import show_pictures
from omibench.settings.present import Around, join_pieces, pieces
from omibench.settings.prompts import load_prompt
from omibench.settings.registry import Piece, Shown
from omibench.settings.templates import CHOICES, QUESTION, Prompt

NUMBER, SOLUTION = "{number}", "{solution}"
EXAMPLE = add_prompt(
    PromptEntry(
        name="example",
        purpose="shows one solved problem where a prompt has {examples}",
        text=f"[EXAMPLE {NUMBER}]\n[Question]\n{QUESTION}\n[Choices]\n{CHOICES}\n"
        f"[Solution]\n{SOLUTION}",
        slots=(
            Slot("question", "the statement with its pictures"),
            Slot("solution", "the solution or the answer; placed after the question"),
            Slot("choices", "the options, one a line", required=False),
            Slot("number", "the example's number, from 1", required=False),
        ),
        source="OMIBench, H.4",
        owner="respondent (example)",
        is_fragment=True,
    )
)
_SHOW: dict[str, str] = {"none": "none", "one": "first", "all": "all"}


def choose_examples(
    question: Question, rows: Sequence[Example], params: Examples, sample: int = 0
) -> list[Example]:
    """Return the examples of one sample of a question, in order.

    Raises ParamsError if too few of `rows` can be shown before this question.
    """
    fit = [e for e in rows if e.take == params.take and not are_siblings(question, e.question)]
    start = 0
    if params.take == "window":
        fit = [e for e in fit if e.question.subset != question.subset]
        start = sample
    else:
        fit.sort(key=lambda example: _rank(params.seed, question.id, example.id))
    chosen = fit[start : start + params.k]
    if len(chosen) < params.k:
        key = "first" if params.take == "window" else "set_aside"
        raise ParamsError(
            f"{question.id}: {start + params.k} examples are needed, but only {len(fit)} can be "
            f"shown before it; freeze more of them (freeze.examples.{key})"
        )
    return chosen


def show_examples(examples: Sequence[Example], setting: Setting, folder: str | Path) -> Around:
    """Show examples before a question as a setting requires.

    A prompt with `{examples}` includes them in its message; otherwise they are earlier turns.
    """
    prompt = load_prompt(setting.prompt, setting.prompts)
    if prompt.takes_examples:
        return Around(inline=tuple(_inline(examples, prompt, setting, folder)))
    return Around(turns=tuple(_turns(examples, prompt, setting, folder)))


def reply(example: Example, params: Examples, boxed: bool) -> str:
    """Return the example's reply: its solution or only its answer, in a box if requested."""
    answer = ", ".join(example.answer)
    final = f"\\boxed{{{answer}}}" if boxed else answer
    solution = (example.solution or "").strip()
    if params.reply == "answer" or not solution:
        return final
    if boxed and "\\boxed" in solution:
        return solution
    return f"{solution}\n\nFinal answer: {final}"


def _inline(
    examples: Sequence[Example], prompt: Prompt, setting: Setting, folder: str | Path
) -> Iterator[Piece]:
    file = setting.prompts.get(EXAMPLE.name)
    template = read_wording(file, EXAMPLE).text if file else EXAMPLE.text
    before, _, after = template.partition(SOLUTION)
    for number, example in enumerate(examples, 1):
        block, rest = (part.replace(NUMBER, str(number)) for part in (before, after))
        yield "\n\n" if number > 1 else ""
        yield from _show_question(example, Prompt(block, block, prompt.label), setting, folder)
        yield _reply(example, prompt, setting) + rest


def _turns(
    examples: Sequence[Example], prompt: Prompt, setting: Setting, folder: str | Path
) -> Iterator[Message]:
    for example in examples:
        yield Message(
            role="user", parts=join_pieces(_show_question(example, prompt, setting, folder))
        )
        answer = TextPart(text=_reply(example, prompt, setting))
        yield Message(role="assistant", parts=(answer,))


def _reply(example: Example, prompt: Prompt, setting: Setting) -> str:
    return reply(example, setting.examples or Examples(), prompt.wants_box)


def _show_question(
    example: Example, prompt: Prompt, setting: Setting, folder: str | Path
) -> Iterator[Piece]:
    question = ablate(example.question, setting.without)
    show = _SHOW[setting.examples.images if setting.examples else "none"]
    visible = show_pictures(question, Images(show=show), folder)
    # An example keeps its references to pictures that are not shown (OMIBench, H.4).
    words = {i: f"[IMAGE{i}]" for i in range(len(question.images))}
    pictures = Shown({**words, **visible.at}, visible.after)
    yield from pieces(question, prompt, pictures, Around(lettered=bool(example.question.choices)))


def _rank(seed: int, question: str, example: str) -> str:
    return hashlib.sha256(f"{seed}\0{question}\0{example}".encode()).hexdigest()
