"""Small pictures on disk, as a frozen dataset names them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.settings.pictures.drawn import Paint

from omibench.schemas.problem import Figure


@pytest.fixture
def freeze(tmp_path: Path) -> Path:
    """The folder of a frozen dataset."""
    folder = tmp_path / "results" / "freeze"
    (folder / "images").mkdir(parents=True)
    return folder


@pytest.fixture
def paint(freeze: Path) -> Paint:
    """Writes a picture into the dataset and returns its figure."""

    def write(name: str, image: Image.Image, **how: Any) -> Figure:
        path = freeze / "images" / name
        image.save(path, **how)
        return Figure(file=f"images/{name}", sha256=hashlib.sha256(path.read_bytes()).hexdigest())

    return write
