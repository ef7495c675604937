"""A picture is what its bytes are, whole and not too large; its name says nothing."""

from __future__ import annotations

import io
import zlib
from pathlib import Path

import pytest
from PIL import Image

from omibench.errors import FileFormatError, MissingInputError
from omibench.files import pictures
from omibench.files.pictures import _png_chunk, read_picture

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def saved(form: str) -> bytes:
    written = io.BytesIO()
    Image.effect_noise((60, 40), 80).convert("RGB").save(written, form)
    return written.getvalue()


@pytest.mark.parametrize("form", ["png", "jpeg", "gif", "webp", "bmp"])
def test_a_picture_is_read_whatever_its_name(tmp_path: Path, form: str) -> None:
    file = tmp_path / "a.html"
    file.write_bytes(saved(form))
    picture = read_picture(file)
    assert picture == (saved(form), form, 60, 40) or picture[1:] == (form, 60, 40)
    assert picture.suffix == ("jpg" if form == "jpeg" else form)


@pytest.mark.parametrize("content", [SVG, b"<html>", b"%PDF-1.7", b"", b"II*\0" + b"\0" * 50])
def test_what_is_no_picture_is_refused_by_its_content(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "a.png"
    file.write_bytes(content)
    with pytest.raises(FileFormatError, match=r"a\.png: is not a picture by its first bytes"):
        read_picture(file)


@pytest.mark.parametrize("form", ["png", "jpeg", "gif", "webp", "bmp"])
def test_a_picture_that_is_cut_off_is_refused(form: str) -> None:
    data = saved(form)
    with pytest.raises(FileFormatError, match=r"problem 7: is a damaged picture"):
        read_picture(data[: len(data) // 2], "problem 7")


def test_a_picture_of_too_many_pixels_is_refused_before_it_is_unpacked() -> None:
    head = (60_000).to_bytes(4) * 2 + b"\x01\0\0\0\0"
    data = b"\x89PNG\r\n\x1a\n" + _png_chunk(b"IHDR", head)
    data += _png_chunk(b"IDAT", zlib.compress(bytes(1000))) + _png_chunk(b"IEND", b"")
    with pytest.raises(FileFormatError, match="more than 178,956,970 pixels"):
        read_picture(data, "a.png")


def test_a_webp_has_fewer_pixels_since_it_is_decoded_into_copies(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pictures, "PIXELS", 4 * 60 * 40 - 1)
    assert read_picture(saved("png"))[1:] == ("png", 60, 40)
    with pytest.raises(FileFormatError, match=r"more than 2,399 pixels"):
        read_picture(saved("webp"))


def test_a_message_names_the_picture_not_an_object_of_python() -> None:
    with pytest.raises(FileFormatError, match="damaged picture: cannot identify") as error:
        read_picture(b"GIF89a/*" + bytes(20), "a.gif")
    assert "BytesIO" not in str(error.value)


def test_a_jpeg_that_passes_over_its_pixels_a_thousand_times_is_not_decoded() -> None:
    written = io.BytesIO()
    Image.new("L", (64, 64)).save(written, "JPEG", progressive=True)
    data = written.getvalue()
    scan = data[data.rfind(b"\xff\xda") : -2]
    assert read_picture(data[:-2] + scan * 50 + data[-2:]).form == "jpeg"
    with pytest.raises(FileFormatError, match=r"a\.jpg: has more than 100 scans"):
        read_picture(data[:-2] + scan * 1000 + data[-2:], "a.jpg")


def test_a_file_that_is_too_large_or_absent_is_told(tmp_path: Path) -> None:
    file = tmp_path / "a.png"
    with pytest.raises(MissingInputError, match=r"a\.png: cannot be read: it does not exist"):
        read_picture(file)
    file.write_bytes(saved("png"))
    with pytest.raises(FileFormatError, match="at most 100 bytes"):
        read_picture(file, limit=100)
    with pytest.raises(FileFormatError, match="the limit for a picture is 100 bytes"):
        read_picture(saved("png"), "a", limit=100)
