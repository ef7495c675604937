"""The table of stages is what the package, the rules, dvc.yaml and the command line say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from omibench.cli.main import AllCommands
from omibench.errors import ParamsError
from omibench.graph.code_hash import SOURCE
from omibench.graph.inputs import list_named_files
from omibench.graph.stage import Stage
from omibench.graph.stages import STAGE_NAMES, STAGES, find_stage
from omibench.params.study import Study, parse_study_file
from omibench.schemas.cells import CELL_STAGES
from omibench.stages.ocr.corrections.entry import list_correction_inputs
from omibench.stages.ocr.sources.manifest import list_inputs

each_stage = pytest.mark.parametrize("stage", STAGES, ids=STAGE_NAMES)


def rule_file(root: Path, stage: Stage) -> str:
    return (root / "rules" / f"{stage.name}.smk").read_text("utf-8")


def test_each_package_of_a_stage_is_in_the_table() -> None:
    folders = {path.parent.name for path in (SOURCE / "omibench" / "stages").glob("*/__init__.py")}
    assert folders == set(STAGE_NAMES)
    assert len(folders) == len(STAGES)


@each_stage
def test_a_stage_reads_stages_before_it_and_is_given_blocks_that_exist(stage: Stage) -> None:
    before = STAGE_NAMES[: STAGE_NAMES.index(stage.name)]
    assert set(stage.inputs) <= set(before)
    assert set(stage.params) <= Study.model_fields.keys()
    assert all(file.path.startswith(f"{stage.name}/") for file in stage.outputs)


@each_stage
def test_a_stage_reads_only_the_blocks_that_the_table_gives_it(stage: Stage) -> None:
    """A job is given a slice: a block that is not in it would be read as its defaults."""
    code = [
        file.read_text("utf-8")
        for file in (SOURCE / "omibench" / "stages" / stage.name).rglob("*.py")
    ]
    read = set(re.findall(r"\bstudy\.(\w+)", "".join(code))) & Study.model_fields.keys()
    # Where recorded responses lie changes no slice of the stages that only judge.
    assert read <= {*stage.params, "data"}


@each_stage
def test_a_rule_file_holds_the_rules_of_its_stage(root: Path, stage: Stage) -> None:
    text = rule_file(root, stage)
    assert re.findall(r"^(?:rule|checkpoint) (\w+):", text, re.M) == list(stage.rules)
    assert f'source=source_hash("{stage.name}")' in text


@each_stage
def test_the_outputs_of_a_rule_are_files_of_its_stage(root: Path, stage: Stage) -> None:
    outputs = "".join(re.findall(r"    output:\n(.*?)    log:", rule_file(root, stage), re.S))
    paths = re.findall(r'\{RESULTS\}/([^"]+)"', outputs.replace("{{", "{").replace("}}", "}"))
    declared = [file.path for file in stage.outputs]
    assert paths
    assert [
        p for p in paths if p not in declared and not any(d.startswith(p) for d in declared)
    ] == []
    assert declared[0] in paths or "examples" in paths[0]


@each_stage
def test_each_rule_of_a_stage_reads_the_files_of_the_stages_that_the_table_names(
    root: Path, stage: Stage
) -> None:
    """Also `fill` and `help`: they send requests before any job of `infer` does."""
    rules = re.findall(
        r"^(?:rule|checkpoint) (\w+):\n    input:\n(.*?)    output:", rule_file(root, stage),
        re.S | re.M,
    )  # fmt: skip
    assert [name for name, _ in rules] == list(stage.rules)
    helpers = {"frozen_questions": "freeze", "frozen_from": "rationale", "certificate": "certify"}
    for rule, inputs in rules:
        read = set(re.findall(r"rules\.(\w+)\.output", inputs))
        read |= set(re.findall(r'cells\("(\w+)"\)', inputs))
        if f'**cells_read_by("{rule}"),' in inputs:
            read |= {name for name in stage.inputs if find_stage(name).cells}
        read |= {helpers[name] for name in helpers if re.search(rf"\b{name}\b(?=[,()])", inputs)}
        if f'**asked("{rule}"),' in inputs:
            read |= set(find_stage("infer").inputs)
        assert read == set(stage.inputs), rule


def test_dvc_makes_each_stage_in_one_of_its_own(root: Path) -> None:
    stages = yaml.safe_load((root / "dvc.yaml").read_text("utf-8"))["stages"]
    for target, block in stages.items():
        names = [stage.name for stage in STAGES if stage.target == target]
        record = block["cmd"][-1].split()
        assert record[:2] == ["omibench", "record"]
        assert record[2:] == names
        assert [next(iter(out)) for out in block["outs"]] == [
            f"${{study.results}}/{name}" for name in names
        ]
    assert list(stages) == list(dict.fromkeys(stage.target for stage in STAGES))


@each_stage
def test_dvc_watches_each_file_of_the_study_that_a_stage_reads(
    root: Path, monkeypatch: pytest.MonkeyPatch, stage: Stage
) -> None:
    monkeypatch.chdir(root)
    study = parse_study_file("params.yaml")
    read = {file for job in stage.jobs(study) for file in list_named_files(study, *job)}
    if stage.name == "ocr":
        read |= {study.ocr.sources, *list_correction_inputs(study.ocr)}
        read |= {str(file) for file in list_inputs(Path(study.ocr.sources))}
    block = yaml.safe_load(Path("dvc.yaml").read_text("utf-8"))["stages"][stage.target]
    watched = [Path(path) for path in block["deps"]]
    assert not {f for f in read if not any(Path(f).is_relative_to(path) for path in watched)}


def test_the_stages_with_a_file_a_cell_are_those_whose_files_say_what_they_are() -> None:
    paths = {stage.name: [file.path for file in stage.outputs] for stage in STAGES}
    per_cell = [n for n, files in paths.items() if f"{n}/{{model}}/{{setting}}.parquet" in files]
    assert sorted(CELL_STAGES) == sorted(per_cell)
    per_model = {"tune"}
    assert {stage.name for stage in STAGES if stage.cells} - per_model == set(per_cell)


def test_each_stage_is_a_verb() -> None:
    verbs = {name for names in AllCommands.headings.values() for name in names}
    assert set(STAGE_NAMES) <= verbs


def test_a_rule_that_works_for_a_stage_is_known_and_a_typo_gets_the_nearest_name() -> None:
    assert find_stage("fill").name == find_stage("help").name == "infer"
    with pytest.raises(ParamsError, match=r"'scroe' is not a stage.*'score'"):
        find_stage("scroe")
