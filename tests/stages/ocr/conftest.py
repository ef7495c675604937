"""Papers rebuilt, one of each awkward kind, and lines to build small papers from."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest

from glyphtex.marks import Box
from omibench.stages.ocr.layout.layout import Line

Maker = Callable[..., Line]


@pytest.fixture
def line() -> Maker:
    """A line of text at (x, y) in points; ten-point type on page 1 unless told otherwise."""

    def make(text: str, x: float = 60.0, y: float = 100.0, **more: object) -> Line:
        size = float(more.pop("size", 10.0))  # type: ignore[arg-type]
        box = Box(x, y - 0.8 * size, x + 0.5 * size * len(text), y + 0.2 * size)
        page = int(more.pop("page", 1))  # type: ignore[call-overload]
        indent = float(more.pop("indent", x - 60))  # type: ignore[arg-type]
        return Line(page, box, text, size, baseline=y, indent=indent, **more)  # type: ignore[arg-type]

    return make


@pytest.fixture
def column(line: Maker) -> Callable[..., list[Line]]:
    """Lines of text below each other, 12 points apart."""

    def make(*texts: str, top: float = 100.0, page: int = 1) -> list[Line]:
        return [line(text, y=top + 12 * k, page=page) for k, text in enumerate(texts)]

    return make


def exam(pages: int = 1) -> pymupdf.Document:
    """A PDF with two numbered problems a page and a running foot."""
    pdf = pymupdf.open()
    for index in range(pages):
        page = pdf.new_page()
        for k in (1, 2):
            number = 2 * index + k
            page.insert_text(
                (72, 100 * k), f"{number}. How many legs has a spider of kind {number}?"
            )
        page.insert_text((250, 820), f"Page {index + 1}", fontsize=8)
    return pdf


def scan(turns: tuple[int, ...] = (0, 90, 180)) -> pymupdf.Document:
    """A PDF of pictures of pages, turned, without a text layer."""
    pixels = exam()[0].get_pixmap(dpi=100)
    pdf = pymupdf.open()
    for turn in turns:
        page = pdf.new_page()
        page.insert_image(page.rect, pixmap=pixels, rotate=turn)
    pdf[-1].set_rotation(270)
    return pdf


def bomb(side: int = 20_000) -> bytes:
    """A small PDF whose one image declares `side` x `side` pixels."""
    head = (
        f"/Type/XObject/Subtype/Image/Width {side}/Height {side}/ColorSpace/DeviceGray"
        "/BitsPerComponent 8/Filter/FlateDecode"
    )
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents 4 0 R"
        b"/Resources<</XObject<</I 5 0 R>>>>>>",
        b"<</Length 25>>stream\nq 300 0 0 300 0 0 cm /I Do Q\nendstream",
        b"<<" + head.encode() + b"/Length 8>>stream\n\x78\x9c\x03\x00\x00\x00\x00\x01\nendstream",
    ]
    return assembled(objects)


def text_bomb(lines: int = 40_000) -> bytes:
    """A small PDF whose one page holds millions of characters."""
    text = b"BT /F 1 Tf 10 290 Td " + b"(%s) Tj 0 -0.01 Td " % (b"abcdefghi " * 10) * lines + b"ET"
    content = zlib.compress(text)
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents 4 0 R"
        b"/Resources<</Font<</F 5 0 R>>>>>>",
        b"<</Filter/FlateDecode/Length %d>>stream\n%s\nendstream" % (len(content), content),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    return assembled(objects)


def assembled(objects: list[bytes]) -> bytes:
    """Objects 1, 2, ... as a PDF file with its cross-reference table."""
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size, start = len(objects) + 1, len(out)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % size
    trailer = b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (size, start)
    return out + head + table + trailer


@pytest.fixture(scope="session")
def bad_papers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one paper of each awkward kind, named by what is wrong with it."""
    folder = tmp_path_factory.mktemp("bad")
    aes = pymupdf.PDF_ENCRYPT_AES_256
    exam().save(folder / "user_password.pdf", encryption=aes, user_pw="open sesame", owner_pw="x")
    exam().save(folder / "owner_password.pdf", encryption=aes, owner_pw="x", permissions=0)
    whole = exam(2).tobytes()
    (folder / "whole.pdf").write_bytes(whole)
    (folder / "truncated.pdf").write_bytes(whole[: len(whole) // 4])
    empty = assembled([b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[]/Count 0>>"])
    (folder / "no_pages.pdf").write_bytes(empty)
    long = pymupdf.open()
    for _ in range(301):
        long.new_page(width=20, height=20)
    long.save(folder / "long.pdf")
    (folder / "bomb.pdf").write_bytes(bomb())
    (folder / "text_bomb.pdf").write_bytes(text_bomb())
    scan().save(folder / "turned_scan.pdf")
    pixels = exam()[0].get_pixmap(dpi=72)
    pixels.save(folder / "photograph.png")
    pixels.save(folder / "photograph.jpg")
    (folder / "picture.pdf").write_bytes((folder / "photograph.png").read_bytes())
    (folder / "paper.png").write_bytes(whole)
    (folder / "notes.txt").write_text("1. What is this?")
    return folder
