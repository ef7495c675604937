"""Judges that select a sample: what they see of a problem, and how they reply."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count, product
from math import isfinite
from pathlib import Path
from string import ascii_uppercase
from typing import NamedTuple

from omibench.answers.judges.case import JudgeCase, clip, question_section, response_section
from omibench.answers.judges.instrument import Instrument, register
from omibench.answers.judges.scales import last_value, middle, most
from omibench.errors import ModelError
from omibench.params.setting import Images, Setting
from omibench.schemas.problem import Answer, Question
from omibench.schemas.request import (
    NOT_BOUGHT,
    Conversation,
    Message,
    Part,
    Request,
    Response,
    Tags,
    TextPart,
)
from omibench.settings.conditions import CAPTION_DECODING, caption_conversation
from omibench.settings.present import ablate, show_statement
from omibench.stages.aggregate.votes import Sample
from omibench.text.fences import Section
from omibench.text.visible import drop_hidden_text

Texts = Mapping[tuple[str, int], str]
"""Sample -> text."""
Captions = Mapping[str, Sequence[str]]
"""The caption of each picture of a problem, by the problem's id."""
Statements = Mapping[str, tuple[Part, ...]]
"""Problems for judges, with pictures or captions, as parts of a conversation."""


class CaseMaterial(NamedTuple):
    """Judge input in addition to the problem."""

    questions: Mapping[str, Question]
    texts: Texts
    answers: Mapping[str, Answer]
    statements: Statements = {}

    def make_case(self, problem: str, first: Sample, *rivals: Sample) -> JudgeCase:
        """One response, or several to compare; never the gold answer."""
        question, answer = self.questions.get(problem), self.answers[problem]
        return JudgeCase(
            problem,
            question.question if question else "",
            (),
            self.texts[problem, first.index],
            answer.choices,
            statement=self.statements.get(problem, ()),
            rivals=tuple(self.texts[problem, rival.index] for rival in rivals),
        )


def choose_images(setting: Setting) -> Images:
    """Judges' view of the pictures: as the respondent's, or all as text."""
    captioner, prompt = setting.aggregate.captions, setting.aggregate.caption_prompt
    if captioner is None:
        return setting.images
    return Images(show="captions", model=captioner, **({"prompt": prompt} if prompt else {}))


def make_caption_requests(
    questions: Mapping[str, Question], setting: Setting, folder: Path, study: str
) -> list[Request]:
    """Return requests for the captions that judges need, as in a setting with captions.

    Args:
        questions: The problems whose samples are judged, by id.
        setting: The setting with the captioner.
        folder: The folder of questions.jsonl.
        study: The study's name.

    Returns:
        One request per picture, problem by problem; empty without a captioner.
    """
    images = choose_images(setting)
    if images.show != "captions":
        return []
    return [
        Request(
            conversation=caption_conversation(question, index, folder, images.prompt),
            decoding=CAPTION_DECODING,
            tags=Tags(role="captioner", problem=id, study=study),
        )
        for id, question in _ablate_all(questions, setting).items()
        for index in range(len(question.images))
    ]


def read_captions(requests: Sequence[Request], replies: Sequence[Response]) -> Captions:
    """Return the captions of each problem; refused captions are empty.

    Raises:
        ModelError: Captions are missing; then nothing is marked.
    """
    absent = [reply for reply in replies if reply.outcome in NOT_BOUGHT]
    if absent:
        raise ModelError(
            f"{len(absent)} of {len(replies)} captions for the reward model are missing "
            f"({absent[0].error or absent[0].outcome}); completed captions are kept; run this cell "
            "again for the rest"
        )
    captions: dict[str, list[str]] = {}
    for request, reply in zip(requests, replies, strict=True):
        words = reply.text if reply.outcome == "answered" else ""
        captions.setdefault(request.tags.problem, []).append(words)
    return captions


def make_statements(
    questions: Mapping[str, Question], setting: Setting, folder: Path, captions: Captions
) -> Statements:
    """Return the problems with pictures for judges of samples; others keep their text.

    Args:
        questions: The problems whose samples are judged, by id.
        setting: The setting, with the shown pictures and removed words.
        folder: The folder of questions.jsonl.
        captions: Captions of every problem with pictures, if pictures are shown as text.
    """
    images = choose_images(setting)
    if images.show == "none":
        return {}
    return {
        id: show_statement(question, images, folder, captions.get(id, ()))
        for id, question in _ablate_all(questions, setting).items()
        if question.images
    }


def prepare_statements(
    questions: Mapping[str, Question],
    setting: Setting,
    folder: Path,
    study: str,
    ask: Callable[[str, Sequence[Request]], Sequence[Response]],
) -> Statements:
    """Do the same as `make_statements`, after requesting the required captions.

    Args:
        questions: The problems whose samples are judged, by id.
        setting: The setting with the shown pictures.
        folder: The folder of questions.jsonl.
        study: The study's name.
        ask: Sends requests to a model by name.

    Raises:
        ModelError: Captions are missing.
    """
    requests = make_caption_requests(questions, setting, folder, study)
    captioner = choose_images(setting).model
    replies = ask(captioner, requests) if requests and captioner else []
    return make_statements(questions, setting, folder, read_captions(requests, replies))


