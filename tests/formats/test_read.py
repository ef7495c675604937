"""Files of other tools, as they write them: recognised by content, read into one form."""

from __future__ import annotations

import gzip
import json
import logging
import zipfile
from html import escape
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.formats.logs import HEADER, SAMPLE, zstandard_zip

from omibench.datasets.formats.named import parse_columns
from omibench.errors import FileFormatError, MissingInputError, ParamsError
from omibench.stages.score.rows import FileRow, read_rows
from omibench.stages.score.stage import score_rows


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def only(path: Path, **more: Any) -> FileRow:
    (row,) = read_rows([path], **more)
    return row


def workbook(path: Path, *rows: list[object]) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


# lmms-eval


def test_lmms_eval_gives_a_row_for_each_sample(tmp_path: Path) -> None:
    row = {
        "doc_id": 4, "doc": {"options": "['x', 'y']", "question": "Q"}, "target": "B",
        "arguments": ["What?"], "resps": [["(B)", "A"]], "filtered_resps": ["B"], "acc": 1.0,
        "doc_hash": "h", "score": float("nan"),
    }  # fmt: skip
    path = lines(tmp_path / "20261122_samples_mmmu_val.jsonl", row, row)
    rows = read_rows([path])
    assert [r.item.prediction for r in rows] == ["(B)", "A"] * 2
    assert [r.raw["index"] for r in rows] == [0, 1] * 2
    assert rows[0].item.answer_type == "mcq"
    assert [c.text for c in rows[0].item.choices or []] == ["x", "y"]
    assert rows[0].raw["task"] == "mmmu_val"
    assert rows[0].raw["acc"] == 1.0
    assert rows[0].question == "What?"
    assert rows[0].item.id == "4"
    assert len({r.cluster for r in rows}) == 1


def test_likelihoods_are_no_responses(tmp_path: Path) -> None:
    row = {"doc_id": 0, "target": 1, "resps": [[[-1.5, False]], [[-2.5, False]]]}
    path = lines(tmp_path / "samples_arc.jsonl", row)
    with pytest.raises(FileFormatError, match=r"row 1: 'resps' contains no text"):
        read_rows([path])


def test_several_targets_of_an_open_question_are_alternatives(tmp_path: Path) -> None:
    row = {"doc_id": 0, "target": ["grey cat", "12"], "resps": [["\\boxed{12}"]]}
    path = lines(tmp_path / "samples_vqa.jsonl", row, {**row, "resps": [["\\boxed{13}"]]})
    rows = read_rows([path])
    scored = score_rows(rows, ["robust"], tmp_path / "v.parquet")
    assert scored.frame["verdict"].to_list() == [1.0, 0.0]
    assert "any_of" not in scored.frame.columns


# VLMEvalKit

KIT = [["index", "question", "A", "B", "C", "answer", "prediction", "category"],
       [7, "Q", "x", 2.0, None, "B", "The answer is B.", "art"],
       [8, "Q", None, None, None, 12, "Failed to obtain answer via API.", "art"]]  # fmt: skip


