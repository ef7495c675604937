"""The messages that were sent stand on the page of their problem, pictures at their places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.stages.analyze.conftest import HOSTILE, Folders, make_study
from tests.stages.analyze.explorer.test_steps import keep, said
from tests.stages.analyze.pages import Page

from omibench.params.study import Study
from omibench.schemas.problem import Answer, Choice, Question
from omibench.schemas.request import Conversation, Message, Response, TextPart, ToolCall, ToolSpec
from omibench.schemas.tables import read_jsonl, write_jsonl
from omibench.settings.present import present
from omibench.stages.analyze.explorer.pages import write_explorer
from omibench.stages.analyze.explorer.requests import LONGEST, Trail, describe_sent


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return make_study(tmp_path, per_subject=1)


def written(folders: Folders, study: Study, problem: str) -> Page:
    results = folders.load(study)
    write_explorer(folders.out / "explorer", results, folders.out / "report.html")
    return Page(folders.out / "explorer" / "pages" / f"{problem}.html")


def stored(folders: Folders, tmp_path: Path) -> Study:
    blocks = folders.study.model_dump(mode="json", exclude_defaults=True)
    blocks["study"]["store"] = str(tmp_path / "store")
    return type(folders.study).model_validate(blocks)


def rekeyed(folders: Folders, problem: str, keys: dict[tuple[str, str], str]) -> None:
    """Give responses of cells to a problem the keys of requests in the store."""
    for (model, setting), key in keys.items():
        for stage in (folders.infer, folders.score):
            path = stage / model / f"{setting}.parquet"
            frame = pl.read_parquet(path)
            new = pl.when(pl.col("id") == problem).then(pl.lit(key)).otherwise("key")
            frame.with_columns(key=new).write_parquet(path)


def test_the_conversation_of_a_response_is_shown_once_for_all_who_were_sent_it(
    folders: Folders, tmp_path: Path
) -> None:
    study = stored(folders, tmp_path)
    question = read_jsonl(folders.freeze / "questions.jsonl", Question)[0]
    asked = present(question, study.settings["cot"], folders.freeze)
    system = Message(role="system", parts=(TextPart(text=f"Be brief. {HOSTILE}"),))
    asked = Conversation(messages=(system, *asked.messages))
    keys = {
        (model, "cot"): keep(tmp_path / "store", model, "respondent", asked, Response(text="B"))
        for model in ("sim-strong", "sim-weak")
    }
    rekeyed(folders, question.id, keys)
    page = written(folders, study, question.id)
    page.assert_harmless()
    ((name, sent),) = page.data["conversations"].items()
    assert page.data["sent"] == {key: {"conversation": name} for key in keys.values()}
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]
    assert sent["messages"][0]["parts"] == [{"text": f"Be brief. {HOSTILE}"}]
    # Words and pictures in the order in which they were sent.
    parts = sent["messages"][1]["parts"]
    assert ["picture" not in part for part in parts] == [
        isinstance(part, TextPart) for part in asked.messages[1].parts
    ]
    shown = [part["picture"]["src"] for part in parts if "picture" in part]
    files = {(folders.freeze / figure.file).resolve() for figure in question.images}
    assert {page.target(link)[0] for link in shown} == files


def test_a_choice_shows_its_picture_where_its_text_marks_it(folders: Folders, browser: Any) -> None:
    """As the last choice of OMIBench's biology-141: a picture and a legend below it."""
    path = folders.freeze / "questions.jsonl"
    questions = read_jsonl(path, Question)
    question = next(q for q in questions if len(q.images) >= 2)
    choices = [
        Choice(label="A", image=0),
        Choice(label="B", text="before [IMAGE1]\n\nZZZZ Indicates pigment."),
    ]
    changed = {"question": "Which diagram?", "choices": choices}
    mine = question.model_copy(update=changed)
    write_jsonl(path, [mine if q.id == question.id else q for q in questions])
    answers = read_jsonl(folders.freeze / "answers.jsonl", Answer)
    gold = {"choices": choices, "answer": ["A"], "answer_type": "mcq"}
    rows = [a.model_copy(update=gold) if a.id == question.id else a for a in answers]
    write_jsonl(folders.freeze / "answers.jsonl", rows)
    written(folders, folders.study, question.id).assert_harmless()
    page = browser.new_page()
    page.goto((folders.out / f"explorer/pages/{question.id}.html").as_uri())
    page.wait_for_selector("html[data-ready]")
    for number in (0, 1):
        figure = page.locator(".choices > li").nth(number).locator(".figure")
        assert figure.get_attribute("data-mark") == f"[IMAGE{number}]"
    second = page.locator(".choices > li").nth(1).inner_text()
    assert second.index("before") < second.index("[IMAGE1]") < second.index("ZZZZ")
    shown = page.locator(".problem-side .figure").evaluate_all(
        "(figures) => figures.map((figure) => figure.dataset.mark)"
    )
    assert sorted(shown) == [f"[IMAGE{n}]" for n in range(len(question.images))]
    page.close()


def test_calls_tools_and_long_texts(tmp_path: Path) -> None:
    call = ToolCall(id="c1", name="zoom", arguments=HOSTILE)
    told = Conversation(
        messages=(
            *said("x" * 3 * LONGEST).messages,
            Message(role="assistant", parts=(TextPart(text="Closer."),), calls=(call,)),
            Message(role="tool", parts=(TextPart(text="zoomed"),), answers="c1"),
        ),
        tools=(ToolSpec(name="zoom", description="Zoom.", parameters={"type": "object"}),),
    )
    store = tmp_path / "store"
    key = keep(store, "m", "respondent", told, Response(text="B"))
    trail = Trail(store, tmp_path, tmp_path)
    sent = describe_sent(trail, key, [], [], lambda _: None)["sent"]
    assert [m["role"] for m in sent["messages"]] == ["user", "assistant", "tool"]
    assert len(sent["messages"][0]["parts"][0]["text"]) < 2 * LONGEST
    assert sent["messages"][1]["calls"] == [f"zoom {HOSTILE}"]
    assert (sent["messages"][2]["answers"], sent["tools"]) == ("c1", ["zoom"])
    nothing = {"sent": None, "said": None, "steps": []}
    assert describe_sent(trail, "ab" * 32, [], [], lambda _: None) == nothing
    assert describe_sent(trail, "no key", [], [], lambda _: None) == nothing


def test_a_store_that_is_broken_ends_no_report(folders: Folders, tmp_path: Path) -> None:
    study = stored(folders, tmp_path)
    problem = read_jsonl(folders.freeze / "questions.jsonl", Question)[0].id
    key = keep(tmp_path / "store", "m", "respondent", said("1"), Response(text="B"))
    rekeyed(folders, problem, {("sim-strong", "cot"): key})
    for segment in (tmp_path / "store").rglob("*.jsonl"):
        content = segment.read_bytes()
        segment.write_bytes(content[: len(content) // 2] + b"\xff" * 40 + b"\n")
    page = written(folders, study, problem)
    page.assert_harmless()
    assert page.data["sent"] == page.data["conversations"] == {}
