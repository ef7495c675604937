"""The file of scores on other benchmarks."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from omibench.errors import FileFormatError
from omibench.stages.analyze.user_files import ExternalScore, read_external_scores

HEADING = "model,benchmark,metric,value,source\n"


def test_scores_are_read_in_order(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(HEADING + "A,MMIU,accuracy,55.7,table 1\nB,MMIU,accuracy,-1e1,\n", "utf-8")
    assert read_external_scores(file) == [
        ExternalScore(model="A", benchmark="MMIU", metric="accuracy", value=55.7, source="table 1"),
        ExternalScore(model="B", benchmark="MMIU", metric="accuracy", value=-10),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("B,MMIU,accuracy,high,", "column 'value': is 'high'"),
        ("B,MMIU,accuracy,nan,", "column 'value': is 'nan': Input should be a finite number"),
        ("B,,accuracy,1,", "column 'benchmark': is empty"),
        ("A,MMIU,accuracy,2,", "'A' has a value of this metric on line 2"),
    ],
)
def test_a_bad_line_is_named_and_the_rest_is_done(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, line: str, reason: str
) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(f"{HEADING}A,MMIU,accuracy,1,\n{line}\nC,MMIU,accuracy,3,\n", "utf-8")
    with caplog.at_level(logging.WARNING, "omibench"):
        assert [row.model for row in read_external_scores(file)] == ["A", "C"]
    (message,) = caplog.messages
    assert message.startswith("analyze.external_scores: 1 line is left out")
    assert f"line 3, {reason}" in message or f"line 3, column 'model': {reason}" in message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("model,score\nA,1\n", "lacks the column 'benchmark'"),
        (HEADING + "A,,,,\n", "no row is usable; line 2, column 'benchmark': is empty"),
    ],
)
def test_a_file_of_something_else_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(text, "utf-8")
    with pytest.raises(FileFormatError, match=reason):
        read_external_scores(file)
