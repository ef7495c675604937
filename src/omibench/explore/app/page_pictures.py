"""Images of paper pages with the boxes of items, drawn by `ocr` or `omibench review assign`.

The explorer shows existing page images; it does not read PDF files.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from omibench.errors import OmibenchError
from omibench.review.folder import TASKS, read_tasks
from omibench.schemas.problem import BBox


@dataclass(frozen=True)
class ShownPage:
    """The picture of one page.

    Attributes:
        sha256: Hash of its bytes.
        label: Such as `Page 3`.
        boxes: Boxes of the item, (x0, y0, x1, y1) as shares of width and height.
    """

    sha256: str
    label: str
    boxes: Sequence[BBox]


@dataclass(frozen=True)
class PagePictures:
    """The pages of all items.

    Attributes:
        by_item: The pages of each item, in order.
        files: The file of each picture by its SHA-256.
    """

    by_item: Mapping[str, Sequence[ShownPage]] = field(default_factory=dict)
    files: Mapping[str, Path] = field(default_factory=dict)


def read_page_pictures(folder: Path) -> PagePictures:
    """Return the pages that a review shows of each item.

    Args:
        folder: The review folder; without readable tasks there are no pages.
    """
    try:
        tasks = read_tasks(folder / TASKS).rows
    except OmibenchError:
        return PagePictures()
    by_item: defaultdict[str, list[ShownPage]] = defaultdict(list)
    files: dict[str, Path] = {}
    for task in tasks:
        if task.kind != "page" or task.of is not None:
            continue
        for picture in task.pictures:
            if picture.part == "page":
                page = ShownPage(picture.sha256, picture.label, picture.boxes)
                by_item[task.problem].append(page)
                files[picture.sha256] = folder / picture.file
    return PagePictures(dict(by_item), files)
