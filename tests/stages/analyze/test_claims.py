"""Sentences: a difference is told where a paired test supports it, and only there."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pytest
from tests.stages.analyze.conftest import (
    Folders,
    analysis_of,
    forget_origins,
    make_params,
    make_published_study,
    make_study,
    rewrite_verdicts,
    study_values,
)
from tests.stages.analyze.results.curves.made import Draw, make_analysis, make_answers

from omibench.params.setting import Cell
from omibench.results.load import Results, load_results
from omibench.stages.analyze.analysis import Analysis
from omibench.stages.analyze.findings import (
    best,
    best_of_all,
    bound_leader,
    find_cell,
    partial_cells,
)
from omibench.stages.analyze.formatting import format_interval, format_percent
from omibench.stages.analyze.sentences import (
    cell_name,
    failures_sentence,
    images_sentence,
    leading_sentence,
    make_headline,
    runner_up_sentence,
)


def two_models(folder: Path, strong: list[bool], weak: list[bool]) -> Results:
    """Two models under one setting with given verdicts, problem by problem."""
    values = study_values(explorer=False)
    values["infer"] = {"models": ["sim-strong", "sim-weak"], "settings": ["cot"]}
    values["score"] = {"scorers": ["robust"]}
    count = max(len(strong), len(weak))
    answers = [answer.model_copy(update={"n_images": 2}) for answer in make_answers(count)]
    draws = [
        Draw(model, "cot", f"p{i}", float(right))
        for model, verdicts in (("sim-strong", strong), ("sim-weak", weak))
        for i, right in enumerate(verdicts)
    ]
    return make_analysis(folder, values, answers, draws).results


def test_a_clear_lead_is_told(tmp_path: Path) -> None:
    results = two_models(tmp_path, [True] * 50 + [False] * 10, [True] * 20 + [False] * 40)
    analysis = analysis_of(results)
    assert "ahead of the other model on the same problems." in leading_sentence(analysis)
    assert runner_up_sentence(analysis).endswith(": ahead.")


def test_a_lead_by_chance_is_not_told(tmp_path: Path) -> None:
    results = two_models(tmp_path, [True] * 31 + [False] * 29, [True] * 28 + [False] * 32)
    analysis = analysis_of(results)
    assert "not distinguishable from the other model." in leading_sentence(analysis)
    assert "leads" not in leading_sentence(analysis)
    assert (
        ": not distinguishable; the smallest detectable difference is 10.1 points"
        in runner_up_sentence(analysis)
    )


def test_the_interval_of_a_leader_knows_that_it_was_chosen(tmp_path: Path) -> None:
    """A leader that is not ahead of its rival has a lower bound below the table's, and says so."""
    for name, right, chosen_from in (("close", 28, 2), ("clear", 10, 1)):
        results = two_models(
            tmp_path / name, [True] * 31 + [False] * 29, [True] * right + [False] * (60 - right)
        )
        analysis = analysis_of(results)
        top = best(analysis)
        assert top is not None
        interval = bound_leader(analysis, top)
        assert interval.high == pytest.approx(top["high"])
        assert interval.chosen_from == chosen_from
        assert (interval.low < top["low"] - 0.001) == (chosen_from > 1)
        sentence, tile = leading_sentence(analysis), make_headline(analysis).numbers[0].detail
        assert format_interval(interval.low, interval.high) in sentence
        assert format_interval(interval.low, interval.high) in tile
        assert ("these results also chose the best of 2 models" in sentence) == (chosen_from > 1)
        assert ("corrected for the choice among 2" in tile) == (chosen_from > 1)


def test_pairing_sees_what_separate_intervals_do_not(tmp_path: Path) -> None:
    weak = [i % 2 == 0 for i in range(100)]
    strong = [right or i % 8 == 1 for i, right in enumerate(weak)]
    results = two_models(tmp_path, strong, weak)
    analysis = analysis_of(results)
    rows = {row["model"]: row for row in analysis.scores.filter(subject="total").to_dicts()}
    assert rows["sim-weak"]["high"] > rows["sim-strong"]["low"]  # the intervals overlap
    assert "ahead of the other model" in leading_sentence(analysis)


