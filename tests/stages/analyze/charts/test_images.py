"""Every model is drawn, and no line is drawn on a handful of problems."""

from __future__ import annotations

import random

import polars as pl
import pytest
from tests.stages.analyze.conftest import Folders, analysis_of

from omibench.params.study import Study
from omibench.results.load import Results, load_results
from omibench.stages.analyze.charts.images import (
    MIN_PROBLEMS,
    MOST_MODELS,
    Point,
    draw_images,
    join_points,
    models,
    points,
)
from omibench.stages.analyze.results.accuracy import list_image_bins


@pytest.fixture(scope="module")
def results(made: Folders) -> Results:
    return load_results(*made[:3], made.study)


def test_every_model_has_its_points(results: Results) -> None:
    found = points(analysis_of(results))
    assert {p.model for p in found} == {"sim-strong", "sim-middle", "sim-weak"}
    assert sum(p.n for p in found if p.model == "sim-weak") == 28  # a problem once
    full = results.select_verdicts("robust").filter(pl.col("setting") != "first-image")
    for model in ("sim-strong", "sim-middle", "sim-weak"):
        own = [p for p in found if p.model == model]
        mean = sum(p.acc * p.n for p in own) / sum(p.n for p in own)
        assert mean == pytest.approx(100 * full.filter(model=model)["verdict"].mean())


def test_lines_join_neighbours_that_rest_on_enough_problems() -> None:
    ns = [MIN_PROBLEMS, MIN_PROBLEMS, MIN_PROBLEMS - 1, MIN_PROBLEMS, MIN_PROBLEMS]
    found = [Point("m", b, 50.0, n) for b, n in zip("12345", ns, strict=True)]
    random.Random(1).shuffle(found)
    pairs = [(a.images, b.images) for a, b in join_points(found, list("12345"))]
    assert pairs == [("1", "2"), ("4", "5")]
    assert [p.images for p in found if p.few] == ["3"]


def test_a_bin_that_a_model_did_not_answer_breaks_its_line() -> None:
    found = [Point("m", b, 50.0, MIN_PROBLEMS) for b in "13"]
    assert join_points(found, list("123")) == []


def drawn(results: Results) -> dict[str, object]:
    chart: dict[str, object] = draw_images(analysis_of(results)).to_dict()
    return chart


def test_few_problems_are_named_below_the_title(results: Results) -> None:
    title = drawn(results)["title"]
    assert isinstance(title, dict)
    assert "each model; under Chain of thought and Direct" in title["subtitle"][0]
    assert any(p.few for p in points(analysis_of(results)))
    assert (
        title["subtitle"][1]
        == f"pale and not joined: a point over fewer than {MIN_PROBLEMS} problems"
    )


def test_a_large_study_says_which_models_it_shows(results: Results) -> None:
    import polars as pl

    every = [f"m{i:02d}" for i in range(MOST_MODELS + 1)]
    values = results.study.model_dump()
    values["models"] |= dict.fromkeys(every, values["models"]["sim-weak"])
    values["infer"] = {"models": every, "settings": ["cot"]}
    weak = results.verdicts.filter(model="sim-weak", setting="cot")
    copies = [weak.with_columns(model=pl.lit(name)) for name in every]
    copies[4] = copies[4].with_columns(verdict=pl.lit(0.0))
    large = Results(
        Study.model_validate(values), results.manifest, results.freeze, results.questions,
        results.answers, pl.concat(copies),
        pl.concat([results.responses.filter(model="sim-weak").with_columns(model=pl.lit(name))
                   for name in every]),
    )  # fmt: skip
    assert set(models(analysis_of(large))) == set(every) - {"m04"}
    title = drawn(large)["title"]
    assert isinstance(title, dict)
    assert "the 16 of 17 models with the highest ACC" in title["subtitle"][0]
    assert list_image_bins(analysis_of(large)) == list_image_bins(analysis_of(results))
