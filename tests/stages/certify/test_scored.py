"""Certificates without a study: a file of verdicts and a file of labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from command_line import app
from omibench.answers.scorers.robust import VERSION
from omibench.errors import FileFormatError, MissingInputError
from omibench.params.study import Study
from omibench.schemas.certificate import Certificate, DisagreementRow
from omibench.schemas.tables import read_jsonl, read_typed_json
from omibench.stages.certify.verdict_files import certify_scored
from omibench.stages.score.rows import read_rows
from omibench.stages.score.stage import score_rows

STUDY = Study()
RIGHT = ["5", "5", "5", "5", "6", "6", "6", "5", "5", "6"]
"""What ten responses answer, where 5 is the gold."""


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    """Ten responses scored by two scorers."""
    rows = [
        {"id": f"q{i}", "prediction": f"\\boxed{{{said}}}", "gold": "5", "group": f"g{i // 2}",
         "question": "How many?"}
        for i, said in enumerate(RIGHT)
    ]  # fmt: skip
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "v.parquet"
    score_rows(read_rows([tmp_path / "a.jsonl"]), ["robust", "emma"], out)
    return out


def labels(tmp_path: Path, said: dict[str, str], **more: str) -> Path:
    file = tmp_path / "labels.csv"
    heads = ["id", "label", *more]
    lines = [",".join([id, label, *more.values()]) for id, label in said.items()]
    file.write_text("\n".join([",".join(heads), *lines]) + "\n")
    return file


def people(**changed: str) -> dict[str, str]:
    """People who agree with the rules but for what is changed."""
    said = {f"q{i}": "right" if x == "5" else "wrong" for i, x in enumerate(RIGHT)}
    return said | changed


def test_a_scorer_is_held_against_labels(scored: Path, tmp_path: Path) -> None:
    said = labels(tmp_path, people(q0="wrong", q4="right"))
    found = certify_scored(said, scored, tmp_path, STUDY)
    assert (found.judge, found.rules) == ("robust", "labels")
    assert found.identity == [{"rules": "robust", "version": str(VERSION)}]
    every = found.quality["all"]
    assert (found.n, found.problems) == (10, 5)
    assert every.agreement.value == pytest.approx(0.8)
    assert every.tpr.value == pytest.approx(5 / 6, abs=1e-5)
    assert every.fpr.value == pytest.approx(1 / 4)
    assert every.judged_right.value == pytest.approx(0.6)
    rows = list(read_jsonl(tmp_path / "disagreements.jsonl", DisagreementRow))
    assert [(r.id, r.disagreement, r.by_judge, r.label) for r in rows] == [
        ("q0", "judge_only", 1.0, 0.0), ("q4", "rules_only", 0.0, 1.0),
    ]  # fmt: skip
    assert rows[0].question == "How many?"
    assert rows[0].response == "\\boxed{5}"
    assert read_typed_json(tmp_path / "certificate.json", Certificate) == found
    other = certify_scored(said, scored, tmp_path, STUDY, "emma")
    assert other.judge == "emma"
    with pytest.raises(MissingInputError, match="no verdict of 'emna'; did you mean 'emma'"):
        certify_scored(said, scored, tmp_path, STUDY, "emna")


def judged(scored: Path, values: list[float], outcomes: list[str]) -> Path:
    frame = pl.read_parquet(scored).filter(rules="robust").with_columns(
        gptscore=pl.Series(values), judge_outcome=pl.Series(outcomes), judge=pl.lit("my-judge"),
        judge_key=pl.lit("k"), judge_prompt_sha256=pl.lit("ab"),
    )  # fmt: skip
    frame.write_parquet(scored.with_name("judged.parquet"))
    return scored.with_name("judged.parquet")


def test_the_judge_of_a_file_is_held_against_labels_and_rules(scored: Path, tmp_path: Path) -> None:
    values = [0.0 if i in (0, 9) else float(x == "5") for i, x in enumerate(RIGHT)]
    outcomes = ["scored"] * 9 + ["judge_failed"]
    file = judged(scored, values, outcomes)
    found = certify_scored(labels(tmp_path, people()), file, tmp_path, STUDY)
    assert (found.judge, found.rules, found.prompt_sha256) == ("my-judge", "robust", "ab")
    assert (found.n, found.judge_failed, found.not_judged) == (9, 1, 0)
    assert found.quality["all"].tpr.value == pytest.approx(5 / 6, abs=1e-5)
    assert found.four_way[-1].rules_only == 1
    (row,) = read_jsonl(tmp_path / "disagreements.jsonl", DisagreementRow)
    assert (row.id, row.disagreement) == ("q0", "rules_only")


def test_responses_of_several_samples_are_numbered(tmp_path: Path) -> None:
    rows = [{"id": "q", "verdict": v, "prediction": p} for v, p in ((1.0, "x"), (0.0, "y"))]
    file = tmp_path / "v.csv"
    file.write_text("id,verdict,prediction\n" + "".join(
        f"{r['id']},{r['verdict']},{r['prediction']}\n" for r in rows
    ))  # fmt: skip
    said = labels(tmp_path, {"q": "wrong"}, index="1")
    found = certify_scored(said, file, tmp_path, STUDY)
    assert (found.n, found.quality["all"].agreement.value) == (1, 1.0)
    with pytest.raises(
        FileFormatError, match="2 responses have id 'q'; give model, setting, index"
    ):
        certify_scored(labels(tmp_path, {"q": "wrong"}), file, tmp_path, STUDY)


@pytest.mark.parametrize(
    ("row", "message"),
    [({"id": 1}, "row 1: lacks the column 'verdict'; it has id"),
     ({"id": 1, "verdict": "C"}, r"column 'verdict': not a number in 0..1 \(got 'C'\)"),
     ({"id": 1, "verdict": 7}, "not a number in 0..1")],
)  # fmt: skip
def test_a_file_without_verdicts_is_told(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    (tmp_path / "v.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(FileFormatError, match=message):
        certify_scored(labels(tmp_path, {"1": "right"}), tmp_path / "v.jsonl", tmp_path, STUDY)


def test_labels_of_other_responses_are_told(scored: Path, tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="no label is of a response in"):
        certify_scored(labels(tmp_path, {"z": "right"}), scored, tmp_path, STUDY)


def test_the_command_needs_no_study(
    scored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = labels(tmp_path, people(q0="wrong"))
    words = ["certify", str(said), "--verdicts", str(scored), "--out", "c"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.exception
    assert "robust against 10 labels of 5 problems" in done.output
    assert done.output.count("too few labels to say") == 4
    assert "both right 5, both wrong 4, only robust right 1, only labels right 0" in (done.output)
    assert sorted(path.name for path in Path("c").iterdir()) == [
        "certificate.json", "disagreements.jsonl",
    ]  # fmt: skip
