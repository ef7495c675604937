"""Certificates of judges of reasoning, against plain counts, and what reports make of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scipy import stats
from tests.stages.analyze.conftest import Folders, make_study
from tests.stages.analyze.results.test_judgements import judged, run
from tests.stages.certify.test_stage import written

from omibench.errors import FileFormatError, MissingInputError
from omibench.params.stages.analyze import certificate_identity
from omibench.params.study import Study
from omibench.schemas.certificate import REASONING_FILE, ReasoningCertificate, ReasoningCertificates
from omibench.schemas.tables import JudgementRow, read_parquet, read_typed_json, write_parquet
from omibench.stages.certify import certify_judges

PROMPTS = {"quality": "a" * 64, "alignment": "b" * 64, "error_type": "c" * 64}
OTHER = {"logical": "visual_perception", "other": "other", "no_error": "logical"}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """The made study with judgements of types that the taxonomy has, each under a prompt."""
    folders = judged(make_study(tmp_path_factory.mktemp("reasoning"), explorer=False))
    for file in (folders.score.parent / "judge").rglob("*.parquet"):
        rows = [
            JudgementRow(**row).model_copy(
                update={
                    "prompt_sha256": PROMPTS[row["instrument"]],
                    "error_type": "other" if row["error_type"] == "<b>own</b>"
                    else row["error_type"],
                }
            )
            for row in read_parquet(file, JudgementRow).iter_rows(named=True)
        ]  # fmt: skip
        write_parquet(file, rows, JudgementRow)
    return folders


def told(folders: Folders, instrument: str) -> list[dict[str, Any]]:
    """The judgements that count of one instrument, with the cell that they are of."""
    found = []
    for cell in folders.study.judged_cells:
        file = folders.score.parent / "judge" / cell.model / f"{cell.setting}.parquet"
        own = read_parquet(file, JudgementRow).filter(pl.col("counts"), instrument=instrument)
        found += [row | cell._asdict() for row in own.iter_rows(named=True)]
    return found


def labels(folders: Folders) -> list[dict[str, Any]]:
    """People call every third type another one, and are two grades off in every fifth mark."""
    keep = ("id", "model", "setting", "index")
    types = [
        {name: row[name] for name in keep}
        | {"error_type": OTHER[row["error_type"]] if n % 3 == 0 else row["error_type"]}
        for n, row in enumerate(told(folders, "error_type")) if row["error_type"]
    ]  # fmt: skip
    marks = [
        {name: row[name] for name in keep}
        | {"detail": min(5.0, row["detail"] + 1) if n % 5 else max(1.0, row["detail"] - 2)}
        for n, row in enumerate(told(folders, "quality"))
    ]
    return types + marks


def certified(folders: Folders, rows: list[dict[str, Any]], out: Path) -> Any:
    file = written(out / "labels.jsonl", rows)
    return certify_judges(file, folders.freeze.parent, out, folders.study)


def by_instrument(found: list[ReasoningCertificate]) -> dict[str, ReasoningCertificate]:
    return {certificate.instrument: certificate for certificate in found}


def test_types_of_errors_equal_plain_counts(done: Folders, tmp_path: Path) -> None:
    rows = labels(done)
    found = certified(done, rows, tmp_path)
    assert found.scores is None
    assert not (tmp_path / "certificate.json").exists()
    assert (
        read_typed_json(tmp_path / REASONING_FILE, ReasoningCertificates).certificates
        == found.reasoning
    )
    own = by_instrument(found.reasoning)["error_type"]
    assert (own.judge, own.prompt_sha256, own.taxonomy) == ("judge", "c" * 64, "omibench")
    assert own.identity == [certificate_identity(done.study.models["judge"])]
    assert own.simulated
    people = [row["error_type"] for row in rows if "error_type" in row]
    judge = [row["error_type"] for row in told(done, "error_type") if row["error_type"]]
    same = sum(a == b for a, b in zip(people, judge, strict=True))
    assert own.agreement is not None
    assert own.kappa is not None
    assert own.n == own.agreement.n == len(people)
    assert own.agreement.value == pytest.approx(same / len(people), abs=1e-6)
    chance = sum(people.count(t) * judge.count(t) for t in set(people)) / len(people) ** 2
    share = same / len(people)
    assert own.kappa.value == pytest.approx((share - chance) / (1 - chance), abs=1e-6)
    assert own.kappa.lo is not None
    assert own.kappa.hi is not None
    assert own.kappa.lo < own.kappa.value < own.kappa.hi
    assert sum(cell.count for cell in own.confusion) == len(people)
    for cell in own.confusion:
        pairs = [b for a, b in zip(people, judge, strict=True) if a == cell.label]
        assert cell.count == pairs.count(cell.judge)
        assert cell.share.value == pytest.approx(cell.count / len(pairs), abs=1e-6)
        assert cell.share.lo is not None
        assert cell.share.lo <= cell.count / len(pairs)


def test_marks_equal_plain_counts(done: Folders, tmp_path: Path) -> None:
    rows = labels(done)
    own = by_instrument(certified(done, rows, tmp_path).reasoning)["quality"]
    people = [row["detail"] for row in rows if "detail" in row]
    judge = [row["detail"] for row in told(done, "quality")]
    assert set(own.marks) == {"detail"}
    mark = own.marks["detail"]
    near = [abs(a - b) <= 1 for a, b in zip(people, judge, strict=True)]
    assert mark.within_one.value == pytest.approx(sum(near) / len(near), abs=1e-6)
    assert mark.exact.value == pytest.approx(
        sum(a == b for a, b in zip(people, judge, strict=True)) / len(near), abs=1e-6
    )
    expected = stats.spearmanr(people, judge).statistic
    assert mark.spearman.value == pytest.approx(expected, abs=1e-6)
    assert mark.spearman.lo is not None
    assert mark.spearman.lo < expected


def test_judgements_that_failed_are_counted_apart(done: Folders, tmp_path: Path) -> None:
    failed = [row for row in told(done, "error_type") if not row["error_type"]]
    keep = ("id", "model", "setting", "index")
    rows = [{k: row[k] for k in keep} | {"error_type": "logical"} for row in failed]
    with pytest.raises(FileFormatError, match="with a verdict of the judge of error type"):
        certified(done, rows, tmp_path)
    own = by_instrument(certified(done, rows + labels(done), tmp_path).reasoning)["error_type"]
    assert own.judge_failed == len(failed) > 0


def test_a_type_that_the_taxonomy_lacks_is_one_line(done: Folders, tmp_path: Path) -> None:
    row = next(row for row in labels(done) if "error_type" in row)
    with pytest.raises(FileFormatError, match=r"row 1: column 'error_type': 'logicl'.*logical"):
        certified(done, [row | {"error_type": "Logicl"}], tmp_path)
    found = certified(done, [row | {"error_type": "Visual Perception"}], tmp_path)
    assert {cell.label for cell in found.reasoning[0].confusion} == {"visual_perception"}


def test_labels_for_which_nobody_judges_are_one_line(done: Folders, tmp_path: Path) -> None:
    params = done.study.judge.model_copy(update={"alignment": None})
    bare = done._replace(study=done.study.model_copy(update={"judge": params}))
    row = next(row for row in labels(done) if "detail" in row)
    with pytest.raises(MissingInputError, match="`judge` has no judge of alignment"):
        certified(bare, [row | {"alignment": 4}], tmp_path)


def with_certificates(study: Study, file: Path) -> Study:
    certify = study.certify.model_copy(update={"certificates": [str(file)]})
    return study.model_copy(update={"certify": certify})


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_reports_say_uncalibrated_of_what_has_no_certificate(done: Folders, tmp_path: Path) -> None:
    def card(folders: Folders) -> str:
        run(folders)
        page = (folders.out / "report.html").read_text("utf-8")
        start = page.index('id="reasoning"')
        return page[start : page.index("</section>", start)]

    without = card(done)
    assert "UNCALIBRATED" in without
    assert "None of these judges is calibrated with human labels." in without
    assert not pl.read_csv(done.out / "errors.csv")["calibrated"].any()
    certified(done, labels(done), tmp_path)
    study = with_certificates(done.study, tmp_path / REASONING_FILE)
    known = card(done._replace(study=study))
    assert "UNCALIBRATED" not in known
    assert known.count("uncalibrated") == 6  # people marked `detail` alone
    assert re.search(
        r"Compared with \d+ SIMULATED labels of error types, their judge agrees", known
    )
    assert re.search(r"Compared with \d+ SIMULATED labels of detail, it is within one grade", known)
    assert pl.read_csv(done.out / "errors.csv")["calibrated"].all()
    marks = pl.read_csv(done.out / "rationales.csv")
    assert set(marks.filter("calibrated")["mark"]) == {"detail"}
    found = read_typed_json(tmp_path / REASONING_FILE, ReasoningCertificates)
    others = [c.model_copy(update={"prompt_sha256": "d" * 64}) for c in found.certificates]
    (tmp_path / "other.json").write_text(
        ReasoningCertificates(certificates=others).model_dump_json(), "utf-8"
    )
    assert "UNCALIBRATED" in card(
        done._replace(study=with_certificates(done.study, tmp_path / "other.json"))
    )
