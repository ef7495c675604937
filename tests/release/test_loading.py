"""`datasets` reads a release offline, with pictures that decode."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from omibench.datasets.release.build import build_release
from omibench.datasets.release.splits import ReleaseOptions, SplitPlan
from small_freeze import write_sources

LOAD = """
import json, sys
from datasets import Image, load_dataset

release, cache = sys.argv[1:]
tables = load_dataset(release, cache_dir=cache)
sample = load_dataset(release, "sample", cache_dir=cache)["test"]
test = tables["test"]
assert isinstance(test.features["images"].feature, Image)
pictures = [[picture.convert("RGB").size for picture in row["images"]] for row in test]
counts = {name: table.num_rows for name, table in tables.items()}
print(json.dumps([counts, sample.num_rows, test["id"][:], pictures]))
"""


@pytest.mark.slow
def test_datasets_reads_a_release_offline(freeze: Path, tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    sources = write_sources(tmp_path / "sources.yaml", beta=False)
    options = ReleaseOptions(sources=sources, split=SplitPlan("mini", 2), seed=1)
    build_release(freeze, tmp_path / "out", options)
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home")}
    answer = subprocess.run(
        [sys.executable, "-c", LOAD, str(tmp_path / "out"), str(tmp_path / "cache")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    counts, sample, ids, pictures = json.loads(answer.stdout)
    assert (counts, sample) == ({"mini": 2, "test": 4}, 6)
    for identity, sizes in zip(ids, pictures, strict=True):
        number = int(identity.removeprefix("item-"))
        expected = [] if number % 2 else [[8 + 2 * number, 6], [9 + 2 * number, 6]]
        assert sizes == expected
