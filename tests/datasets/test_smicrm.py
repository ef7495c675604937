"""SMiCRM: a table of SMILES beside pictures."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.datasets.conftest import Read

from omibench.errors import FileFormatError, MissingInputError

PNG = b"\x89PNG\r\n\x1a\nany"


def write(folder: Path, table: str) -> Path:
    (folder / "pictures").mkdir()
    (folder / "pictures/m1.png").write_bytes(PNG)
    (folder / "mechanism.csv").write_text(table, "utf-8-sig")
    return folder


def test_a_picture_is_found_by_its_name_alone(tmp_path: Path, read: Read) -> None:
    table = "file_path,SMILES\n/home/any/mechanism/m1.png,CCO.[OH-]\nC:\\all\\m2.png, C=C \n"
    questions, answers, _ = read("smicrm", write(tmp_path, table))
    assert [q.id for q in questions] == ["smicrm-m1", "smicrm-m2"]
    assert [q.images[0].file for q in questions] == ["pictures/m1.png", "m2.png"]
    assert [bool(q.images[0].sha256) for q in questions] == [True, False]
    assert [(a.answer, a.answer_type, a.subject) for a in answers] == [
        (["CCO.[OH-]"], "open", "chemistry"), (["C=C"], "open", "chemistry"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("file_path,SMILES\nm1.png,\n", r"m1\.png: SMILES"),
        ("file_path\nm1.png\n", r"m1\.png: SMILES"),
        ("file_path,SMILES\n/only/folder/..,C\n", r"'\.\.' is not a path of a file"),
        ("file_path,SMILES\na.png,C\na.png,C\n", "two items have this file_path"),
    ],
)
def test_a_row_that_is_wrong_is_named(tmp_path: Path, read: Read, table: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        read("smicrm", write(tmp_path, table))


def test_a_folder_without_the_table(tmp_path: Path, read: Read) -> None:
    with pytest.raises(MissingInputError, match="contains none of the benchmark's files"):
        read("smicrm", tmp_path)
