"""Study -> Study: stand-ins as able as print says, apart from what is real, and without a key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from command_line import app
from omibench.errors import MissingInputError, ParamsError
from omibench.models.simulated.answers import load_oracle, probability_correct
from omibench.params.models.providers import SimulatedModel
from omibench.params.study import Study, parse_study
from omibench.study.plan.rehearsal import WITHOUT_ANSWER, is_made_up, made_up_questions, rehearse

VALUES: dict[str, Any] = {
    "simulated": True,
    "study": {"name": "omi", "results": "results/omi", "store": "store", "budget_usd": 5.0},
    "benchmark": {"name": "emma-mini"},
    "models": {
        "gpt-4o": {"provider": "openai", "id": "gpt-4o", "label": "Mine", "group": "closed"},
        "own": {"provider": "openai", "id": "own", "label": "Own", "base": "gpt-4o",
                "parameters_b": 8.0},
        "judge": {"provider": "openai", "id": "gpt-4o-mini"},
    },
    "settings": {"cot": {}, "direct": {"prompt": "direct"}},
    "infer": {"models": ["gpt-4o", "own"], "settings": ["cot", "direct"]},
    "score": {"scorers": ["omibench", "published"], "judge": "judge"},
}  # fmt: skip


@pytest.fixture
def printed(tmp_path: Path) -> str:
    path = tmp_path / "main.csv"
    path.write_text("model,group,total_acc\nMine,closed,24.05\n")
    return str(path)


def study(**more: object) -> Study:
    return rehearse(parse_study(VALUES | more, "test"))


def models(of: Study) -> dict[str, SimulatedModel]:
    found = {n: m for n, m in of.models.items() if isinstance(m, SimulatedModel)}
    assert len(found) == len(of.models)
    return found


def test_a_study_that_is_not_simulated_stays_as_it_is() -> None:
    real = parse_study(VALUES | {"simulated": False}, "test")
    assert rehearse(real) is real


def test_printed_tables_that_ship_are_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: Path
) -> None:
    monkeypatch.chdir(root)
    named = {"gpt-4o": {"provider": "openai", "id": "gpt-4o", "label": "GPT-4o"}}
    asked = {"models": named, "infer": {"models": ["gpt-4o"], "settings": ["cot"]}, "score": {}}
    here = models(study(**asked))["gpt-4o"].ability
    monkeypatch.chdir(tmp_path)
    assert models(study(**asked))["gpt-4o"].ability == here
    unprinted = {**asked, "models": {"gpt-4o": named["gpt-4o"] | {"label": "Nobody's"}}}
    assert models(study(**unprinted))["gpt-4o"].ability != here


def test_all_models_are_stand_ins_with_the_names_groups_and_sizes_of_the_real_ones() -> None:
    own = models(study())["own"]
    assert (own.label, own.base, own.parameters_b) == ("Own", "gpt-4o", 8.0)
    assert own.oracle == "synthetic:emma-mini"
    assert study() == study()


def test_what_is_real_is_left_alone() -> None:
    found = study()
    assert found.benchmark.name == "synthetic"
    assert (found.study.results, found.study.store) == ("results/omi-simulated", "store-simulated")
    assert found.study.budget_usd is None
    assert found.score.scorers == ["omibench"]
    assert found.cells == parse_study(VALUES, "test").cells


def test_a_stand_in_is_as_able_as_its_model_in_print(printed: str) -> None:
    found = models(study(analyze={"published": printed}))
    rows = load_oracle("synthetic:emma-mini").rows.values()
    model = found["gpt-4o"]
    mean = sum(probability_correct(model, row, "cot") for row in rows) / len(rows)
    assert mean * (1 - WITHOUT_ANSWER) == pytest.approx(0.2405, abs=0.001)
    assert found["own"].ability != model.ability


@pytest.mark.slow
def test_settings_differ_where_print_tells_them_apart(tmp_path: Path) -> None:
    path = tmp_path / "emma.csv"
    path.write_text("model,strategy,emma_overall\nMine,direct,32.42\nMine,cot,62.71\n")
    emma = {"benchmark": {"name": "emma"}, "analyze": {"published": str(path)}}
    model = models(study(**emma))["gpt-4o"]
    assert model.setting_effects["cot"] > 1.0
    assert model.oracle == "synthetic:emma"


def test_a_table_in_a_layout_of_its_own_is_read_and_one_in_none_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "tables.yaml").write_text(
        "own.csv: {source: s, row: [name], columns: "
        "[{dataset: mine, names: right, metrics: {acc: count}, parts: {total: null}}]}"
    )
    (tmp_path / "own.csv").write_text("name,right\nMine,24.05\n")
    (tmp_path / "odd.csv").write_text("model,score\nMine,1\n")
    tables = [str(tmp_path / name) for name in ("odd.csv", "own.csv")]
    (tmp_path / "main.csv").write_text("model,total_acc\nMine,24.05\n")
    known = models(study(analyze={"published": str(tmp_path / "main.csv")}))
    assert models(study(analyze={"published": tables})) == known


def test_problems_that_are_there_are_rehearsed_on_themselves(tmp_path: Path) -> None:
    found = study(data=str(tmp_path))
    assert found.benchmark.name == "emma-mini"
    assert models(found)["own"].oracle == "results/omi-simulated/freeze/answers.jsonl"


def test_frozen_answers_are_an_oracle(tmp_path: Path) -> None:
    with made_up_questions(study()) as (like, questions):
        oracle = load_oracle(str(questions.with_name("answers.jsonl")))
        frozen = [json.loads(line) for line in questions.read_text("utf-8").splitlines()]
    assert like == "emma-mini"
    assert len(oracle.rows) == len(frozen) == 400
    row = oracle.row("synthetic-physics-1")
    assert row.choices == ["A", "B", "C", "D"]
    assert len({r.difficulty for r in oracle.rows.values()}) > 350


def test_a_study_that_cannot_be_rehearsed_says_why() -> None:
    with pytest.raises(ParamsError, match=r"benchmark\.like"):
        study(benchmark={"name": "folder"})
    assert study(benchmark={"name": "folder", "like": "usnco-v"}).benchmark.like == "usnco-v"


def test_a_study_built_from_papers_is_rehearsed_on_what_is_read_without_people() -> None:
    built = study(
        benchmark={"name": "papers"},
        ocr={"sources": "s.yaml", "engine": "mathpix", "formula_reader": "mathpix"},
        rationale={"labeller": "own", "taxonomy": {"clusters": 3, "embedder": "judge"}},
        review={"folder": "review"},
    )
    assert {model.oracle for model in models(built).values()} == {
        "results/omi-simulated/ocr/problems.jsonl"
    }
    assert (built.ocr.sources, built.ocr.is_remote, built.ocr.formula_reader) == (
        "s.yaml",
        False,
        None,
    )
    assert built.rationale.embedder is None
    assert built.review.folder is None


def test_problems_as_read_are_an_oracle(tmp_path: Path) -> None:
    row = {
        "id": "p-1", "source": "p", "source_sha256": "0" * 64, "number": "1", "pages": [1],
        "language": "en", "subject": "physics", "question": "Which? [IMAGE0] [IMAGE1]",
        "answer": ["B"], "answer_type": "mcq", "solution": None,
        "choices": [{"label": "A", "text": "x"}, {"label": "B", "text": "y"}],
        "images": [{"file": "a.png"}, {"file": "b.png"}],
    }  # fmt: skip
    path = tmp_path / "problems.jsonl"
    path.write_text(
        "".join(json.dumps(row | more) + "\n" for more in ({}, {"id": "p-2", "answer": None}))
    )
    rows = load_oracle(str(path)).rows
    known, unknown = rows["p-1"], rows["p-2"]
    assert (known.answer, known.choices, known.n_images) == (["B"], ["A", "B"], 2)
    assert len(known.captions) == 2
    assert known.statement == "Which? [IMAGE0] [IMAGE1]"
    assert known.topic
    assert unknown.answer == []


@pytest.mark.parametrize("asked", [["--synthetic"], ["--simulated"], []])
def test_a_plan_needs_no_frozen_dataset_and_says_over_what_it_is(
    tmp_path: Path, asked: list[str]
) -> None:
    line = planned(tmp_path, *asked)
    assert line[2:5] == ["400", "0", "400"]
    assert ("none" in line) is ("--simulated" in asked)
    assert ("unknown" in line) is ("--simulated" not in asked)


def planned(tmp_path: Path, *asked: str) -> list[str]:
    """The words of the only cell's row in a plan of 400 made-up questions."""
    values = VALUES | {
        "study": {"store": str(tmp_path / "store"), "results": str(tmp_path / "results")}
    }
    values |= {"simulated": False, "models": {"own": VALUES["models"]["own"] | {"base": None}}}
    values["infer"] = {"models": ["own"], "settings": ["cot"]}
    values["score"] = {"scorers": ["robust"]}
    done = CliRunner().invoke(app, ["plan", "--params", json.dumps(values), *asked])
    assert done.exit_code == 0, done.output
    assert "generated questions like those of emma-mini" in done.output
    return next(line for line in done.output.splitlines() if line.startswith("own")).split()


