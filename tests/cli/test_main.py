"""The command line: light to start, an example in each help, one clear line for each mistake."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import typer
from typer.testing import CliRunner

from command_line import app, call_main
from omibench.cli.main import AllCommands
from omibench.errors import OutputError


def list_groups(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every group of commands with the words that lead to it."""
    yield path, command
    for name, inner in command.commands.items():
        if hasattr(inner, "commands"):
            yield from list_groups(inner, (*path, name))


GROUPS = list(list_groups(typer.main.get_command(app)))
VERBS = [(*path, name) for path, group in GROUPS for name in group.commands]


@pytest.mark.parametrize("words", [words for words in VERBS if words not in dict(GROUPS)])
def test_help_shows_an_example(words: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(app, [*words, "--help"])
    assert shown.exit_code == 0
    assert f"omibench {' '.join(words)}" in shown.output.split("Example:")[1]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


ITEM = {
    "id": "1", "prediction": r"So \boxed{B}.", "gold": ["B"], "answer_type": "mcq",
    "choices": ["one", "two"],
}  # fmt: skip


@pytest.mark.parametrize("rules", ["omibench", "emma", "usnco-v", "robust"])
@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".parquet"])
def test_score_keeps_rows_in_order_and_adds_the_verdict(
    tmp_path: Path, rules: str, suffix: str
) -> None:
    rows = [ITEM, {**ITEM, "id": "2", "prediction": r"\boxed{A}"}, {**ITEM, "id": "0"}]
    file, out = tmp_path / f"in{suffix}", tmp_path / "out.parquet"
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    if suffix == ".parquet":
        pl.DataFrame(rows).write_parquet(file)
    elif suffix == ".jsonl":
        file.write_text(lines)
    else:
        import gzip

        file.write_bytes(gzip.compress(lines.encode()))
    done = call_main("score", file, "--scorer", rules, "--out", out)
    assert done.returncode == 0, done.stderr
    frame = pl.read_parquet(out)
    assert frame["id"].to_list() == ["1", "2", "0"]
    assert frame["verdict"].to_list() == [1.0, 0.0, 1.0]
    assert frame["extracted"].to_list() == ["B", "A", "B"]
    assert frame["outcome"].to_list() == ["scored"] * 3
    assert set(ITEM) < set(frame.columns)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["score", "absent.jsonl", "--scorer", "robust", "--out", "o.parquet"], "absent.jsonl"),
        (["score", "in.jsonl", "--out", "o.parquet"], "--scorer"),
        (["score", "in.jsonl", "--scorer", "robst", "--out", "o.parquet"],
         "--scorer: unknown scorer 'robst'"),
        (["score", "in.jsonl", "--scorer", "mathreal", "--grader", "m", "--out", "o.parquet"],
         "'m'"),
        (["score", "bad.jsonl", "--scorer", "robust", "--out", "o.parquet"], "gold"),
        (["ocr", "--out", "o"], "no input"),
        (["ocr", "x.pdf", "--out", "o", "--engine", "magic"], "'magic'"),
        (["ocr", "x.pdf", "--out", "o", "--max-pages", "0"], "max_pages"),
        (["filter", "absent.jsonl", "--out", "o", "--params", "{}"], "absent.jsonl"),
        (["infer", "q.jsonl", "--out", "o.parquet", "--model", "m", "--setting", "s",
          "--params", "{}"],
         "--model 'm' is not defined"),
        (["plan", "--params", "absent.yaml"], "absent.yaml: cannot be read"),
        (["plan", "--params", "{}", "--set", "data"], "KEY=VALUE"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_and_exit_2(tmp_path: Path, args: list[str], said: str) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps(ITEM) + "\n")
    (tmp_path / "bad.jsonl").write_text(json.dumps({k: v for k, v in ITEM.items() if k != "gold"}))
    done = call_main(*args, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("omibench: ")
    assert done.stderr.count("\n") == 1, done.stderr
    assert said in done.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["score", "in.jsonl", "--scorer", "robust", "--out", "o.csv"], "name it *.parquet"),
        (["score", "in.jsonl", "--scorer", "robust", "--out", "in.jsonl/o.parquet"], "cannot be a"),
        (["filter", "in.jsonl", "--out", "in.jsonl", "--params", "{}"], "cannot be a folder"),
        (["filter", ".", "--out", "o", "--params", "{}"], "cannot be read"),
        (["filter", "binary", "--out", "o", "--params", "{}"], "binary, line 1"),
        (
            ["filter", "in.jsonl", "--out", "o", "--params", "binary"],
            "binary, line 2: is not UTF",
        ),
        (["ocr", "x.pdf", "--out", "o", "--params", '{"ocr": [1]}'], "ocr: "),
        (["freeze", "--out", "o", "--params", "{}", "--set", "study.seed=3"], "a top-level key"),
        (["score", ".", "--scorer", "robust", "--out", "o.parquet"], ".: is a folder"),
        (["plan", "none.jsonl", "--params", "{}"], "none.jsonl: the file does not exist"),
        (["filter", "problems.jsonl", "--out", ".", "--params", "{}"], "would overwrite"),
        (["rationale", "problems.jsonl", "--out", ".", "--params", "{}"], "would overwrite"),
        (["certify", "disagreements.jsonl", "--out", ".", "--params", "{}"], "would overwrite"),
        (["ocr-quality", "in.jsonl", "--out", "./in.jsonl"], "would overwrite"),
        (["score", "in.parquet", "--scorer", "robust", "--out", "in.parquet"], "would overwrite"),
        (
            ["score", "in.jsonl", "--explain", "1", "--out", "x.parquet"],
            "cannot be combined with --explain",
        ),
    ],
)
def test_what_cannot_be_read_or_written_is_one_line(
    tmp_path: Path, args: list[str], said: str
) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps(ITEM) + "\n")
    (tmp_path / "binary").write_bytes(b"%PDF-1.7\n\xff\xfe\x00")
    inputs = ["problems.jsonl", "disagreements.jsonl", "in.parquet"]
    for name in inputs:
        (tmp_path / name).write_text("{}")
    done = call_main(*args, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("omibench: ")
    assert done.stderr.count("\n") == 1, done.stderr
    assert said in done.stderr
    assert all((tmp_path / name).read_text() == "{}" for name in inputs)


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("ocr paper.pdf --out kept/p", "--out"),
        ("ocr paper.pdf --out o --look kept/images", "--look"),
        ("filter problems.jsonl --out kept/p", "--out"),
        ("rationale problems.jsonl --out kept/p", "--out"),
        ("freeze --out kept/../kept", "--out"),
        ("infer q.jsonl --model sim --setting cot --out kept/images/x.parquet", "--out"),
        ("fill q.jsonl --model sim --out kept/p/note.txt", "--out"),
        ("score in.jsonl --scorer robust --out kept/p/x.parquet", "--out"),
        ("judge r.parquet --answers a --questions q --out kept/x.parquet", "--out"),
        ("aggregate --model sim --setting cot --out kept/x.parquet", "--out"),
        ("certify labels.csv --out kept/new", "--out"),
        ("saliency --model sim --setting cot --out link/x.parquet", "--out"),
        ("analyze results --out kept", "--out"),
        ("status --html kept/page.html", "--html"),
        ("ocr-quality pairs.jsonl --out kept/p/s1.jsonl", "--out"),
    ],
)
def test_no_verb_writes_into_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, option: str
) -> None:
    monkeypatch.chdir(tmp_path)
    study = {
        "study": {"name": "test", "store": "kept"},
        "models": {"sim": {"provider": "openai", "id": "none"}},
        "settings": {"cot": {}},
        "infer": {"models": ["sim"], "settings": ["cot"]},
    }
    (tmp_path / "kept" / "p").mkdir(parents=True)
    (tmp_path / "link").symlink_to("kept")
    before = sorted(tmp_path.rglob("*"))
    args = words.split()
    done = CliRunner().invoke(app, [*args, "--params", json.dumps(study)])
    assert isinstance(done.exception, OutputError), done.output
    assert str(done.exception).startswith(f"{option} ")
    assert "is in kept, the store of responses" in str(done.exception)
    assert set(tmp_path.rglob("*")) - set(before) <= {tmp_path / "o"}


