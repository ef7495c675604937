"""What `--explain` tells a person: the verdict's own words, and nothing that moves a terminal."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.answers.scorers.registry import SCORERS, score_item
from omibench.errors import FileFormatError, MissingInputError, OmibenchError
from omibench.schemas.problem import Answer, Choice
from omibench.schemas.tables import ResponseRow, VerdictRow, write_jsonl, write_parquet
from omibench.schemas.verdict import ScoredItem
from omibench.study.explain import explain, explain_id, plain


def item(prediction: str, *gold: str, choices: list[Choice] | None = None) -> ScoredItem:
    kind = "mcq" if choices else "open"
    return ScoredItem(
        id="physics-1", prediction=prediction, gold=list(gold), answer_type=kind, choices=choices
    )


def test_every_part_stands_beside_what_was_found() -> None:
    told = explain(item(r"So \boxed{4.2; 5}", "(1) 4.2", "(2) 3"), ["robust"])
    assert "robust, version" in told
    assert "wrong, credit 0.5" in told
    assert "extracted  4.2; 5" in told
    assert "found by   box" in told
    rows = [line.split() for line in told.splitlines() if line.startswith("    ")]
    assert rows[1][:4] == ["1", "4.2", "4.2", "right"]
    assert rows[2][:4] == ["2", "3", "5", "wrong"]
    assert rows[1][4:] == ["equal", "as", "text"]
    assert rows[2][4:] == ["differs", "as", "number"]


def test_a_missing_part_says_so() -> None:
    told = explain(item(r"\boxed{x = 1}", "x = 1", "y = 2"), ["robust"])
    assert "missing" in told


def test_the_printed_rules_show_their_arithmetic() -> None:
    close = explain(item(r"\boxed{3.00005}", "3"), ["omibench"])
    assert "difference 5e-05; up to 0.0001 is right" in close
    text = explain(item(r"\boxed{the entropy decreases}", "the entropy increases"), ["omibench"])
    assert "omibench, version 2: right" in text
    assert "0.905; 0.75 or more is right" in text


def test_letters_and_failures() -> None:
    choices = [Choice(label="A", text="one"), Choice(label="B", image=0)]
    told = explain(item(r"\boxed{B}", "A", choices=choices), ["robust", "usnco-v", "emma"])
    assert "(B) [picture]" in told
    assert told.count(": wrong") == 3
    refused = explain(item("I am sorry, I cannot help with that.", "3"), ["robust"])
    assert "no verdict, refused (counts as wrong)" in refused
    assert "extracted  nothing" in refused


@given(st.text(max_size=300), st.sampled_from(sorted(SCORERS)))
def test_any_response_is_explained_with_the_verdict_of_the_score(text: str, rules: str) -> None:
    asked = item(text, "3", r"\frac{1}{2}")
    told = explain(asked, [rules])
    verdict = score_item(asked, rules)
    line = next(x for x in told.splitlines() if x.startswith(f"{rules}, version"))
    word = "right" if verdict.verdict == 1 else "wrong"
    assert word in line if verdict.outcome == "scored" else "no verdict" in line
    assert all(c == "\n" or c == plain(c) for c in told)


def test_escape_sequences_are_not_sent_to_the_terminal() -> None:
    told = explain(item("\x1b[2J\x9b31m \u202eevil \\boxed{3}", "3\x07"), ["robust"])
    assert not set("\x1b\x9b\u202e\x07") & set(told)


def write_cell(results: Path) -> None:
    responses = [
        ResponseRow(id=name, index=0, key="k", outcome="answered", text=rf"\boxed{{{name[-1]}}}")
        for name in ("q-1", "q-2")
    ]
    answers = [Answer(id=name, answer=["1"], answer_type="open") for name in ("q-1", "q-2")]
    verdict = VerdictRow(
        id="q-2", index=0, key="k", rules="gptscore", version=2, method="judge", verdict=1.0,
        outcome="scored", judge="sim-judge", judge_key="abc", simulated=True,
    )  # fmt: skip
    write_parquet(results / "infer/m/cot.parquet", responses, ResponseRow)
    by_rules = verdict.model_copy(
        update={"rules": "omibench", "judge": None, "judge_key": None, "simulated": False}
    )
    write_parquet(results / "score/m/cot.parquet", [by_rules, verdict], VerdictRow)
    write_jsonl(results / "freeze/answers.jsonl", answers)


def test_a_study_a_cell_and_a_file_are_explained(tmp_path: Path) -> None:
    write_cell(tmp_path)
    whole = explain_id([tmp_path], "q-2", ["robust"])
    assert "q-2, m under cot, sample 0" in whole
    assert "robust, version" in whole
    assert "gptscore, version 2, by sim-judge (SIMULATED): right\n  reply      abc" in whole
    assert "\nomibench, version" in explain_id([tmp_path], "q-2")
    assert "\nrobust, version" in explain_id([tmp_path], "q-1"), "it was not scored"
    cell = explain_id(
        [tmp_path / "infer/m/cot.parquet"], "q-1", ["robust"], tmp_path / "freeze/answers.jsonl"
    )
    assert ": right" in cell
    row = {"id": 7, "prediction": "3", "gold": ["3"], "answer_type": "open", "choices": None}
    pl.DataFrame([row]).write_parquet(tmp_path / "rows.parquet")
    assert "7, rows.parquet" in explain_id([tmp_path / "rows.parquet"], "7", ["emma", "omibench"])


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    write_cell(tmp_path)
    with pytest.raises(MissingInputError, match=r"--explain 'q-3': no response .*'q-"):
        explain_id([tmp_path], "q-3", ["robust"])
    with pytest.raises(OmibenchError, match="unknown scorer 'robst'"):
        explain_id([tmp_path], "q-1", ["robst"])
    write_jsonl(tmp_path / "freeze/answers.jsonl", [])
    with pytest.raises(FileFormatError, match="has no answer in the answers file"):
        explain_id([tmp_path], "q-1", ["robust"])
