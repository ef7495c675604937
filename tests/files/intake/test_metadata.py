"""Pictures without what a camera noted: pixels, profile and orientation stay, all else goes."""

from __future__ import annotations

import io
from contextlib import suppress
from typing import Any

import pytest
from PIL import Image, ImageCms, ImageOps, PngImagePlugin
from PIL.ExifTags import GPS, IFD, Base

from omibench.errors import FileFormatError
from omibench.files.pictures import strip_metadata

PLACE = "secret place"
PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def drawn() -> Image.Image:
    image = Image.new("RGB", (40, 24), "white")
    image.putpixel((3, 5), (200, 10, 10))
    image.paste((10, 60, 200), (10, 2, 20, 20))
    return image


def notes(orientation: int = 1) -> Image.Exif:
    exif = Image.Exif()
    exif[Base.Make] = PLACE
    exif[Base.Orientation] = orientation
    exif.get_ifd(IFD.GPSInfo)[GPS.GPSLatitude] = (49.0, 24.0, 36.0)
    exif.get_ifd(IFD.Exif)[Base.MakerNote] = PLACE.encode()
    return exif


def saved(form: str, **options: Any) -> bytes:
    written = io.BytesIO()
    drawn().save(written, form, **options)
    return written.getvalue()


def upright(data: bytes) -> tuple[tuple[int, int], bytes]:
    image = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
    return image.size, image.convert("RGB").tobytes()


@pytest.mark.parametrize("form", ["png", "jpeg", "webp"])
@pytest.mark.parametrize("orientation", [1, 3, 6])
def test_what_a_camera_noted_goes_and_the_picture_is_shown_as_before(
    form: str, orientation: int
) -> None:
    data = saved(form, exif=notes(orientation), icc_profile=PROFILE)
    assert PLACE.encode() in data
    bare = strip_metadata(data, form)
    image = Image.open(io.BytesIO(bare))
    assert PLACE.encode() not in bare
    assert not image.getexif().get_ifd(IFD.GPSInfo)
    assert set(image.getexif()) <= {Base.Orientation}
    assert (Base.Orientation in image.getexif()) is (orientation != 1)
    assert image.info["icc_profile"] == PROFILE
    assert upright(bare) == upright(data)
    assert strip_metadata(bare, form) == bare or orientation != 1
    assert upright(strip_metadata(bare, form)) == upright(data)


@pytest.mark.parametrize("form", ["png", "jpeg", "webp", "gif", "bmp"])
def test_a_picture_without_notes_stays_byte_for_byte(form: str) -> None:
    options = {} if form in ("gif", "bmp") else {"icc_profile": PROFILE}
    data = saved(form, **options)
    assert strip_metadata(data, form) == data


@pytest.mark.parametrize("options", [{"progressive": True}, {"quality": 95, "optimize": True}])
def test_every_scan_of_a_jpeg_stays(options: dict[str, Any]) -> None:
    plain = saved("jpeg", **options)
    assert strip_metadata(plain, "jpeg") == plain
    assert strip_metadata(saved("jpeg", exif=notes(), **options), "jpeg") == plain


def test_texts_of_a_png_and_comments_go() -> None:
    texts = PngImagePlugin.PngInfo()
    texts.add_text("Author", PLACE)
    texts.add_itxt("XML:com.adobe.xmp", PLACE)
    texts.add(b"prVt", PLACE.encode())
    assert strip_metadata(saved("png", pnginfo=texts), "png") == saved("png")
    assert strip_metadata(saved("jpeg", comment=PLACE), "jpeg") == saved("jpeg")
    assert strip_metadata(saved("jpeg", xmp=PLACE.encode()), "jpeg") == saved("jpeg")
    gif = strip_metadata(saved("gif", comment=PLACE), "gif")
    assert PLACE.encode() not in gif
    assert upright(gif) == upright(saved("gif"))


@pytest.mark.parametrize("form", ["png", "jpeg", "webp", "gif"])
def test_what_follows_the_end_goes(form: str) -> None:
    data = saved(form)
    assert strip_metadata(data + PLACE.encode(), form) == data


def test_notes_of_a_kind_that_hides_between_segments_go() -> None:
    data = saved("jpeg", exif=notes())
    hidden = data[:2] + PLACE.encode() + data[2:]
    assert strip_metadata(hidden, "jpeg") == saved("jpeg")


@pytest.mark.parametrize("form", ["png", "jpeg", "webp", "gif"])
@pytest.mark.parametrize("length", [3, 12, 30, 100])
def test_a_picture_that_is_cut_off_is_an_error_or_as_it_was(form: str, length: int) -> None:
    data = saved(form)[:length]
    with suppress(FileFormatError):
        assert strip_metadata(data, form) == data


def test_an_animation_keeps_its_frames() -> None:
    frames = [drawn(), ImageOps.invert(drawn())]
    for form in ("png", "gif", "webp"):
        written = io.BytesIO()
        frames[0].save(written, form, save_all=True, append_images=frames[1:], duration=50, loop=0)
        assert strip_metadata(written.getvalue(), form) == written.getvalue()
