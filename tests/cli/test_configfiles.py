"""A parameter file that Snakemake cannot read: one line before Snakemake meets it."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from omibench.cli.configfiles import check_command_line, read_allowed_rules


@pytest.mark.parametrize(
    "words",
    [
        ["--configfile", "{good}", "{bad}"],
        ["--cores", "2", "--configfiles", "{bad}", "--config", "data=x"],
        ["--configfile={bad}", "-n"],
        ["--configfile", "{good}", "--quiet", "rules", "--configfile", "{bad}"],
    ],
)
def test_each_file_that_a_command_names_is_looked_at(
    tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text("study: {name: x}\n")
    bad.write_text("study:\n\tname: x\n")
    with pytest.raises(SystemExit) as end:
        check_command_line([word.format(good=good, bad=bad) for word in words])
    assert end.value.code == 2
    assert capsys.readouterr().err == (
        f"omibench: {bad}, line 2: is not valid YAML: a tab indents it; use spaces\n"
    )


def test_what_is_right_passes(tmp_path: Path) -> None:
    good = tmp_path / "good.yaml"
    good.write_text("study: {name: x}\n")
    check_command_line(["-n", "results/a", "--configfile", str(good), "--config", "data=x"])
    check_command_line(["--cores", "all"])


def test_a_pair_without_a_value(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        check_command_line(["--config", "simulated=true", "data"])
    assert "--config data: is not KEY=VALUE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("top", "words", "said"),
    [
        ("study: {}\n", ["--configfile", "none.yaml"], "none.yaml: cannot be read: it does not"),
        *(
            pytest.param(top, [], said, marks=pytest.mark.slow)
            for top, said in (
                ("study: {}\nocr: [\n", "params.yaml, line 2: is not valid YAML: did not find"),
                ("study: {}\nocr:\n  dpy: 3\n", "params.yaml, line 3: ocr.dpy: unknown key; did"),
                ("study: {}\nreview:\n  decisions: no.yaml\n", "no.yaml (params.yaml, line 3)"),
            )
        ),
    ],
)
def test_snakemake_ends_with_that_line(
    root: Path, tmp_path: Path, top: str, words: list[str], said: str
) -> None:
    (tmp_path / "params.yaml").write_text(top)
    command = ["-m", "snakemake", "-n", "--snakefile", str(root / "Snakefile"), *words]
    done = subprocess.run(
        [sys.executable, *command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    lines = [line for line in done.stderr.splitlines() if line and not line.startswith("Using ")]
    assert done.returncode == 2, done.stderr
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("omibench: ")
    assert said in lines[0]
    assert not done.stdout


def test_rules_that_a_command_allows() -> None:
    words = ["snakemake", "x", "--allowed-rules", "ocr", "fill", "--cores", "2"]
    assert read_allowed_rules(words) == ["ocr", "fill"]
    assert read_allowed_rules(["snakemake", "--cores", "2"]) == []


@pytest.mark.slow
@pytest.mark.parametrize("given", ["nothing", "parameters"])
def test_another_folder_says_what_it_lacks(root: Path, tmp_path: Path, given: str) -> None:
    if given == "parameters":
        (tmp_path / "params.yaml").write_text("ocr: {sources: my/sources.yaml}\n")
    command = ["snakemake", "-n", "--snakefile", str(root / "Snakefile"), "--directory"]
    done = subprocess.run(
        [sys.executable, "-m", *command, str(tmp_path)], cwd=root, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    told = done.stderr.splitlines()[-1]
    missing = "params.yaml" if given == "nothing" else "my/sources.yaml"
    assert told.startswith(f"omibench: {missing}: ")
    assert f"with --directory all paths are relative to {tmp_path}: copy or link" in told


@pytest.mark.slow
def test_values_in_braces_have_their_types(root: Path, tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text(
        "benchmark: {name: papers}\nreview: {folder: r, kinds: [page]}\nfreeze: {name: f}\n"
        "ocr: {sources: s.yaml}\n"
    )
    (tmp_path / "s.yaml").write_text("sources: [{name: s, paper: paper.pdf, key: null}]\n")
    (tmp_path / "paper.pdf").write_bytes(b"%PDF-1.7")
    given = ["review={folder: null, reviewers: 1}", "study={seed: 7}", "data=d"]
    command = ["-m", "snakemake", "-np", "freeze_all", "--cores", "1"]
    done = subprocess.run(
        [sys.executable, *command, "--snakefile", str(root / "Snakefile"), "--config", *given],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    freeze = next(line for line in done.stdout.splitlines() if "omibench freeze" in line)
    params = json.loads(shlex.split(freeze.partition("Shell command: ")[2])[4])
    assert params["review"] == {"kinds": ["page"], "reviewers": 1}