def test_models_are_compared_under_the_reference_setting_alone(made: Folders) -> None:
    """Three models under three settings are 3 pairs under one of them, not 36 pairs of cells."""
    for reference, label in ((None, "Chain of thought"), ("direct", "Direct")):
        study = make_params(reference_setting=reference)
        results = made.load(study)
        analysis = analysis_of(results)
        top = best(analysis)
        assert top is not None
        assert results.setting_label(top["setting"]) == label
        sentence = leading_sentence(analysis)
        assert sentence.startswith(f"Under {label}, Strong")
        assert "the 2 other models" in sentence
        assert "(paired tests, Holm over all 3 pairs at 0.05). Of all 9 cells, " in sentence


def test_a_leader_ahead_of_nobody_is_said_without_a_count_of_none(tmp_path: Path) -> None:
    folders = make_study(tmp_path, per_subject=2)

    rewrite_verdicts(folders, lambda frame: frame.with_columns(verdict=1.0))
    results = folders.load()
    sentence = leading_sentence(analysis_of(results))
    assert (
        "; on the same problems it is not distinguishable from any of the 2 other models "
        "(paired tests, Holm over all 3 pairs at 0.05). Of all 9 cells, "
    ) in sentence


def test_the_sentence_says_no_more_than_the_tests(made: Folders) -> None:
    results = made.load()
    analysis = analysis_of(results)
    top = best(analysis)
    assert top is not None
    tests = results.family_tests
    others = [cell for cell in results.family.cells if cell != find_cell(top)]
    ahead = sum(tests.is_ahead(find_cell(top), cell) for cell in others)
    sentence = leading_sentence(analysis)
    assert ("leads with" in sentence) == (ahead == len(others))
    if 0 < ahead < len(others):
        assert f"ahead of {ahead} of the {len(others)} others" in sentence


def test_a_cell_with_few_of_the_problems_cannot_lead(tmp_path: Path) -> None:
    draw = random.Random(5)
    results = two_models(tmp_path, [True] * 20, [draw.random() < 0.4 for _ in range(100)])
    analysis = analysis_of(results)
    top = best(analysis)
    assert top is not None
    assert find_cell(top) == Cell("sim-weak", "cot")
    assert partial_cells(analysis) == [Cell("sim-strong", "cot")]
    assert leading_sentence(analysis).endswith("1 cell without all of these problems cannot lead.")


def test_a_cell_that_lacks_one_problem_cannot_lead(tmp_path: Path) -> None:
    results = two_models(tmp_path, [True] * 99, [True] * 60 + [False] * 40)
    analysis = analysis_of(results)
    top = best(analysis)
    assert top is not None
    assert find_cell(top) == Cell("sim-weak", "cot")
    assert partial_cells(analysis) == [Cell("sim-strong", "cot")]


def test_the_headline_names_its_scope_and_the_best_of_all_cells(made: Folders) -> None:
    results = made.load()
    analysis = analysis_of(results)
    overall, compared = best_of_all(analysis)
    assert overall is not None
    totals = analysis.scores.filter(subject="total", rules=results.main_rules)["estimate"]
    assert overall["estimate"] == totals.max()
    assert compared == len(totals) == len(results.cells)
    top = best(analysis)
    assert top is not None
    sentence = leading_sentence(analysis)
    assert sentence.startswith(f"Under Chain of thought, {results.label(top['model'])} ")
    also = " also" if find_cell(overall) == find_cell(top) else ""
    assert (
        f"Of all {compared} cells, {cell_name(results, find_cell(overall))}{also} has the highest "
        f"accuracy, {format_percent(overall['estimate'])}."
    ) in sentence


