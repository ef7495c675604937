"""The made study of the tests of `analyze`, and a small release."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from tests.stages.analyze.conftest import made

from omibench.params.study import parse_study
from omibench.stages.freeze import freeze_dataset

__all__ = ["made"]


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """Two problems of a folder of one's own; the picture of the second is absent."""
    source = tmp_path / "own"
    source.mkdir()
    Image.new("L", (4, 4), 10).save(source / "one.png")
    (source / "problems.csv").write_text(
        "id,question,answer,images,choices\n"
        "a,See [IMAGE0],B,one.png,1 N | 2 N | 3 N\n"
        "b,Why?,4,two.png,\n",
        "utf-8",
    )
    study = parse_study({"benchmark": {"name": "folder"}, "data": str(source)}, "test")
    freeze_dataset(None, tmp_path / "release", study)
    return tmp_path / "release"
