"""Prompt strategies: the text around a question and its choices, built in or from a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.errors import ParamsError
from omibench.params.setting import Images, Setting
from omibench.schemas.problem import Choice, Question, split_at_image_marks
from omibench.schemas.request import Conversation, Message, Part, TextPart, converse
from omibench.schemas.validation import suggest_name
from omibench.settings.conditions import NOT_SHOWN, show_pictures
from omibench.settings.prompts.catalogue import PromptEntry, find_prompt
from omibench.settings.prompts.names import prompt_homes
from omibench.settings.prompts.wording import read_wording
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
    shown = show_pictures(question, images, folder, captions)
    return join_pieces(pieces(question, _BARE, shown))
