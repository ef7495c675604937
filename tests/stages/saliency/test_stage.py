"""A cell looked into: every place of every picture, bought once; its maps; what it cannot do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.stages.saliency.conftest import Make, write_responses

from omibench.errors import ModelError, ParamsError
from omibench.graph.job_hash import slice_study
from omibench.params.setting import Cell
from omibench.params.study import Study
from omibench.schemas.tables import SaliencyRow, read_parquet
from omibench.stages.infer import infer_cell
from omibench.stages.saliency.stage import saliency_cell
from omibench.study.plan.build import plan_study

CELL = Cell("sim", "direct")
COT = Cell("sim", "cot")
BLOCK: dict[str, Any] = {"settings": ["direct", "cot"], "problems": 2, "max_pixels": 200_704}


def look(results: Path, study: Study, cell: Cell = CELL) -> pl.DataFrame:
    """The rows of a cell whose responses are there."""
    out = results / "saliency" / cell.model / f"{cell.setting}.parquet"
    count = saliency_cell(results, out, study, cell)
    frame = read_parquet(out, SaliencyRow)
    assert frame.height == count
    return frame


def list_turns(results: Path) -> list[list[dict[str, Any]]]:
    """The messages of each stored request, in the order in which they were asked."""
    files = sorted((results.parent / "store").glob("*/*.jsonl"))
    lines = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    return [line["request"]["messages"] for line in lines]


def test_a_cell_has_every_place_and_its_maps(results: Path, study: Make) -> None:
    write_responses(results, CELL)
    frame = look(results, study())
    assert frame["id"].n_unique() == 2, "at most as many problems as `problems` says"
    assert set(frame["option"]) == set("ABCD")
    assert frame["simulated"].all()
    one = frame.filter(pl.col("id") == frame["id"][0], pl.col("option") == "B")
    large, small = (one.filter(image=number) for number in (0, 1))
    # 640 x 420 is scaled to 532 x 364, and 130 x 90 to 140 x 84.
    assert (large.height, small.height) == (18 * 12, 4 * 2)
    assert one["drop"].abs().max() > 0.01  # type: ignore[operator]
    assert set(frame.filter("chosen")["option"]) == {"B"}, "what the response ends on"
    maps = {path.name for path in (results / "saliency/sim/direct").iterdir()}
    assert maps == {f"{name}-{n}-B.png" for name in frame["id"].unique() for n in (0, 1)}


def test_log_probabilities_are_over_the_options(results: Path, study: Make) -> None:
    write_responses(results, CELL)
    frame = look(results, study())
    uncovered = frame.unique(["id", "option"]).group_by("id").agg(pl.col("logprob").exp().sum())
    assert uncovered["logprob"].to_list() == pytest.approx([1.0, 1.0])
    covered = frame.group_by("id", "image", "x", "y").agg(
        (pl.col("logprob") - pl.col("drop")).exp().sum().alias("sum")
    )
    assert covered["sum"].to_list() == pytest.approx([1.0] * covered.height)


def test_pictures_are_shown_as_they_are_by_default(results: Path, study: Make) -> None:
    write_responses(results, CELL)
    frame = look(results, study(saliency=BLOCK | {"max_pixels": None}))
    one = frame.filter(pl.col("id") == frame["id"][0], pl.col("option") == "B")
    # 640 x 420: 21 steps of 28 and the last place at 584; 130 x 90: 0, 28, 56, 74 and 0, 28, 34.
    assert [one.filter(image=n).height for n in (0, 1)] == [22 * 14, 4 * 3]
    assert set(frame["max_pixels"]) == {None}
    assert not (results / "pictures").exists()


@pytest.mark.parametrize(
    ("reading", "turns"),
    [
        ("final_letter", ["The left one is longer than C.\nThe answer is "]),
        (
            "before_answer",
            ["The left one is longer than C.", "Which option is it? Reply with its letter alone."],
        ),
    ],
)
def test_the_letter_is_not_seen_before_it_is_asked_for(
    results: Path, study: Make, reading: str, turns: list[str]
) -> None:
    write_responses(results, COT)
    frame = look(results, study(saliency=BLOCK | {"reading": reading}), COT)
    for first, *messages in list_turns(results):
        assert first["role"] == "user"
        assert [m["parts"][0]["text"] for m in messages] == turns
        assert [m["role"] for m in messages] == ["assistant", "user"][: len(turns)]
    assert set(frame["reading"]) == {reading}
    assert not frame["declares"].any()


def test_the_readings_share_no_request_and_a_direct_answer_is_asked_for_at_once(
    results: Path, study: Make
) -> None:
    keys = {}
    for reading in ("final_letter", "before_answer"):
        block = BLOCK | {"reading": reading}
        write_responses(results, COT)
        write_responses(results, CELL, q0="B", q1="B", q2="B")
        frames = [look(results, study(saliency=block), cell) for cell in (COT, CELL)]
        keys[reading] = [set(frame["key"]) for frame in frames]
    assert not keys["final_letter"][0] & keys["before_answer"][0]
    assert keys["final_letter"][1] == keys["before_answer"][1]
    assert min(len(messages) for messages in list_turns(results)) == 1


def test_a_response_without_a_letter_is_an_outcome_with_its_reason(
    results: Path, study: Make
) -> None:
    texts = {"q0": "", "q1": "Nothing can be said.", "q2": "It is B.\nSo the answer is B."}
    write_responses(results, COT, **texts)
    frame = look(results, study(saliency=BLOCK | {"problems": None}), COT)
    rows = {row["id"]: row for row in frame.filter(pl.col("outcome") != "scored").to_dicts()}
    assert {name: (row["outcome"], row["reason"]) for name, row in rows.items()} == {
        "q0": ("no_response", "refused"),
        "q1": ("no_letter", "no option is declared (unparsed)"),
    }
    assert set(frame.filter(outcome="scored")["id"]) == {"q2"}
    assert {row["reading"] for row in rows.values()} == {"final_letter"}


def test_a_setting_in_several_steps_is_refused(results: Path, study: Make) -> None:
    settings = {"direct": {"images": {"show": "captions", "model": "sim"}}}
    alone = {"settings": ["direct"]}
    stepped = study(settings=settings, infer={"models": ["sim"], **alone}, saliency=alone)
    write_responses(results, CELL)
    with pytest.raises(ParamsError, match="'direct' has several steps"):
        saliency_cell(results, results / "out.parquet", stepped, CELL)


ENDPOINT = {"id": "m", "base_url": "http://127.0.0.1:9", "key_env": "PLANTED_KEY"}


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ({"provider": "anthropic"}, r"model 'sim' returns no log-probabilities of options"),
        ({"provider": "openai"}, r"set `can: \{logprobs: true\}`"),
        (
            {"provider": "openai", "can": {"logprobs": True}},
            r"model 'sim' cannot score a letter inside a response: set `can: \{prefill",
        ),
    ],
)
def test_a_model_that_cannot_do_it_is_refused_also_by_the_plan(
    results: Path, study: Make, monkeypatch: pytest.MonkeyPatch, block: dict[str, Any], reason: str
) -> None:
    monkeypatch.setenv("PLANTED_KEY", "sk-planted")
    write_responses(results, CELL)
    refused = study(models={"sim": ENDPOINT | block})
    with pytest.raises(ModelError, match=reason):
        saliency_cell(results, results / "out.parquet", refused, CELL)
    with pytest.raises(ModelError, match=reason):
        plan_study(refused, results / "freeze" / "questions.jsonl")


def test_a_benchmark_without_choices_is_refused(results: Path, study: Make) -> None:
    write_responses(results, CELL)
    questions = results / "freeze" / "questions.jsonl"
    kept = [line for line in questions.read_text().splitlines() if '"id":"open"' in line]
    questions.write_text("\n".join(kept) + "\n")
    with pytest.raises(ParamsError, match="none of the problems has choices"):
        saliency_cell(results, results / "out.parquet", study(), CELL)


def test_a_cell_depends_on_the_reading_and_the_resolution(study: Make) -> None:
    changes: list[dict[str, Any]] = [{}, {"reading": "before_answer"}, {"max_pixels": 100_352}]
    slices = [slice_study(study(saliency=BLOCK | c), "saliency", CELL) for c in changes]
    assert all(a != b for n, a in enumerate(slices) for b in slices[:n])


def test_names_that_do_not_exist_are_refused(study: Make) -> None:
    with pytest.raises(ParamsError, match=r"saliency.settings: 'cott'"):
        study(saliency={"settings": ["cott"]})


@pytest.mark.parametrize("reading", ["final_letter", "before_answer"])
@pytest.mark.parametrize(
    ("max_pixels", "places"), [(200_704, 18 * 12 + 4 * 2), (None, 22 * 14 + 4 * 3)]
)
def test_the_plan_counts_every_place_before_and_after(
    results: Path, study: Make, reading: str, max_pixels: int | None, places: int
) -> None:
    questions = results / "freeze" / "questions.jsonl"
    planned = study(saliency=BLOCK | {"reading": reading, "max_pixels": max_pixels})
    before = {row.setting: row for row in plan_study(planned, questions).list_rows("scorer")}
    passes = 2 * (1 + places)
    for row in before.values():
        assert (row.requests, row.to_buy, row.estimated) == (passes, passes, passes)
    assert not (results / "pictures").exists(), "a plan draws nothing"
    infer_cell(questions, results / "infer/sim/cot.parquet", planned, COT)
    frame = look(results, planned, COT)
    scored = frame.filter(outcome="scored")["id"].n_unique()
    after = {row.setting: row for row in plan_study(planned, questions).list_rows("scorer")}
    passes = scored * (1 + places)
    assert (after["cot"].stored, after["cot"].to_buy, after["cot"].requests) == (passes, 0, passes)
