"""Files are read and written by their schema; a wrong line is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.errors import FileFormatError, MissingInputError
from omibench.graph.result_files import FILES, files_table, params_schema
from omibench.schemas.curation import Reject
from omibench.schemas.problem import Choice, Figure, Problem
from omibench.schemas.tables import (
    ResponseRow,
    VerdictRow,
    polars_schema,
    read_jsonl,
    read_parquet,
    write_jsonl,
    write_parquet,
)

FIGURE = Figure(file="images/a.png", sha256="0" * 64, page=1, bbox=(1, 2, 3, 4))


def problem(**fields: object) -> Problem:
    values: dict[str, object] = {
        "id": "p-1", "question": "See [IMAGE0].", "images": [FIGURE], "source": "p",
        "source_sha256": "0" * 64, "number": "1", "pages": [1],
    }  # fmt: skip
    return Problem.model_validate(values | fields)


@given(st.lists(st.text(max_size=40), max_size=3), st.text(max_size=80))
def test_problems_survive_the_file(
    tmp_path_factory: pytest.TempPathFactory, answer: list[str], words: str
) -> None:
    file = tmp_path_factory.mktemp("t") / "problems.jsonl"
    rows = [problem(answer=answer, solution=words), problem(id="p-2", answer=None)]
    write_jsonl(file, rows)
    assert read_jsonl(file, Problem) == rows


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: "),
        ('{"id": "x"}', "line 2: question: Field required"),
        (problem().model_dump_json()[:-1] + ', "extra": 1}', "extra: Extra inputs"),
        (problem().model_dump_json().replace("IMAGE0", "IMAGE7"), r"\[IMAGE7\] is shown but there"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "problems.jsonl"
    file.write_text(problem().model_dump_json() + "\n" + line + "\n")
    with pytest.raises(FileFormatError, match=message):
        read_jsonl(file, Problem)
    with pytest.raises(MissingInputError, match="the file does not exist"):
        read_jsonl(tmp_path / "absent.jsonl", Problem)


@given(st.lists(st.lists(st.text(max_size=3), max_size=2), min_size=1, max_size=3))
def test_lists_survive_the_file_also_where_all_are_empty(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[list[str]]
) -> None:
    file = tmp_path_factory.mktemp("t") / "rows.parquet"
    told = {"index": 0, "key": "k", "outcome": "answered", "text": "B", "simulated": True}
    rows = [
        ResponseRow.model_validate({**told, "id": f"p{n}", "drawn": d}) for n, d in enumerate(drawn)
    ]
    write_parquet(file, rows, ResponseRow)
    frame = read_parquet(file, ResponseRow)
    assert [ResponseRow.model_validate(row) for row in frame.to_dicts()] == rows
    assert frame.schema == polars_schema(ResponseRow)


def test_parquet_keeps_columns_when_empty_and_names_missing_ones(tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    for row in (Reject, ResponseRow, VerdictRow):
        write_parquet(file, [], row)
        assert read_parquet(file, row).columns == list(row.model_fields)
    with pytest.raises(FileFormatError, match="lacks the column 'reason'"):
        read_parquet(file, Reject)
    (tmp_path / "no.parquet").write_text("no")
    with pytest.raises(FileFormatError, match="is not a Parquet file"):
        read_parquet(tmp_path / "no.parquet", Reject)


def test_a_column_that_was_added_later_is_missing_in_older_files(tmp_path: Path) -> None:
    row = VerdictRow(id="p", index=0, key="k", rules="omibench", version=1, method="box > lcs",
                     verdict=1.0, outcome="scored")  # fmt: skip
    new, old = tmp_path / "new.parquet", tmp_path / "old.parquet"
    write_parquet(new, [row.model_copy(update={"ratio": 0.8})], VerdictRow)
    read_parquet(new, VerdictRow).drop("ratio").with_columns(extra=1).write_parquet(old)
    older = read_parquet(old, VerdictRow)
    assert older.columns == [*VerdictRow.model_fields, "extra"]
    assert older["ratio"].to_list() == [None]
    assert read_parquet(new, VerdictRow)["ratio"].to_list() == [0.8]
    read_parquet(new, VerdictRow).drop("credit").write_parquet(old)
    with pytest.raises(FileFormatError, match="lacks the column 'credit'"):
        read_parquet(old, VerdictRow)


def test_images_are_met_in_the_order_they_are_shown() -> None:
    shown = problem(
        question="First [IMAGE2], then [IMAGE0] and again [IMAGE2].",
        images=[FIGURE] * 4,
        choices=[Choice(label="A", image=3), Choice(label="B", text="none")],
    )
    assert shown.image_order() == [2, 0, 3]
    assert shown.answer_type == "mcq"


def test_generated_documents_are_up_to_date(root: Path) -> None:
    table = files_table()
    assert (root / "docs/files.md").read_text("utf-8") == table
    assert (root / "schemas/params.schema.json").read_text("utf-8") == params_schema()
    assert all(file.path in table for file in FILES)


def test_the_folder_of_a_review_is_described_in_plain_types() -> None:
    table = files_table()
    assert "| `decisions.jsonl` | [ReviewDecision](#reviewdecision) |" in table
    assert "| `people` | dict of str, list of str | Assigned reviewers" in table
    assert "| `seconds` | float or null |" in table
    assert "typing." not in table