def by_images(
    folder: Path,
    counts: tuple[int, int],
    right: dict[tuple[str, int], int],
    images: tuple[int, int] = (1, 7),
) -> Analysis:
    """One model on physics and chemistry: of each 20 problems `right` are right.

    `counts` are the problems of each subject with the fewer and the more images.
    """
    values = study_values(explorer=False)
    values["infer"] = {"models": ["sim-strong"], "settings": ["cot"]}
    values["score"] = {"scorers": ["robust"]}
    kinds = [
        (subject, number, place < right[subject, number])
        for subject in ("physics", "chemistry")
        for number, count in zip(
            images, counts if subject == "physics" else counts[::-1], strict=True
        )
        for place in range(count)
    ]
    answers = [
        answer.model_copy(update={"subject": subject, "n_images": number})
        for answer, (subject, number, _) in zip(make_answers(len(kinds)), kinds, strict=True)
    ]
    draws = [Draw("sim-strong", "cot", f"p{i}", float(kind[2])) for i, kind in enumerate(kinds)]
    return analysis_of(make_analysis(folder, values, answers, draws).results)


def test_the_effect_of_images_is_that_within_subjects(tmp_path: Path) -> None:
    """Chemistry is hard and has most images: a raw fall of 36 points, none within subjects."""
    right = {("physics", 1): 32, ("physics", 7): 8, ("chemistry", 1): 2, ("chemistry", 7): 8}
    analysis = by_images(tmp_path, (40, 10), right)
    sentence, tile = images_sentence(analysis), make_headline(analysis).numbers[1]
    assert sentence.startswith("With 6+ images accuracy over all cells is 32.0")
    assert ", with 1 image 68.0" in sentence
    assert "−36.0 points, 0.0 within subjects (" in sentence
    assert "not distinguishable from zero" in sentence
    assert (tile.label, tile.value) == ("From 1 to 6+ images", "0.0 points")
    assert tile.detail.startswith("within subjects; without this adjustment −36.0, 68.0")
    rows = analysis.rows("accuracy-by-images").filter(rules="robust", value="6+").to_dicts()
    assert [bool(row["model"]) + bool(row["setting"]) for row in rows] == [2, 1, 0]
    for row in rows:
        assert (row["reference"], row["raw"]) == ("1", pytest.approx(-0.36))
        assert row["adjusted"] == pytest.approx(0, abs=1e-9)
        assert row["adjusted_low"] < 0 < row["adjusted_high"]
    lowest = analysis.rows("accuracy-by-images").filter(value="1")
    assert lowest["adjusted"].null_count() == lowest.height == 3


def test_subjects_without_both_numbers_of_images_make_no_tile(tmp_path: Path) -> None:
    right = {("physics", 1): 16, ("chemistry", 7): 4, ("physics", 7): 0, ("chemistry", 1): 0}
    analysis = by_images(tmp_path, (20, 0), right)
    assert images_sentence(analysis).endswith("can be the effect of subjects.")
    assert not [tile for tile in make_headline(analysis).numbers if "images" in tile.label]


def test_few_problems_are_not_compared(tmp_path: Path) -> None:
    right = dict.fromkeys([("physics", 2), ("chemistry", 2)], 2)
    analysis = by_images(tmp_path, (12, 3), right, images=(2, 2))
    assert "All problems have the same number" in images_sentence(analysis)
    values = analysis.rows("accuracy-by-images")
    assert values["reference"].null_count() == values.height
    few = pl.concat(
        [values.with_columns(n=pl.lit(9, pl.Int64)), values.with_columns(value=pl.lit("3"))]
    )
    assert "Fewer than two numbers of images have 10" in images_sentence(
        analysis_of(analysis.results, accuracy_by_images=few)
    )


@pytest.mark.parametrize(
    ("robust", "words"),
    [(True, "for the scorer robust to score"), (False, "Published verdicts do not show")],
)
def test_published_verdicts_know_no_failures(tmp_path: Path, robust: bool, words: str) -> None:
    folders = make_published_study(tmp_path, robust=robust)
    results = folders.load()
    assert words in failures_sentence(analysis_of(results))