def test_what_can_be_had_is_not_made_up(tmp_path: Path) -> None:
    def made_up(**values: object) -> bool:
        return is_made_up(parse_study(VALUES | {"simulated": False} | values, "test"))

    assert made_up()
    assert made_up(data=str(tmp_path / "absent"))
    assert not made_up(data=str(tmp_path))
    assert made_up(benchmark={"name": "synthetic"}, data=str(tmp_path))
    assert not made_up(benchmark={"name": "papers"})
    assert not made_up(benchmark={"name": "folder"})
    assert made_up(benchmark={"name": "folder", "like": "usnco-v"})


@pytest.mark.parametrize("asked", [[], ["--simulated"]])
def test_a_plan_of_problems_that_are_there_says_how_to_freeze_them(
    root: Path, tmp_path: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    file = tmp_path / "mine.yaml"
    own = {"store": str(tmp_path / "store"), "results": str(tmp_path / "results")}
    file.write_text(
        json.dumps(VALUES | {"simulated": False, "study": own, "data": str(tmp_path)}), "utf-8"
    )
    done = CliRunner().invoke(app, ["plan", "--params", str(file), *asked])
    assert isinstance(done.exception, MissingInputError)
    more = " --config simulated=true" if asked else ""
    command = f"`snakemake freeze_all --cores all --configfile {file}{more}`"
    assert str(done.exception).endswith(command)
