"""A cell of three problems with pictures, and models that choose among its samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.models.local_blocks import picture

from omibench.models.simulated.provider import SimulatedProvider
from omibench.params.study import Study, parse_study
from omibench.schemas.problem import Answer, Choice, Figure, Question
from omibench.schemas.request import ImagePart, Request, Response
from omibench.schemas.tables import ResponseRow, write_jsonl, write_parquet
from omibench.stages.score import ScoreFiles, score_cell

CHOICES = [Choice(label="A", text="a lens"), Choice(label="B", image=1)]
GOLD = {"lens": ["B"], "slope": ["7"], "bare": ["2"]}
TEXTS = {
    "lens": [r"\boxed{A}", r"\boxed{B}", r"\boxed{A}", r"\boxed{A}"],
    "slope": [r"\boxed{8}", r"\boxed{9}", r"\boxed{7}", r"\boxed{6}"],
    "bare": [r"\boxed{1}", r"\boxed{3}", r"\boxed{4}", r"\boxed{2}"],
}
SAMPLES = 4


def make_study(folder: Path, aggregate: Any, /, **changes: Any) -> Study:
    """The study of the cell `m` under `vote`; `changes` of the setting and of the models."""
    simulated = {
        "provider": "simulated", "oracle": str(folder / "oracle.jsonl"), "discernment": 50.0,
    }  # fmt: skip
    setting = {
        "decoding": {"samples": SAMPLES}, "aggregate": aggregate, **changes.pop("setting", {}),
    }  # fmt: skip
    models = {
        "m": simulated, "eyes": simulated, "reward": {**simulated, "seed": 2},
        "head": {**simulated, "reward": True}, **changes.pop("models", {}),
    }  # fmt: skip
    values = {
        "study": {"seed": 3, "store": f"{folder}-store", "results": str(folder)},
        "models": models,
        "settings": {"vote": setting},
        "infer": {"models": ["m"], "settings": ["vote"]},
        "score": {"scorers": ["robust"]},
        **changes,
    }
    return parse_study(values, "test")


def write_cell(folder: Path) -> Path:
    """Write the frozen dataset, the responses and the verdicts into a results folder."""
    frozen = folder / "freeze"
    (frozen / "images").mkdir(parents=True)
    parts = [picture(frozen / "images", seed) for seed in range(3)]
    figures = [Figure(file=f"images/{Path(p.path).name}", sha256=p.sha256) for p in parts]
    questions = [
        Question(id="lens", question="What is in [IMAGE0] of the set-up?", images=figures[:2],
                 choices=CHOICES, subject="physics"),
        Question(id="slope", question="What is the slope?", images=figures[2:],
                 subject="mathematics"),
        Question(id="bare", question="What is 1 + 1?", subject="mathematics"),
    ]  # fmt: skip
    answers = [
        Answer(id=q.id, answer=GOLD[q.id], answer_type=q.answer_type, choices=q.choices,
               subject=q.subject)
        for q in questions
    ]  # fmt: skip
    oracle = [
        {"id": q.id, "answer": GOLD[q.id], "answer_type": q.answer_type, "difficulty": 0,
         "choices": list("AB") if q.choices else None, "n_images": len(q.images),
         "subject": q.subject, "captions": [f"{q.id} picture {i}" for i in range(len(q.images))]}
        for q in questions
    ]  # fmt: skip
    (folder / "oracle.jsonl").write_text("".join(json.dumps(row) + "\n" for row in oracle))
    write_jsonl(frozen / "answers.jsonl", answers)
    write_jsonl(frozen / "questions.jsonl", questions)
    responses = [
        ResponseRow(id=id, index=i, key=f"{id}{i}", outcome="answered", text=text)
        for id, texts in TEXTS.items()
        for i, text in enumerate(texts)
    ]
    file = folder / "infer/m/vote.parquet"
    write_parquet(file, responses, ResponseRow)
    study = make_study(folder, "mean")
    score_cell(ScoreFiles(file, frozen / "answers.jsonl"), folder / "score/m/vote.parquet", study)
    return folder


class Asked:
    """The requests that simulated models answered, in order."""

    def __init__(self, monkeypatch: Any) -> None:
        self.requests: list[Request] = []
        respond = SimulatedProvider.respond

        def record(provider: SimulatedProvider, request: Request) -> Response:
            self.requests.append(request)
            return respond(provider, request)

        monkeypatch.setattr(SimulatedProvider, "respond", record)

    def select(self, role: str, problem: str) -> list[Request]:
        """Those of one role about one problem."""
        return [r for r in self.requests if (r.tags.role, r.tags.problem) == (role, problem)]


def describe(request: Request) -> list[str]:
    """The last message in order: its words, and `<name>` for each picture."""
    parts = request.conversation.messages[-1].parts
    return [f"<{Path(p.path).name}>" if isinstance(p, ImagePart) else p.text for p in parts]
