"""Input of judges of samples: a problem as its respondent saw it, and the samples' texts."""

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
