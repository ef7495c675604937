"""Certificates: whose they are, what the report says with and without one, corrected totals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.stages.analyze.conftest import PROMPT, Folders

from omibench.errors import FileFormatError, MissingInputError
from omibench.params.setting import Cell
from omibench.params.stages.analyze import certificate_identity
from omibench.results.load import Results
from omibench.results.statistics.agreement import Share
from omibench.results.statistics.homogeneity import compare_rates
from omibench.schemas.certificate import ALL_TYPES, UNKNOWN, Certificate, JudgeQuality, Measure
from omibench.schemas.tables import write_json
from omibench.stages.analyze import analyze_study
from omibench.stages.analyze.certificates import (
    add_certificates,
    correct_accuracy,
    correct_share,
    find_own_rates,
    match_certificate,
)
from omibench.stages.analyze.sentences import calibration_sentence

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture
def results(made: Folders) -> Results:
    return made.load()


def measure(value: float, n: int = 200) -> Measure:
    return Measure(value=value, lo=max(0.0, value - 0.05), hi=min(1.0, value + 0.05), n=n, n_eff=n)


def rates(tpr: float, fpr: float, n: int) -> JudgeQuality:
    """The quality of a judge of which only the error rates are known, from n labels each."""
    unknown = dict.fromkeys(JudgeQuality.model_fields, UNKNOWN)
    return JudgeQuality(**unknown | {"tpr": measure(tpr, n), "fpr": measure(fpr, n)})


def certificate(made: Folders, tpr: float = 0.9, fpr: float = 0.1) -> Certificate:
    quality = JudgeQuality(
        agreement=measure(0.9), kappa=measure(0.8), spearman=measure(0.8), tpr=measure(tpr),
        fpr=measure(fpr), share_right=measure(0.5), judged_right=measure(0.5),
        corrected=measure(0.5),
    )  # fmt: skip
    return Certificate(
        judge="judge", identity=[certificate_identity(made.study.models["judge"])],
        prompt_sha256=PROMPT, labels="labels.csv", labels_sha256="a" * 64, n=400, problems=28,
        judge_failed=0,
        not_judged=0, stale=0, confidence=0.95, quality={ALL_TYPES: quality}, rules="robust",
        four_way=[], simulated=False, study="another",
    )  # fmt: skip


def test_a_certificate_is_of_one_judge_and_one_prompt(made: Folders, results: Results) -> None:
    own = certificate(made)
    assert match_certificate(results, [own]) == own
    other_prompt = own.model_copy(update={"prompt_sha256": "6" * 64})
    other_model = own.model_copy(update={"identity": [{"provider": "openai", "id": "x"}]})
    assert match_certificate(results, [other_prompt, other_model]) is None
    assert match_certificate(results, [other_model, own]) == own
    two = results.verdicts.with_columns(
        prompt_sha256=pl.when(pl.col("model") == "sim-weak").then(pl.lit("6" * 64)).otherwise(
            "prompt_sha256"
        )
    )  # fmt: skip
    assert match_certificate(replace(results, verdicts=two), [own]) is None


def test_how_a_judge_is_reached_and_shown_is_not_what_it_is(made: Folders) -> None:
    judge = made.study.models["judge"]
    assert certificate_identity(
        judge.model_copy(update={"label": "Other"})
    ) == certificate_identity(judge)
    assert certificate_identity(judge.model_copy(update={"seed": 9})) != certificate_identity(judge)


def test_corrected_totals_follow_from_the_error_rates(made: Folders, results: Results) -> None:
    cell = Cell("sim-strong", "cot")
    assert correct_accuracy(results, cell) is None
    known = replace(results, certificate=certificate(made, 0.9, 0.1))
    found = correct_accuracy(known, cell)
    rows = results.select_verdicts("gptscore", cell)
    scored = rows.filter(pl.col("outcome") == "scored")
    plain = (
        sum(
            part.height * min(1.0, max(0.0, (part["verdict"].mean() - 0.1) / 0.8))
            for part in scored.partition_by("answer_type")
        )
        / rows.height
    )
    assert found is not None
    assert found.value == pytest.approx(plain)
    assert found.lo < found.value < found.hi


def test_types_that_share_error_rates_are_corrected_together(
    made: Folders, results: Results
) -> None:
    """An error of the rates moves all of them: split in parts they are no more certain."""
    cell = Cell("sim-strong", "cot")
    mixed = replace(results, certificate=certificate(made))
    assert mixed.select_verdicts("gptscore", cell)["answer_type"].n_unique() > 1
    alike = replace(mixed, verdicts=results.verdicts.with_columns(answer_type=pl.lit("open")))
    assert correct_accuracy(mixed, cell) == correct_accuracy(alike, cell)


@pytest.mark.parametrize(
    ("labels", "study", "by"),
    [(30, "made", "model"), (29, "made", "all"), (30, "another", "all")],
)
def test_a_model_with_enough_labels_of_its_own_is_corrected_by_them(
    made: Folders, results: Results, labels: int, study: str, by: str
) -> None:
    cell, other = Cell("sim-strong", "cot"), Cell("sim-weak", "cot")
    name = made.study.study.name if study == "made" else study
    known = certificate(made).model_copy(
        update={"study": name, "by_model": {cell.model: rates(0.8, 0.3, labels)}}
    )
    found = correct_accuracy(replace(results, certificate=known), cell)
    plain = correct_accuracy(replace(results, certificate=certificate(made)), cell)
    assert found is not None
    assert plain is not None
    assert (found.by, plain.by) == (by, "all")
    assert (found.value < plain.value) == (by == "model")
    rest = correct_accuracy(replace(results, certificate=known), other)
    assert rest is not None
    assert rest.by == "all"


@pytest.mark.parametrize(
    ("groups", "differs"),
    [
        ([(0.95, 0.05, 100)] * 3, [False, False]),
        ([(0.95, 0.05, 100)] * 2 + [(0.7, 0.05, 100)], [True, False]),
        ([(0.95, 0.05, 100), (0.95, 0.4, 100)], [False, True]),
        ([(0.95, 0.05, 100), (0.2, 0.9, 9)], [None, None]),
    ],
)
def test_models_on_which_the_judge_errs_more_are_found(
    made: Folders, groups: list[tuple[float, float, int]], differs: list[bool | None]
) -> None:
    by_model = {f"m{n}": rates(*group) for n, group in enumerate(groups)}
    tests = compare_rates(certificate(made).model_copy(update={"by_model": by_model}))
    assert [(test.by, test.rate) for test in tests[:2]] == [("model", "tpr"), ("model", "fpr")]
    assert [None if np.isnan(test.p) else test.differs for test in tests[:2]] == differs
    assert all(np.isnan(test.p) for test in tests[2:]), "there are no labels by answer type"


def measure_coverage(made: Folders, labels: int, rounds: int) -> dict[str, float]:
    """How often the corrected accuracy covers 20 % of 1,322 problems, by labels of all and of one.

    The judge has rates of .90 and .12 on this model, and .95 and .05 on five others; it is
    certified by `labels` right and wrong responses of each model.
    """
    rng, covered = np.random.default_rng(labels), {"all": 0, "model": 0}
    plain, study = certificate(made), made.study.study.name
    for _ in range(rounds):
        judged = Share(rng.binomial(1322, 0.2 * 0.9 + 0.8 * 0.12) / 1322, 1322)
        drawn = [
            (rng.binomial(labels, tpr) / labels, rng.binomial(labels, fpr) / labels)
            for tpr, fpr in [(0.9, 0.12)] + [(0.95, 0.05)] * 5
        ]
        pooled = rates(*np.mean(drawn, axis=0), 6 * labels)
        own = find_own_rates(
            plain.model_copy(update={"study": study, "by_model": {"m": rates(*drawn[0], labels)}}),
            study, "m",
        )  # fmt: skip
        assert own is not None
        for name, quality in (("all", pooled), ("model", own)):
            found = correct_share(judged, quality, 0.95)
            covered[name] += found.lo <= 0.2 <= found.hi
    return {name: count / rounds for name, count in covered.items()}


def test_labels_of_a_model_cover_what_those_of_all_models_miss(made: Folders) -> None:
    covered = measure_coverage(made, 100, 150)
    assert covered["all"] < 0.8
    assert covered["model"] >= 0.9


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("labels", [30, 100, 300])
def test_the_coverage_by_labels_of_a_model_over_5000_draws(made: Folders, labels: int) -> None:
    covered = measure_coverage(made, labels, 5000)
    assert covered["all"] < 0.9
    assert 0.93 <= covered["model"] <= 0.98


@pytest.mark.slow
def test_the_report_says_uncalibrated_until_there_is_a_certificate(
    made: Folders, tmp_path: Path
) -> None:
    root = made.freeze.parent
    analyze_study(root, tmp_path / "without", made.study)
    without = (tmp_path / "without" / "report.html").read_text("utf-8")
    assert "UNCALIBRATED" in without
    assert "uncalibrated" in without
    main = pl.read_csv(tmp_path / "without" / "main.csv")
    assert not main.filter(rules="gptscore")["calibrated"].any()
    file = tmp_path / "certificate.json"
    write_json(file, certificate(made))
    params = made.study.certify.model_copy(update={"certificates": [str(file)]})
    study = made.study.model_copy(update={"certify": params})
    analyze_study(root, tmp_path / "with", study)
    page = (tmp_path / "with" / "report.html").read_text("utf-8")
    assert "uncalibrated" not in page.replace("{", "").split("Parameters of this report")[0]
    assert "Against 400 labels it agrees on 90.0" in page
    assert "certified on 400 labels" in page
    totals = pl.read_csv(tmp_path / "with" / "main.csv").filter(rules="gptscore", subject="total")
    assert totals["corrected"].null_count() == 0
    assert totals["calibrated"].all()
    assert set(totals["corrected_by"]) == {"all"}
    assert page.count("too few labels to say") == 4


def test_a_certificate_that_is_named_must_be_there(results: Results, tmp_path: Path) -> None:
    def named(**certify: object) -> Results:
        params = results.study.certify.model_copy(update=certify)
        return replace(results, study=results.study.model_copy(update={"certify": params}))

    with pytest.raises(MissingInputError, match="run `omibench certify` first"):
        add_certificates(named(labels="labels.csv"), tmp_path)
    with pytest.raises(MissingInputError, match="the file does not exist"):
        add_certificates(named(certificates=[str(tmp_path / "none.json")]), tmp_path)
    (tmp_path / "empty.json").write_text("{}")
    with pytest.raises(FileFormatError, match="Field required"):
        add_certificates(named(certificates=[str(tmp_path / "empty.json")]), tmp_path)


def test_the_sentence_names_the_labels(made: Folders, results: Results) -> None:
    assert calibration_sentence(results) == "The judge is not calibrated with human labels."
    known = replace(results, certificate=certificate(made, 0.93, 0.04))
    told = calibration_sentence(known).replace("\u00a0", " ")
    assert told == (
        "Against 400 labels it agrees on 90.0 % (kappa 0.80) and calls 93.0 % of the right "
        "responses and 4.0 % of the wrong responses right."
    )
