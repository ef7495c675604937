"""Text ablations: a question without its text, or without its choices (USNCO-V, figure 6).

The instruction is unchanged, so that the answer is still requested in the scored form; the paper
prints no other prompt for these cells. Pictures are removed by `images: none`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from omibench.errors import ParamsError
from omibench.params.presentation import Examples, Without, is_selected
from omibench.params.setting import Images, Setting
from omibench.schemas.problem import IMAGE_MARK, Example, Question, are_siblings
from omibench.schemas.request import Message, TextPart
from omibench.settings.conditions import show_pictures
from omibench.settings.present import PromptContext, join_pieces, load_prompt, pieces
from omibench.settings.prompts.catalogue import PromptEntry, Slot, add_prompt
from omibench.settings.prompts.wording import read_wording
from omibench.settings.registry import Piece, Shown
from omibench.settings.templates import CHOICES, QUESTION, Prompt


def ablate(question: Question, without: Sequence[Without]) -> Question:
    """Remove the parts of a question that a setting omits.

    Its pictures stay when its text is removed. Pictures only in choices are removed with the
    choices, and the others are renumbered. Missing parts are skipped.
    """
    if "choices" in without and question.choices:
        question = _without_choices(question)
    return wordless(question) if "question" in without else question


def wordless(question: Question) -> Question:
    """Return the question with only its pictures, in order, at their marks."""
    return question.model_copy(update={"question": marks(question)})


def marks(question: Question) -> str:
    """Return the marks of pictures in a question's text, one per line."""
    return "\n".join(mark[0] for mark in IMAGE_MARK.finditer(question.question))


def _without_choices(question: Question) -> Question:
    bare = question.model_copy(update={"choices": None})
    in_choices = {*question.image_order()} - {*bare.image_order()}
    indices = [i for i in range(len(question.images)) if i not in in_choices]
    places = {old: new for new, old in enumerate(indices)}
    text = IMAGE_MARK.sub(lambda mark: f"[IMAGE{places[int(mark[1])]}]", question.question)
    return bare.model_copy(
        update={"question": text, "images": [question.images[i] for i in indices]}
    )


# In-context examples: solved problems before the question, in its message or as earlier turns.
#
# OMIBench, H.4: drawn once per question, the same under every condition, in one message, with no
# picture, one picture or all. USNCO-V, methods: a window that slides over the other subset, as a
# dialogue of several turns. Never the question itself, nor a sibling of it.

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


def show_examples(
    examples: Sequence[Example], setting: Setting, folder: str | Path
) -> PromptContext:
    """Show examples before a question as a setting requires.

    A prompt with `{examples}` includes them in its message; otherwise they are earlier turns.
    """
    prompt = load_prompt(setting.prompt, setting.prompts)
    if prompt.takes_examples:
        return PromptContext(inline=tuple(_inline(examples, prompt, setting, folder)))
    return PromptContext(turns=tuple(_turns(examples, prompt, setting, folder)))


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
    yield from pieces(
        question, prompt, pictures, PromptContext(lettered=bool(example.question.choices))
    )


def _rank(seed: int, question: str, example: str) -> str:
    return hashlib.sha256(f"{seed}\0{question}\0{example}".encode()).hexdigest()


# The requirements of a setting on a benchmark, checked before any request.


def asked_questions(
    questions: Sequence[Question], setting: Setting, examples: Sequence[Example]
) -> list[Question]:
    """Return the questions of a setting.

    Args:
        questions: The questions of the dataset, or of the study's part of it.
        setting: The setting; its `where` selects questions.
        examples: The examples of the dataset; those set aside are excluded.
    """
    aside: set[str] = set()
    if setting.examples and setting.examples.take == "sampled":
        aside = {example.id for example in examples if example.take == "sampled"}
    return [q for q in questions if q.id not in aside and is_selected(q, setting.where)]


def check_needs(
    name: str, setting: Setting, questions: Sequence[Question], examples: Sequence[Example] = ()
) -> None:
    """Raise ParamsError if the benchmark lacks something that the setting `name` needs.

    A setting never fails on a problem that has more than it needs.
    """
    key = f"settings.{name}"
    if setting.where and not questions:
        raise ParamsError(f"{key}.where: no selected problem has {_describe_where(setting)}")
    perception = setting.perception.given if setting.perception else ""
    if "choices" in setting.without and not any(q.choices for q in questions):
        raise ParamsError(f"{key}: without: [choices]: no problem of this benchmark has choices")
    if perception:
        _all(
            questions, lambda q: bool(q.images), f"{key}: perception: {perception}: {{}} no picture"
        )
    if "DG" in perception and not any(map(_has_description, questions)):
        raise ParamsError(
            f"{key}: perception: {perception}: no picture of this benchmark has a description"
        )
    if "question" in setting.without:
        lack = f"{key}: without: [question]: {{}} neither choices nor remaining pictures"
        _all(questions, lambda q: _is_left(q, setting), lack)
    if setting.examples:
        _enough_examples(key, setting, questions, examples)


def remark(name: str, setting: Setting, questions: Sequence[Question]) -> str | None:
    """Remark on problems that lack part of a setting's content: they are sent without it."""
    if not setting.perception or "DG" not in setting.perception.given:
        return None
    bare = [question.id for question in questions if not _has_description(question)]
    if not bare:
        return None
    return (
        f"settings.{name}: {len(bare)} of {len(questions)} problems have no description of a "
        f"figure and are sent with their text alone; the first is {bare[0]}"
    )


def _describe_where(setting: Setting) -> str:
    return ", ".join(f"{name}: {' or '.join(values)}" for name, values in setting.where.items())


def _has_description(question: Question) -> bool:
    return any(figure.caption for figure in question.images)


def _is_left(question: Question, setting: Setting) -> bool:
    ablated = ablate(question, setting.without)
    pictures = bool(ablated.images) and setting.images.show != "none"
    return bool(ablated.choices) or pictures or bool(IMAGE_MARK.sub("", ablated.question).strip())


def _all(questions: Sequence[Question], has: Callable[[Question], bool], lack: str) -> None:
    lacking = [question.id for question in questions if not has(question)]
    if lacking:
        have = f"{len(lacking)} of {len(questions)} problems have"
        raise ParamsError(f"{lack.format(have)}; the first is {lacking[0]}")


def _enough_examples(
    key: str, setting: Setting, questions: Sequence[Question], examples: Sequence[Example]
) -> None:
    if not setting.examples or not setting.examples.k:
        return
    for question in questions:
        try:
            choose_examples(question, examples, setting.examples, setting.decoding.samples - 1)
        except ParamsError as error:
            raise ParamsError(f"{key}: {error}") from None