def test_a_leader_without_failures_moves_nowhere(made: Folders) -> None:
    results = made.load()
    scores = analysis_of(results).scores.with_columns(failures=pl.lit(0))
    analysis = analysis_of(results, scores=scores)
    assert failures_sentence(analysis).endswith("score, none of them in the leading cell.")


def test_answers_that_nobody_judged_are_no_responses_without_an_answer(tmp_path: Path) -> None:
    folders = make_study(tmp_path)

    def drop_judgements(frame: pl.DataFrame) -> pl.DataFrame:
        scored = (pl.col("outcome") == "scored") & (pl.col("rules") == "robust")
        lost = scored & (pl.int_range(pl.len()) % 5 == 0)
        return frame.with_columns(
            outcome=pl.when(lost).then(pl.lit("unjudged")).otherwise("outcome"),
            verdict=pl.when(lost).then(0.0).otherwise("verdict"),
        )

    rewrite_verdicts(folders, drop_judgements)
    results = folders.load()
    outcomes = results.select_verdicts("robust")["outcome"]
    unjudged, n = int((outcomes == "unjudged").sum()), len(outcomes)
    empty = int((outcomes != "scored").sum()) - unjudged
    assert unjudged > 20
    assert empty > 5
    sentence = failures_sentence(analysis_of(results))
    assert sentence.startswith(f"{empty} responses of {n} ")
    assert "counted as right they and the answers without a judgement" in sentence
    assert sentence.endswith(f" {unjudged} answers of {n} got no judgement.")
    number = make_headline(Analysis(folders.study, results, tmp_path, tmp_path)).numbers[-1]
    assert number.detail.startswith(f"{empty} of {n}, ")
    assert f"; {unjudged} more answers without a judgement" in number.detail


def test_equal_image_counts_are_said_to_show_nothing(tmp_path: Path) -> None:
    results = two_models(tmp_path, [True] * 9, [False] * 9)
    assert "cannot be measured" in images_sentence(analysis_of(results))


@pytest.mark.parametrize("rules", ["robust", "omibench"])
def test_the_main_rules_decide(made: Folders, rules: str) -> None:
    study = make_params(main_scorer=rules)
    results = made.load(study)
    assert best(analysis_of(results))["rules"] == rules


def test_a_cell_that_nobody_answered_cannot_lead(tmp_path: Path) -> None:
    results = two_models(tmp_path, [False] * 60, [False] * 60)
    results = _end_with(results, {"sim-strong": "provider_error"})
    analysis = analysis_of(results)
    top = best(analysis)
    assert top is not None
    assert find_cell(top) == Cell("sim-weak", "cot")
    assert leading_sentence(analysis).endswith("1 cell with too few answers cannot lead.")


@pytest.mark.parametrize("outcome", ["provider_error", "budget_stop"])
def test_where_nobody_answered_no_cell_leads(tmp_path: Path, outcome: str) -> None:
    results = two_models(tmp_path, [False] * 60, [False] * 60)
    results = _end_with(results, {"sim-strong": outcome, "sim-weak": outcome})
    analysis = analysis_of(results)
    assert best(analysis) is None
    said = [leading_sentence(analysis), runner_up_sentence(analysis)]
    assert said[0].startswith("No cell leads: each got too few answers.")
    assert not [text for text in said if "leads with" in text or "0.0" in text]
    assert make_headline(Analysis(results.study, results, Path(), tmp_path)).numbers[0].value == "–"


def _end_with(results: Results, outcomes: dict[str, str]) -> Results:
    """Write a model's responses again, as if all of them had ended with an outcome, and load."""
    folder = results.freeze.parent
    for model, outcome in outcomes.items():
        path = folder / "infer" / model / "cot.parquet"
        rows = pl.read_parquet(path).with_columns(outcome=pl.lit(outcome), text=pl.lit(""))
        rows.write_parquet(path)
    forget_origins(folder)
    return load_results(*(folder / name for name in ("freeze", "infer", "score")), results.study)
