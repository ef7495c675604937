"""`corrections.yaml`: mistakes of its writer are named with their lines."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from omibench.errors import FileFormatError, MissingInputError
from omibench.params.stages.ocr import OcrParams
from omibench.stages.ocr.corrections.file import (
    assign_entries,
    collect_corrections,
    find_corrections,
    list_correction_inputs,
    read_corrections,
)
from omibench.stages.ocr.sources.manifest import Source

MOCK = Source(name="mock", paper="papers/mock.pdf", key="papers/mock-key.pdf")


def write(folder: Path, *rows: str) -> Path:
    path = folder / "corrections.yaml"
    text = "".join(f"- {{paper: mock.pdf, by: Ana, {row}}}\n" for row in rows)
    path.write_text(f"corrections:\n{text}", "utf-8")
    return path


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("problem: 12, drop: true", "write it in quotes"),
        ('problem: "12"', "sets nothing: set one of formula, text, choice"),
        ('problem: "12", drop: true, text: x', "sets text, drop: set one of"),
        ("page: 1, text: x", "give the place: page and box, or problem"),
        ('problem: "12", page: 1, box: [1, 1, 2, 2], text: x', "give the place"),
        ("page: 1, box: [1, 1, 2, 2], answer: [B]", "answer is corrected at a problem"),
        ('problem: "12", formula: x', "formula is corrected at a place"),
        ("page: 1, box: [5, 1, 2, 2], text: x", "x0 < x1"),
        ("page: 1, box: [.nan, 1, 2, 2], text: x", "x0 < x1"),
        ("page: 1, box: [1, 1, 2, 2], formula: $x$", "without dollar signs"),
        ("page: 1, box: [1, 1, 2, 2], formula: 'x^{2'", "a brace is not closed"),
        ('problem: "1", figure: {image: 0}', "give one of box, file, remove"),
        ('problem: "1", merge: "1"', "merge: a problem cannot be merged with itself"),
        ('problem: "1", dropp: true', "unknown key; did you mean 'drop'?"),
        ('problem: "1", figure: {image: 0, file: ../x.png}', "line 2: figure.file"),
        ('problem: "1", figure: {image: 0, file: x.png}', "line 2: figure.file: 'x.png' is not in"),
        ('problem: "1", answer: [1.50]', "write it in quotes"),
        ('problem: "1", split: {at: " ", number: "2"}', "split.at"),
    ],
)
def test_a_wrong_entry_is_named_with_its_line(tmp_path: Path, row: str, message: str) -> None:
    path = write(tmp_path, row)
    with pytest.raises(FileFormatError) as caught:
        read_corrections(path)
    assert message in str(caught.value)
    assert "line 2" in str(caught.value)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("page: 1, box: [10, 10, 90, 30], formula: x", "page: 1, box: [12, 8, 88, 31], text: y"),
        ('problem: "1", text: x', 'problem: "1", text: x'),
        ('problem: "1", answer: [A]', 'problem: "1", answer: [B]'),
        ('problem: "1", choice: {label: A, text: x}', 'problem: "1", choices: []'),
        ('problem: "1", choices: []', 'problem: "1", choice: {label: A, text: x}'),
        ('problem: "1", drop: true', 'problem: "1", answer: [B]'),
        ('problem: "2", text: x', 'problem: "1", merge: "2"'),
        ('problem: "1", merge: "3"', 'problem: "2", merge: "3"'),
        (
            'problem: "1", figure: {image: 0, remove: true}',
            'problem: "1", figure: {image: 0, box: [1, 1, 9, 9]}',
        ),
    ],
)
def test_two_corrections_of_one_place_are_an_error_with_both_lines(
    tmp_path: Path, first: str, second: str
) -> None:
    path = write(tmp_path, first, 'problem: "7", drop: true', second)
    with pytest.raises(FileFormatError, match=r"line 4: corrects the same place as line 2"):
        assign_entries(read_corrections(path), [MOCK], path)


@pytest.mark.parametrize("text", ["", "corrections:\n", "corrections: []\n", "# nothing yet\n"])
def test_a_file_without_entries_corrects_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "corrections.yaml").write_text(text, "utf-8")
    assert read_corrections(tmp_path / "corrections.yaml") == []


def test_different_places_go_together(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "page: 1, box: [10, 10, 50, 30], formula: x",
        "page: 1, box: [48, 10, 90, 30], formula: y",
        "page: 2, box: [10, 10, 50, 30], text: z",
        'problem: "1", text: x',
        'problem: "1", answer: [B]',
        'problem: "1", choice: {label: A, text: x}',
        'problem: "1", choice: {label: B, text: x}',
        'problem: "2", text: x',
    )
    entries = assign_entries(read_corrections(path), [MOCK], path)["mock"]
    assert [entry.line for entry in entries] == list(range(2, 10))
    assert {entry.file for entry in entries} == {"papers/mock.pdf"}


def test_a_paper_is_named_by_its_source_its_path_or_its_file(tmp_path: Path) -> None:
    path = tmp_path / "corrections.yaml"
    folder = str(tmp_path)
    source = Source(name="mock", paper=f"{folder}/papers/a.pdf", key=f"{folder}/papers/k.pdf")
    rows = [
        f"- {{paper: {name}, page: {k}, box: [1, 1, 9, 9], text: x, by: Bo}}"
        for k, name in enumerate(("mock", "papers/a.pdf", "a.pdf", "k.pdf"), 1)
    ]
    path.write_text("corrections:\n" + "\n".join(rows), "utf-8")
    entries = assign_entries(read_corrections(path), [source], path, [])["mock"]
    assert [Path(entry.file).name for entry in entries] == ["a.pdf", "a.pdf", "a.pdf", "k.pdf"]


def test_a_problem_of_a_key_and_a_name_of_two_papers_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, 'problem: "1", drop: true')
    entries = read_corrections(path)
    twins = [Source(name=name, paper=f"{name}/mock.pdf") for name in ("one", "two")]
    with pytest.raises(FileFormatError, match=r"line 2: paper 'mock.pdf' is a file of one and two"):
        assign_entries(entries, twins, path, [])
    key = Source(name="other", paper="paper.pdf", key="mock.pdf")
    with pytest.raises(FileFormatError, match=r"line 2: mock.pdf is the key or the solutions"):
        assign_entries(entries, [key], path, [])


def test_a_paper_that_is_no_source_of_the_manifest_is_an_error_that_names_the_nearest(
    tmp_path: Path,
) -> None:
    (tmp_path / "sources.yaml").write_text("sources: [{name: m, paper: mack.pdf}]", "utf-8")
    write(tmp_path, 'problem: "1", drop: true')
    manifest = tmp_path / "sources.yaml"
    with pytest.raises(FileFormatError, match=r"line 2: paper 'mock.pdf' .*mean 'mack.pdf'"):
        collect_corrections(None, manifest, [], [Source(name="m", paper="mack.pdf")])


def test_a_problem_of_a_benchmark_is_corrected_elsewhere(tmp_path: Path) -> None:
    text = "sources: [{name: m, paper: m.pdf}]\nbenchmarks: [{name: mock.pdf, folder: mock}]"
    (tmp_path / "sources.yaml").write_text(text, "utf-8")
    write(tmp_path, 'problem: "1", drop: true')
    with pytest.raises(
        FileFormatError, match=r"line 2: mock.pdf is a benchmark.*review\.decisions"
    ):
        collect_corrections(None, tmp_path / "sources.yaml", [], [Source(name="m", paper="m.pdf")])


def test_without_a_manifest_other_papers_are_said_and_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path, 'problem: "1", drop: true')
    with caplog.at_level(logging.WARNING):
        found = collect_corrections(
            None, None, [tmp_path / "x.pdf"], [Source(name="x.pdf", paper=str(tmp_path / "x.pdf"))]
        )
    assert found.by_source == {}
    assert f"{path}, line 2: paper 'mock.pdf' is not read" in caplog.text


def test_the_file_lies_beside_the_manifest_or_where_a_parameter_says(tmp_path: Path) -> None:
    manifest = tmp_path / "sources.yaml"
    beside = OcrParams(sources=str(manifest))
    assert find_corrections(None, manifest) is None
    assert list_correction_inputs(beside) == []
    path = write(tmp_path, 'problem: "1", figure: {image: 0, file: circle.png}')
    (tmp_path / "circle.png").write_bytes(b"")
    assert find_corrections(None, manifest) == path
    inputs = [str(path), str(tmp_path / "circle.png")]
    assert list_correction_inputs(beside) == inputs
    elsewhere = str(tmp_path / "elsewhere/sources.yaml")
    stated = OcrParams(sources=elsewhere, corrections=str(path))
    assert list_correction_inputs(stated) == inputs
    with pytest.raises(MissingInputError, match=r"ocr.corrections: nowhere.yaml"):
        find_corrections("nowhere.yaml", manifest)


def test_the_parts_of_an_answer_may_be_a_list_in_was_too(tmp_path: Path) -> None:
    path = write(tmp_path, 'problem: "1", answer: [B], was: [A, C]')
    (entry,) = read_corrections(path)
    assert entry.correction.was == "A; C"
