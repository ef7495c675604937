"""The flow `judge` without a server: judges behind an API fill the store, the build finds all."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from tests.extras import require_extra
from tests.workflows_support import PROBLEMS, fill, rebuild

from model_server.handle import ServerHandle
from omibench.answers.judges import error_type, gptscore, quality
from omibench.schemas.tables import JudgementRow, VerdictRow, read_parquet

require_extra("flows", "prefect")
pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(600)]

JUDGES = ["grader", "second"]
MARKS = {key: mark for mark, key in enumerate(quality.KEYS[:5], start=1)} | {"overall": 4}
REPLIES = {
    # By the words that close each judge's request, then by those of the two prompts.
    gptscore.CLOSING: "It holds.\nANSWER: consistent",
    quality.CLOSING: str(MARKS).replace("'", '"'),
    error_type.CLOSING.splitlines()[-1]: "It adds wrongly.\nERROR TYPE: logical",
    "solve the problem step by step": "Two equal numbers are added. \\boxed{C}",
    "only contains the final answer": "\\boxed{A}",
}
CELLS = {"cot": 1.0, "direct": 0.0}
"""The settings and what the scorer says of every response under them: C is right, A is not."""


@pytest.fixture
def judged(folder: Path, endpoint: ServerHandle) -> Path:
    """The study with judges at the endpoint: one of scores and errors, two of quality."""
    endpoint.configure(models=["old-one", *JUDGES], replies=REPLIES)
    file = folder / "params.yaml"
    params: dict[str, Any] = yaml.safe_load(file.read_text("utf-8"))
    params["models"] |= {name: params["models"]["old-one"] | {"id": name} for name in JUDGES}
    params["score"]["judge"] = "grader"
    params["judge"] = {"quality": JUDGES, "errors": "grader"}
    file.write_text(yaml.safe_dump(params))
    return folder


def by_model(endpoint: ServerHandle) -> Counter[str]:
    """How often each model was paid for an answer."""
    found: Counter[str] = Counter()
    for entry in endpoint.stats()["contents"].values():
        found[entry["model"]] += entry["paid"]
    return found


def rows(folder: Path, stage: str, setting: str) -> pl.DataFrame:
    row = VerdictRow if stage == "score" else JudgementRow
    return read_parquet(folder / "results" / stage / "old-one" / f"{setting}.parquet", row)


def test_judgements_are_bought_in_shards_once_and_read(
    judged: Path, endpoint: ServerHandle, prefect_home: Path
) -> None:
    args = ("params.yaml", "--shard", "5")
    first = fill("judge", judged, prefect_home, endpoint, *args)
    spans = ["0-5", "10-12", "5-10"]
    assert first.shards == [f"old-one {setting} {span}" for setting in CELLS for span in spans]
    assert f"judgements of {2 * PROBLEMS} responses are in the store" in first.said
    stats = endpoint.stats()
    assert first.requests == stats["requests"], "the build had nothing left to ask"
    scores_and_errors, marks = 2 * PROBLEMS + PROBLEMS, 2 * PROBLEMS
    assert by_model(endpoint) == {
        "old-one": 2 * PROBLEMS, "grader": scores_and_errors + marks, "second": marks,
    }  # fmt: skip
    assert {entry["paid"] for entry in stats["contents"].values()} == {1}
    for setting, right in CELLS.items():
        said = rows(judged, "score", setting)
        assert said["outcome"].unique().to_list() == ["scored"]
        by_rules = dict(said.group_by("rules").agg(pl.col("verdict").mean()).iter_rows())
        assert by_rules == {"emma": right, "gptscore": 1.0}
        found = rows(judged, "judge", setting)
        assert found["outcome"].unique().to_list() == ["scored"], "no reply was unreadable"
        told = found.filter(instrument="quality").group_by("judge").len()
        assert dict(told.iter_rows()) == dict.fromkeys([*JUDGES, "grader+second"], PROBLEMS)
        assert found["overall"].drop_nulls().unique().to_list() == [4.0]
        errors = found.filter(instrument="error_type")["error_type"].to_list()
        assert errors == ["logical"] * (0 if right else PROBLEMS)

    again = fill("judge", judged, prefect_home, endpoint, *args)
    assert again.shards == first.shards
    assert endpoint.stats()["requests"] == stats["requests"], "a second run asks nothing"

    before = {s: [rows(judged, stage, s) for stage in ("score", "judge")] for s in CELLS}
    for stage in ("score", "judge"):
        shutil.rmtree(judged / "results" / stage)
    rebuild(judged, prefect_home, "score_all", "judge_all")
    assert endpoint.stats()["requests"] == stats["requests"], "Snakemake alone asks nothing"
    for setting, kept in before.items():
        for stage, frame in zip(("score", "judge"), kept, strict=True):
            assert rows(judged, stage, setting).equals(frame)
