"""The certificate on a made study, against what was put into its labels."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from tests.stages.analyze.conftest import PROMPT, Folders, forget_origins, make_study

from omibench.errors import FileFormatError, MissingInputError
from omibench.params.stages.analyze import certificate_identity
from omibench.results.load import load_results
from omibench.schemas.certificate import (
    ALL_TYPES,
    CERTIFICATE_FILE,
    DISAGREEMENTS_FILE,
    Certificate,
    DisagreementRow,
)
from omibench.schemas.tables import read_jsonl, read_typed_json
from omibench.stages.certify import certify_judges


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """The made study, with judgements."""
    return make_study(tmp_path_factory.mktemp("judged"))


def labelled(folders: Folders, tpr: float, fpr: float, seed: int = 1) -> list[dict[str, Any]]:
    """Labels of every judged response such that the judge has just these error rates."""
    verdicts = load_results(
        folders.freeze, folders.infer, folders.score, folders.study
    ).select_verdicts("gptscore")
    judged = verdicts.filter(pl.col("outcome") == "scored")
    draw, rows = Random(seed), []
    share = judged["verdict"].mean()
    assert isinstance(share, float)
    right = (share - fpr) / (tpr - fpr)
    for row in judged.iter_rows(named=True):
        says = row["verdict"] >= 0.5
        if_right = right * (tpr if says else 1 - tpr)
        if_wrong = (1 - right) * (fpr if says else 1 - fpr)
        label = float(draw.random() < if_right / (if_right + if_wrong))
        rows.append({k: row[k] for k in ("id", "model", "setting", "index")} | {"label": label})
    return rows


def written(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def certify(folders: Folders, labels: Path, out: Path) -> Certificate:
    found = certify_judges(labels, folders.freeze.parent, out, folders.study)
    assert found.scores is not None
    return found.scores


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_the_set_error_rates_come_back(judged: Folders, tmp_path: Path, suffix: str) -> None:
    labels = written(tmp_path / f"labels{suffix}", labelled(judged, 0.85, 0.1))
    found = certify(judged, labels, tmp_path / "out")
    assert read_typed_json(tmp_path / "out" / CERTIFICATE_FILE, Certificate) == found
    assert found.labels_sha256 == sha256(labels.read_bytes()).hexdigest()
    assert found.prompt_sha256 == PROMPT
    assert found.judge == "judge"
    assert found.identity == [certificate_identity(judged.study.models["judge"])]
    assert found.simulated
    assert set(found.quality) == {ALL_TYPES, "mcq", "open"}
    assert found.n == sum(found.quality[kind].agreement.n for kind in ("mcq", "open"))
    assert [*found.by_model] == sorted(judged.study.infer.models)
    assert found.n == sum(quality.agreement.n for quality in found.by_model.values())
    quality = found.quality[ALL_TYPES]
    for measure, truth in ((quality.tpr, 0.85), (quality.fpr, 0.1)):
        assert measure.lo is not None
        assert measure.hi is not None
        assert measure.lo <= truth <= measure.hi
    right = quality.share_right
    assert quality.corrected.value == pytest.approx(right.value, abs=0.02)


def test_figures_equal_plain_counts(judged: Folders, tmp_path: Path) -> None:
    rows = labelled(judged, 0.9, 0.2)
    labels = written(tmp_path / "labels.csv", rows)
    found = certify(judged, labels, tmp_path)
    frame = pl.DataFrame(rows).join(
        judged.load().select_verdicts("gptscore"),
        on=["id", "model", "setting", "index"],
    )
    same = ((frame["label"] >= 0.5) == (frame["verdict"] >= 0.5)).mean()
    quality = found.quality[ALL_TYPES]
    assert quality.agreement.value == pytest.approx(same, abs=1e-6)
    right = frame.filter(pl.col("label") == 1)
    assert quality.tpr.value == pytest.approx(right["verdict"].mean(), abs=1e-6)
    assert quality.tpr.n == right.height


def test_the_four_way_table_counts_every_scored_judgement(judged: Folders, tmp_path: Path) -> None:
    labels = written(tmp_path / "labels.csv", labelled(judged, 0.9, 0.2))
    found = certify(judged, labels, tmp_path)
    results = judged.load()
    scored = results.select_verdicts("gptscore").filter(pl.col("outcome") == "scored")
    *models, every = found.four_way
    assert [t.model for t in models] == judged.study.infer.models
    for name in ("both_right", "both_wrong", "judge_only", "rules_only"):
        assert getattr(every, name) == sum(getattr(t, name) for t in models)
    total = every.both_right + every.both_wrong + every.judge_only + every.rules_only
    assert total == scored.height
    assert every.both_right + every.judge_only == int(scored["verdict"].sum())
    assert sum(n for _, n in every.labelled_right.values()) == found.n


def test_disagreements_are_drawn_for_reading_and_can_come_back_as_labels(
    judged: Folders, tmp_path: Path
) -> None:
    study = judged.study.model_copy(
        update={"certify": judged.study.certify.model_copy(update={"disagreements": 3})}
    )
    few = judged._replace(study=study)
    labels = written(tmp_path / "labels.csv", labelled(judged, 0.9, 0.2))
    found = certify(few, labels, tmp_path)
    rows = read_jsonl(tmp_path / DISAGREEMENTS_FILE, DisagreementRow)
    sizes = {t.model: t.judge_only + t.rules_only for t in found.four_way if t.model}
    for model, size in sizes.items():
        assert sum(row.model == model for row in rows) == min(3, size)
    assert rows
    for row in rows:
        assert (row.by_judge >= 0.5) == (row.disagreement == "judge_only")
        assert (row.by_rules >= 0.5) == (row.disagreement == "rules_only")
        assert row.response
        assert row.source is None
    again = certify(few, labels, tmp_path / "again")
    assert again == found
    assert (tmp_path / "again" / DISAGREEMENTS_FILE).read_bytes() == (
        tmp_path / DISAGREEMENTS_FILE
    ).read_bytes()
    read = [row.model_copy(update={"label": 1.0}).model_dump() for row in rows]
    assert certify(few, written(tmp_path / "read.jsonl", read), tmp_path / "read").n == len(rows)


def test_labels_of_another_text_are_left_out(judged: Folders, tmp_path: Path) -> None:
    rows = labelled(judged, 0.9, 0.2)
    results = judged.load()
    texts = {
        (r["model"], r["setting"], r["id"]): r["text"]
        for r in results.read_responses().iter_rows(named=True)
    }
    for number, row in enumerate(rows):
        text = texts[row["model"], row["setting"], row["id"]] + "x" * (number % 2)
        row["response_sha256"] = sha256(text.encode()).hexdigest()
    found = certify(judged, written(tmp_path / "labels.csv", rows), tmp_path)
    assert found.stale == len(rows) // 2
    assert found.n == len(rows) - found.stale


def test_labels_that_fit_nothing_or_two_things_are_refused(judged: Folders, tmp_path: Path) -> None:
    row = labelled(judged, 0.9, 0.2)[0]

    def error(*rows: dict[str, Any]) -> str:
        with pytest.raises(FileFormatError) as raised:
            certify(judged, written(tmp_path / "labels.jsonl", rows), tmp_path)
        return str(raised.value)

    assert "1 of a problem that is not in this study: nothing" in error(
        {"id": "nothing", "label": 1}
    )
    assert "9 responses have" in error({"id": row["id"], "label": 1})
    assert "give model, setting, index too" in error({"id": row["id"], "label": 1})
    assert "row 2: problem" in error(row, row | {"label": 1 - row["label"]})


def test_labels_of_other_studies_are_left_out_and_counted(judged: Folders, tmp_path: Path) -> None:
    rows = labelled(judged, 0.9, 0.2)
    other = [row | {"model": "another"} for row in rows[:7]]
    found = certify(judged, written(tmp_path / "labels.csv", rows + other), tmp_path)
    assert (found.n, found.unknown) == (len(rows), 7)
    (why,) = found.left_out
    assert why == "of a model that did not answer this problem in this study"
    assert found.left_out[why][0] == f"{rows[0]['id']} (another, {rows[0]['setting']}, sample 0)"


def test_every_reason_why_a_label_is_not_used_is_named(
    judged: Folders, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = labelled(judged, 0.9, 0.2)
    odd = [
        rows[0] | {"id": "nothing-1"}, rows[1] | {"setting": "nowhere"},
        rows[2] | {"response_sha256": "0" * 64}, rows[0],
    ]  # fmt: skip
    found = certify(judged, written(tmp_path / "labels.jsonl", rows + odd), tmp_path)
    assert {why: len(which) for why, which in found.left_out.items()} == {
        "of a problem that is not in this study": 1,
        "of a setting or sample that is not in this study": 1,
        "of responses that have changed since": 1,
        "repeated from an earlier row": 1,
    }
    assert (found.n, found.unknown, found.stale) == (len(rows), 2, 1)
    assert f"4 of {len(rows) + 4} labels in" in caplog.text
    assert "1 of a problem that is not in this study: nothing-1" in caplog.text


def test_a_study_without_a_judge_cannot_be_certified(tmp_path: Path) -> None:
    folders = make_study(tmp_path / "made")
    for cell in folders.study.cells:
        file = folders.score / cell.model / f"{cell.setting}.parquet"
        pl.read_parquet(file).filter(pl.col("rules") != "gptscore").write_parquet(file)
    forget_origins(folders.freeze.parent)
    labels = written(tmp_path / "labels.jsonl", [{"id": "x", "label": 1}])
    with pytest.raises(MissingInputError, match="no judgements"):
        certify(folders, labels, tmp_path)