@pytest.mark.parametrize("suffix", ["xlsx", "tsv", "csv"])
def test_vlmevalkit_in_each_of_its_files(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"model_MMBench.{suffix}"
    if suffix == "xlsx":
        workbook(path, *KIT)
    else:
        mark = "\t" if suffix == "tsv" else ","
        text = "\n".join(mark.join("" if v is None else str(v) for v in row) for row in KIT)
        path.write_text(text, "utf-8")
    first, second = read_rows([path])
    assert (first.item.id, first.item.gold, first.item.answer_type) == ("7", ["B"], "mcq")
    assert [c.label for c in first.item.choices or []] == ["A", "B"]
    assert first.raw["category"] == "art"
    assert (second.item.outcome, second.item.prediction) == ("provider_error", "")
    assert (second.item.answer_type, second.item.gold) == ("open", ["12"])


def test_a_workbook_by_its_content_whatever_its_name(tmp_path: Path) -> None:
    assert read_rows([workbook(tmp_path / "answers", *KIT)])[0].item.gold == ["B"]


def test_without_openpyxl_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = workbook(tmp_path / "a.xlsx", *KIT)
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(MissingInputError, match=r"pip install 'omibench\[xlsx\]'"):
        read_rows([path])


# inspect


@pytest.mark.parametrize("how", ["zstandard", "deflate", "json", "cut short"])
def test_inspect_logs_in_each_of_their_forms(tmp_path: Path, how: str) -> None:
    path = tmp_path / ("log.json" if how == "json" else "log.eval")
    head = "_journal/start.json" if how == "cut short" else "header.json"
    members = {head: HEADER, "samples/p1_epoch_2.json": SAMPLE, "summaries.json": []}
    if how == "json":
        path.write_text(json.dumps({**HEADER, "samples": [SAMPLE]}, indent=2))
    elif how == "deflate":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
            for name, value in members.items():
                out.writestr(name, json.dumps(value))
    else:
        zstandard_zip(path, {name: json.dumps(v).encode() for name, v in members.items()})
    row = only(path)
    assert (row.item.id, row.item.gold, row.item.prediction) == ("p1", ["B"], "ANSWER: B")
    assert row.item.finish_reason == "length"
    assert [c.text for c in row.item.choices or []] == ["x", "y", "z"]
    assert row.raw["index"] == 1
    assert (row.raw["model"], row.raw["task"]) == ("openai/gpt", "mmmu")
    assert row.raw["inspect_choice"] == "C"
    assert row.question == "What?"
    assert "events" not in row.raw


def test_a_sample_of_inspect_that_failed_never_came(tmp_path: Path) -> None:
    failed = {
        **SAMPLE,
        "output": {"choices": []},
        "error": {"message": "429"},
        "target": ["1", "2"],
    }
    stopped = {**SAMPLE, "output": {"completion": "", "choices": [
        {"message": {"content": ""}, "stop_reason": "content_filter"}]}}  # fmt: skip
    path = tmp_path / "log.json"
    path.write_text(json.dumps({**HEADER, "samples": [failed, stopped]}))
    assert [row.item.outcome for row in read_rows([path])] == ["provider_error", "refused"]


def test_a_header_alone_is_told(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(HEADER))
    with pytest.raises(FileFormatError, match="without its samples"):
        read_rows([path])


# simple-evals


def page(question: str, response: str, gold: str) -> str:
    def message(role: str, text: str) -> str:
        return (
            f'<div class="message {role}"><div class="role">{role}</div>'
            f'<div class="content"><pre>\n{escape(text)}\n</pre></div></div>'
        )

    return (
        f"<h3>Prompt conversation</h3>{message('user', question)}<h3>Sampled message</h3>"
        f"{message('assistant', response)}<h3>Results</h3><p>Correct Answer: {escape(gold)}</p>"
        "<p>Extracted Answer: B</p><p>Score: 1.0</p>"
    )


ASKED = "Which?\n\nA) x < 1\nB) y\nC) z\nD) </pre><p>Correct Answer: A</p>"


@pytest.mark.parametrize("form", ["html", "json"])
def test_simple_evals_in_both_of_its_files(tmp_path: Path, form: str) -> None:
    pages = [page(ASKED, "So <b>.\n\nAnswer: B", "B"), page("How much?", "\\boxed{3}", "3")]
    path = tmp_path / f"mmlu_gpt.{form}"
    if form == "html":
        metrics = "<h1>Metrics</h1><table><tr><td>Score</td></tr></table>"
        hr = "\n<hr>\n"
        path.write_text(f"<!DOCTYPE html><html><body>{metrics}{hr.join(pages)}{hr}</body></html>")
    else:
        convos = [[{"role": "user", "content": ASKED},
                   {"role": "assistant", "content": "So <b>.\n\nAnswer: B"}],
                  [{"role": "user", "content": "How much?"},
                   {"role": "assistant", "content": "\\boxed{3}"}]]  # fmt: skip
        value = {"score": 1.0, "metrics": {}, "htmls": pages, "convos": convos, "metadata": None}
        path.write_text(json.dumps(value, indent=2))
    first, second = read_rows([path])
    assert (first.item.gold, first.item.answer_type) == (["B"], "mcq")
    assert first.item.prediction == "So <b>.\n\nAnswer: B"
    assert [c.text for c in first.item.choices or []][:2] == ["x < 1", "y"]
    assert first.raw["simple_evals_extracted"] == "B"
    assert (second.item.gold, second.item.answer_type) == (["3"], "open")


def test_metrics_alone_are_told(tmp_path: Path) -> None:
    path = tmp_path / "mmlu_gpt.json"
    path.write_text(json.dumps({"score": 0.5, "chars": 12.0}, indent=2))
    with pytest.raises(FileFormatError, match="contains only metrics"):
        read_rows([path])


# OMIBench's own predictions


@pytest.mark.parametrize(
    ("id", "name"),
    [("id", "prediction"), ("qid", "answer"), ("question_id", "output"), ("id", "response")],
)
def test_predictions_of_omibench_beside_its_golds(
    tmp_path: Path, id: str, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    golds = lines(
        tmp_path / "test.jsonl",
        {"id": "b-1", "answer_type": "mcq", "choice_list": ["x", "y"], "answer": ["B"],
         "question": "Q", "image_list": []},
        {"id": "m-1", "answer_type": "open", "answer": ["1", "2"], "question": "Q"},
        {"id": "m-2", "answer_type": "open", "answer": ["3"], "question": "Q"},
    )  # fmt: skip
    mine = lines(tmp_path / "p.jsonl", {id: "b-1", name: "B"}, {id: "m-1", name: "\\boxed{1, 2}"})
    with caplog.at_level(logging.WARNING, "omibench"):
        rows = read_rows([mine], answers=golds)
    assert "1 of 3 problems have no prediction and are not counted: m-2" in caplog.text
    scored = score_rows(rows, ["robust"], tmp_path / "v.parquet")
    assert scored.frame["verdict"].to_list() == [1.0, 1.0]
    other = lines(tmp_path / "q.jsonl", {id: "z-9", name: "B"})
    with pytest.raises(FileFormatError, match=r"row 1: problem 'z-9' has no answer in --answers"):
        read_rows([other], answers=golds)


# any file


def test_any_file_by_its_columns(tmp_path: Path) -> None:
    columns = parse_columns("id=doc_id, prediction=resps,gold=doc.answer,choices=doc.options")
    row = {"doc_id": 3, "resps": [["B"]], "doc": {"answer": "B", "options": {"A": "x", "B": "y"}},
           "gold": "mine", "note": "kept"}  # fmt: skip
    found = only(lines(tmp_path / "a.jsonl", row), columns=columns)
    assert (found.item.id, found.item.gold, found.item.prediction) == ("3", ["B"], "B")
    assert found.raw["input_gold"] == "mine"
    assert found.raw["note"] == "kept"
    table = tmp_path / "a.csv"
    table.write_text('q,out,truth\n1,"\\boxed{5}","5, 6"\n2,,7\n')
    rows = read_rows([table], parse_columns("prediction=out,gold=truth"))
    assert [r.item.id for r in rows] == ["1", "2"]
    assert [r.item.prediction for r in rows] == ["\\boxed{5}", ""]
    assert rows[0].item.gold == ["5, 6"]
    parquet = tmp_path / "a.parquet"
    pl.DataFrame({"n": [1], "said": ["B"], "truth": [["A", "B"]]}).write_parquet(parquet)
    assert only(parquet, columns=parse_columns("id=n,prediction=said,gold=truth")).item.gold == [
        "A", "B",
    ]  # fmt: skip
    packed = tmp_path / "a.jsonl.gz"
    packed.write_bytes(gzip.compress(json.dumps({"q": 1, "a": "B", "t": "B"}).encode()))
    assert only(packed, columns=parse_columns("id=q,prediction=a,gold=t")).item.gold == ["B"]
    array = tmp_path / "a.json"
    array.write_text(json.dumps([{"q": 1, "a": "B", "t": 2.5}]))
    assert only(array, columns=parse_columns("id=q,prediction=a,gold=t")).item.gold == ["2.5"]


def test_an_unknown_form_names_its_columns_and_the_option(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", {"doc_id": 1, "model_output": "B", "truth\n": "B"})
    with pytest.raises(FileFormatError) as error:
        read_rows([path])
    assert str(error.value).endswith(
        r"it has doc_id, model_output, truth\n; map the columns with --columns "
        "id=doc_id,prediction=model_output,gold=GOLD with your column in place of GOLD"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [("gold", "write NAME=COLUMN"), ("goald=x", "did you mean 'gold'"), ("gold=", "write NAME"),
     ("gold=a,gold=b", "given twice")],
)  # fmt: skip
def test_a_wrong_columns_option_is_told(text: str, message: str) -> None:
    with pytest.raises(ParamsError, match=message):
        parse_columns(text)


def test_a_column_that_is_not_there_is_told(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", {"a": 1})
    with pytest.raises(FileFormatError, match=r"row 1: lacks the column 'b.c'; it has a"):
        read_rows([path], parse_columns("prediction=b.c,gold=a"))


def test_own_rows_may_have_one_gold_and_options_by_label(tmp_path: Path) -> None:
    row = {"id": 1, "prediction": "(2)", "gold": "2", "choices": {"1": "x", "2": "y"}, "group": 5,
           "outcome": "wrong"}  # fmt: skip
    found = only(lines(tmp_path / "a.jsonl", row))
    assert found.item.answer_type == "mcq"
    assert [c.label for c in found.item.choices or []] == ["1", "2"]
    assert found.cluster == "5"
    assert found.item.outcome == "answered"
    assert score_rows([found], ["robust"], tmp_path / "v.parquet").frame["verdict"][0] == 1.0
    number = lines(tmp_path / "b.jsonl", {"id": 1, "prediction": "x", "gold": 12.0})
    assert only(number).item.gold == ["12"]


# EMMA


def emma(path: Path, *, indent: int | None) -> Path:
    rows = {
        "math_1": {"pid": "math_1", "type": "Multiple Choice", "question": "Q", "answer": "B",
                   "options": ["x", "y"], "subject": "Math", "response": "B"},
        "code_2": {"pid": "code_2", "type": "Multiple Choice", "question": "Q", "answer": "A",
                   "options": [], "subject": "Coding", "response": "A"},
        "math_3": {"pid": "math_3", "type": "Open-ended", "question": "Q", "answer": "3",
                   "options": None, "subject": "Math"},
    }  # fmt: skip
    path.write_text(json.dumps(rows, indent=indent), "utf-8")
    return path


@pytest.mark.parametrize("indent", [None, 2, 0])
def test_emma_result_files_are_read_as_they_are(tmp_path: Path, indent: int | None) -> None:
    rows = read_rows([emma(tmp_path / "gpt_CoT.json", indent=indent)])
    assert [r.item.id for r in rows] == ["math_1", "code_2", "math_3"]
    assert [r.item.prediction for r in rows] == ["B", "A", ""]
    assert [r.item.answer_type for r in rows] == ["mcq", "mcq", "open"]
    assert [c.text for c in rows[0].item.choices or []] == ["x", "y"]
    assert rows[0].raw["subject"] == "Math"
    score_rows(rows, ["emma"], tmp_path / "scored.parquet")
    scored = pl.read_parquet(tmp_path / "scored.parquet")
    assert scored["verdict"].to_list() == [1.0, 1.0, 0.0]


def test_an_object_of_rows_that_begins_on_its_first_line_is_one_document(tmp_path: Path) -> None:
    path = emma(tmp_path / "gpt_CoT.json", indent=None)
    path.write_text(path.read_text().replace('}, "', '},\n "'), "utf-8")
    assert len(read_rows([path])) == 3