def test_help_names_each_command_with_its_whole_summary() -> None:
    for path, group in GROUPS:
        shown = " ".join(CliRunner().invoke(app, [*path, "--help"]).stdout.split())
        assert "..." not in shown.replace("[ARGS]...", "").replace("OPTION...", "")
        for name, command in group.commands.items():
            summary = " ".join(command.help.split("\n\n")[0].split())
            assert f"{name} {summary}" in shown


def test_every_command_stands_under_a_heading_of_what_people_do() -> None:
    named = [name for names in AllCommands.headings.values() for name in names]
    assert sorted(named) == sorted(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
    shown = CliRunner().invoke(app, ["--help"]).stdout
    places = [shown.index(f"\n{heading}:\n") for heading in AllCommands.headings]
    assert places == sorted(places)
    assert "snakemake --cores all" in " ".join(shown.split())
    assert "\nCommands:\n" not in shown


def test_every_argument_and_option_is_described() -> None:
    missing = [
        f"{' '.join(path)} {name} {parameter.name}"
        for path, group in GROUPS
        for name, command in group.commands.items()
        for parameter in command.params
        if not getattr(parameter, "help", None) and not getattr(parameter, "hidden", False)
    ]
    assert missing == []


def test_it_says_its_version() -> None:
    assert call_main("--version").stdout.startswith("omibench 0.")


def test_a_process_of_its_own_ends_as_the_function_does(tmp_path: Path) -> None:
    words = ["score", "absent.jsonl", "--scorer", "robust", "--out", "o.parquet"]
    process = subprocess.run(
        [sys.executable, "-m", "omibench", *words],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert process.returncode == 2
    assert (process.returncode, process.stdout, process.stderr) == call_main(*words, cwd=tmp_path)
