"""What sends each prompt of the catalogue: a study's parameters in, conversations out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from omibench.answers.judges.case import JudgeCase
from omibench.answers.judges.instrument import Instrument, build_prompt, build_request
from omibench.answers.judges.registry import build_instrument
from omibench.explore.ocr_quality import TRANSCRIPT, choose_panel
from omibench.params.panel import JudgePanel
from omibench.params.setting import Cell
from omibench.params.study import Study, parse_study
from omibench.schemas.problem import Choice, Example, Figure, Problem, Question
from omibench.schemas.request import Conversation, ImagePart, Request, Response, ToolCall
from omibench.settings.prompts import PromptEntry
from omibench.settings.steps import Task, next_step
from omibench.stages.aggregate.choose import find_reward_panel
from omibench.stages.filter import photographs
from omibench.stages.filter.completeness import COMPLETENESS
from omibench.stages.filter.translation import load_instructions, translation_request
from omibench.stages.ocr.engines import olmocr, vision
from omibench.stages.ocr.engines.page_models import PageJob, PresetPage, ReadPages
from omibench.stages.ocr.rereading.asking import WaitingCrop, build_crop_request
from omibench.stages.ocr.rereading.crops import CropKind, CropName
from omibench.stages.rationale import prompts as rationale
from omibench.stages.saliency.ask import LetterContext, add_context
from omibench.stages.score.judge import find_instrument as find_score_instrument

SETTING_PROMPTS = (
    "cot", "least-to-most", "plan-and-solve", "visualization-of-thought", "direct", "in-context",
    "emma-cot", "emma-direct", "emma-captions", "usnco-v", "usnco-v-cot", "mathreal",
            "mathreal-iuer",
)  # fmt: skip
SKILLS = {"reading": "numbers are read from a figure"}
MANNERS = ("free", "sketch", "slow", "flow")
JUDGE = "j"


def write_params(folder: Path | None) -> dict[str, Any]:
    """Parameters under which every prompt is sent by somebody."""
    settings: dict[str, Any] = {name: {"prompt": name} for name in SETTING_PROMPTS}
    settings["examples"] = {"prompt": "in-context", "examples": {"k": 1}}
    settings["captions"] = {"images": {"show": "captions", "model": JUDGE}}
    settings["perceive"] = {"prompt": "mathreal", "perception": "I+QM+DM"}
    for manner in MANNERS:
        settings[manner] = {"tools": {"style": "native", "manner": manner, "max_turns": 2}}
    settings["sketch-one"] = settings["sketch"] | {"images": "first"}
    settings["perceiver"] = {"perceiver": JUDGE}
    settings["text"] = {"tools": {"style": "text", "max_turns": 2}}
    choosing = {
        "best-of-n": {},
        "joint": {"marking": "joint", "how": "best-of-n"},
        "tournament": {},
    }
    for how, keys in choosing.items():
        aggregate = {"how": how, "judge": JUDGE, **keys}
        settings[how] = {"decoding": {"samples": 2, "temperature": 1.0}, "aggregate": aggregate}
    return {
        **({"prompts": str(folder)} if folder else {}),
        "models": {JUDGE: {"provider": "openai", "id": "some-model"}},
        "ocr": {"engine": "vision", "reader": JUDGE, "formula_reader": JUDGE},
        "filter": {"translation": JUDGE, "completeness": JUDGE, "photographs": JUDGE},
        "rationale": {
            "writer": JUDGE,
            "labeller": JUDGE,
            "topics": {"physics": ["optics"]},
            "taxonomy": {},
            "skills": {"physics": SKILLS},
            "classes": {"category": {"chart": "a graph of data", "other": "anything else"}},
        },
        "score": {"scorers": ["mathreal"], "judge": JUDGE},
        "judge": {"quality": JUDGE, "alignment": JUDGE, "errors": JUDGE},
        "settings": settings,
        "saliency": {"settings": ["cot"], "reading": "before_answer"},
    }


FIGURES = [Figure(file=f"images/{name}.png", sha256=name * 64) for name in "ab"]
CHOICES = [Choice(label="A", text="1 m"), Choice(label="B", text="2 m")]
PROBLEM = Problem(
    id="p-1", question="How long is [IMAGE0] beside [IMAGE1]?", images=FIGURES, choices=CHOICES,
    answer=["A"], subject="physics", language="es", source="s", source_sha256="d" * 64, pages=[1],
    number="1",
)  # fmt: skip
QUESTION = Question(id="p-1", question=PROBLEM.question, images=FIGURES, choices=CHOICES)
OPEN = QUESTION.model_copy(update={"choices": None})
OTHER = Question(id="e-1", question="How wide?", images=[], choices=CHOICES)
SOLVED = Example(
    take="sampled", question=OTHER, answer=["B"],
    solution="By the scale.",
)  # fmt: skip
CASE = JudgeCase(
    "p-1",
    "How long is it?",
    ["12 cm"],
    "The answer is 12 cm.",
    answer="12 cm",
    reference="12 cm.",
    rivals=("It is 13 cm.",),
)
CALL = Response(
    text="", calls=tuple(ToolCall(id=f"c{n}", name="nothing", arguments="{}") for n in range(9))
)


def send_setting(study: Study, name: str, folder: Path, *earlier: Response) -> Conversation:
    """The first conversation under a setting, or the one after some responses."""
    steps = [[response] for response in earlier]
    return next_step(Task(QUESTION, study.settings[name], folder, [SOLVED]), steps)[0].conversation


def send_open(study: Study, name: str, folder: Path) -> Conversation:
    """That of a problem without choices."""
    return next_step(Task(OPEN, study.settings[name], folder))[0].conversation


def send_readings(study: Study, folder: Path) -> Iterator[Conversation]:
    """What a perceiver is asked."""
    for ask in next_step(Task(QUESTION, study.settings["perceive"], folder)):
        yield ask.conversation


def ask_judge(instrument: Instrument[Any], panel: JudgePanel | None) -> Conversation:
    """What a judge is asked about the case."""
    assert panel is not None
    return build_request(CASE, instrument, build_prompt(instrument, panel.prompt)).conversation


def ask_scorer(study: Study, name: str) -> Conversation:
    """What a judge of scores is asked."""
    panel = study.score.panels[name]
    return ask_judge(find_score_instrument(name, panel), panel)


def ask_bare_answers(study: Study) -> Conversation:
    """What a judge of GPTScore is asked in its other variant."""
    values = write_params(Path(study.prompts) if study.prompts else None)
    values["score"]["judge"] = {"models": [JUDGE], "variant": "bare-answers"}
    return ask_scorer(parse_study(values, "test"), "gptscore")


def ask_rater(study: Study, name: str) -> Conversation:
    """What a judge of reasoning is asked."""
    panel = study.judge.panels[name]
    return ask_judge(build_instrument(name, panel), panel)


def ask_chooser(study: Study, how: str) -> Conversation:
    """What a reward model is asked."""
    panel = find_reward_panel(study, Cell(JUDGE, how))
    assert panel
    return ask_judge(panel.instrument, panel.params)


def ask_letter(study: Study, folder: Path) -> Conversation:
    """What saliency asks after a response without its answer."""
    asked, context = send_setting(study, "cot", folder), LetterContext("A", "So it is.", False)
    return add_context(asked, context, study.saliency.reading, study.saliency.prompts)


def send_translation(study: Study) -> Conversation:
    """What a translator is asked."""
    assert study.filter.translation
    words = load_instructions(study.filter.translation.prompt)
    return translation_request(PROBLEM, words, 100, 0, "s").conversation


def ask_about_problem(entry: PromptEntry, study: Study, folder: Path) -> Conversation:
    values = {
        "answer": "12 m", "sketch": "By its energy.", "labels": "- optics", "subject": "physics",
        "topics": "- lenses", "topic": "lenses", "skills": "- turning: a figure is turned",
        "attribute": "category", "classes": "- chart: a graph of data",
    }  # fmt: skip
    return rationale.write_prompt(entry, PROBLEM, folder, values, study.rationale.prompts)


def ask_photograph_vote(study: Study) -> Conversation:
    """The vote on a photograph, with the words that the block of photographs names."""
    screen = study.filter.photographs
    assert screen is not None
    panel = JudgePanel(models=[JUDGE], prompt=screen.completeness_prompt)
    return ask_judge(photographs.COMPLETENESS, panel)


def send_olmocr_page(study: Study, folder: Path) -> Conversation:
    """What olmOCR is asked for a page."""
    image = ImagePart(sha256="c" * 64, path=str(folder / "images/a.png"))
    page = PresetPage("s#p1", image, 40, 30)
    values = write_params(Path(study.prompts) if study.prompts else None)
    values["ocr"]["preset"] = "olmocr"
    prompts = parse_study(values, "params.yaml").ocr.prompts
    return ask_page_reader(olmocr.read_pages, page, prompts, folder)[0]


def ask_page_reader(
    read: ReadPages, page: PresetPage, prompts: Mapping[str, str], folder: Path
) -> list[Conversation]:
    """What a page reader is asked for one page."""
    asked: list[Conversation] = []

    def keep(requests: Sequence[Request]) -> list[Response]:
        asked.extend(request.conversation for request in requests)
        return [Response(text="---\n---\n") for _ in requests]

    read([page], PageJob(keep, folder, "s", prompts))
    return asked


def send_crop(study: Study, kind: CropKind) -> Conversation:
    """What a reader of formulas is asked for a crop."""
    crop = WaitingCrop(CropName(kind, 0, 1, "c" * 64), Path("crop.png"))
    return build_crop_request(crop, "s", "s", study.ocr.prompts).conversation


def send_page(study: Study, place: int) -> Conversation:
    """What a page reader is asked for: the text at place 0, the figures at 1."""
    page = PresetPage("s#p1", ImagePart(sha256="c" * 64, path="p.png"), 100, 100)
    return ask_page_reader(vision.read_pages, page, study.ocr.prompts, Path())[place]


Sender = Callable[[Study, Path], Conversation]
READ = Response(text="r")
SETTINGS: dict[str, tuple[str, *tuple[Response, ...]]] = {
    **{name: (name,) for name in SETTING_PROMPTS},
    "example": ("examples",),
    "caption": ("captions",),
    "tools": ("free",),
    "tools-native": ("free",),
    "tools-text": ("text",),
    "tools-sketch": ("sketch",),
    "tools-sketch-one": ("sketch-one",),
    "perceive": ("perceiver",),
    "tools-slow": ("slow",),
    "tools-slow-1": ("slow",),
    "tools-slow-2": ("slow", READ),
    "tools-flow": ("flow",),
    "tools-flow-1": ("flow",),
    "tools-flow-2": ("flow", READ),
    "tools-flow-3": ("flow", READ, READ),
    "tools-end-step": ("slow", CALL),
    "tools-end": ("free", CALL),
    "tools-left-out": ("free", CALL),
}
"""Prompt -> a setting that sends it, and the responses before."""
RATIONALE = (
    rationale.WRITE, rationale.WRITE_GIVEN, rationale.WRITE_SKETCHED, rationale.TOPIC,
    rationale.OPEN_TOPIC, rationale.CLUSTER_NAME, rationale.SUBFIELD, rationale.SKILL,
    rationale.CLASS,
)  # fmt: skip


def by_setting(name: str, *earlier: Response) -> Sender:
    return lambda study, folder: send_setting(study, name, folder, *earlier)


def by_judge(ask: Callable[[Study, str], Conversation], name: str) -> Sender:
    return lambda study, _: ask(study, name)


SENDERS: dict[str, Sender] = {
    **{prompt: by_setting(*sent) for prompt, sent in SETTINGS.items()},
    **{entry.name: partial(ask_about_problem, entry) for entry in RATIONALE},
    **{name: by_judge(ask_scorer, name) for name in ("gptscore", "grade", "extraction")},
    **{name: by_judge(ask_rater, name) for name in ("quality", "alignment", "error_type")},
    "mark": by_judge(ask_chooser, "best-of-n"),
    "joint_marks": by_judge(ask_chooser, "joint"),
    "comparison": by_judge(ask_chooser, "tournament"),
    "page-text": lambda study, _: send_page(study, 0),
    "page-figures": lambda study, _: send_page(study, 1),
    "page-olmocr": send_olmocr_page,
    "formula": lambda study, _: send_crop(study, "formula"),
    "formula-line": lambda study, _: send_crop(study, "line"),
    "translation": lambda study, _: send_translation(study),
    "completeness": lambda study, _: ask_judge(COMPLETENESS, study.filter.completeness),
    "photograph-class": lambda study, _: ask_judge(photographs.CLASS, study.filter.photographs),
    "photograph-completeness": lambda study, _: ask_photograph_vote(study),
    "emma-cot-open": lambda study, folder: send_open(study, "emma-cot", folder),
    "emma-direct-open": lambda study, folder: send_open(study, "emma-direct", folder),
    "read-text": lambda study, folder: next(send_readings(study, folder)),
    "read-figures": lambda study, folder: list(send_readings(study, folder))[1],
    "letter": ask_letter,
    "gptscore-bare-answers": lambda study, _: ask_bare_answers(study),
    "transcript": lambda study, _: ask_judge(TRANSCRIPT, choose_panel(study, [JUDGE])),
}
"""Prompt -> a conversation in which it stands."""
