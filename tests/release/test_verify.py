"""Releases of others that are not what they say: one line each, and nothing is followed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.command_line import call_main

from omibench.datasets.release import verify
from omibench.datasets.release.build import build_release
from omibench.datasets.release.splits import ReleaseOptions
from omibench.datasets.release.verify import verify_release
from omibench.datasets.release_folder import SUMS

TABLE = "data/test-00000-of-00001.parquet"


@pytest.fixture
def release(freeze: Path, sources: Path, tmp_path: Path) -> Path:
    """A release that is what it says."""
    build_release(freeze, tmp_path / "out", ReleaseOptions(sources=sources))
    return tmp_path / "out"


def sum_again(release: Path) -> None:
    """Make SHA256SUMS fit the files, as a forger would."""
    names = sorted(
        path.relative_to(release).as_posix()
        for path in release.rglob("*")
        if path.is_file() and path.name != SUMS
    )
    lines = [f"{hashlib.sha256((release / n).read_bytes()).hexdigest()}  {n}\n" for n in names]
    (release / SUMS).write_text("".join(lines))


def edit_row(release: Path, column: str, value: object) -> None:
    """Set one value of the first row of the table."""
    table = pq.read_table(release / TABLE)
    rows = table.to_pylist()
    rows[0][column] = value
    pq.write_table(pa.Table.from_pylist(rows, table.schema), release / TABLE)
    document = json.loads((release / "croissant.json").read_text("utf-8"))
    digest = hashlib.sha256((release / TABLE).read_bytes()).hexdigest()
    for entry in document["distribution"]:
        if entry["@id"] == TABLE:
            entry["sha256"] = digest
    (release / "croissant.json").write_text(json.dumps(document))
    sum_again(release)


def test_a_changed_byte_is_one_line(release: Path) -> None:
    with (release / "datasheet.md").open("ab") as file:
        file.write(b" ")
    findings = verify_release(release).findings
    assert len(findings) == 1
    assert "datasheet.md: has the SHA-256" in findings[0]


def test_a_file_beside_the_release_is_one_line(release: Path) -> None:
    (release / "loader.py").write_text("raise SystemExit")
    assert verify_release(release).findings == [f"{release / 'loader.py'}: not in SHA256SUMS"]


def test_the_name_of_a_file_adds_no_line(release: Path) -> None:
    (release / "a\nrelease: verified\x1b[2J").touch()
    done = call_main("release", "verify", release)
    assert done.stderr.count("\n") == 1
    assert "a\\nrelease: verified\\u001b[2J: not in SHA256SUMS" in done.stderr


def test_a_picture_that_many_rows_have_is_decoded_once(
    release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[bytes] = []
    monkeypatch.setattr(verify, "read_picture", lambda content, place: decoded.append(content))
    assert verify_release(release).findings == []
    assert decoded
    assert len(decoded) == len(set(decoded))


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a/../../secret"])
def test_a_path_that_leads_out_is_one_line(release: Path, name: str) -> None:
    with (release / SUMS).open("a") as file:
        file.write(f"{'0' * 64}  {name}\n")
    findings = verify_release(release).findings
    assert len(findings) == 1
    assert "leads out of this folder" in findings[0]


def test_a_link_that_leads_out_is_one_line(release: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (release / "datasheet.md").unlink()
    (release / "datasheet.md").symlink_to(tmp_path / "secret")
    findings = verify_release(release).findings
    assert len(findings) == 1
    assert "leads out of this folder by a link" in findings[0]


def test_a_folder_that_is_a_link_is_one_line(release: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (release / "more").symlink_to(tmp_path / "elsewhere")
    assert verify_release(release).findings == [f"{release / 'more'}: not in SHA256SUMS"]


def test_a_pipe_is_not_waited_for(release: Path) -> None:
    (release / "datasheet.md").unlink()
    os.mkfifo(release / "datasheet.md")
    findings = verify_release(release).findings
    assert len(findings) == 1
    assert "it is a named pipe" in findings[0]


@pytest.mark.parametrize(
    ("column", "value", "finding"),
    [
        ("question", "How heavy?", "item-0: question_sha256 differs from the manifest"),
        ("answer", ["7"], "item-0: answer_sha256 differs from the manifest"),
        ("licence", "none", "item-0: licence differs from the manifest"),
        ("canary", "none", "item-0: lacks the canary"),
        ("images", [], "item-0: has 0 pictures, but the manifest lists 2"),
        ("images", [{"bytes": b"x", "path": "x"}] * 2, "item-0: picture 0 does not match its"),
        ("id", "item-1", "item-1: "),
        ("id", "other", "'other' is not in the manifest"),
    ],
)
def test_a_row_that_the_manifest_does_not_describe_is_named(
    release: Path, column: str, value: object, finding: str
) -> None:
    edit_row(release, column, value)
    findings = verify_release(release).findings
    assert any(finding in line and TABLE in line for line in findings)


def test_a_question_apart_that_differs_is_named(release: Path) -> None:
    path = release / "questions.jsonl"
    path.write_text(path.read_text("utf-8").replace("rod 2", "rod 9"), "utf-8")
    sum_again(release)
    findings = verify_release(release).findings
    assert any(
        "'item-2': its question differs from the manifest" in finding for finding in findings
    )


def spoil_manifest(release: Path) -> None:
    (release / "manifest.jsonl").write_text('{"id": "item-0"}\n')


def repeat_manifest(release: Path) -> None:
    line = (release / "manifest.jsonl").read_text("utf-8").splitlines(keepends=True)[0]
    (release / "manifest.jsonl").write_text(line * 2, "utf-8")


def nest_provenance(release: Path) -> None:
    (release / "provenance.json").write_text("[" * 100_000)


def swell_table(release: Path) -> None:
    table = pa.table({"id": pa.repeat("x" * 1000, 400_000)})
    pq.write_table(table, release / TABLE, compression="zstd", use_dictionary=False)


def cut_table(release: Path) -> None:
    (release / TABLE).write_bytes((release / TABLE).read_bytes()[:-20])


def point_card_elsewhere(release: Path) -> None:
    path = release / "README.md"
    path.write_text(path.read_text("utf-8").replace("data/test-*", "/etc/*"), "utf-8")


def point_card_at_another_folder(release: Path) -> None:
    path = release / "README.md"
    text = path.read_text("utf-8").replace("  default: true\n", "  default: true\n  data_dir: /\n")
    path.write_text(text, "utf-8")


def take_data_files_from_card(release: Path) -> None:
    path = release / "README.md"
    path.write_text(path.read_text("utf-8").replace("configs:", "others:"), "utf-8")


def raise_version_of_card(release: Path) -> None:
    path = release / "README.md"
    path.write_text(
        path.read_text("utf-8").replace('version: "1.0.0"', 'version: "9.0.0"'), "utf-8"
    )


def add_script(release: Path) -> None:
    (release / "rods.py").write_text("# rods canary 1aecea0c-4c5c-5b38-8301-decc491c30c6\n")


def edit_distribution(release: Path, entry: dict[str, object]) -> None:
    path = release / "croissant.json"
    document = json.loads(path.read_text("utf-8"))
    document["distribution"].append(entry)
    path.write_text(json.dumps(document), "utf-8")


def add_address(release: Path) -> None:
    edit_distribution(
        release, {"@type": "cr:FileObject", "@id": "more", "contentUrl": "https://evil.example/x"}
    )


def add_set_of_files(release: Path) -> None:
    edit_distribution(release, {"@type": "cr:FileSet", "@id": "more", "includes": "/etc/*"})


def add_unknown_entry(release: Path) -> None:
    edit_distribution(release, {"@type": "sc:FileObject", "@id": "more", "contentUrl": "../x"})


def take_canary_from_line(release: Path) -> None:
    path = release / "questions.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    rows[2]["canary"] = ""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def take_canary_from_datasheet(release: Path) -> None:
    (release / "datasheet.md").write_text("# Datasheet\n")


def empty_canary(release: Path) -> None:
    path = release / "provenance.json"
    document = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(document | {"canary": ""}), "utf-8")


def drop_answers(release: Path) -> None:
    (release / "answers.jsonl").unlink()


def shorten_questions(release: Path) -> None:
    path = release / "questions.jsonl"
    path.write_text("".join(path.read_text("utf-8").splitlines(keepends=True)[1:]), "utf-8")


def hide_column(release: Path) -> None:
    path = release / "schema.json"
    document = json.loads(path.read_text("utf-8"))
    del document["columns"]["rationale"]
    path.write_text(json.dumps(document), "utf-8")


def nest_card(release: Path) -> None:
    anchors = "".join(f"a{k}: &a{k} [*a{k - 1}, *a{k - 1}]\n" for k in range(1, 60))
    (release / "README.md").write_text(f"---\na0: &a0 [x]\n{anchors}---\n")


@pytest.mark.parametrize(
    ("spoil", "finding"),
    [
        (point_card_at_another_folder, "a configuration in its header has unexpected keys"),
        (take_data_files_from_card, "its header lists no data files"),
        (raise_version_of_card, "its version differs from that of provenance.json, 1.0.0"),
        (add_script, "rods.py: not a file of a release"),
        (add_address, "'more' is not the file of its SHA-256"),
        (add_set_of_files, "'more' is not the file of its SHA-256"),
        (add_unknown_entry, "'more' is not the file of its SHA-256"),
        (take_canary_from_line, "questions.jsonl: a line lacks the canary"),
        (take_canary_from_datasheet, "datasheet.md: lacks the canary"),
        (empty_canary, "its canary does not end in a UUID"),
        (drop_answers, "answers.jsonl: is missing"),
        (shorten_questions, "questions.jsonl: ids differ from those of the items"),
        (hide_column, "item-0: columns differ from schema.json"),
        (nest_card, "README.md: "),
        (spoil_manifest, "manifest.jsonl, line 1: "),
        (repeat_manifest, "the id 'item-0' occurs twice"),
        (nest_provenance, "provenance.json: "),
        (swell_table, "unpacks to 40"),
        (cut_table, "is not a Parquet file"),
        (point_card_elsewhere, "lists data files that are not in SHA256SUMS"),
    ],
)
def test_a_hostile_file_is_named(
    release: Path, spoil: Callable[[Path], None], finding: str
) -> None:
    spoil(release)
    sum_again(release)
    findings = verify_release(release).findings
    assert any(finding in line for line in findings)
    assert all("\n" not in line and len(line) < 1000 for line in findings)


def test_a_folder_that_is_no_release_is_one_line(tmp_path: Path) -> None:
    assert len(verify_release(tmp_path).findings) == 1
    assert len(verify_release(tmp_path / "nowhere").findings) == 1
