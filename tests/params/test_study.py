"""The Study: one clear line for every mistake, and slices that hold what a job depends on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from omibench.errors import ParamsError
from omibench.graph.job_hash import slice_study
from omibench.params.setting import Cell
from omibench.params.study import Study, local_models, parse_study, parse_study_file

SIMULATED = {"provider": "simulated", "oracle": "oracle.jsonl"}
OPENAI = {"provider": "openai", "id": "gpt"}
DIRECT = {"prompt": "direct"}


def values(**blocks: Any) -> dict[str, Any]:
    """Two models, two settings, every pair a cell."""
    return {
        "study": {"name": "toy", "title": "Toy", "seed": 7},
        "models": {
            "a": {**SIMULATED, "label": "A", "group": "G"},
            "b": SIMULATED,
            "judge": {**SIMULATED, "true_positive_rate": 0.9},
        },
        "settings": {"cot": {"label": "CoT"}, "direct": {"prompt": "direct"}},
        "infer": {"models": ["a", "b"], "settings": ["cot", "direct"]},
        "score": {"scorers": ["robust"], "judge": "judge"},
        **blocks,
    }


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ({"modells": {}}, "modells: unknown key; did you mean 'models'?"),
        ({"ocr": {"max_page": 3}}, "ocr.max_page: unknown key; did you mean 'max_pages'?"),
        (
            {"models": {"a": {**SIMULATED, "slips": {"no_bx": 0.1}}}, "infer": {}, "score": {}},
            "models.a.slips.no_bx: unknown key; did you mean 'no_box'?",
        ),
        ({"freeze": {"version": "1"}}, "freeze.version: String should match pattern"),
        ({"score": {"judge": "jugde"}}, "score.judge: 'jugde' is not defined; did you"),
        ({"score": {"judge": ["judge", "jugde"]}}, "score.judge: 'jugde' is not"),
        ({"score": {"judge": {"models": ["judge"], "promt": "x"}}}, "promt: unknown key; did you"),
        ({"score": {"grader": {"models": []}}}, "score.grader"),
        ({"judge": {"quality": ["a", "a"]}}, "judge.quality: 'a' is listed twice"),
        ({"judge": {"errors": "jugde"}}, "judge.errors: 'jugde' is not defined; did"),
        ({"judge": {"settings": ["cott"]}}, "judge.settings: 'cott' is not defined"),
        ({"judge": {"wrong_by": "emma"}}, "judge.wrong_by: 'emma' is not defined"),
        ({"infer": {"models": ["c"], "settings": []}}, "infer.models: 'c' is not"),
        (
            {"infer": {"models": ["a"], "settings": ["cot"], "only": {"a": ["direct"]}}},
            "infer.only: 'direct' is not defined",
        ),
        (
            {"infer": {"models": ["a", "a"], "settings": ["cot"]}},
            "infer.models: 'a' is listed twice",
        ),
        ({"score": {"scorers": ["robust", "robust"]}}, "score.scorers: 'robust' is listed twice"),
        ({"analyze": {"main_scorer": "emma"}}, "analyze.main_scorer: 'emma' is not"),
        (
            {
                "models": {"a": {**SIMULATED, "setting_effects": {"dirct": 1}}},
                "infer": {"models": ["a"], "settings": ["cot", "direct"]},
                "score": {},
            },
            "models.a: 'dirct' is not defined; did you mean 'direct'?",
        ),
        ({"ocr": [1]}, "ocr: "),
        (
            {"models": {"a": {"provider": "openay"}}},
            "models.a.provider: unknown provider 'openay'; did you mean 'openai'?",
        ),
        ({"filter": {"near_duplicate": 2}}, "filter.near_duplicate: Input should be less than"),
        ({"settings": {"x/y": {}}}, "settings.x/y"),
        ({"study": {"budget_usd": float("inf")}}, "study.budget_usd: Input should be"),
        ({"study": {"budget_usd": 1e300}}, "study.budget_usd: Input should be less than"),
        ({"study": {"results": "out", "store": "./out"}}, "study: results ('out') and store ("),
        ({"study": {"results": "."}}, "study: results ('.') and store ('store') must not contain"),
        ({"study": {"store": "results/a/../store"}}, "must not contain each other"),
        (
            {"models": {"a": {**OPENAI, "base_url": "host/v1"}}},
            "models.a.base_url: is not an address",
        ),
        ({"models": {"a": {**OPENAI, "base_url": "http://[::1"}}}, "a.base_url: is not an address"),
    ],
)
def test_a_mistake_gets_one_clear_line(blocks: dict[str, Any], message: str) -> None:
    with pytest.raises(ParamsError) as error:
        parse_study(values(**blocks), "params.yaml")
    assert str(error.value).startswith("params.yaml: ")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "told",
    [
        {"key_env": "sk-proj-S3cr3tS3cr3t"},
        {"key_env": "AIzaS3cr3tS3cr3t"},
        {"base_url": "https://me:S3cr3tS3cr3t@host/v1"},
        {"base_url": "https://S3cr3tS3cr3t@host/v1"},
    ],
)
def test_a_secret_in_the_file_is_refused_and_not_shown(told: dict[str, str]) -> None:
    with pytest.raises(ParamsError, match=r"environment variable.*\(the value is not shown\)") as e:
        parse_study(values(models={"a": {**OPENAI, **told}}), "params.yaml")
    assert next(iter(told)) in str(e.value)
    assert "S3cr3t" not in str(e.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("models: [1, 2", "p.yaml, line 1: is not valid YAML"),
        ("- a\n- b\n", "p.yaml: contains a list, not blocks"),
        ("", "p.yaml: is empty; begin with a block"),
        ("ocr: {}\ndata: x\nocr: {}\n", "line 3: the key 'ocr' occurs twice, first in line 1"),
    ],
)
def test_a_file_that_is_no_params_file(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(text)
    with pytest.raises(ParamsError, match=message):
        parse_study_file(file)
    with pytest.raises(ParamsError, match=r"absent\.yaml: cannot be read: it does not exist$"):
        parse_study_file(tmp_path / "absent.yaml")


def test_a_mistake_is_told_with_its_line_or_as_the_command_lines(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text("ocr:\n  dpi: 100\n  pages: none\nscore: {}\n")
    with pytest.raises(ParamsError, match=r"p\.yaml, line 3: ocr\.pages: "):
        parse_study_file(file)
    with pytest.raises(ParamsError, match=r"^the command line: dta: unknown key; did you mean 'da"):
        parse_study_file(file, {"dta": "new", "ocr": {}})
    with pytest.raises(ParamsError, match=r"^the command line: ocr\.dpi: "):
        parse_study_file(file, {}, {"ocr": {"pages": "all", "dpi": 1}})
    file.write_text("ocr:\n  dpi: 100\n\nscore: 3\n")
    with pytest.raises(ParamsError, match=r"p\.yaml, line 4: score: is 3, but must be a block"):
        parse_study_file(file)


def test_overrides_replace_keys_and_options_replace_keys_in_blocks(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text("data: old\nocr: {max_pages: 5, dpi: 100}\n")
    study = parse_study_file(file, {"data": "new"}, {"ocr": {"max_pages": 9}})
    assert (study.data, study.ocr.max_pages, study.ocr.dpi) == ("new", 9, 100)


def test_cells_are_all_pairs_unless_narrowed() -> None:
    assert parse_study(values(), "p").cells == [
        ("a", "cot"), ("a", "direct"), ("b", "cot"), ("b", "direct")
    ]  # fmt: skip
    infer = {"models": ["a", "b"], "settings": ["cot", "direct"], "only": {"b": ["direct"]}}
    cells = parse_study(values(infer=infer), "p").cells
    assert cells == [("a", "cot"), ("a", "direct"), ("b", "direct")]


STAGES = (
    "ocr", "filter", "rationale", "freeze", "infer", "score", "judge", "certify", "analyze"
)  # fmt: skip

JUDGED = {"score", "certify", "analyze"}


def slices(blocks: dict[str, Any]) -> dict[str, str]:
    study = parse_study(values(**blocks), "p")
    found = {s: json.dumps(slice_study(study, s)) for s in STAGES if s != "infer"}
    cells = {str(c): json.dumps(slice_study(study, "infer", Cell(*c))) for c in study.cells}
    return {**found, **cells}


def changed(**blocks: Any) -> set[str]:
    before, after = slices({}), slices(blocks)
    return {name for name in after if after[name] != before.get(name)}


@pytest.mark.parametrize(
    ("blocks", "expected"),
    [
        ({}, set()),
        ({"study": {"name": "toy", "title": "New", "seed": 7}}, {"analyze"}),
        ({"filter": {"min_images": 3}}, {"filter"}),
        ({"ocr": {"dpi": 200}}, {"ocr"}),
        ({"freeze": {"version": "2.0.0"}}, {"freeze"}),
        ({"analyze": {"confidence": 0.9}}, {"certify", "analyze"}),
        ({"certify": {"labels": "labels.csv"}}, {"certify", "analyze"}),
        (
            {"settings": {"cot": {"label": "Other"}, "direct": DIRECT}},
            {"analyze"},
        ),
        (
            {"settings": {"cot": {"label": "CoT", "images": "first"}, "direct": DIRECT}},
            {"('a', 'cot')", "('b', 'cot')", "analyze"},
        ),
        ({"score": {"scorers": ["omibench"], "judge": "judge"}}, JUDGED),
        ({"score": {"scorers": ["robust"], "judge": ["judge", "a"]}}, JUDGED),
        ({"judge": {"quality": "judge"}}, {"judge", "certify", "analyze"}),
    ],
)  # fmt: skip
def test_a_slice_changes_only_with_what_its_job_depends_on(
    blocks: dict[str, Any], expected: set[str]
) -> None:
    found = {name.replace("Cell(model=", "(").replace("setting=", "") for name in changed(**blocks)}
    assert found == expected


def test_one_judge_or_several_in_short_or_in_full() -> None:
    short, full = ({"judge": "judge"}, {"judge": {"models": ["judge"]}})
    assert parse_study(values(score=short), "p") == parse_study(values(score=full), "p")
    study = parse_study(values(score={"rules": ["mathreal"], "judge": ["a", "b"]}), "p")
    assert {name: panel.models for name, panel in study.panels("score").items()} == {
        "gptscore": ["a", "b"], "grade": ["a", "b"], "extraction": ["a", "b"]
    }  # fmt: skip
    assert study.judges("score") == ["a", "b"]
    only = study.score.without_gptscore()
    assert list(only.panels) == ["grade", "extraction"]


def test_gptscore_is_the_papers_unless_another_variant_is_named() -> None:
    judge = parse_study(values(score={"judge": "judge"}), "p").score.judge
    assert judge is not None
    assert judge.variant == "justified"
    named = {"models": ["judge"], "variant": "bare_answers"}
    with pytest.raises(ParamsError, match=r"score\.judge.*variant.*'justified' or 'bare-answers'"):
        parse_study(values(score={"judge": named}), "p")


def test_cells_are_judged_where_somebody_is_named() -> None:
    assert parse_study(values(judge={"settings": ["cot"]}), "p").judged_cells == []
    judged = parse_study(values(judge={"errors": "judge", "settings": ["cot"]}), "p").judged_cells
    assert judged == [Cell("a", "cot"), Cell("b", "cot")]


def test_which_settings_are_judged_reruns_no_cell() -> None:
    one = parse_study(values(judge={"quality": "judge", "settings": ["cot"]}), "p")
    both = parse_study(values(judge={"quality": "judge"}), "p")
    assert slice_study(one, "judge") == slice_study(both, "judge")


def sampled(**aggregate: Any) -> Study:
    setting = {"decoding": {"samples": 4}, "aggregate": aggregate, "label": "Votes"}
    settings = {"cot": setting, "direct": DIRECT}
    return parse_study(values(settings=settings), "p")


def test_how_samples_become_one_asks_no_respondent_again() -> None:
    cell = Cell("a", "cot")
    one, other = sampled(how="majority"), sampled(how="best-of-n", judge="self", k=[2])
    assert one.aggregated_cells == [cell, Cell("b", "cot")]
    assert slice_study(one, "infer", cell) == slice_study(other, "infer", cell)
    assert slice_study(one, "score") == slice_study(other, "score")
    assert slice_study(one, "aggregate", cell) != slice_study(other, "aggregate", cell)
    assert set(slice_study(other, "aggregate", cell)["models"]) == {"a"}
    assert "models" not in slice_study(one, "aggregate", cell)
    for study in (one, other):
        given = slice_study(study, "aggregate", cell)
        assert slice_study(parse_study_file(json.dumps(given)), "aggregate", cell) == given


def test_samples_are_aggregated_whatever_was_shown() -> None:
    """A captioner is no parameter of the aggregation, which it could not be read without."""
    study, cell = sampled(), Cell("a", "cot")
    values = study.model_dump(mode="json", exclude_defaults=True)
    values["settings"]["cot"]["images"] = {"show": "captions", "model": "b"}
    given = slice_study(Study.model_validate(values), "aggregate", cell)
    assert given == slice_study(study, "aggregate", cell)


def test_a_choice_by_a_reward_model_depends_on_what_it_is_shown() -> None:
    cell = Cell("a", "cot")
    study = sampled(how="best-of-n", judge="b")
    values = study.model_dump(mode="json", exclude_defaults=True)
    values["settings"]["cot"]["images"] = {"show": "captions", "model": "b"}
    values["settings"]["cot"]["without"] = ["choices"]
    given = slice_study(Study.model_validate(values), "aggregate", cell)
    kept = given["settings"]["cot"]
    assert (kept["images"], kept["without"]) == (
        {"show": "captions", "model": "b"}, ["choices"],
    )  # fmt: skip
    assert "label" not in kept
    assert slice_study(parse_study_file(json.dumps(given)), "aggregate", cell) == given


@pytest.mark.parametrize(
    ("aggregate", "message"),
    [
        ({"how": "best-of-n"}, "'best-of-n' needs `judge`"),
        ({"how": "majority", "judge": "a"}, "'majority' takes no `judge`"),
        ({"how": "majority", "k": [5]}, "aggregate.k contains 5, but decoding.samples is 4"),
        ({"how": "majority", "runs": 3}, "aggregate.runs is 3, but decoding.samples is 4; set it"),
        ({"how": "majority", "runs": 4}, "set it to a multiple of 4, at least 8"),
        ({"how": "first", "runs": 2, "k": [3]}, "contains 3, but decoding.samples is 2 per run"),
        ({"runs": 2}, "runs are only for first and majority, not for mean"),
        ({"how": "tournament", "judge": "nobody"}, "settings.cot.aggregate.judge: 'nobody'"),
        ({"how": "mode"}, "aggregate.how: unknown rule of aggregation 'mode'; known: mean, first"),
    ],
)
def test_a_mistake_in_an_aggregate_is_one_line(aggregate: dict[str, Any], message: str) -> None:
    with pytest.raises(ParamsError) as error:
        sampled(**aggregate)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_slice_is_a_study_of_its_own() -> None:
    study = parse_study(values(), "p")
    for stage in STAGES:
        cell = Cell("a", "cot") if stage == "infer" else None
        text = json.dumps(slice_study(study, stage, cell))
        assert slice_study(parse_study_file(text), stage, cell) == json.loads(text)


def test_the_example_studies_are_valid(root: Path) -> None:
    for file in [root / "params.yaml", *sorted((root / "studies").glob("*.yaml"))]:
        study = parse_study_file(file)
        assert study.cells, file
        header = file.read_text("utf-8").splitlines()[0]
        schema = header.removeprefix("# yaml-language-server: $schema=")
        assert (file.parent / schema).is_file(), header


def test_local_models_are_asked_under_all_their_settings_in_one_job() -> None:
    local = {"provider": "transformers", "id": "some/model"}
    blocks = {
        "models": {"a": local, "b": SIMULATED, "judge": SIMULATED},
        "infer": {"models": ["a", "b"], "settings": ["cot", "direct"], "only": {"b": ["cot"]}},
    }
    study = parse_study(values(**blocks), "p")
    assert local_models(study) == ["a"]
    by_look = values(**blocks) | {"infer": {**blocks["infer"], "adaptive": {"looks": [0.5, 1]}}}
    assert local_models(parse_study(by_look, "p")) == []
    together = slice_study(study, "infer", Cell("a", ""))
    assert list(together["settings"]) == ["cot", "direct"]
    assert list(together["models"]) == ["a"]
    assert list(slice_study(study, "infer", Cell("b", ""))["settings"]) == ["cot"]


def test_every_key_of_a_block_survives_yaml(tmp_path: Path) -> None:
    """YAML 1.1 reads `on`, `off`, `yes` and `no` as booleans, so no key may be called so."""
    import yaml

    from omibench.graph.result_files import params_schema

    schema = json.loads(params_schema())
    blocks = [schema, *schema["$defs"].values()]
    names = {name for block in blocks for name in block.get("properties", {})}
    assert "as_of" in names
    for name in names:
        assert yaml.safe_load(f"{{{name}: 1}}") == {name: 1}


def test_the_models_in_the_guides_are_valid(root: Path) -> None:
    import re

    import yaml

    found = 0
    for page in sorted((root / "docs").rglob("*.md")):
        for block in re.findall(r"```yaml\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            values = yaml.safe_load(block)
            if isinstance(values, dict) and "models" in values:
                parse_study({"models": values["models"]}, page.name)
                found += 1
    assert found >= 4
