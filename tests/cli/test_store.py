"""`omibench store`: each verb with its example, its output, and one line for each mistake."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.store.filling import IDENTITY, SHA256, fill, packs, request, segments
from typer.testing import CliRunner, Result

from omibench.cli.store import store_app
from omibench.errors import MissingInputError, OutputError, SomeFailedError
from omibench.schemas.request import Response
from omibench.store.store import Store


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(store_app, [str(word) for word in words])


def test_loading_the_verbs_imports_nothing_heavy() -> None:
    code = "import sys, omibench.cli.store; print(*{m.split('.')[0] for m in sys.modules})"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert not {"pydantic", "pyarrow", "polars", "numpy"} & set(loaded.stdout.split())


def test_inspect_counts_and_names_damage(tmp_path: Path) -> None:
    fill(tmp_path, range(4))
    (segment,) = segments(tmp_path)
    segment.write_bytes(segment.read_bytes()[:-4])
    shown = run("inspect", "--store", tmp_path)
    assert isinstance(shown.exception, SomeFailedError)
    head, row, total, images, damage = shown.output.splitlines()
    assert head.split()[:3] == ["model", "responses", "answered"]
    assert row.split()[1:6] == ["3", "3", "30", "3", "1.50"]
    assert row.split()[-1] == "1"
    assert (total, images) == ("1 models, 3 responses", "1 images, 0.0 MB")
    assert f"{segment.name}, line 4: torn" in damage
    values = json.loads(run("inspect", "--store", tmp_path, "--json").stdout)
    (partition,) = values["partitions"]
    assert partition["outcomes"] == {"answered": 3}
    assert partition["damaged"][0]["line"] == 4
    assert values["images"]["images"] == 1


def test_dollars_are_never_understated(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        partition = store.open_partition(IDENTITY)
        partition.append("ab" * 32, request(1), Response(text="a"))
        assert " unknown " in run("inspect", "--store", tmp_path).output
        partition.append("cd" * 32, request(2), Response(text="a", cost_usd=1.25))
        assert " >= 1.25 " in run("inspect", "--store", tmp_path).output


def test_inspect_shows_one_response_whole_and_harmless(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        partition = store.open_partition(IDENTITY)
        key = partition.key(request(1))
        partition.append(key, request(1), Response(text="\x1b[2J\x9b31m \x7f é"))
    shown = run("inspect", key[:8], "--store", tmp_path)
    assert not set(shown.output) & {"\x1b", "\x9b", "\x7f"}
    values = json.loads(shown.output)
    assert values["response"]["text"] == "\x1b[2J\x9b31m \x7f é"
    assert values["request"]["messages"][0]["parts"][1] == {"image": SHA256}
    assert (values["key"], values["schema"], values["model"]) == (key, 1, IDENTITY)


def test_verify_passes_and_fails(tmp_path: Path) -> None:
    fill(tmp_path, range(3))
    assert run("verify", "--store", tmp_path).output == "3 responses and 1 images checked\n"
    (segment,) = segments(tmp_path)
    segment.write_bytes(segment.read_bytes().replace(b"answer 1", b"answer 8"))
    shown = run("verify", "--store", tmp_path)
    assert isinstance(shown.exception, SomeFailedError)
    assert shown.exception.exit_code == 3
    assert "line 2: corrupt: its checksum does not match" in shown.output
    assert "2 responses and 1 images checked" in shown.output
    values = json.loads(run("verify", "--store", tmp_path, "--json").stdout)
    assert [fault["where"] for fault in values["faults"]] == ["line 2"]


def test_many_faults_are_cut_short_in_print_and_whole_in_json(tmp_path: Path) -> None:
    fill(tmp_path, range(30))
    (segment,) = segments(tmp_path)
    segment.write_bytes(segment.read_bytes().replace(b"question", b"Question"))
    shown = run("verify", "--store", tmp_path)
    assert "... and 10 more" in shown.output
    values = json.loads(run("verify", "--store", tmp_path, "--json").stdout)
    assert len(values["faults"]) == 30


def test_compact_says_what_it_did(tmp_path: Path) -> None:
    fill(tmp_path, range(3))
    fill(tmp_path, range(2, 5))
    shown = run("compact", "--store", tmp_path, "--model", "model").output
    assert "5 responses of 2 segments and 0 packs" in shown
    assert "1 duplicates left out" in shown
    assert len(packs(tmp_path)) == 1
    assert "nothing to pack" in run("compact", "--store", tmp_path).output


def test_export_writes_one_file(tmp_path: Path) -> None:
    fill(tmp_path / "store", range(3))
    out = tmp_path / "all.parquet"
    shown = run("export", "--store", tmp_path / "store", "--out", out)
    assert f"3 responses written to {out}" in shown.output
    assert pl.read_parquet(out).height == 3


def test_export_and_compact_fail_where_a_response_is_lost(tmp_path: Path) -> None:
    store, out = tmp_path / "store", tmp_path / "all.jsonl"
    fill(store, range(130))
    run("compact", "--store", store)
    (pack,) = packs(store)
    data = bytearray(pack.read_bytes())
    data[200] ^= 1
    pack.write_bytes(data)
    shown = run("export", "--store", store, "--out", out)
    assert isinstance(shown.exception, SomeFailedError)
    assert shown.exception.exit_code == 3
    assert "in its row group 0 cannot be read" in shown.output
    lost = 64
    assert f"{130 - lost} responses written" in shown.output
    assert len(out.read_text("utf-8").splitlines()) == 130 - lost
    fill(store, range(200, 203))
    (segment,) = segments(store)
    segment.write_bytes(segment.read_bytes().replace(b"answer 201", b"answer 999"))
    shown = run("compact", "--store", store)
    assert isinstance(shown.exception, SomeFailedError)
    assert "1 damaged lines were moved out" in str(shown.exception)


@pytest.mark.parametrize("name", ["", "/export.parquet", "/../images/x.jsonl"])
def test_nothing_is_exported_into_the_store(tmp_path: Path, name: str) -> None:
    fill(tmp_path, range(3))
    (segment,) = segments(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    out = f"{segment.parent}{name}" if name else segment
    shown = run("export", "--store", tmp_path, "--out", out)
    assert isinstance(shown.exception, OutputError)
    assert f"--out {out}: is in {tmp_path}, the store of responses" in str(shown.exception)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


def test_merge_says_what_it_did(tmp_path: Path) -> None:
    fill(tmp_path / "ours", range(2))
    fill(tmp_path / "theirs", range(1, 4))
    fill(tmp_path / "more", range(4, 5))
    shown = run("merge", tmp_path / "theirs", tmp_path / "more", "--store", tmp_path / "ours")
    first, second = shown.output.splitlines()
    assert "2 responses and 0 images copied, 1 already present, 0 different" in first
    assert "1 responses and 0 images copied" in second
    (segment,) = segments(tmp_path / "theirs")
    segment.write_bytes(segment.read_bytes()[:-4])
    shown = run("merge", tmp_path / "theirs", "--store", tmp_path / "ours")
    assert isinstance(shown.exception, SomeFailedError)
    assert "line 3: torn" in shown.output


@pytest.mark.parametrize(
    "words", [["inspect"], ["verify"], ["compact"], ["export", "--out", "x.jsonl"], ["merge", "y"]]
)
def test_a_store_that_is_not_there_is_one_line(tmp_path: Path, words: list[str]) -> None:
    nowhere = [str(tmp_path / word) if word == "y" else word for word in words]
    shown = run(*nowhere, "--store", tmp_path / "nowhere")
    assert isinstance(shown.exception, MissingInputError)
    assert "\n" not in str(shown.exception)
    assert "there is no store" in str(shown.exception)
