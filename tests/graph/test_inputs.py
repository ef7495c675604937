"""Every file that the parameters name is an input of the jobs that read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.graph.inputs import list_missing_files, list_named_files
from omibench.graph.job_hash import slice_study
from omibench.params.setting import Cell
from omibench.params.study import parse_study


def test_each_stage_names_the_files_that_its_parameters_name(tmp_path: Path) -> None:
    for name in ("b.parquet", "a.jsonl", "notes.txt"):
        (tmp_path / name).touch()
    study = parse_study(
        {
            "data": str(tmp_path),
            "benchmark": {"name": "emma"},
            "models": {
                "sim": {"provider": "simulated", "oracle": "oracle.jsonl"},
                "old": {"provider": "recorded", "responses": {"own": ["r.parquet"], "cot": []}},
            },
            "settings": {"own": {"prompt": "prompts/mine.txt"}, "cot": {}},
            "infer": {"models": ["sim", "old"], "settings": ["own", "cot"]},
            "rationale": {"writer": "sim"},
            "review": {"decisions": "review.yaml"},
            "score": {"judge": "sim"},
            "analyze": {"published": "printed.csv"},
        },
        "test",
    )
    assert list_named_files(study, "infer", Cell("sim", "own")) == [
        "prompts/mine.txt",
        "oracle.jsonl",
    ]
    assert list_named_files(study, "infer", Cell("sim", "cot")) == ["oracle.jsonl"]
    assert list_named_files(study, "infer", Cell("old", "own"))[1:] == [str(tmp_path / "r.parquet")]
    assert list_named_files(study, "score") == ["oracle.jsonl"]
    assert list_named_files(study, "judge") == []
    assert list_named_files(study, "rationale") == ["oracle.jsonl"]
    block = study.rationale.model_copy(update={"tokenizer": "tokenizer.json"})
    measured = study.model_copy(update={"rationale": block})
    assert list_named_files(measured, "rationale") == ["tokenizer.json", "oracle.jsonl"]
    own = [str(tmp_path / "a.jsonl"), str(tmp_path / "b.parquet")]
    assert list_named_files(study, "freeze") == ["review.yaml", *own]
    assert list_named_files(study, "analyze") == ["printed.csv"]
    assert list_named_files(study, "filter") == list_named_files(study, "ocr") == []


def test_the_filter_names_its_prompts_and_what_its_models_read() -> None:
    study = parse_study(
        {
            "models": {
                "sim": {"provider": "simulated", "oracle": "oracle.jsonl"},
                "other": {"provider": "simulated", "oracle": "other.jsonl"},
            },
            "filter": {
                "translation": {"model": "sim", "prompt": "prompts/translate.txt"},
                "completeness": {"models": ["sim"], "prompt": "prompts/vote.txt"},
                "captions": {
                    "captioner": "other", "models": ["sim"], "prompt": "prompts/try.txt",
                    "caption_prompt": "prompts/caption.txt",
                },
                "difficulty": {"models": ["sim"]},
            },
        },
        "test",
    )  # fmt: skip
    assert list_named_files(study, "filter") == [
        "prompts/translate.txt", "prompts/vote.txt", "prompts/caption.txt", "prompts/try.txt",
        "oracle.jsonl", "other.jsonl",
    ]  # fmt: skip
    assert "prompts/vote.txt" in list_missing_files(study)


@pytest.mark.parametrize(("engine", "named"), [("vision", ["oracle.jsonl"]), ("rapidocr", [])])
def test_a_model_that_reads_pages_names_what_it_answers_from(engine: str, named: list[str]) -> None:
    study = parse_study(
        {
            "models": {"sim": {"provider": "simulated", "oracle": "oracle.jsonl"}},
            "ocr": {"engine": engine, "reader": "sim"},
        },
        "test",
    )
    assert list_named_files(study, "ocr") == list_missing_files(study) == named


@pytest.mark.parametrize(
    ("reader", "named"), [("sim", ["words.txt", "oracle.jsonl"]), ("mathpix", [])]
)
def test_a_model_that_reads_formulas_names_them_too_whatever_reads_pages(
    reader: str, named: list[str]
) -> None:
    study = parse_study(
        {
            "models": {"sim": {"provider": "simulated", "oracle": "oracle.jsonl"}},
            "ocr": {"formula_reader": reader, "prompts": {"formula": "words.txt"}},
        },
        "test",
    )
    assert list_named_files(study, "ocr") == named
    assert set(slice_study(study, "ocr").get("models", {})) == ({"sim"} if named else set())


def test_prompts_and_taxonomies_of_judges_are_read_by_their_jobs() -> None:
    sim = {"provider": "simulated", "oracle": "oracle.jsonl"}
    study = parse_study(
        {
            "models": {"a": sim, "b": {**sim, "oracle": "other.jsonl"}},
            "score": {
                "scorers": ["mathreal"],
                "judge": {"models": ["a", "b"], "prompt": "gpt.txt"},
                "grader": {"models": ["a"], "prompt": "grade.txt"},
            },
            "judge": {
                "quality": {"models": ["b"], "prompt": "quality.txt"},
                "errors": {"models": ["b"], "taxonomy": "types.yaml", "labels": "errors.csv"},
            },
        },
        "test",
    )
    assert list_named_files(study, "score") == [
        "gpt.txt",
        "grade.txt",
        "oracle.jsonl",
        "other.jsonl",
    ]
    assert list_named_files(study, "judge") == ["quality.txt", "other.jsonl", "types.yaml"]
    assert list_named_files(study, "analyze") == ["errors.csv", "types.yaml"]


def test_files_of_people_and_other_benchmarks_are_inputs_of_the_report() -> None:
    files = {"people": "people.csv", "people_cutoffs": "c.csv", "external_scores": "scores.csv"}
    study = parse_study({"analyze": files}, "test")
    assert sorted(list_named_files(study, "analyze")) == sorted(files.values())
    assert sorted(list_missing_files(study)) == sorted(files.values())


def test_named_files_that_are_not_there_are_told_but_for_recorded_responses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("oracle.jsonl").touch()
    study = parse_study(
        {
            "models": {
                "sim": {"provider": "simulated", "oracle": "oracle.jsonl"},
                "old": {"provider": "recorded", "responses": {"own": ["r.parquet"]}},
            },
            "settings": {"own": {"prompt": "mine.txt"}, "cot": {}},
            "infer": {
                "models": ["sim", "old"],
                "settings": ["own", "cot"],
                "only": {"old": ["own"]},
            },
            "certify": {"labels": "labels.csv"},
        },
        "test",
    )
    assert list_missing_files(study) == ["mine.txt", "labels.csv"]
    for name in ("labels.csv", "mine.txt"):
        Path(name).touch()
    assert list_missing_files(study) == []


def test_what_a_settings_helpers_read_is_read_by_its_jobs() -> None:
    sim = {"provider": "simulated", "oracle": "oracle.jsonl"}
    captions = {"show": "captions", "model": "eyes", "prompt": "caption.txt"}
    study = parse_study(
        {
            "models": {"sim": sim, "eyes": {**sim, "oracle": "other.jsonl"}},
            "settings": {"words": {"images": captions}, "cot": {}},
            "infer": {"models": ["sim"], "settings": ["words", "cot"]},
        },
        "test",
    )
    words = list_named_files(study, "infer", Cell("sim", "words"))
    assert words == ["caption.txt", "oracle.jsonl", "other.jsonl"]
    assert list_named_files(study, "infer", Cell("sim", "cot")) == ["oracle.jsonl"]


def test_prompts_of_the_judge_that_chooses_among_samples_are_read_by_its_jobs() -> None:
    judge = {"models": ["sim"], "prompt": "choose.txt"}
    aggregate = {"how": "best-of-n", "judge": judge}
    study = parse_study(
        {
            "models": {"sim": {"provider": "simulated", "oracle": "oracle.jsonl"}},
            "settings": {
                "cot": {},
                "best": {"decoding": {"samples": 4, "temperature": 0.7}, "aggregate": aggregate},
            },
            "infer": {"models": ["sim"], "settings": ["cot", "best"]},
        },
        "test",
    )
    named = list_named_files(study, "aggregate", Cell("sim", "best"))
    assert set(named) == {"choose.txt", "oracle.jsonl"}
    assert list_named_files(study, "infer", Cell("sim", "best")) == ["oracle.jsonl"]


def test_freeze_reads_the_tasks_and_decisions_of_a_review(tmp_path: Path) -> None:
    folder = tmp_path / "review"
    folder.mkdir()
    study = parse_study({"review": {"folder": str(folder)}}, "test")
    assert list_missing_files(study, ["freeze"]) == [], "earlier stages run before there are tasks"
    files = [folder / name for name in ("tasks.jsonl", "decisions.jsonl")]
    for number, file in enumerate(files, 1):
        file.touch()
        assert list_named_files(study, "freeze") == [str(name) for name in files[:number]]
    other = parse_study({"review": {"folder": str(folder)}, "benchmark": {"name": "emma"}}, "test")
    assert list_named_files(other, "freeze") == []


def test_a_calibration_of_people_freezes_nothing_again() -> None:
    block: dict[str, object] = {"folder": "review", "reviewers": 1}
    plain, tested = (
        slice_study(parse_study({"review": block | own}, "test"), "freeze")
        for own in ({}, {"calibration": {"items": 12}})
    )
    assert plain == tested == {"review": block}
    assert slice_study(parse_study({"review": {"calibration": {}}}, "test"), "freeze") == {}


def test_the_report_reads_the_review_that_is_there(tmp_path: Path) -> None:
    review = {"folder": str(tmp_path), "reviewers": 1, "calibration": {"items": 12}}
    study = parse_study({"review": review}, "test")
    assert slice_study(study, "analyze")["review"] == {
        "folder": str(tmp_path),
        "reviewers": 1,
    }
    assert list_named_files(study, "analyze") == []
    for name in ("tasks.jsonl", "decisions.jsonl", "reviewers.yaml"):
        (tmp_path / name).touch()
        assert str(tmp_path / name) in list_named_files(study, "analyze")
    assert "review" not in slice_study(parse_study({"review": {"reviewers": 1}}, "test"), "analyze")


def test_rules_that_are_allowed_alone_need_their_own_files_alone() -> None:
    study = parse_study(
        {
            "models": {"sim": {"provider": "simulated", "oracle": "oracle.jsonl"}},
            "settings": {"own": {"prompt": "prompts/mine.txt"}},
            "infer": {"models": ["sim"], "settings": ["own"]},
            "review": {"decisions": "review.yaml"},
        },
        "test",
    )
    assert list_missing_files(study) == ["review.yaml", "prompts/mine.txt", "oracle.jsonl"]
    assert list_missing_files(study, ["freeze"]) == ["review.yaml"]
    assert list_missing_files(study, ["fill"]) == ["prompts/mine.txt", "oracle.jsonl"]
    assert list_missing_files(study, ["score", "filter"]) == []
