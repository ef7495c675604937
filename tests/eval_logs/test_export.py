"""Cells as logs of Inspect: what is in the file, and what comes back from it."""

from __future__ import annotations

import base64
import json
import os
import zipfile
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image
from tests.eval_logs.conftest import HOSTILE, make_results, open_writer

from omibench.errors import FileFormatError, MissingInputError
from omibench.params.setting import Cell
from omibench.schemas.problem import Question
from omibench.schemas.tables import read_jsonl, write_jsonl
from omibench.stages.score.rows import read_rows

if TYPE_CHECKING:
    from omibench.datasets.eval_logs.export import WrittenLog

CELL = Cell("m", "cot")


def write(results: Path) -> WrittenLog:
    return open_writer(results, results.parent / "store").write(CELL, results.parent / "log.eval")


def read_members(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as log:
        return {
            name: json.loads(log.read(name), parse_constant=pytest.fail) for name in log.namelist()
        }


def read_first(path: Path) -> dict[str, Any]:
    sample: dict[str, Any] = read_members(path)["samples/physics/1_epoch_1.json"]
    return sample


def test_a_log_has_the_members_and_the_head_that_inspect_reads(results: Path) -> None:
    members = read_members(write(results).path)
    assert list(members) == [
        "_journal/start.json",
        "samples/physics/1_epoch_1.json",
        "samples/physics/1_epoch_2.json",
        "samples/chem-2_epoch_1.json",
        "samples/chem-2_epoch_2.json",
        "_journal/summaries/1.json",
        "summaries.json",
        "header.json",
    ]
    head = members["header.json"]
    assert (head["version"], head["status"]) == (2, "success")
    assert members["_journal/start.json"] == {
        name: head[name] for name in ("version", "eval", "plan")
    }
    spec = head["eval"]
    assert spec["dataset"]["sample_ids"] == ["physics/1", "chem-2"]
    assert spec["config"] == {"epochs": 2}
    assert {s["name"]: s["metrics"]["accuracy"]["value"] for s in head["results"]["scores"]} == {
        "robust": 0.5,
        "emma": 0.0,
    }
    usage = head["stats"]["model_usage"]["simulated/m"]
    assert (usage["total_tokens"], usage["reasoning_tokens"], usage["total_cost"]) == (32, 3, 0.5)
    assert (head["stats"]["started_at"], head["stats"]["completed_at"]) == ("", "")
    summaries = members["summaries.json"]
    assert [summary.get("total_time") for summary in summaries] == [1.5, None, None, None]
    assert [(s["id"], s["epoch"], s.get("error")) for s in summaries] == [
        ("physics/1", 1, None), ("physics/1", 2, None), ("chem-2", 1, None),
        ("chem-2", 2, "HTTP 429"),
    ]  # fmt: skip
    assert not any("attachments" in summary for summary in summaries)


def test_messages_and_pictures_stand_as_they_were_sent(results: Path) -> None:
    sample = read_first(write(results).path)
    system, user, assistant, tool, said = sample["messages"]
    assert sample["input"] == sample["messages"][:-1]
    assert system["content"] == [{"type": "text", "text": "Be brief."}]
    assert [part["type"] for part in user["content"]] == ["text", "image", "text"]
    assert user["content"][2]["text"] == HOSTILE
    good, broken = assistant["tool_calls"]
    assert (good["function"], good["arguments"]) == ("zoom", {"factor": 2})
    assert broken["arguments"] == {"arguments": "{factor"}
    assert broken["parse_error"]
    assert (tool["role"], tool["tool_call_id"]) == ("tool", "c1")
    assert said["content"] == [
        {"type": "reasoning", "reasoning": "It is blue.", "redacted": False},
        {"type": "text", "text": "Answer: Q"},
    ]
    red = (results / "freeze" / "images" / "red.png").read_bytes()
    assert read_picture(sample, user["content"][1]) == red
    covered = Image.open(BytesIO(read_picture(sample, tool["content"][0]))).convert("RGB")
    assert (covered.getpixel((1, 1)), covered.getpixel((6, 6))) == ((0, 0, 0), (0, 0, 255))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (r'{"factor": "\ud800"}', "half a character"),
        ('{"factor": NaN}', "NaN is not a number in JSON"),
        ('{"factor": 1e999}', "Out of range float"),
        ('{"factor":' * 300 + "1" + "}" * 300, "more than 100 deep"),
        ('{"factor":' * 5000 + "1" + "}" * 5000, "more than 100 deep"),
    ],
)
def test_arguments_that_json_cannot_represent_stand_as_their_text(
    tmp_path: Path, arguments: str, reason: str
) -> None:
    log = write(make_results(tmp_path, arguments=arguments))
    assert log.unsent == 3  # of one response the request is in the store
    call = read_first(log.path)["messages"][2]["tool_calls"][0]
    assert call["arguments"] == {"arguments": arguments}
    assert reason in call["parse_error"]


def test_half_a_character_in_a_message_is_replaced(tmp_path: Path) -> None:
    log = write(make_results(tmp_path, text="half \ud83d", arguments='{"factor": "\ud83d"}'))
    message = read_first(log.path)["messages"][2]
    assert message["content"] == [{"type": "text", "text": "half \ufffd"}]
    assert message["tool_calls"][0]["arguments"] == {"factor": "\ufffd"}


