"""Addresses of pictures: relative, without a scheme, never out of their folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.web.pictures import embed_picture, find_picture, link_file, link_picture


@pytest.mark.parametrize(
    ("target", "link"),
    [
        ("pages/a.png", "./a.png"),
        ("images/a b.png", "../images/a%20b.png"),
        ("javascript:alert(1)", "../javascript%3Aalert%281%29"),
        ("pages/data:x.png", "./data%3Ax.png"),
    ],
)
def test_a_link_is_relative_and_has_no_scheme(tmp_path: Path, target: str, link: str) -> None:
    assert link_file(tmp_path / target, tmp_path / "pages/p.html") == link


@pytest.mark.parametrize("name", ["images/a.png", "a.jpg", "deep/er/b.webp"])
def test_a_picture_of_the_folder_is_found(tmp_path: Path, name: str) -> None:
    assert find_picture(tmp_path, name) == tmp_path / name
    assert link_picture(tmp_path, name, tmp_path / "p.html") == f"./{name}"


@pytest.mark.parametrize(
    "name",
    ["", "/etc/a.png", "../a.png", "images/../../a.png", "a.svg", "page.html", "a.png.html", "png"],
)
def test_nothing_else_is(tmp_path: Path, name: str) -> None:
    assert find_picture(tmp_path, name) is None
    assert link_picture(tmp_path, name, tmp_path / "p.html") == ""


def test_a_picture_may_stand_in_the_page() -> None:
    assert embed_picture(b"\xff\xd8", "image/jpeg") == "data:image/jpeg;base64,/9g="
