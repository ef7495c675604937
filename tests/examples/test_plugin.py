"""The example of a plug-in: every part of the package and of the single file is used."""

from __future__ import annotations

import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image
from tests.items import make_item

from omibench import plugins
from omibench.answers.judges.case import JudgeCase
from omibench.answers.judges.instrument import build_request
from omibench.answers.judges.registry import build_instrument, columns_of
from omibench.answers.scorers.registry import SCORERS, score_item
from omibench.datasets.registry import load_benchmark
from omibench.errors import PluginError
from omibench.models.registry import open_provider
from omibench.params.setting import Cell
from omibench.params.stages.filter import FilterParams
from omibench.params.study import Study, parse_study_file
from omibench.plugins.allowance import allow_folder
from omibench.plugins.registry import REGISTRIES
from omibench.plugins.sources import installed_parts
from omibench.schemas.problem import Figure, Problem, Question
from omibench.schemas.request import (
    Conversation,
    Decoding,
    ImagePart,
    Message,
    Request,
    Response,
    Tags,
    TextPart,
)
from omibench.settings.present import present
from omibench.settings.steps import Task, next_step
from omibench.stages.aggregate.registry import Candidates, choose_sample
from omibench.stages.analyze.figures import FIGURES
from omibench.stages.analyze.figures.theme import render
from omibench.stages.analyze.results import RESULTS
from omibench.stages.analyze.sections import SECTIONS
from omibench.stages.filter.candidate import Candidate, Case, KeptProblems
from omibench.stages.filter.reasons.registry import build_model_reason
from omibench.stages.filter.stage import all_reasons
from omibench.stages.ocr.engines.readers import open_engine

PACKAGE = "omibench_example"
ORIGIN = "omibench-example 1.0"


def install(example: Path, site: Path) -> None:
    """Put the package where Python finds it, with the metadata that an installer writes."""
    project = tomllib.loads((example / "pyproject.toml").read_text("utf-8"))["project"]
    shutil.copytree(example / "src" / PACKAGE, site / PACKAGE)
    metadata = site / f"{PACKAGE}-{project['version']}.dist-info"
    metadata.mkdir()
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (metadata / "METADATA").write_text(head, "utf-8")
    groups = [
        f"[{group}]\n" + "".join(f"{name} = {module}\n" for name, module in parts.items())
        for group, parts in project["entry-points"].items()
    ]
    (metadata / "entry_points.txt").write_text("\n".join(groups), "utf-8")


@pytest.fixture
def example(root: Path) -> Path:
    return root / "examples/plugin"


