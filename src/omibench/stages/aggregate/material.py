"""What judges of samples are shown: a problem as its respondent saw it, and what samples say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from omibench.errors import ModelError
from omibench.judges.case import JudgeCase
from omibench.params.image import Images
from omibench.params.setting import Setting
from omibench.schemas.problem import Answer, Question
from omibench.schemas.request import NOT_BOUGHT, Part, Request, Response, Tags
from omibench.settings.ablation import ablate
from omibench.settings.captions import DECODING as CAPTION_DECODING
from omibench.settings.captions import caption_conversation
from omibench.settings.statement import show_statement
from omibench.stages.aggregate.sample import Sample

Texts = Mapping[tuple[str, int], str]
"""What each sample says: (problem, index) -> text."""
Captions = Mapping[str, Sequence[str]]
"""The words for each picture of a problem, by the problem's id."""
Statements = Mapping[str, tuple[Part, ...]]
"""The problems that judges are shown with pictures or captions, as parts of a conversation."""


class CaseMaterial(NamedTuple):
    """What a judge of samples is shown beside them."""

    questions: Mapping[str, Question]
    texts: Texts
    answers: Mapping[str, Answer]
    statements: Statements = {}

    def make_case(self, problem: str, first: Sample, *rivals: Sample) -> JudgeCase:
        """One response, or several that are to be compared; never the gold."""
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
    """How judges of samples see the pictures: as the respondent does, or all in words."""
    captioner, prompt = setting.aggregate.captions, setting.aggregate.caption_prompt
    if captioner is None:
        return setting.images
    return Images(show="captions", model=captioner, **({"prompt": prompt} if prompt else {}))


def make_caption_requests(
    questions: Mapping[str, Question], setting: Setting, folder: Path, study: str
) -> list[Request]:
    """The captions that judges of samples need, the same that a setting of captions asks for.

    Args:
        questions: The problems whose samples are judged, by id.
        setting: Says who is asked, and how.
        folder: That of questions.jsonl.
        study: The study's name.

    Returns:
        One request a picture, problem by problem; none where nobody puts pictures into words.
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
    """The captions of each problem; one that the captioner refused is empty.

    Raises:
        ModelError: Some never came: without them nothing is marked.
    """
    absent = [reply for reply in replies if reply.outcome in NOT_BOUGHT]
    if absent:
        raise ModelError(
            f"{len(absent)} of {len(replies)} captions for the reward model never came "
            f"({absent[0].error or absent[0].outcome}); what was bought is kept: make this cell "
            "again to buy the rest"
        )
    captions: dict[str, list[str]] = {}
    for request, reply in zip(requests, replies, strict=True):
        words = reply.text if reply.outcome == "answered" else ""
        captions.setdefault(request.tags.problem, []).append(words)
    return captions


def make_statements(
    questions: Mapping[str, Question], setting: Setting, folder: Path, captions: Captions
) -> Statements:
    """The problems with pictures as judges of samples see them; those without keep their text.

    Args:
        questions: The problems whose samples are judged, by id.
        setting: What is shown of the pictures, and which words are taken away.
        folder: That of questions.jsonl.
        captions: Of every problem with pictures, where these are shown in words.
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
    """As `make_statements`, once the captions that it needs were asked for.

    Args:
        questions: The problems whose samples are judged, by id.
        setting: What is shown of the pictures.
        folder: That of questions.jsonl.
        study: The study's name.
        ask: Asks the model of a name.

    Raises:
        ModelError: Some captions never came.
    """
    requests = make_caption_requests(questions, setting, folder, study)
    captioner = choose_images(setting).model
    replies = ask(captioner, requests) if requests and captioner else []
    return make_statements(questions, setting, folder, read_captions(requests, replies))


def _ablate_all(questions: Mapping[str, Question], setting: Setting) -> dict[str, Question]:
    return {id: ablate(question, setting.without) for id, question in questions.items()}
