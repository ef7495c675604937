"""An engine that reads each picture once."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
from tests.stages.ocr.engines.pages import Scripted, page_picture, reading

from omibench.stages.ocr.engines.readers import RememberingEngine


def test_what_was_read_is_read_no_more_and_is_the_same(tmp_path: Path) -> None:
    engine = Scripted(reading("1. Who?", 10, 20), reading("x", 5, 60, confidence=None), side=90)
    opened = []

    def open_engine() -> Scripted:
        opened.append(engine)
        return engine

    results = []
    for _ in range(3):
        remembering = RememberingEngine("scripted", open_engine, tmp_path)
        picture, turn = remembering.upright(page_picture())
        results.append((picture.tobytes(), turn, remembering.read(picture)))
    assert len(opened) == len(engine.shown) == 1
    assert results[1] == results[2] == results[0]


def test_another_picture_is_read(tmp_path: Path) -> None:
    engine = Scripted(reading("1. Who?", 10, 20))
    remembering = RememberingEngine("scripted", lambda: engine, tmp_path)
    flat = np.zeros((20, 30, 3), np.uint8)
    for picture in (flat, flat.reshape(30, 20, 3), flat + np.uint8(1), flat):
        remembering.read(picture)
    assert len(engine.shown) == 3


def test_what_is_kept_is_read_in_the_memory_of_a_reader_of_papers(tmp_path: Path) -> None:
    remembering = RememberingEngine("scripted", lambda: Scripted(reading("x", 1, 2)), tmp_path)
    remembering.read(page_picture())
    tracemalloc.start()
    remembering.read(page_picture())
    assert tracemalloc.get_traced_memory()[1] < 50 * 2**20
    tracemalloc.stop()
