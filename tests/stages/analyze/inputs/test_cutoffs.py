"""The file of cut-offs of exams."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from omibench.errors import FileFormatError
from omibench.stages.analyze.user_files import Cutoff, read_cutoffs

HEADING = "exam,year,percentile,score,of\n"


def test_cut_offs_are_read_by_exam_and_year(tmp_path: Path) -> None:
    file = tmp_path / "cutoffs.csv"
    file.write_text(f"{HEADING}national,2024,50,27,60\nnational,2024,90,44,60\n,2020,50,3,6\n")
    assert read_cutoffs(file) == {
        ("national", 2024): [
            Cutoff(exam="national", year=2024, percentile=50, score=27, of=60),
            Cutoff(exam="national", year=2024, percentile=90, score=44, of=60),
        ],
        ("", 2020): [Cutoff(year=2020, percentile=50, score=3, of=6)],
    }


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("national,2024,100,27,60", "column 'percentile': is '100'"),
        ("national,2024,50,61,60", "a score of 61 is more than the maximum of 60 points"),
        ("national,MMXXIV,50,27,60", "column 'year': is 'MMXXIV'"),
        ("national,2024,50,27,", "column 'of': is empty"),
    ],
)
def test_a_bad_line_is_named_and_the_rest_is_done(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, line: str, reason: str
) -> None:
    file = tmp_path / "cutoffs.csv"
    file.write_text(f"{HEADING}{line}\nlocal,2024,50,27,60\n")
    with caplog.at_level(logging.WARNING, "omibench"):
        assert list(read_cutoffs(file)) == [("local", 2024)]
    assert reason in caplog.text
    file.write_text(f"{HEADING}{line}\n")
    with pytest.raises(FileFormatError, match=r"no row is usable; line 2"):
        read_cutoffs(file)
