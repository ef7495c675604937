"""The files of a new study: their parameters are read as they stand, what they name is there."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from omibench.errors import ParamsError
from omibench.files.yaml_file import parse_yaml
from omibench.models.synthetic.profiles import LIKES
from omibench.params.study import parse_study_file
from omibench.stages.ocr.corrections.entry import read_corrections
from omibench.study.init.contents import (
    StudyFiles,
    shipped_studies,
    study_of_benchmark,
    study_of_papers,
    study_that_ships,
)
from omibench.study.plan.rehearsal import find_shape, is_made_up


@pytest.fixture
def of_papers(tmp_path: Path) -> StudyFiles:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "a.pdf").write_bytes(b"")
    return study_of_papers(papers, tmp_path / "my own: study")


def test_a_study_of_papers_makes_a_dataset(of_papers: StudyFiles) -> None:
    assert of_papers.study.study.name == "my-own-study"
    assert of_papers.study.ocr.sources == "sources.yaml"
    assert not of_papers.study.cells
    assert parse_yaml(of_papers.texts["sources.yaml"])["sources"][0]["paper"] == "../papers/a.pdf"


def test_its_corrections_are_empty_and_a_change_of_them_is_seen(
    of_papers: StudyFiles, tmp_path: Path
) -> None:
    (tmp_path / "corrections.yaml").write_text(of_papers.texts["corrections.yaml"], "utf-8")
    assert read_corrections(tmp_path / "corrections.yaml") == []
    freeze = parse_yaml(of_papers.texts["dvc.yaml"])["stages"]["freeze"]
    assert "corrections.yaml" in freeze["deps"]


def test_its_remarks_are_parameters_that_ask_a_model(of_papers: StudyFiles, tmp_path: Path) -> None:
    head, _, remarks = of_papers.texts["params.yaml"].partition("it also evaluates a model:\n#\n")
    lines = [line.removeprefix("#").removeprefix(" ") for line in remarks.splitlines()]
    (tmp_path / "params.yaml").write_text(head + "\n" + "\n".join(lines), "utf-8")
    assert len(parse_study_file(str(tmp_path / "params.yaml")).cells) == 2


@pytest.mark.parametrize("name", [*LIKES[:5], "folder"])
def test_a_study_of_a_benchmark_asks_a_model_under_two_settings(name: str) -> None:
    study = study_of_benchmark(name).study
    assert study.benchmark.name == name
    assert len(study.cells) == 2
    assert "robust" in study.score.scorers


@pytest.mark.parametrize("name", ["emma", "mathvista"])
def test_a_study_of_a_benchmark_can_be_rehearsed_before_its_files_are_there(name: str) -> None:
    study = study_of_benchmark(name).study
    assert is_made_up(study)
    assert find_shape(study) == ("emma" if name == "emma" else "omibench")


@pytest.mark.parametrize("name", shipped_studies())
def test_a_study_that_ships_is_the_same_with_what_it_names(name: str, root: Path) -> None:
    files = study_that_ships(name)
    assert files.study == parse_study_file(str(root / f"studies/{name}.yaml"))
    tables = files.study.analyze.published
    assert all(table in files.texts for table in tables)
    assert not tables or "published/tables.yaml" in files.texts
    assert f"studies/{name}.yaml" not in "".join(files.texts.values())


def test_overlays_come_with_their_study() -> None:
    text = study_that_ships("mathreal").texts["studies/overlays/mathreal_clean.yaml"]
    assert "--configfile params.yaml studies/overlays/mathreal_clean.yaml" in text


def test_the_stages_of_dvc_are_those_of_the_project(root: Path) -> None:
    """Its inputs are others, and one stage more hashes those that its parameters name."""
    ours = yaml.safe_load((root / "dvc.yaml").read_text("utf-8"))
    files = study_that_ships("emma")
    theirs = yaml.safe_load(files.texts["dvc.yaml"])
    tables = [*files.study.analyze.published, "published/tables.yaml"]
    hashes = [f"${{study.results}}/inputs/{name}.json" for name in ours["stages"]]
    always = {"cmd": "omibench record inputs", "always_changed": True, "outs": hashes}
    assert theirs["stages"].pop("inputs") == always
    for name, stage in ours["stages"].items():
        deps, inputs = stage.pop("deps"), theirs["stages"][name].pop("deps")
        made = [path for path in deps if path.startswith("${")]
        extra = ["Snakefile", "requirements.txt", *tables, "data/emma"]
        assert inputs.pop(0) == f"${{study.results}}/inputs/{name}.json"
        assert inputs == [*made, *extra]
    assert theirs == ours


@pytest.mark.parametrize(
    ("make", "name", "message"),
    [
        (study_that_ships, "emmma", r"--study 'emmma' does not ship .*; did you mean 'emma'\?"),
        (study_of_benchmark, "papers", "give --papers FOLDER"),
        (study_of_benchmark, "emmma", "benchmark"),
    ],
)
def test_unknown_names_are_one_line(make, name: str, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ParamsError, match=message) as caught:
        make(name)
    assert len(str(caught.value).splitlines()) == 1


def test_a_scorer_that_needs_a_grader_gets_one() -> None:
    assert study_of_benchmark("mathreal").study.score.graders is not None
    assert study_of_benchmark("emma").study.score.graders is None
