"""A study of one cell: choices with labels of their own, an answer in parts, failures."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image
from tests.stages.analyze.explorer.test_steps import keep

from extras import require_extra
from omibench.schemas.problem import Answer, Choice, Figure, Question
from omibench.schemas.request import (
    Conversation,
    ImagePart,
    Message,
    Response,
    TextPart,
    ToolCall,
    ToolSpec,
)
from omibench.schemas.tables import (
    FrozenManifest,
    ResponseRow,
    VerdictRow,
    write_json,
    write_jsonl,
    write_parquet,
)

if TYPE_CHECKING:
    from omibench.datasets.eval_logs.export import LogWriter

HOSTILE = "</script><script>alert(1)</script> ünïcode \x07 {{7*7}}"


def make_picture(folder: Path, colour: str) -> Figure:
    """A picture of the frozen dataset."""
    path = folder / "images" / f"{colour}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (8, 8), colour).save(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return Figure(file=f"images/{colour}.png", sha256=digest)


def write_dataset(folder: Path, first_id: str = "physics/1") -> list[Question]:
    """Two problems: a choice between P and Q, one by its picture, and an answer in two parts."""
    red, blue = make_picture(folder, "red"), make_picture(folder, "blue")
    choices = [Choice(label="P", text="2 N"), Choice(label="Q", image=1)]
    questions = [
        Question(id=first_id, question="Read [IMAGE0].", images=[red, blue], choices=choices,
                 group="stem-1", subject="physics"),
        Question(id="chem-2", question=HOSTILE, subject="chemistry"),
    ]  # fmt: skip
    answers = [
        Answer(id=first_id, answer=["Q"], answer_type="mcq", choices=choices, group="stem-1"),
        Answer(id="chem-2", answer=["[1, 2]", "NaCl"], answer_type="open"),
    ]
    write_jsonl(folder / "questions.jsonl", questions)
    write_jsonl(folder / "answers.jsonl", answers)
    manifest = FrozenManifest(
        name="two", version="1", problems=2, images=2, questions_sha256="a" * 64,
        answers_sha256="b" * 64, subjects={"physics": 1, "chemistry": 1},
    )  # fmt: skip
    write_json(folder / "manifest.json", manifest)
    return questions


def write_request(results: Path, question: Question, arguments: str, text: str) -> str:
    """Put what was sent into the store: a picture, a call of a tool, a picture under a patch."""
    red, blue = (
        ImagePart(sha256=figure.sha256, path=str(results / "freeze" / figure.file))
        for figure in question.images
    )
    covered = blue.model_copy(update={"patch": (0, 0, 4)})
    call = ToolCall(id="c1", name="zoom", arguments=arguments)
    broken = ToolCall(id="c2", name="zoom", arguments="{factor")
    messages = (
        Message(role="system", parts=(TextPart(text="Be brief."),)),
        Message(role="user", parts=(TextPart(text="Look:"), red, TextPart(text=HOSTILE))),
        Message(role="assistant", parts=(TextPart(text=text),), calls=(call, broken)),
        Message(role="tool", parts=(covered,), answers="c1"),
    )
    tool = ToolSpec(name="zoom", description="Look closer.", parameters={"type": "object"})
    conversation = Conversation(messages=messages, tools=(tool,))
    return keep(results.parent / "store", "m", "respondent", conversation, Response(text="Q"))


def write_cell(results: Path, key: str, first_id: str, *, simulated: bool) -> None:
    """Four responses, two samples a problem, and verdicts of two scorers."""

    def respond(id: str, index: int, text: str, **more: Any) -> ResponseRow:
        row = {
            "id": id,
            "index": index,
            "key": f"{index}" * 64,
            "outcome": "answered",
            "text": text,
        }
        return ResponseRow(**(row | more), simulated=simulated)

    responses = [
        respond(first_id, 0, "Answer: Q", key=key, reasoning="It is blue.", finish_reason="stop",
                input_tokens=10, output_tokens=5, reasoning_tokens=3, cost_usd=0.5, latency_s=1.5),
        respond(first_id, 1, "So far", outcome="truncated", finish_reason="length",
                input_tokens=10, output_tokens=7, cost_usd=float("inf")),
        respond("chem-2", 0, HOSTILE, finish_reason="end_turn"),
        respond("chem-2", 1, "", outcome="provider_error", error="HTTP 429"),
    ]  # fmt: skip
    verdicts = [
        VerdictRow(id=row.id, index=row.index, key=row.key, rules=rules, version=3, method="last",
                   verdict=float(row.index == 0 and rules == "robust"), simulated=simulated,
                   extracted="Q", outcome="scored" if row.index == 0 else row.outcome)
        for row in responses for rules in ("robust", "emma")
    ]  # fmt: skip
    write_parquet(results / "infer" / "m" / "cot.parquet", responses, ResponseRow)
    write_parquet(results / "score" / "m" / "cot.parquet", verdicts, VerdictRow)


def make_results(
    folder: Path,
    first_id: str = "physics/1",
    *,
    simulated: bool = True,
    arguments: str = '{"factor": 2}',
    text: str = "Closer.",
) -> Path:
    """The results of a study, with the store beside."""
    results = folder / "results"
    question = write_dataset(results / "freeze", first_id)[0]
    key = write_request(results, question, arguments, text)
    write_cell(results, key, first_id, simulated=simulated)
    return results


def open_writer(results: Path, store: Path) -> LogWriter:
    """A writer of logs; importing inspect_ai takes seconds, so that not every worker does it."""
    require_extra("inspect", "inspect_ai")
    from omibench.datasets.eval_logs.export import LogWriter

    return LogWriter(results, store)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """The results of a study of a simulated model."""
    return make_results(tmp_path)