@pytest.fixture
def installed(example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder into which the example's package is installed."""
    site = tmp_path / "site"
    install(example, site)
    monkeypatch.syspath_prepend(str(site))
    installed_parts.cache_clear()
    yield site
    installed_parts.cache_clear()
    for module in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[module]


@pytest.fixture
def study(installed: Path, example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """The example's study, in a folder of its own with its data."""
    folder = tmp_path / "study"
    (folder / "data").mkdir(parents=True)
    for file in ("params.yaml", "single_file.py"):
        shutil.copy(example / file, folder)
    (folder / "data/moons.csv").write_text("planet,moons,picture\nMars,2,mars.png\n")
    Image.new("RGB", (8, 8)).save(folder / "data/mars.png")
    allow_folder(folder)
    monkeypatch.chdir(folder)
    return parse_study_file("params.yaml")


def test_every_name_of_the_package_is_known(installed: Path) -> None:
    names = {kind: set(parts) for kind, parts in installed_parts().items()}
    assert names == {
        "providers": {"parrot"},
        "scorers": {"within-a-percent"}, "prompts": {"evidence-first"}, "conditions": {"last"},
        "strategies": {"look-again"}, "aggregations": {"longest"},
        "model_reasons": {"needs_a_table"},
        "benchmarks": {"moons"}, "engines": {"page-size"}, "reasons": {"too_long"},
        "sections": {"settings-per-model"}, "judges": {"units"},
        "results": {"hardest-items"}, "figures": {"hardest-items-bars"},
    }  # fmt: skip
    for kind, parts in names.items():
        for name in parts:
            assert name in REGISTRIES[kind].names
            REGISTRIES[kind].get(name)
            assert REGISTRIES[kind].origin(name) == ORIGIN


def test_its_source_is_in_the_hash_of_the_kinds_that_it_brings(installed: Path) -> None:
    assert plugins.source_hash(["scorers"]) == ""
    SCORERS.get("within-a-percent")
    assert len(plugins.source_hash(["scorers"])) == 16
    assert plugins.part_meaning("scorers", "within-a-percent")
    # Every installed section is in every report, and so in the hash without being asked for.
    assert len(plugins.source_hash(["sections"])) == 16


def test_a_provider(study: Study) -> None:
    polly = open_provider("polly", study.models["polly"])
    message = Message(role="user", parts=(TextPart(text="Answer:\nno"),))
    request = Request(
        conversation=Conversation(messages=(message,)),
        decoding=Decoding(),
        tags=Tags(role="respondent", problem="a", setting="letter"),
    )
    ((_, response),) = polly.answer([request])
    assert response.text == "NO"
    assert polly.identity == {"provider": "parrot", "shout": True}


def test_scorers(study: Study) -> None:
    assert study.score.scorers == ["within-a-percent", "first-letter"]
    near, far = (make_item(f"\\boxed{{{n}}}", "100") for n in ("100.9", "102"))
    assert [score_item(item, "within-a-percent").verdict for item in (near, far)] == [1.0, 0.0]
    assert score_item(make_item("b, I think", "B", ["x", "y"]), "first-letter").verdict == 1.0


def test_prompts_and_conditions(study: Study) -> None:
    pictures = [Figure(file=f"{n}.png", sha256=str(n) * 64) for n in range(3)]
    question = Question(id="a", question="[IMAGE0][IMAGE1][IMAGE2] How many?", images=pictures)
    (message,) = present(question, study.settings["evidence"]).messages
    assert [p.path for p in message.parts if isinstance(p, ImagePart)] == ["2.png"]
    text = "".join(p.text for p in message.parts if isinstance(p, TextPart))
    assert text.startswith("First list what each picture supplies")
    (message,) = present(question, study.settings["letter"]).messages
    assert isinstance(message.parts[-1], TextPart)
    assert message.parts[-1].text.endswith("one letter and nothing else.")


def test_a_benchmark(study: Study, tmp_path: Path) -> None:
    questions, answers, _ = load_benchmark(study.benchmark, study.data, tmp_path)
    assert [question.question for question in questions] == ["[IMAGE0]\nHow many moons has Mars?"]
    assert answers[0].answer == ["2"]


def test_an_engine(study: Study) -> None:
    readings = open_engine(study.ocr.engine).read(np.zeros((5, 7, 3), np.uint8))
    assert [reading.text for reading in readings] == ["7 x 5"]


def test_a_reason_of_the_filter(study: Study, tmp_path: Path) -> None:
    problem = Problem(
        id="a", source="s", source_sha256="", number="1", pages=[], subject="physics",
        question="word " * 401, images=[],
    )  # fmt: skip

    def reasons(params: FilterParams) -> list[str]:
        case = Case(Candidate(problem, tmp_path), KeptProblems(), params)
        return [name for name, _ in all_reasons(case)]

    assert reasons(study.filter) == [*reasons(FilterParams()), "too_long"]


def test_a_reason_of_models(study: Study) -> None:
    panel = study.filter.model_reasons["needs_a_table"]
    instrument = build_model_reason("needs_a_table", panel)
    case = JudgeCase(id="a", question="What is the mass?", gold=[], response="")
    assert instrument.read("LABEL: yes", case) == "yes"
    assert "missing tables" in build_request(case, instrument).conversation.text


def test_a_strategy_and_a_rule_of_aggregation(study: Study) -> None:
    setting = study.settings["letter"]
    task = Task(Question(id="a", question="How many?"), setting, Path())
    unsure, sure = [Response(text="Some.")], [Response(text="\\boxed{2}")]
    (again,) = next_step(task, [unsure])
    assert again.conversation.text.endswith("Look again, and put the final answer into \\boxed{}.")
    assert next_step(task, [sure]) == next_step(task, [unsure, sure]) == ()
    assert next_step(task, [unsure, unsure, unsure]) == ()
    candidates = Candidates("a", ("1", None), ("1", "no idea"), str.__eq__, Random(0))
    assert choose_sample(setting.aggregate.how, candidates) == 1


def test_a_judge(study: Study) -> None:
    panel = study.judge.others["units"]
    units = build_instrument("units", panel)
    case = JudgeCase(id="a", question="How far?", gold=["3 m"], response="3 m")
    assert units.read("LABEL: at_the_end", case) == "at_the_end"
    assert units.read("LABEL: somewhere", case) is None
    assert columns_of(units, panel, "nowhere") == {"label": "nowhere"}
    assert "- throughout: every" in build_request(case, units).conversation.text


def test_a_section(installed: Path) -> None:
    results = SimpleNamespace(study=SimpleNamespace(cells=[Cell("m", "a"), Cell("m", "b")]))
    analysis: Any = SimpleNamespace(results=results)
    (table,) = SECTIONS.get("settings-per-model")(analysis).tables()
    assert table.rows == [{"model": "m", "settings": 2}]


def test_a_result_and_its_figure(installed: Path) -> None:
    values = pl.DataFrame(
        {"id": ["a", "b", "a"], "rules": ["robust"] * 3, "verdict": [1.0, 0.0, 0.0]}
    )
    results = SimpleNamespace(main_rules="robust", rests_on_simulation=lambda rules: True)
    analysis: Any = SimpleNamespace(item_values=values, results=results)
    table = RESULTS.get("hardest-items").tabulate(analysis)
    assert table is not None
    assert table.select("value", "estimate", "simulated").rows() == [
        ("b", 0.0, True), ("a", 0.5, True),
    ]  # fmt: skip
    chart = FIGURES.get("hardest-items-bars").draw(table)
    assert chart is not None
    assert ">b</text>" in render(chart)


def test_two_packages_that_bring_one_name_are_refused(
    installed: Path, example: Path, tmp_path: Path
) -> None:
    other = installed / "other-2.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 2.0\n")
    (other / "entry_points.txt").write_text("[omibench.prompts]\nevidence-first = other\n")
    installed_parts.cache_clear()
    file = tmp_path / "params.yaml"
    file.write_text("study: {name: any}\n")
    with pytest.raises(PluginError, match="'evidence-first' in the entry points omi"):
        parse_study_file(file)


def test_a_package_that_does_not_load_is_one_line(installed: Path) -> None:
    (installed / PACKAGE / "rules.py").write_text("import os\n\nos.nothing_of_this_name\n")
    with pytest.raises(PluginError, match=r"^omibench-example 1\.0, rules\.py, line 3: Attribute"):
        SCORERS.get("within-a-percent")


def test_a_name_that_the_package_does_not_register_is_one_line(installed: Path) -> None:
    (installed / PACKAGE / "rules.py").write_text("")
    with pytest.raises(PluginError, match=r"does not register 'within-a-percent', the name of"):
        SCORERS.get("within-a-percent")
