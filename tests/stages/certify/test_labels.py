"""Files of labels: every spelling of right and wrong, and one line for each mistake."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.errors import FileFormatError, MissingInputError
from omibench.stages.certify.labels import RIGHT_WORDS, WRONG_WORDS, read_labels


def file(folder: Path, text: str, name: str = "labels.csv") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_words_and_numbers(tmp_path: Path) -> None:
    words = [*RIGHT_WORDS, *WRONG_WORDS, "Right", " WRONG ", "0.5", "1"]
    labels = read_labels(file(tmp_path, "id,label\n" + "".join(f"a,{w}\n" for w in words)))
    assert [row.label for row in labels] == [1] * 5 + [0] * 5 + [1, 0, 0.5, 1]


def test_empty_columns_say_nothing_and_other_columns_are_left_alone(tmp_path: Path) -> None:
    path = file(tmp_path, "\ufeffid,model,setting,index,label,comment\na,m,,,right,why\n")
    assert read_labels(path)[0].model_dump(exclude_none=True) == {
        "id": "a", "label": 1.0, "model": "m", "simulated": False,
    }  # fmt: skip
    rows = '{"id": "a", "label": true, "setting": null}\n\n{"id": "b", "label": 0}\n'
    assert [r.label for r in read_labels(file(tmp_path, rows, "labels.jsonl"))] == [1, 0]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("labels.csv", "id,label\na,2\n", "row 1: column 'label'"),
        ("labels.csv", "id,label\na,right\nb,maybe\n", "row 2: column 'label': is neither"),
        ("labels.csv", "id,verdict\na,1\n", "row 1: lacks the column 'label', 'error_type', 's"),
        ("labels.csv", "id,label\na,\nb,\n", "no labels in any of its 2 rows"),
        ("labels.csv", "id,source\na,bad luck\n", "row 1: column 'source': Input should be"),
        ("labels.csv", "id,steps\na,4\n", "row 1: give both steps and wrong_steps, or neither"),
        ("labels.csv", "id,steps,wrong_steps\na,4,5\n", "row 1: wrong_steps is 5, but steps is 4"),
        ("labels.csv", "id,steps,wrong_steps\na,0,0\n", "row 1: column 'steps': Input should be"),
        ("labels.csv", 'label,a,"two\nlines"\n1,b,c\n', "'id'; it has a, label, two lines"),
        ("labels.jsonl", "{}", "lacks the column 'id'; it has no column"),
        ("labels.csv", "id,label,index\na,1,-1\n", "column 'index'"),
        ("labels.csv", "id,label\n", "no labels"),
        ("labels.jsonl", "{", "line 1: is not JSON"),
        ("labels.jsonl", "[1]", "is not a JSON object"),
        ("labels.xlsx", "", "not '.xlsx'"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, name: str, text: str, says: str) -> None:
    with pytest.raises(FileFormatError) as raised:
        read_labels(file(tmp_path, text, name))
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_row_that_is_not_filled_in_yet_is_left_out(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "source": "Reasoning error", "label": None},
        {"id": "b", "source": None, "label": None},
        {"id": "c", "source": "Others", "label": 0},
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    found = read_labels(file(tmp_path, text, "disagreements.jsonl"))
    assert [(row.id, row.source, row.label) for row in found] == [
        ("a", "reasoning_error", None), ("c", "other", 0.0),
    ]  # fmt: skip


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match="file of labels not found"):
        read_labels(tmp_path / "labels.csv")


@given(text=st.text(max_size=200), name=st.sampled_from(["labels.csv", "labels.jsonl"]))
def test_any_text_gives_labels_or_one_error(
    tmp_path_factory: pytest.TempPathFactory, text: str, name: str
) -> None:
    path = tmp_path_factory.mktemp("any") / name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with suppress(FileFormatError):
        assert read_labels(path)


@given(value=st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists))
def test_any_json_label_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, value: object
) -> None:
    path = tmp_path_factory.mktemp("json") / "labels.jsonl"
    path.write_text(json.dumps({"id": "a", "label": value}) + "\n", "utf-8")
    with suppress(FileFormatError):
        assert 0 <= read_labels(path)[0].label <= 1