def _ablate_all(questions: Mapping[str, Question], setting: Setting) -> dict[str, Question]:
    return {id: ablate(question, setting.without) for id, question in questions.items()}


# Judges that select a sample: marks and rewards for best-of-N, comparisons for tournaments.
#
# The gold answer is not shown: a reward model knows no more than the model that it selects for.

_MARK = re.compile(r"\d{1,2}|100")

MARKING = """\
You are shown a problem and one response to it. Say how likely it is that the final answer of the \
response is right. Solve the problem yourself where you can; check each step and each figure that \
the response relies on. Style and length are worth nothing."""

JOINT_MARKING = """\
You are shown a problem and several responses to it. Say of each how likely it is that its final \
answer is right. Solve the problem yourself where you can; where responses disagree, find the step \
at which they part and decide who is right there. Style, length and the order in which they are \
shown are worth nothing, and so is how many of them agree."""

COMPARING = """\
You are shown a problem and two responses to it. Say which of them is more likely to reach the \
right final answer. Solve the problem yourself where you can; check each step and each figure that \
the responses rely on. Style, length and the order in which they are shown are worth nothing."""


def read_mark(reply: str, case: JudgeCase) -> float | None:
    """Return the mark from 0 to 100 on the last line; None for any other form."""
    mark = (last_value(reply, "mark") or "").strip("*_` .")
    return float(mark) if _MARK.fullmatch(mark) else None


def read_better(reply: str, case: JudgeCase) -> bool | None:
    """Return whether the last line prefers the first response."""
    letter = (last_value(reply, "better") or "").strip("*_` .").upper()
    return {"A": True, "B": False}.get(letter)


def read_joint_marks(reply: str, case: JudgeCase) -> tuple[float, ...] | None:
    """Return a mark from 0 to 100 of each response, on the last line; None for any other form."""
    listed = (last_value(reply, "marks") or "").strip("*_` .").split(",")
    marks = [mark.strip() for mark in listed]
    if len(marks) != 1 + len(case.rivals) or not all(map(_MARK.fullmatch, marks)):
        return None
    return tuple(map(float, marks))


def read_reward(reply: str, case: JudgeCase) -> float | None:
    """Return the number of a reward head; None if it is not finite."""
    try:
        reward = float(reply)
    except ValueError:
        return None
    return reward if isfinite(reward) else None


def vote_on_each(votes: Sequence[tuple[float, ...]]) -> tuple[float, ...] | None:
    """Return the median mark of each response; None without votes."""
    marks = [mark for column in zip(*votes, strict=True) if (mark := middle(column)) is not None]
    return tuple(marks) or None


def converse_with_head(case: JudgeCase) -> Conversation:
    """Return the problem as user turn and the response as assistant turn, for reward heads."""
    question = case.statement or (TextPart(text=question_section(case).text),)
    response = TextPart(text=response_section(case).text)
    return Conversation(
        messages=(
            Message(role="user", parts=question),
            Message(role="assistant", parts=(response,)),
        )
    )


def _several_responses(case: JudgeCase) -> tuple[Section, ...]:
    responses = [case.response, *case.rivals]
    return question_section(case), *(
        Section(f"RESPONSE {letters}", clip(drop_hidden_text(text)) or "(empty)")
        for letters, text in zip(_name_in_letters(), responses, strict=False)
    )


def _name_in_letters() -> Iterator[str]:
    """Return A, B, ..., Z, AA, AB, ...: names of sections have no digits."""
    for length in count(1):
        yield from map("".join, product(ascii_uppercase, repeat=length))


MARKS: Instrument[float] = register(
    Instrument(
        name="mark",
        version=2,
        role="marker",
        instructions=MARKING,
        closing="The last line of your reply must have exactly this form, N a whole number from 0 "
        "(certainly wrong) to 100 (certainly right):\nMARK: N",
        sections=lambda case: (question_section(case), response_section(case)),
        read=read_mark,
        vote=middle,
        purpose="marks how likely a response is right, for best-of-N",
    )
)

JOINT_MARKS: Instrument[tuple[float, ...]] = register(
    Instrument(
        name="joint_marks",
        version=1,
        role="marker",
        instructions=JOINT_MARKING,
        closing="The last line of your reply must have exactly this form, with a whole number N "
        "from 0 (certainly wrong) to 100 (certainly right) for each response, in the order in "
        "which they are shown:\nMARKS: N, N, ...",
        sections=_several_responses,
        read=read_joint_marks,
        vote=vote_on_each,
        purpose="marks all candidates of a problem together, for best-of-N",
        gathered="responses",
    )
)

REWARD: Instrument[float] = Instrument(
    name="reward",
    version=1,
    role="marker",
    instructions="",
    closing="",
    sections=lambda case: (question_section(case), response_section(case)),
    read=read_reward,
    vote=middle,
    converse=converse_with_head,
)

COMPARISON: Instrument[bool] = register(
    Instrument(
        name="comparison",
        version=2,
        role="referee",
        instructions=COMPARING,
        closing="The last line of your reply must be exactly one of\nBETTER: A\nBETTER: B",
        sections=_several_responses,
        read=read_better,
        vote=most,
        purpose="says which of two responses is better, for tournaments",
    )
)