def test_the_list_of_samples_has_the_start_of_each_problem(tmp_path: Path) -> None:
    results = make_results(tmp_path)
    path = results / "freeze" / "questions.jsonl"
    first, second = read_jsonl(path, Question)
    long = second.model_copy(update={"question": "x" * 5000})
    write_jsonl(path, [first, long])
    members = read_members(write(results).path)
    for name in ("summaries.json", "_journal/summaries/1.json"):
        inputs = [summary["input"] for summary in members[name]]
        assert inputs == ["Read [IMAGE0]."] * 2 + ["x" * 1000] * 2


def read_picture(sample: dict[str, Any], part: dict[str, str]) -> bytes:
    content = sample["attachments"][part["image"].removeprefix("attachment://")]
    head, _, data = content.partition(",")
    assert head == "data:image/png;base64"
    return base64.b64decode(data)


def test_responses_golds_and_verdicts_come_back_from_a_log(results: Path) -> None:
    rows = read_rows([write(results).path])
    assert [(row.item.id, row.raw["index"], row.item.prediction) for row in rows] == [
        ("physics/1", 0, "Answer: Q"), ("physics/1", 1, "So far"), ("chem-2", 0, HOSTILE),
        ("chem-2", 1, ""),
    ]  # fmt: skip
    first, cut, parts, failed = rows
    assert (first.item.gold, first.item.answer_type) == (["Q"], "mcq")
    assert [(c.label, c.text) for c in first.item.choices or []] == [
        ("P", "2 N"),
        ("Q", "[IMAGE1]"),
    ]
    assert (first.raw["group"], first.raw["model"]) == ("stem-1", "simulated/m")
    assert cut.item.finish_reason == "length"
    assert (parts.item.gold, parts.item.answer_type) == (["[1, 2]", "NaCl"], "open")
    assert "any_of" not in parts.raw
    assert failed.item.outcome == "provider_error"
    assert [row.raw["inspect_robust"] for row in rows] == ["1", "0", "1", "0"]
    assert [row.raw["inspect_emma"] for row in rows] == ["0"] * 4


def test_a_score_says_how_it_came_about_and_leaves_out_what_is_unknown(results: Path) -> None:
    facts = read_first(write(results).path)["scores"]["robust"]["metadata"]
    assert (facts["rules"], facts["version"], facts["method"]) == ("robust", 3, "last")
    assert facts["outcome"] == "scored"
    assert None not in facts.values()


def test_simulated_responses_are_marked_and_real_ones_are_not(tmp_path: Path) -> None:
    for simulated in (True, False):
        log = write(make_results(tmp_path / str(simulated), simulated=simulated))
        spec = read_members(log.path)["header.json"]["eval"]
        sample = read_first(log.path)
        assert log.is_simulated is simulated
        assert spec["tags"] == (["SIMULATED"] if simulated else [])
        assert spec["model"] == ("simulated/m" if simulated else "m")
        assert sample["metadata"].get("simulated", False) is simulated
        assert sample["scores"]["robust"]["metadata"].get("simulated", False) is simulated


def test_the_problem_is_shown_where_the_store_does_not_hold_what_was_sent(results: Path) -> None:
    target = results.parent / "log.eval"
    log = open_writer(results, results.parent / "elsewhere").write(CELL, target)
    assert (log.samples, log.unsent) == (4, 4)
    sample = read_first(target)
    (message,) = sample["input"]
    kinds = [part.get("text", part["type"]) for part in message["content"]]
    assert kinds == ["Read ", "image", ".\nP. 2 N\nQ. ", "image"]
    assert sample["metadata"]["is_as_sent"] is False
    (results / "freeze" / "images" / "red.png").write_bytes(b"other bytes")
    open_writer(results, results.parent / "elsewhere").write(CELL, target)
    (message,) = read_first(target)["input"]
    assert "missing picture file" in message["content"][1]["text"]


def test_equal_results_give_equal_bytes(results: Path, tmp_path: Path) -> None:
    first = write(results).path.read_bytes()
    copy = make_results(tmp_path / "again")
    modified = (results / "infer" / "m" / "cot.parquet").stat().st_mtime
    os.utime(copy / "infer" / "m" / "cot.parquet", (modified, modified))
    assert write(copy).path.read_bytes() == first


@pytest.mark.parametrize("name", ["../../etc/x", "/x", "a\\b", "a\nb"])
def test_an_id_that_leads_out_of_the_log_is_refused_and_leaves_no_file(
    tmp_path: Path, name: str
) -> None:
    results = make_results(tmp_path, name)
    with pytest.raises(FileFormatError, match="cannot be in a log of Inspect"):
        write(results)
    assert not list(tmp_path.glob("*.eval*")) + list(tmp_path.glob(".*"))


def test_every_cell_has_a_log_also_one_without_scores(results: Path) -> None:
    (results / "score" / "m" / "cot.parquet").unlink()
    (log,) = open_writer(results, results.parent / "store").write_all(results.parent / "logs")
    assert log.path == results.parent / "logs" / "m" / "cot.eval"
    assert read_first(log.path)["scores"] == {}
    assert read_members(log.path)["header.json"]["results"]["scores"] == []


def test_a_cell_that_is_not_there_is_named_beside_those_that_are(results: Path) -> None:
    writer = open_writer(results, results.parent / "store")
    with pytest.raises(MissingInputError, match=r"m/direct: .* has no such cell; it has m/cot"):
        writer.write(Cell("m", "direct"), results.parent / "log.eval")
