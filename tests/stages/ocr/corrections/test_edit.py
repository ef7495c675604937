"""An entry is saved in corrections.yaml: comments stay, and nothing invalid or late is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from omibench.errors import FileFormatError
from omibench.stages.ocr.corrections.edit import ChangedFileError, read_version, save_entry
from omibench.stages.ocr.corrections.entry import (
    SamePlaceError,
    collect_corrections,
    read_corrections,
)
from omibench.stages.ocr.sources.manifest import Source

FIRST = """\
# Read by Ana on Monday.
corrections:
  # the second zero is faint
  - paper: exam.pdf
    page: 3
    box: [72, 140, 210, 171]   # measured
    formula: 'x'
    by: Ana

  # choices
  - {paper: exam.pdf, problem: "12", choice: {label: B, text: $5$ m/s}, by: Ana}
# the end"""
NEW: dict[str, Any] = {"paper": "exam.pdf", "problem": "010", "answer": ["A"], "by": "Bo"}
SOURCES = [Source(name="exam", paper="exam.pdf")]


def save(path: Path, entry: dict[str, Any] = NEW, **options: Any) -> int:
    options = {"version": read_version(path)} | options

    def check(partial: Path) -> None:
        collect_corrections(str(partial), None, [Path("exam.pdf")], SOURCES)

    return save_entry(path, entry, check=check, **options).line


def list_files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))


def test_an_entry_is_added_and_everything_else_stays(tmp_path: Path) -> None:
    path = tmp_path / "corrections.yaml"
    path.write_text(FIRST)
    line = save(path)
    text = path.read_text()
    assert text.startswith(FIRST + "\n")
    entries = read_corrections(path)
    assert [entry.correction.kind for entry in entries] == ["formula", "choice", "answer"]
    assert entries[-1].line == line
    assert entries[-1].correction.problem == "010"
    assert list_files(tmp_path) == ["corrections.yaml"]


@pytest.mark.parametrize(
    "text",
    [None, "", "# nothing yet\n", "corrections:\n", "corrections: []  # none\n", "corrections:"],
)
def test_the_first_entry_makes_the_list(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "corrections.yaml"
    if text is not None:
        path.write_text(text)
    save(path)
    (entry,) = read_corrections(path)
    assert entry.correction.answer == ["A"]
    assert "#" not in (text or "") or (text or "").partition("#")[2].strip() in path.read_text()


def test_an_entry_of_the_same_place_is_named_and_can_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "corrections.yaml"
    path.write_text(FIRST)
    again = {"paper": "exam", "problem": "12", "choice": {"label": "B", "text": "$6$"}, "by": "Bo"}
    with pytest.raises(SamePlaceError, match=r"^corrections\.yaml: .*line 11") as caught:
        save(path, again)
    assert path.read_text() == FIRST
    assert caught.value.entries == (11,)
    save(path, again, replaced=caught.value.entries)
    assert [e.correction.by for e in read_corrections(path)] == ["Ana", "Bo"]
    text = path.read_text()
    assert text.startswith(FIRST.partition("  - {paper")[0])
    assert text.endswith("# the end\n")
    save(
        path,
        {
            **again,
            "choice": None,
            "problem": None,
            "page": 3,
            "box": [72, 140, 210, 171],
            "formula": "y",
        },
        replaced=[4],
    )
    assert "  # choices\n" in path.read_text()
    assert [e.correction.kind for e in read_corrections(path)] == ["formula", "choice"]


def test_a_file_that_changed_in_the_meantime_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "corrections.yaml"
    path.write_text(FIRST)
    version = read_version(path)
    path.write_text(FIRST + "\n# another line\n")
    with pytest.raises(ChangedFileError, match=r"corrections\.yaml was changed by another program"):
        save(path, version=version)
    assert path.read_text() == FIRST + "\n# another line\n"
    with pytest.raises(ChangedFileError):
        save(tmp_path / "corrections.yaml", version="")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (NEW | {"answer": None}, "sets nothing"),
        (NEW | {"by": ""}, "by"),
        (NEW | {"unknown": 1}, "unknown"),
        (NEW | {"paper": "../x\n- paper: y", "drop": True, "answer": None, "by": "\u202e"}, None),
        (
            {**NEW, "answer": None, "figure": {"image": 0, "page": 1, "box": [9, 9, 1, 1]}},
            "x0 < x1",
        ),
        ({**NEW, "answer": None, "figure": {"image": 0, "file": "../../x.png"}}, "figure.file"),
    ],
)
def test_an_entry_is_checked_as_when_the_file_is_read(
    tmp_path: Path, entry: dict[str, Any], message: str | None
) -> None:
    path = tmp_path / "corrections.yaml"
    path.write_text(FIRST)
    if message is None:  # a name of no paper, whose signs stay in their text
        save(path, entry)
        assert len(read_corrections(path)) == 3
        assert "\u202e" not in path.read_text()
        return
    with pytest.raises(FileFormatError, match=message) as caught:
        save(path, entry)
    assert ".part" not in str(caught.value)
    assert path.read_text() == FIRST
    assert list_files(tmp_path) == ["corrections.yaml"]


