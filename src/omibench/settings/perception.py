"""Perception before reasoning: transcribing parts of a picture first (MathReal, section 4).

Six settings: the picture alone (I; with the prompt `mathreal-iuer` IUER), and the picture with the
question's text (Q) and a description of its figures (D), each as a model reads it from the picture
(M) or as given by the benchmark (G). A transcript is a separate response, and the same for every
sample. Its instructions follow appendix D in our own wording; as in the paper, they are the prompt,
before the picture, and not a system message.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from omibench.params.presentation import Perception
from omibench.params.setting import Setting
from omibench.prompts.catalogue import PromptEntry, add_prompt, find_prompt
from omibench.prompts.slots import Slot
from omibench.schemas.image_marks import IMAGE_MARK
from omibench.schemas.problem import Question
from omibench.schemas.request import Conversation
from omibench.settings.ablation import marks, wordless
from omibench.settings.conditions import show_pictures
from omibench.settings.present import apply_prompt
from omibench.settings.prompts import read_template
from omibench.settings.templates import QUESTION, Prompt

READ_TEXT = """\
You recognise text. Write out the printed text of the question in the image as it is laid out, \
paragraph by paragraph and line by line. Leave out handwriting, the problem's number, year, region \
and score, captions, and labels inside figures. Write out options that are text or numbers; where \
an option is a picture, leave out all options. A blank is ____, a pair of parentheses to fill is \
(    ), and a table goes row by row with one space between its columns. Reply with the text alone: \
no comment, no solution, no description of the image."""
READ_FIGURES = """\
You read mathematical figures. Describe the figures in the image (geometric figures, plots of \
functions, statistical charts) in full: their features, their elements and how these lie to each \
other, and their mathematical properties. Describe only what is there: do not solve the problem \
and do not write out its text. Reply with the description alone."""
_READINGS = {
    name: Prompt(f"{words}\n\n{QUESTION}", f"{words}\n\n{QUESTION}")
    for name, words in (("read-text", READ_TEXT), ("read-figures", READ_FIGURES))
}
_HEADING = "[Figure description]"


def _describe(name: str, purpose: str) -> PromptEntry:
    return PromptEntry(
        name=name,
        purpose=purpose,
        text=_READINGS[name].mcq,
        slots=(Slot("question", "the pictures, and nothing of the question's words"),),
        source="MathReal, D: Prompt for OCR and Figure Understanding Generation",
        owner=f"perceiver ({name})",
    )


add_prompt(_describe("read-text", purpose="reads the printed text of a problem from its pictures"))
add_prompt(_describe("read-figures", purpose="describes the figures of a problem"))


def readings(question: Question, setting: Setting, folder: str | Path = "") -> list[Conversation]:
    """Return the texts to read before the answer: text, then figures; empty if none.

    The model sees the pictures as the setting shows them, and none of the question's text.
    """
    if setting.perception is None or not setting.perception.reads:
        return []
    bare = wordless(question.model_copy(update={"choices": None}))
    pictures = show_pictures(bare, setting.images, folder)
    names = ["read-text", "read-figures"] if "DM" in setting.perception.given else ["read-text"]
    prompts = (_load_reading(name, setting.prompts) for name in names)
    return [apply_prompt(bare, prompt, pictures) for prompt in prompts]


def _load_reading(name: str, files: Mapping[str, str]) -> Prompt:
    return read_template(files[name], find_prompt(name)) if name in files else _READINGS[name]


def add_readings(question: Question, perception: Perception, read: Sequence[str] = ()) -> Question:
    """Return the question with the texts of its setting: `read` are the results of `readings`."""
    if perception.given == "I":
        return wordless(question)
    text = question.question
    if perception.reads:
        text = "\n".join(filter(None, (marks(question), _plain(read[0]))))
    described = read[1] if "DM" in perception.given else None
    if "DG" in perception.given:
        described = "\n".join(_descriptions(question))
    if described:
        text = f"{text}\n\n{_HEADING}\n{_plain(described)}"
    return question.model_copy(update={"question": text})


def _descriptions(question: Question) -> Iterator[str]:
    met = question.image_order()
    order = [*met, *(i for i in range(len(question.images)) if i not in met)]
    for number, index in enumerate(order, 1):
        if caption := (question.images[index].caption or "").strip():
            yield f"Picture {number}: {caption}" if len(order) > 1 else caption


def _plain(words: str) -> str:
    """Return text without marks of pictures, since it was not written as a question."""
    return IMAGE_MARK.sub(r"image \1", words.strip())
