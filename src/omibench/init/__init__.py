"""A new study outside the repository: `make_study` writes its folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from omibench.init.contents import StudyFiles


def make_study(folder: Path, files: StudyFiles) -> None:
    """Write the files of a new study; see `omibench.init.write.write_study`."""
    from omibench.init.write import write_study

    write_study(folder, files)
