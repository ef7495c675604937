"""A cell looked into: every place of every picture, bought once; its maps; what it cannot do."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.stages.saliency.conftest import Make

from omibench.errors import ModelError, ParamsError
from omibench.graph.slices import slice_study
from omibench.params.cell import Cell
from omibench.plan import plan_study
from omibench.schemas.saliency_row import SaliencyRow
from omibench.schemas.tables import read_parquet
from omibench.stages.infer import infer_cell
from omibench.stages.saliency.stage import saliency_cell

CELL = Cell("sim", "direct")


def test_a_cell_has_every_place_and_its_maps(results: Path, study: Make) -> None:
    out = results / "saliency" / "sim" / "direct.parquet"
    count = saliency_cell(results, out, study(), CELL)
    frame = read_parquet(out, SaliencyRow)
    assert frame.height == count
    assert frame["id"].n_unique() == 2, "at most as many problems as `problems` says"
    assert set(frame["option"]) == set("ABCD")
    assert frame["simulated"].all()
    one = frame.filter(pl.col("id") == frame["id"][0], pl.col("option") == "B")
    large, small = (one.filter(image=number) for number in (0, 1))
    # 640 x 420 is scaled to 532 x 364, and 130 x 90 to 140 x 84.
    assert (large.height, small.height) == (18 * 12, 4 * 2)
    assert one["drop"].abs().max() > 0.01  # type: ignore[operator]
    chosen = frame.filter("chosen").unique("id")
    maps = {path.name for path in out.with_suffix("").iterdir()}
    expected = {f"{r['id']}-{n}-{r['option']}.png" for r in chosen.to_dicts() for n in (0, 1)}
    assert expected <= maps


def test_a_second_run_asks_nothing_and_writes_the_same(results: Path, study: Make) -> None:
    one, other = results / "one.parquet", results / "other.parquet"
    saliency_cell(results, one, study(), CELL)
    kept = sorted((results.parent / "store").glob("*/*.jsonl"))
    sizes = [path.stat().st_size for path in kept]
    saliency_cell(results, other, study(), CELL)
    assert one.read_bytes() == other.read_bytes()
    assert [path.stat().st_size for path in kept] == sizes
    files = list((results / "pictures").rglob("*.png"))
    assert len(files) == 2, "a patch makes no picture of its own"


def test_after_a_response_the_letter_is_asked_for_last(results: Path, study: Make) -> None:
    cell = Cell("sim", "cot")
    infer_cell(results / "freeze/questions.jsonl", results / "infer/sim/cot.parquet", study(), cell)
    saliency_cell(results, results / "out.parquet", study(), cell)
    lines = "".join(p.read_text() for p in (results.parent / "store").glob("*/*.jsonl"))
    assert '"text":"Which option is it? Reply with its letter alone."' in lines


def test_a_setting_in_several_steps_is_refused(results: Path, study: Make) -> None:
    settings = {"direct": {"images": {"show": "captions", "model": "sim"}}}
    alone = {"settings": ["direct"]}
    stepped = study(settings=settings, infer={"models": ["sim"], **alone}, saliency=alone)
    with pytest.raises(ParamsError, match="'direct' asks in several steps"):
        saliency_cell(results, results / "out.parquet", stepped, CELL)


def test_a_model_without_log_probabilities_is_refused(
    results: Path, study: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-planted")
    block = {"provider": "anthropic", "id": "claude", "base_url": "http://127.0.0.1:9"}
    with pytest.raises(ModelError, match=r"model 'sim' gives no log-probabilities of options"):
        saliency_cell(results, results / "out.parquet", study(models={"sim": block}), CELL)


def test_a_benchmark_without_choices_is_refused(results: Path, study: Make) -> None:
    questions = results / "freeze" / "questions.jsonl"
    kept = [line for line in questions.read_text().splitlines() if '"id":"open"' in line]
    questions.write_text("\n".join(kept) + "\n")
    with pytest.raises(ParamsError, match="none of the problems has choices"):
        saliency_cell(results, results / "out.parquet", study(), CELL)


def test_a_cell_does_not_depend_on_which_others_are_looked_into(study: Make) -> None:
    both = {"settings": ["direct", "cot"], "after_response": ["cot"], "problems": 2}
    alone = {"settings": ["direct"], "problems": 2, "models": ["sim"]}
    found = [slice_study(study(saliency=block), "saliency", CELL) for block in (both, alone)]
    assert found[0] == found[1]
    assert "after_response" not in found[0]["saliency"]


def test_names_that_do_not_exist_are_refused(study: Make) -> None:
    with pytest.raises(ParamsError, match=r"saliency.settings names 'cott'"):
        study(saliency={"settings": ["cott"]})


def test_the_plan_counts_every_place_before_and_after(results: Path, study: Make) -> None:
    questions = results / "freeze" / "questions.jsonl"
    before = {row.setting: row for row in plan_study(study(), questions).list_rows("scorer")}
    places = 1 + 18 * 12 + 4 * 2
    assert {s: (r.requests, r.to_buy) for s, r in before.items()} == {
        "direct": (2 * places, 2 * places),
        "cot": (2 * places, 2 * places),
    }
    assert (before["direct"].estimated, before["cot"].estimated) == (0, 2 * places)
    assert not (results / "pictures").exists(), "a plan draws nothing"
    saliency_cell(results, results / "saliency/sim/direct.parquet", study(), CELL)
    after = {row.setting: row for row in plan_study(study(), questions).list_rows("scorer")}
    assert (after["direct"].stored, after["direct"].to_buy) == (2 * places, 0)
