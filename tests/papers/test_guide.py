"""docs/papers.md says of each table and figure what it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.papers.catalogue import PaperItem, read_catalogue
from omibench.papers.export.printed_tables import describe_papers, find_status


def test_the_guide_is_what_the_catalogue_says(root: Path) -> None:
    text = describe_papers(read_catalogue())
    assert (root / "docs/papers.md").read_text("utf-8") == text, "run `make generated`"


@pytest.mark.parametrize(
    ("values", "status"),
    [
        ({"table": {"result": "accuracy"}}, "made, simulated"),
        ({"table": {"result": "accuracy"}, "made": "from responses"}, "made"),
        ({"printed": "a.csv"}, "printed"),
        ({"printed": "a.csv", "impossible": "a survey"}, "printed"),
        ({"impossible": "never published"}, "impossible"),
        ({"no_numbers": "an example"}, "no numbers"),
    ],
)
def test_the_status_of_an_item(values: dict[str, object], status: str) -> None:
    assert find_status(PaperItem.model_validate({"title": "T", **values})) == status


def test_every_printed_file_is_there(root: Path) -> None:
    for paper in read_catalogue().values():
        for key, item in paper.items.items():
            if item.printed:
                assert (root / "published" / item.printed).is_file(), key
