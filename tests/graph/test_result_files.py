"""The table of files names whatever a study writes."""

from __future__ import annotations

import pytest

from omibench.graph.provenance import Provenance
from omibench.graph.result_files import FILES, find_file


def test_each_kind_is_named_once() -> None:
    paths = [file.path for file in FILES]
    assert len(set(paths)) == len(paths)
    assert [find_file(path) for path in paths if "{" not in path] == [
        file for file in FILES if "{" not in file.path
    ]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("infer/gpt-4.1/cot.parquet", "infer/{model}/{setting}.parquet"),
        ("infer/gpt-4.1/filled.txt", "infer/{model}/filled.txt"),
        ("saliency/m/usnco-v/physics-1-0-A.png", "saliency/{model}/{setting}/{map}.png"),
        ("analyze/explorer/cells/m@cot.html", "analyze/explorer/cells/{model}@{setting}.html"),
    ],
)
def test_a_file_is_found_by_its_path(path: str, kind: str) -> None:
    found = find_file(path)
    assert found is not None
    assert found.path == kind


def test_what_made_a_stage_is_in_the_table_with_its_fields() -> None:
    found = find_file("infer/provenance.json")
    assert found is not None
    assert found.row is Provenance


@pytest.mark.parametrize("path", ["infer/cot.parquet", "notes.txt", "analyze/report_html"])
def test_other_files_are_not_named(path: str) -> None:
    assert find_file(path) is None
