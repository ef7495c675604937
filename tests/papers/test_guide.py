"""docs/papers.md says of each table and figure what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.papers.catalogue import (
    PaperItem,
    RehearsalItem,
    hash_catalogue,
    read_catalogue,
    read_rehearsal,
)
from omibench.papers.export.overview import describe_papers, find_status


def test_the_guide_is_what_the_catalogue_says(root: Path) -> None:
    text = describe_papers(read_catalogue(), read_rehearsal())
    assert (root / "docs/papers.md").read_text("utf-8") == text, "run `make generated`"


def test_the_newest_rehearsal_is_of_this_catalogue() -> None:
    record, papers = read_rehearsal(), read_catalogue()
    again = "run `python benchmarks/paper_studies.py --work DIR --record published/rehearsed.json`"
    assert record.catalogue == hash_catalogue(), again
    assert {name: [*items] for name, items in record.items.items()} == {
        name: [*paper.items] for name, paper in papers.items()
    }


def test_each_item_was_made_or_is_named() -> None:
    record = read_rehearsal()
    for name, paper in read_catalogue().items():
        for key, item in paper.items.items():
            named = item.awaits or item.impossible or item.no_numbers
            assert record.items[name][key].kind == "simulated" or named, (name, key)


@pytest.mark.parametrize(
    ("values", "kind", "status"),
    [
        ({"table": {"result": "accuracy"}}, "simulated", "made, simulated"),
        ({"table": {"result": "accuracy"}, "made": "from responses"}, "simulated", "made"),
        ({"table": {"result": "accuracy"}, "awaits": "code"}, "missing", "missing"),
        ({"table": {"result": "accuracy"}, "awaits": "c", "printed": "a"}, "printed", "missing"),
        ({"table": {"result": "accuracy"}}, "missing", "missing"),
        ({"printed": "a.csv"}, "printed", "printed"),
        ({"printed": "a.csv", "impossible": "a survey"}, "printed", "printed"),
        ({"impossible": "never published"}, "impossible", "impossible"),
        ({"no_numbers": "an example"}, "no numbers", "no numbers"),
    ],
)
def test_the_status_of_an_item(values: dict[str, object], kind: str, status: str) -> None:
    item = PaperItem.model_validate({"title": "T", **values})
    assert find_status(item, RehearsalItem(kind=kind)) == status


def test_every_printed_file_is_there(root: Path) -> None:
    for paper in read_catalogue().values():
        for key, item in paper.items.items():
            if item.printed:
                assert (root / "published" / item.printed).is_file(), key
