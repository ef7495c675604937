"""Certificates: whose they are, what the report says with and without one, corrected totals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.stages.analyze.conftest import PROMPT, Folders

from omibench.errors import FileFormatError, MissingInputError
from omibench.params.setting import Cell
from omibench.params.stages.certify import certificate_identity
from omibench.results.load import Results
from omibench.schemas.certificate import ALL_TYPES, Certificate, JudgeQuality, Measure
from omibench.schemas.tables import write_json
from omibench.stages.analyze import analyze_study
from omibench.stages.analyze.certificates import (
    add_certificates,
    correct_accuracy,
    match_certificate,
)
from omibench.stages.analyze.sentences import calibration_sentence

pytestmark = pytest.mark.usefixtures("undrawn")


@pytest.fixture
def results(made: Folders) -> Results:
    return made.load()


def measure(value: float, n: int = 200) -> Measure:
    return Measure(value=value, lo=max(0.0, value - 0.05), hi=min(1.0, value + 0.05), n=n, n_eff=n)


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
