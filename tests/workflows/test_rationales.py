"""The flow `rationales` without a server: votes, solutions and topics, bought in shards."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest
import yaml
from tests.extras import require_extra
from tests.workflows_support import KEY_ENV, fill, rebuild

from model_server.handle import ServerHandle
from omibench.params.stages.filter import FilterParams
from omibench.schemas.curation import FilterJudgement
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl, read_parquet
from omibench.stages.filter.stage import sift

require_extra("flows", "prefect")
pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(600)]

STEPS = "The figures are read one after another, each step follows from the last one. " * 6
APPROVED = '{"one_question": true, "complete": true, "figures_matter": true}'
GUESS, HIDDEN = "B", "g/4"
"""What the writer says before it is told the answer, and the answer it cannot even then derive."""


def solution(answer: str) -> str:
    return f"{STEPS}\nFinal Answer: \\boxed{{{answer}}}"


@pytest.fixture
def papers(folder: Path, root: Path, endpoint: ServerHandle) -> Path:
    """A study of one exam paper of the sample, which has keys and no solutions."""
    sample = folder / "sample"
    shutil.copytree(root / "sample", sample)
    sources = yaml.safe_load((sample / "sources.yaml").read_text("utf-8"))
    sources["sources"] = [s for s in sources["sources"] if s["name"] == "physics"]
    (sample / "sources.yaml").write_text(yaml.safe_dump(sources))
    model = {
        "provider": "openai", "base_url": endpoint.openai_url, "key_env": KEY_ENV,
        "price": {"input": 2.0, "output": 10.0, "as_of": "2026-11-21"},
        "limits": {"concurrency": 8, "timeout_s": 20, "attempts": 3},
    }  # fmt: skip
    params = {
        "study": {"name": "papers"},
        "benchmark": {"name": "papers"},
        "ocr": {"sources": "sample/sources.yaml"},
        "models": {name: model | {"id": name} for name in ("writer", "labeller", "voter")},
        "filter": {"completeness": ["voter"]},
        "rationale": {
            "writer": "writer", "labeller": "labeller", "candidates": 2,
            "topics": {"physics": ["mechanics", "waves"]},
        },
    }  # fmt: skip
    (folder / "params.yaml").write_text(yaml.safe_dump(params))
    return folder


def test_solutions_and_topics_are_bought_in_shards_once_and_read(
    papers: Path, endpoint: ServerHandle, prefect_home: Path
) -> None:
    rebuild(papers, prefect_home, "results/ocr/problems.jsonl")
    read = problems(papers / "results/ocr/problems.jsonl")
    sound, _ = sift(read, papers / "results/ocr", FilterParams())
    golds = {p.id: p.answer or [] for p in sound}
    given = {f"Reference Solution: {'; '.join(gold)}": solution("; ".join(gold))
             for gold in golds.values() if gold != [HIDDEN]}  # fmt: skip
    replies = {
        "whether an exam problem was read": APPROVED,
        "names the sub-field of the olympiad problem": "{CLASS: waves}",
        **given,
        "Solve the olympiad problem below": solution(GUESS),
    }
    endpoint.configure(models=["writer", "labeller", "voter"], replies=replies)

    args = ("params.yaml", "--shard", "3")
    first = fill("rationales", papers, prefect_home, endpoint, *args)
    assert first.shards == [
        *(f"voter filter {span}" for span in ("0-3", "3-6", "6-9", "9-10")),
        *(f"writer rationales {span}" for span in ("0-3", "3-6", "6-8")),
    ]
    stats = endpoint.stats()
    assert first.requests == stats["requests"], "the build had nothing left to ask"
    guessed = sum(gold == [GUESS] for gold in golds.values())
    told = len(golds) - guessed
    assert 0 < guessed < len(golds) == 8
    # Two candidates of a problem are two draws of one request; the rest is bought once.
    draws = Counter(entry["paid"] for entry in stats["contents"].values())
    votes = labels = len(golds)
    assert draws == {2: len(golds), 1: told + labels + votes}
    said = read_parquet(papers / "results/filter/judgements.parquet", FilterJudgement)
    assert said["id"].to_list() == list(golds)
    assert set(said["answers"].explode()) == {"approved"}
    file = papers / "results/rationale/problems.jsonl"
    for row in problems(file):
        assert row.topic == "waves"
        if row.answer == [HIDDEN]:
            assert row.solution is None
            assert "wrote none that ends in the right answer" in row.warnings[-1].detail
            continue
        assert row.solution == solution("; ".join(row.answer or []))
        assert ("rationale: writer was given the answer" in map(str, row.warnings)) == (
            row.answer != [GUESS]
        )

    again = fill("rationales", papers, prefect_home, endpoint, *args)
    assert again.shards == first.shards
    assert endpoint.stats()["requests"] == stats["requests"], "a second run asks nothing"

    written = file.read_bytes()
    file.unlink()
    rebuild(papers, prefect_home, "results/rationale/problems.jsonl")
    assert file.read_bytes() == written
    assert endpoint.stats()["requests"] == stats["requests"], "Snakemake alone asks nothing"


def problems(file: Path) -> list[Problem]:
    return read_jsonl(file, Problem)
