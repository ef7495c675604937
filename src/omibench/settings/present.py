"""The text of a conversation around a question, its choices and its examples."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.errors import ParamsError
from omibench.params.presentation import Examples, Without, is_selected
from omibench.params.setting import Images, Setting
from omibench.schemas.problem import (
    IMAGE_MARK,
    Choice,
    Example,
    Question,
    are_siblings,
    split_at_image_marks,
)
from omibench.schemas.request import Conversation, Message, Part, TextPart, converse
from omibench.schemas.validation import suggest_name
from omibench.settings.conditions import NOT_SHOWN, show_pictures
from omibench.settings.prompt_names import prompt_homes
from omibench.settings.prompts import (
    PromptEntry,
    Slot,
    add_prompt,
    find_prompt,
    read_wording,
)
from omibench.settings.registry import PROMPTS, Piece, Shown
from omibench.settings.templates import CHOICES, EXAMPLES, OPEN, QUESTION, SLOT, SLOTS, Prompt

FILE = PromptEntry("file", "puts a question", "", SLOTS, owner="respondent")
"""A custom prompt that replaces none."""
NO_FILES: Mapping[str, str] = {}


def load_prompt(name: str, files: Mapping[str, str] = NO_FILES) -> Prompt:
    """Return a built-in prompt by name, or a text file's prompt by its path.

    A file that begins with the line `[[system]]` has a system message, which ends at the line
    `[[user]]`.

    Args:
        name: A prompt of the registry, or the path of a file.
        files: Files that replace prompts, by prompt name; `NAME-open` is the variant of a prompt
            for problems without choices.

    Returns:
        The prompt.

    Raises:
        ParamsError: Neither exists, a file lacks `{question}`, or the two files of a prompt have
            different system messages.
    """
    if name in PROMPTS:
        return _replace_words(name, PROMPTS.get(name), files)
    if not Path(name).exists():
        hint = suggest_name(name, list(PROMPTS))
        raise ParamsError(f"prompt {name!r} is neither a built-in prompt nor a file{hint}")
    return read_template(name, FILE)


def read_template(file: str, entry: PromptEntry) -> Prompt:
    """Read a file's prompt for problems with and without choices.

    Raises:
        ParamsError: The file cannot be read, or its slots are not those of a question.
    """
    wording = read_wording(file, entry)
    text = wording.text
    if text.count(QUESTION) != 1 or max(text.count(CHOICES), text.count(EXAMPLES)) > 1:
        raise ParamsError(
            f"{file}: a prompt contains {QUESTION} once, {CHOICES} and {EXAMPLES} at most once"
        )
    return Prompt(text, text, system=wording.system)


def _replace_words(name: str, prompt: Prompt, files: Mapping[str, str]) -> Prompt:
    """Return a prompt with the wording of the given files."""
    if name in files:
        mine = read_template(files[name], find_prompt(name))
        has_two = f"{name}{OPEN}" in prompt_homes()
        prompt = prompt._replace(
            mcq=mine.mcq, open=prompt.open if has_two else mine.open, system=mine.system
        )
    if file := files.get(f"{name}{OPEN}"):
        mine = read_template(file, find_prompt(f"{name}{OPEN}"))
        if mine.system not in ("", prompt.system):
            raise ParamsError(
                f"{file}: its system message differs from that of {name}.txt, which applies to "
                "every problem; write it into both files, or remove it from this one"
            )
        prompt = prompt._replace(open=mine.open)
    return prompt


# Presentation: builds the conversation of a question under a setting.
#
# A pure function of its arguments, except for a custom prompt file and the derived pictures of some
# conditions. It never sees an answer: `Question` contains none.


class PromptContext(NamedTuple):
    """The surroundings of a question: examples in its message, and earlier turns.

    `lettered` states whether a letter is requested, even if the choices were removed; None: if
    there are choices.
    """

    inline: tuple[Piece, ...] = ()
    turns: tuple[Message, ...] = ()
    lettered: bool | None = None


NO_CONTEXT = PromptContext()


def present(
    question: Question,
    setting: Setting,
    folder: str | Path = "",
    captions: Sequence[str] = (),
    context: PromptContext = NO_CONTEXT,
) -> Conversation:
    """Return the conversation that presents a problem to a model.

    Images are placed exactly at the question's marks and picture choices at their letter; unmarked
    ones follow the question in order. A mark of an image that the setting does not show becomes
    `[image not shown]`. Image paths are relative to `folder`, that of questions.jsonl; `captions`
    of all images are required if the setting shows those instead. Raises ParamsError if the
    setting's prompt does not exist.
    """
    pictures = show_pictures(question, setting.images, folder, captions)
    return apply_prompt(question, load_prompt(setting.prompt, setting.prompts), pictures, context)


def apply_prompt(
    question: Question, prompt: Prompt, pictures: Shown, context: PromptContext = NO_CONTEXT
) -> Conversation:
    """Apply a prompt to a question, with the content for its pictures and the preceding text."""
    parts = join_pieces(pieces(question, prompt, pictures, context))
    return converse(prompt.system, parts, context.turns)


def pieces(
    question: Question, prompt: Prompt, pictures: Shown, context: PromptContext = NO_CONTEXT
) -> Iterator[Piece]:
    """Return the parts of a prompt around a question, its choices and its pictures."""
    choices = bool(question.choices)
    lettered = choices if context.lettered is None else context.lettered
    template = prompt.shape(lettered, choices, examples=bool(context.inline))
    for piece in SLOT.split(template):
        if piece == QUESTION:
            yield from _interleave(question.question, pictures)
            yield from pictures.after
        elif piece == CHOICES:
            yield from _choices(question, prompt, pictures)
        elif piece == EXAMPLES:
            yield from context.inline
        elif piece:
            yield piece


def join_pieces(parts: Iterator[Piece]) -> tuple[Part, ...]:
    """Join neighbouring texts; a text of only white space is dropped."""
    return tuple(_join_texts(parts))


def _choices(question: Question, prompt: Prompt, pictures: Shown) -> Iterator[Piece]:
    for number, choice in enumerate(question.choices or []):
        yield ("\n" if number else "") + prompt.label.format(choice.label)
        yield from _choice(choice, pictures)


def _choice(choice: Choice, pictures: Shown) -> Iterator[Piece]:
    if choice.text is not None:
        yield from _interleave(choice.text, pictures)
        yield " " if choice.image is not None else ""
    if choice.image is not None:
        yield pictures.at.get(choice.image, NOT_SHOWN)


def _interleave(text: str, pictures: Shown) -> Iterator[Piece]:
    for run in split_at_image_marks(text):
        yield run if isinstance(run, str) else pictures.at.get(run, NOT_SHOWN)


def _join_texts(parts: Iterator[Piece]) -> Iterator[Part]:
    text = ""
    for part in parts:
        if isinstance(part, str):
            text += part
            continue
        if text.strip():
            yield TextPart(text=text)
        text = ""
        yield part
    if text.strip():
        yield TextPart(text=text)


# A question as a setting shows it, without the text of a prompt, for judges of answers.

_BARE = Prompt(mcq=f"{QUESTION}\n{CHOICES}", open=QUESTION, label="{}: ")


def show_statement(
    question: Question, images: Images, folder: str | Path = "", captions: Sequence[str] = ()
) -> tuple[Part, ...]:
    """Return the statement and its options, with the content of a condition for each picture.

    Args:
        question: The question, without the parts that the setting removes.
        images: The condition of the pictures.
        folder: The base of picture paths, that of questions.jsonl.
        captions: The text for each picture, if the condition shows it.

    Returns:
        Texts and pictures in order.
    """
    pictures = show_pictures(question, images, folder, captions)
    return join_pieces(pieces(question, _BARE, pictures))


# Text ablations: a question without its text, or without its choices (USNCO-V, figure 6).
#
# The instruction is unchanged, so that the answer is still requested in the scored form; the paper
# prints no other prompt for these cells. Pictures are removed by `images: none`.


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
