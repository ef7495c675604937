"""Pictures reach a local engine upright, on white, once, and never too large."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from tests.models.local_blocks import part_of, picture

from omibench.errors import MissingInputError, ModelError
from omibench.models.local.prompts import decode, pixels
from omibench.schemas.request import ImagePart


def saved(image: Image.Image, path: Path, **more: object) -> ImagePart:
    image.save(path, **more)  # type: ignore[arg-type]
    return part_of(path)


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    old = picture(tmp_path)
    before = decode(old)
    Image.new("RGB", (7, 5), "red").save(old.path)
    assert decode(old).size == (7, 5) != before.size
    assert pixels(old) == 35


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_what_is_transparent_is_white(tmp_path: Path, mode: str) -> None:
    clear = Image.new("RGBA", (4, 4), (0, 0, 0, 0))
    clear.putpixel((1, 1), (0, 0, 0, 255))
    drawn = decode(saved(clear.convert(mode), tmp_path / "t.png"))
    assert drawn.mode == "RGB"
    assert drawn.getpixel((0, 0)) == (255, 255, 255)
    assert drawn.getpixel((1, 1)) == (0, 0, 0)


def test_sixteen_bits_are_scaled(tmp_path: Path) -> None:
    deep = saved(Image.new("I;16", (4, 4), 256 * 100), tmp_path / "d.png")
    assert decode(deep).getpixel((1, 1)) == (100, 100, 100)


def test_a_photograph_stands_upright(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees to the right
    lying = Image.new("RGB", (8, 4), "white")
    assert decode(saved(lying, tmp_path / "p.jpg", exif=exif)).size == (4, 8)


def test_more_pixels_than_pillow_allows_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = picture(tmp_path, size=(30, 20))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 599)
    for look in (pixels, decode):
        with pytest.raises(ModelError, match=r"0-30x20\.png: has more than 599 pixels"):
            look(part)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 600)
    assert decode(part).size == (30, 20)


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match=r"gone\.png: cannot be opened: it does not exist"):
        decode(ImagePart(sha256="0" * 64, path=str(tmp_path / "gone.png")))
    (tmp_path / "words.png").write_text("no picture")
    with pytest.raises(ModelError, match=r"words\.png: is not a readable picture"):
        pixels(part_of(tmp_path / "words.png"))
    whole = picture(tmp_path, 3, (64, 64))
    torn = tmp_path / "torn.png"
    torn.write_bytes(Path(whole.path).read_bytes()[:4000])
    with pytest.raises(ModelError, match=r"torn\.png: is damaged and cannot be decoded"):
        decode(part_of(torn))
