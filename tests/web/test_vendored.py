"""Works of others that the package contains: each file is the one that THIRD_PARTY.md names."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import omibench.web
from omibench.files.reading import hash_file

FOLDER = Path(omibench.web.__file__).parent / "vendored"


def read_hashes(root: Path) -> dict[str, str]:
    """The hashes of THIRD_PARTY.md by the name of the file."""
    text = (root / "THIRD_PARTY.md").read_text("utf-8")
    return dict(re.findall(r"(?m)^\| `([^`]+)` \| .+ \| `([0-9a-f]{64})` \|$", text))


def test_every_file_is_the_published_one(root: Path) -> None:
    files = {
        path.relative_to(FOLDER).as_posix(): hash_file(path)
        for path in FOLDER.rglob("*")
        if path.is_file()
    }
    assert files == read_hashes(root)


def test_the_wheel_names_them(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    assert "THIRD_PARTY.md" in project["license-files"]


def test_all_fonts_of_the_style_are_there() -> None:
    style = (FOLDER / "katex/katex.min.css").read_text("utf-8")
    fonts = set(re.findall(r"url\((fonts/[^)]+\.woff2)\)", style))
    assert fonts == {f"fonts/{path.name}" for path in (FOLDER / "katex/fonts").iterdir()}
