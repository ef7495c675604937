"""What a job has written is noted, and whatever is done to it afterwards is refused by name."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from omibench.errors import UntrustedError
from omibench.graph.hooks import refuse_changed
from omibench.graph.provenance import (
    NOTES_FOLDER,
    check_inputs,
    find_changed_files,
    forget_made,
    note_made,
    read_notes,
    record_stage,
    verify_results,
    write_record,
)

RESULTS = Path("results")
CELLS = [RESULTS / "infer" / model / "cot.parquet" for model in ("a", "b")]
IMAGES = RESULTS / "freeze" / "images"
METRICS = RESULTS / "analyze" / "metrics.json"
PROBLEMS = RESULTS / "ocr" / "problems.jsonl"


@pytest.fixture(autouse=True)
def _made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path, text in {
        CELLS[0]: "answers of a", CELLS[1]: "answers of b", METRICS: '{"acc": 0.5}',
        IMAGES / "0.png": "picture 0", IMAGES / "1.png": "picture 1", PROBLEMS: "one\n",
    }.items():  # fmt: skip
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for output in (*CELLS, METRICS, IMAGES, PROBLEMS):
        note_made(str(output))


def keep_time(edit: Callable[[], None], *paths: Path) -> None:
    """Edit files and give them back their old times."""
    before = [path.stat() for path in paths]
    edit()
    for path, state in zip(paths, before, strict=True):
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


def swap() -> None:
    first, second = (cell.read_bytes() for cell in CELLS)
    CELLS[0].write_bytes(second)
    CELLS[1].write_bytes(first)


def refused() -> str:
    """What a run says that would read the results."""
    with pytest.raises(UntrustedError) as error:
        refuse_changed("results", ["snakemake", "--cores", "2"], ["params.yaml"])
    assert "\n" not in str(error.value)
    return str(error.value)


def test_what_nobody_touched_is_read_and_so_is_what_was_only_touched() -> None:
    assert find_changed_files(RESULTS) == []
    for path in RESULTS.rglob("*"):
        os.utime(path)
    refuse_changed("results", [], ["params.yaml"])
    assert verify_results(RESULTS, ["infer", "freeze", "analyze", "ocr"])[0] == 6


@pytest.mark.parametrize(
    ("edit", "named", "again"),
    [
        (swap, "results/infer/a/cot.parquet was edited or exchanged", CELLS[0]),
        (lambda: METRICS.write_text('{"acc": 1.0}'), "metrics.json was edited", METRICS),
        (lambda: (IMAGES / "1.png").write_text("another one"), "1.png was edited", IMAGES),
        ((IMAGES / "1.png").unlink, "1.png is missing", IMAGES),
        ((IMAGES / "2.png").touch, "2.png was added manually", IMAGES),
        (lambda: CELLS[1].write_text("ans"), "truncated or exchanged", CELLS[1]),
    ],
)  # fmt: skip
def test_what_was_exchanged_edited_or_cut_off_is_refused_with_the_command_for_it(
    edit: Callable[[], object], named: str, again: Path
) -> None:
    edit()
    said = refused()
    assert named in said
    assert "`snakemake --cores all --forcerun results/" in said
    assert str(again) in said.partition("--forcerun")[2]


def test_a_file_cut_off_with_its_old_time_is_noticed() -> None:
    keep_time(lambda: CELLS[0].write_text("ans") and None, CELLS[0])
    assert "truncated or exchanged after it was made (3 of 12 bytes)" in refused()


def test_an_edit_of_equal_size_and_time_is_found_by_reading_again_and_by_who_reads_it() -> None:
    keep_time(swap, *CELLS)
    assert find_changed_files(RESULTS) == []
    found = verify_results(RESULTS, ["infer"])
    assert [one.file for one in found.changed] == [str(cell) for cell in CELLS]
    with pytest.raises(UntrustedError, match=r"infer/b/cot\.parquet was edited"):
        check_inputs(CELLS[1])
    with pytest.raises(UntrustedError, match=r"infer/a/cot\.parquet was edited"):
        check_inputs(RESULTS / "infer")
    check_inputs(METRICS, None, RESULTS / "nothing.parquet")


def test_problems_edited_by_hand_are_refused_with_the_way_to_correct_them() -> None:
    PROBLEMS.write_text("one, corrected\n")
    said = refused()
    assert "`review.decisions`" in said
    assert "--forcerun results/ocr/problems.jsonl`" in said


@pytest.mark.parametrize(
    "argv",
    [
        ["--forcerun", str(METRICS)], ["-R", "score", "analyze", "--cores", "2"],
        [f"--forcerun={METRICS}"], ["-F"], ["all", "--forceall"],
    ],
)  # fmt: skip
def test_the_run_that_makes_a_changed_file_anew_is_let_through(argv: list[str]) -> None:
    METRICS.write_text("{}")
    refuse_changed("results", ["snakemake", *argv], ["params.yaml"])
    with pytest.raises(UntrustedError):
        refuse_changed("results", ["snakemake", "--forcerun", "x", "-n", str(METRICS)], [])


def test_another_parameter_file_stands_in_the_command() -> None:
    METRICS.write_text("{}")
    with pytest.raises(
        UntrustedError, match=r"--cores all --configfile 'my study.yaml' --forcerun"
    ):
        refuse_changed("results", [], ["my study.yaml"])


def test_files_that_no_job_has_noted_are_named_but_not_those_of_snakemake() -> None:
    (IMAGES / ".snakemake_timestamp").touch()
    beside = METRICS.with_name("notes.txt")
    beside.write_text("mine")
    assert verify_results(RESULTS, ["freeze", "analyze"]).unknown == [str(beside)]


def test_pages_beside_an_output_are_verified_and_stop_no_run() -> None:
    pages = [METRICS.parent / "explorer" / "index.html", METRICS.parent / "failures.csv"]
    pages[0].parent.mkdir()
    for page in pages:
        page.write_text("made")
    note_made(str(METRICS), pages)
    found = verify_results(RESULTS, ["analyze"])
    assert (found.files, found.changed, found.unknown) == (3, [], [])
    pages[0].write_text("edited")
    pages[1].unlink()
    refuse_changed("results", [], ["params.yaml"])
    assert [(one.file, one.reason) for one in verify_results(RESULTS, ["analyze"]).changed] == [
        (str(pages[0]), "was edited or exchanged after it was made"),
        (str(pages[1]), "is missing"),
    ]


def test_another_study_in_a_folder_of_the_results_is_no_part_of_them() -> None:
    inner = RESULTS / "regional" / "ocr" / "problems.jsonl"
    inner.parent.mkdir(parents=True)
    inner.write_text("one")
    note_made(str(inner))
    inner.write_text("two")
    refuse_changed("results", [], ["params.yaml"])
    with pytest.raises(UntrustedError):
        refuse_changed("results/regional", [], ["params.yaml"])


def test_an_output_that_is_gone_is_made_anew_and_what_is_about_to_be_made_is_forgotten() -> None:
    METRICS.unlink()
    shutil.rmtree(IMAGES)
    CELLS[0].write_text("half")
    forget_made(str(CELLS[0]))
    assert find_changed_files(RESULTS) == []


def test_what_is_recorded_for_others_is_what_was_made() -> None:
    write_record(str(METRICS), {"rule": "analyze"})
    METRICS.write_text('{"acc": 1.0}')
    with pytest.raises(UntrustedError, match=r"metrics\.json was edited or exchanged"):
        record_stage(RESULTS, "analyze")


def test_without_a_note_the_provenance_of_a_stage_speaks(tmp_path: Path) -> None:
    write_record(str(METRICS), {"rule": "analyze"})
    record_stage(RESULTS, "analyze")
    shutil.rmtree(NOTES_FOLDER)
    check_inputs(METRICS)
    METRICS.write_text('{"acc": 1.0}')
    with pytest.raises(UntrustedError, match=r"results/analyze/metrics\.json was edited"):
        check_inputs(METRICS)
    assert [one.file for one in verify_results(RESULTS, ["analyze"]).changed] == [str(METRICS)]


@pytest.mark.parametrize("text", ["", "[]", '{"output": "x", "files": {"a": 3}}', "[" * 99999])
def test_a_damaged_note_is_none(text: str) -> None:
    for file in NOTES_FOLDER.rglob("*.json"):
        file.write_text(text)
    assert list(read_notes(RESULTS)) == []
    assert find_changed_files(RESULTS) == []
    check_inputs(*CELLS)


def test_results_elsewhere_have_notes_here(tmp_path: Path) -> None:
    outside = tmp_path.with_name(f"{tmp_path.name}-results") / "infer" / "c.parquet"
    outside.parent.mkdir(parents=True)
    for output in (outside, Path(os.path.relpath(outside))):
        outside.write_text("answers")
        note_made(str(output))
        outside.write_text("others")
        assert [one.file for one in find_changed_files(output.parent)] == [str(output)]
    assert not [path for path in outside.parent.parent.rglob("*") if path.suffix == ".json"]
