"""Text of the parameters is never a command of a shell, nor a pattern of Snakemake."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from tests.integration.small_study import make

from omibench.errors import MissingInputError, ParamsError
from omibench.graph.inputs import refuse_patterns
from omibench.params.study import parse_study

INNER = re.compile(r"\{(?:input|output|params|log|wildcards|resources|threads)[^}]*\}")


@pytest.mark.parametrize(
    "path",
    ["r$(touch x)", "r`touch x`", "a;b", "a&b", "a|b", "a>b", "a\nb", "{model}", "a*", "a'b", 'a"b',
     "a\\b", "-rf", " a", "a ", "", "a\x1b[2J", "a\u202eb", "a!b", "a[b]", "~?"],
)  # fmt: skip
@pytest.mark.parametrize("key", ["results", "store", "data"])
def test_paths_that_stand_in_commands_are_plain(key: str, path: str) -> None:
    values = {"data": path} if key == "data" else {"study": {key: path}}
    where = key if key == "data" else f"study.{key}"
    with pytest.raises(
        ParamsError, match=rf"{where}: (contains .* letters, digits|is not a valid path)"
    ) as e:
        parse_study(values, "test")
    assert not set(str(e.value)) & set("\n\x1b\u202e")


@pytest.mark.parametrize(
    "path",
    ["results/a b", "/data/EMMA (v2)/x+y,z@1", "Ergebnisse/größer", "結果/ที่", "~/r", "../r%1:#"],
)
def test_ordinary_paths_are_taken(path: str) -> None:
    study = parse_study({"study": {"results": path}, "data": path}, "test")
    assert (study.study.results, study.data) == (path, path)


def test_every_path_in_a_rule_is_quoted(root: Path) -> None:
    commands = {
        path.name: path.read_text("utf-8").split("    shell:\n")[1:]
        for path in (root / "rules").glob("*.smk")
    }
    shells = [(name, text.split("\n\n\n")[0]) for name, all_ in commands.items() for text in all_]
    assert len(shells) >= 13
    bare = [(n, f) for n, text in shells for f in INNER.findall(text) if not f.endswith(":q}")]
    assert bare == []


def test_a_file_whose_name_is_a_pattern_is_one_line() -> None:
    refuse_patterns(["a.pdf", "a{}.pdf", "a } b {.pdf"])
    for name in ("exam {A}.pdf", "x/{model}/a.txt", "{ A, .* }", "a\n.pdf", "\x1b[2J"):
        with pytest.raises(MissingInputError, match="rename the file") as error:
            refuse_patterns(["a.pdf", name])
        assert "\n" not in str(error.value)


@pytest.mark.slow
def test_a_study_is_built_where_names_hold_spaces_and_braces(root: Path, tmp_path: Path) -> None:
    study = make(root, tmp_path / "my study", models=1, settings=1)
    paper = "exam of $(id) & 2024.pdf"
    sources = (study.folder / "sample/sources.yaml").read_text()
    old = re.search(r"paper: (\S+)", sources)
    assert old is not None
    shutil.copy(study.folder / "sample" / old[1], study.folder / "sample" / paper)
    (study.folder / "sample/sources.yaml").write_text(sources.replace(old[0], f"paper: '{paper}'"))
    params = study.params()
    params["study"] |= {
        "results": "my results", "store": "my store", "title": "{A} {wildcards.model} {{}} $(id)",
    }  # fmt: skip
    params["models"]["sim-a"]["label"] = "model {A}"
    params["settings"]["cot"]["label"] = "{output}"
    study.write_params(params)
    said = study.run("snakemake", "--cores", "2")
    report = (study.folder / "my results/analyze/report.html").read_text("utf-8")
    assert "{A} {wildcards.model} {{}} $(id)" in report, said
    assert "model {A}" in report
    assert "Nothing to be done" in study.to_do()
    assert "complete" in study.run("omibench", "status")
    assert not (study.folder / "results/freeze").exists()