def test_a_list_in_brackets_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "corrections.yaml"
    path.write_text("corrections: [{paper: exam.pdf, problem: '1', drop: true, by: Ana}]\n")
    with pytest.raises(FileFormatError, match="in brackets"):
        save(path)


def test_a_document_that_ends_is_not_extended(tmp_path: Path) -> None:
    path = tmp_path / "corrections.yaml"
    path.write_text("corrections:\n- {paper: exam.pdf, problem: '1', drop: true, by: Ana}\n...\n")
    with pytest.raises(FileFormatError):
        save(path)
    assert path.read_text().endswith("...\n")


def test_an_entry_replaces_all_others_of_its_place_and_no_others(tmp_path: Path) -> None:
    path = tmp_path / "corrections.yaml"
    letters = [
        {"paper": "exam", "problem": "12", "choice": {"label": label, "text": "5"}, "by": "Ana"}
        for label in "AC"
    ]
    path.write_text(FIRST)
    for letter in letters:
        save(path, letter)
    text, lines = path.read_text(), [entry.line for entry in read_corrections(path)]
    whole = {"paper": "exam", "problem": "12", "by": "Bo"}
    whole |= {"choices": [{"label": label, "text": "6"} for label in "ABC"]}
    for few in ([], lines[1:2]):
        with pytest.raises(SamePlaceError) as caught:
            save(path, whole, replaced=few)
        assert list(caught.value.entries) == lines[1 + len(few) :]
    for other in (lines[0], lines[0] + 1, 999):
        with pytest.raises(FileFormatError, match=f"line {other}: is not the first line"):
            save(path, whole, replaced=[other, *lines[1:]])
    with pytest.raises(FileFormatError, match="is not the first line"):
        save(path, NEW, replaced=[lines[0]])
    assert path.read_text() == text
    assert save(path, whole, replaced=lines[1:]) == lines[1]
    assert [e.correction.kind for e in read_corrections(path)] == ["formula", "choices"]
    assert path.read_text().endswith("# the end\n")


def test_a_text_of_a_replaced_entry_goes_with_it_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "corrections.yaml"
    note = "    by: Ana\n    note: |\n      first\n      # second\n\n    # about the next one\n"
    path.write_text(FIRST.replace("    by: Ana\n", note, 1))
    entry = {"paper": "exam", "page": 3, "box": [72, 140, 210, 171], "formula": "y", "by": "Bo"}
    save(path, entry, replaced=[4])
    assert "# second" not in path.read_text()
    assert "    # about the next one\n\n  # choices\n" in path.read_text()
    assert [e.correction.by for e in read_corrections(path)] == ["Bo", "Ana"]


def test_a_link_and_the_mode_of_the_file_stay(tmp_path: Path) -> None:
    kept, path = tmp_path / "kept/mine.yaml", tmp_path / "papers/corrections.yaml"
    kept.parent.mkdir()
    path.parent.mkdir()
    kept.write_text(FIRST)
    kept.chmod(0o664)
    path.symlink_to(kept)
    (path.parent / "new.png").write_bytes(b"a picture beside the link")
    save(path, NEW | {"answer": None, "figure": {"image": 0, "file": "new.png"}})
    assert path.is_symlink()
    assert len(read_corrections(path)) == 3
    assert kept.stat().st_mode & 0o777 == 0o664
    assert list_files(path.parent) == ["corrections.yaml", "new.png"]
    assert list_files(kept.parent) == ["mine.yaml"]
