"""Doubtful formulas that a model reads again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from PIL import Image
from tests.mathpix_server import ID, KEY, Mathpix, running
from typer.testing import CliRunner, Result

from command_line import app
from glyphtex.marks import Box, Formula, FormulaRegion, NextLine
from model_server.handle import KEY_ENV, ServerHandle
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.pages import PageText
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr.corrections.apply import SourceCorrections
from omibench.stages.ocr.engines.mathpix import ID_ENV, URL_ENV
from omibench.stages.ocr.engines.mathpix import KEY_ENV as MATHPIX_KEY_ENV
from omibench.stages.ocr.engines.textlayer import LayerReading, read_layer
from omibench.stages.ocr.jobs import OcrJob
from omibench.stages.ocr.layout.layout import Line
from omibench.stages.ocr.layout.regions import Region, find_regions
from omibench.stages.ocr.pipeline import Opener
from omibench.stages.ocr.rereading.asking import LINE_TEXT, answer_crops
from omibench.stages.ocr.rereading.crops import (
    CropDesk,
    CropReply,
    parse_crop_name,
    reply_file,
)
from omibench.stages.ocr.rereading.pages import (
    ENGINE,
    MOST_CROPS,
    PageRereader,
    compare_formulas,
    compare_lines,
    group_flattened,
    join_group,
    read_picture,
)
from omibench.stages.ocr.sources.manifest import Source
from omibench.stages.ocr.structure import document

# Two readings of one place: what is settled, and what is named as different.


@pytest.mark.parametrize(
    ("layer", "reply", "text", "nouns"),
    [
        (r"\frac{a}{b}+1", r"$\frac{a}{b} + 1$", r"\frac{a}{b}+1", []),
        (r"\frac{a}{b}+1", r"\[ \dfrac{a}{b}+1 \]", r"\frac{a}{b}+1", []),
        (r"\frac{a}{b}+1", r"\frac a b + 1", r"\frac{a}{b}+1", []),
        ("a 2 + b 3", r"$a^{2} + b_{3}$", "a^{2} + b_{3}", []),  # the reader's arrangement
        (r"\square = 2 a", r"$\beta = 2 a$", r"\beta = 2 a", []),
        ("", r"\sqrt{2}", r"\sqrt{2}", []),
        (r"\square = 2 a", r"$\beta = 3 a$", None, ["numbers: 2 is missing"]),
        ("x^{2} + 1", "$x^{3} + 1$", None, ["numbers", "x^{2} + 1", "x^{3} + 1"]),
        ("x^{2} + 1", "$x^{2} - 1$", None, ["signs"]),
        (r"x \neq 1", "$x = 1$", None, ["negations"]),
        ("x + y", "$x + z$", None, ["symbols"]),
        ("x^{2}", "   ", None, []),
        ("x^{2}", "x + " * 400, None, []),
        ("x^{2}", "```\n```", None, []),
    ],
)
def test_two_readings_of_a_formula(
    layer: str, reply: str, text: str | None, nouns: list[str]
) -> None:
    agreement = compare_formulas(layer, reply)
    assert agreement[:2] == (layer if text is None else text, text is not None)
    assert all(noun in agreement.difference for noun in nouns)
    assert bool(agreement.difference) == bool(nouns)


LINE = "where v0 is the speed at 20 m"


@pytest.mark.parametrize(
    ("line", "reply", "is_settled", "difference"),
    [
        ("falls with v0 = 3 2 g t2", r"falls with $v_0 = \frac{3}{2} g t^2$", True, ""),
        ("density 106 kg/m3", r"density $10^{5}$ kg/m$^3$", True, "6 and 5"),
        ("the charge −2e", "the charge $2e$", True, "- and none"),
        ("It does not move, v0 = 3", "It does move, $v_0 = 3$", True, "not and none"),
        ("Qual força é F1 ?", "Qual força não é $F_1$ ?", True, "none and não"),
        ("下列x2正确的是", "下列$x^2$不正确的是", True, "none and 不"),
        ("Es sin x2 en el eje", r"Es $\sin x^2$ en el eje", True, ""),
        ("x² − 10⁻³ m", "$x^2 - 10^{-3}$ m", True, ""),
        (LINE, "", False, ""),
        (LINE, "I cannot read this picture, it is too small for me.", False, ""),
        (LINE, "the ball " * 60, False, ""),
    ],
)
def test_two_readings_of_a_line(line: str, reply: str, is_settled: bool, difference: str) -> None:
    agreement = compare_lines(line, reply)
    assert agreement[:2] == (reply if is_settled else line, is_settled)
    assert agreement.difference.endswith(difference)
    assert bool(agreement.difference) == bool(difference)


# Rows of a formula that an engine read as lines of their own.


def line(text: str, x0: float, y0: float, x1: float, y1: float, *, suspect: bool = False) -> Line:
    box = Box(x0, y0, x1, y1)
    return Line(1, box, text, 10, engine="rapidocr", confidence=0.9, math_suspect=suspect)


def test_numerator_denominator_and_what_stands_beside_them_are_one() -> None:
    head = line("The speed is v0 =", 50, 100, 150, 112, suspect=True)
    above, below = line("2g", 154, 93, 170, 104), line("h", 156, 107, 166, 118)
    tail = line("of the ball", 174, 100, 240, 112)
    far = line("next column", 320, 100, 420, 112)
    under = line("and it falls", 50, 114, 240, 126)
    (group,) = group_flattened([head, above, below, tail, far, under])
    assert group == [head, above, below, tail]
    joined = join_group(group)
    assert joined.box == (50, 93, 240, 118)
    assert joined.text == "The speed is v0 = 2g h of the ball"


def test_lines_without_formulas_and_those_left_out_are_in_no_group() -> None:
    plain = line("A ball falls", 50, 100, 150, 112)
    ink = replace(line("v0", 50, 130, 70, 142, suspect=True), left_out="handwriting")
    side = replace(line("v0", 50, 130, 60, 190, suspect=True), upright=False)
    assert group_flattened([plain, ink, side]) == []


def test_a_fraction_beside_a_line_is_a_formula_though_no_line_looks_like_one() -> None:
    root = line("2πV", 188, 289, 210, 306)
    above, below = line("2m", 210, 281, 231, 297), line("k", 211, 296, 229, 310)
    assert group_flattened([root, above, below]) == [[root, above, below]]
    assert group_flattened([root, above]) == []
    apart = replace(below, box=Box(236, 296, 250, 310))
    assert group_flattened([root, above, apart]) == []


def test_cells_of_words_beside_a_cell_are_no_fraction() -> None:
    head = line("Group", 50, 100, 90, 112)
    cells = [line("Nitrogen", 94, 94, 140, 105), line("Oxygen", 94, 107, 140, 118)]
    assert group_flattened([head, *cells]) == []


def test_a_denominator_in_the_box_of_its_line_belongs_to_it() -> None:
    first = line("(A) W = p1V1", 37, 182, 120, 201, suspect=True)
    second = line("(B) W = p2V2", 37, 196, 119, 215, suspect=True)
    below = line("k-1", 88, 208, 107, 217)
    assert group_flattened([first, second, below]) == [[first], [second, below]]


@pytest.fixture
def desk(tmp_path: Path) -> CropDesk:
    return CropDesk(tmp_path / "crops", tmp_path / "replies")


# Formulas that are small pictures in a line of text.

INLINE = (292, 48, 352, 64)


@pytest.fixture
def page() -> pymupdf.Page:
    """A line of text with a picture in its gap, and another picture far from text."""
    picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 60, 16))
    picture.clear_with(90)
    page: pymupdf.Page = pymupdf.open().new_page(width=420, height=300)
    page.insert_text((30, 60), "1. A ball falls from the height h with the speed", fontsize=12)
    page.insert_text((360, 60), "at last.", fontsize=12)
    page.insert_image(INLINE, pixmap=picture)
    page.insert_image((40, 150, 200, 260), pixmap=picture, keep_proportion=False)
    return page


def read(page: pymupdf.Page, desk: CropDesk) -> tuple[list[Line], list[Region]]:
    return PageRereader(page, 1, desk, 0).read_pictures(
        read_layer(page, 1).lines, find_regions(page)
    )


def test_a_picture_in_a_line_is_asked_for_and_becomes_a_formula(
    page: pymupdf.Page, desk: CropDesk
) -> None:
    _, regions = read(page, desk)
    assert (desk.count, len(regions)) == (1, 2)
    answer_crops("m", lambda crops: [r"$v=\sqrt{2gh}$"] * len(crops), desk.waiting, desk.replies)
    lines, regions = read(page, desk)
    assert len(regions) == 1
    (line,) = (line for line in lines if line.engine == ENGINE)
    assert line.text == r"$v=\sqrt{2gh}$"
    assert line.formulas[0].latex == r"v=\sqrt{2gh}"
    assert line.baseline == pytest.approx(60, abs=1)


@pytest.mark.parametrize(
    ("reply", "latex"),
    [
        (r"$v_0$", "v_0"),
        (r"\[ \frac{1}{2} \]", r"\frac{1}{2}"),
        (r"v^2", "v^2"),
        (r"The formula is $v_0$.", ""),
        (r"$a\square b$", ""),
        ("", ""),
    ],
)
def test_only_a_formula_alone_is_used(reply: str, latex: str) -> None:
    assert read_picture(reply) == latex


# A text layer's doubtful formula, from the opened paper over a reply to the document.


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A paper of one line, whose formula the layer does not give for certain."""
    pdf = pymupdf.open()
    pdf.new_page().insert_text((72, 100), "1. A ball has the speed v2 where it is thrown.")
    pdf.save(tmp_path / "paper.pdf")

    def read_doubtfully(page: pymupdf.Page, number: int) -> LayerReading:
        (line,) = read_layer(page, number).lines
        formula = Formula(FormulaRegion(line.box, ()), "v 2", ("a script may be one",))
        doubtful = replace(line, text=line.text.replace("v2", "$v 2$"), formulas=(formula,))
        return LayerReading([doubtful], exceeds_limits=False)

    monkeypatch.setattr(document, "read_layer", read_doubtfully)
    return tmp_path / "paper.pdf"


def open_paper(paper: Path, reader: str | None) -> tuple[Opener, Line]:
    job = OcrJob(
        source=Source(name="paper", paper=str(paper)),
        folder=paper.parent / "job",
        params=OcrParams(formula_reader=reader),
    )
    job.folder.mkdir(exist_ok=True)
    opener = Opener(job, SourceCorrections([]))
    (line,) = (i for i in opener.open(str(paper))[1].flow if isinstance(i, Line))
    return opener, line


def test_a_doubtful_formula_of_a_layer_is_asked_for_and_settled(paper: Path) -> None:
    opener, line = open_paper(paper, "m")
    assert opener.crops.count == 1
    assert line.formulas[0].doubts
    asked = []

    def read(crops: object) -> list[str]:
        asked.append(crops)
        return ["$v^{2}$"]

    for _ in range(2):
        answer_crops("m", read, opener.crops.waiting, opener.crops.replies)
    assert len(asked) == 1
    again, settled = open_paper(paper, "m")
    assert again.crops.count == 0
    assert settled.text == "1. A ball has the speed $v^{2}$ where it is thrown."
    assert settled.formulas[0].doubts == ()


def test_without_a_reader_nothing_is_cut_or_asked(paper: Path) -> None:
    opener, line = open_paper(paper, None)
    assert opener.crops.count == 0
    assert not opener.crops.waiting.exists()
    assert "$v 2$" in line.text


# Lines of a page with replies about crops of their formulas.

BOX = Box(100, 90, 140, 112)


@pytest.fixture
def formula_page() -> pymupdf.Page:
    formula_page = pymupdf.open().new_page(width=300, height=200)
    formula_page.draw_rect(pymupdf.Rect(BOX), fill=(0, 0, 0))
    return formula_page


def doubtful(latex: str, box: Box = BOX) -> Formula:
    return Formula(FormulaRegion(box, ()), latex, ("a mark belongs to no part",))


def make_line(*formulas: Formula) -> Line:
    text = "so " + " and ".join(f"${formula.latex}$" for formula in formulas) + " hold"
    return Line(1, Box(50, 90, 250, 112), text, 10, formulas=formulas)


def answer(desk: CropDesk, text: str | None) -> None:
    """Give one reply to all crops that wait."""
    desk.replies.mkdir(exist_ok=True)
    for path in desk.waiting.iterdir():
        name = parse_crop_name(path.name)
        reply = CropReply(reader="r", text=text).model_dump_json()
        reply_file(desk.replies, name.kind, name.sha256).write_text(reply, "utf-8")


def reread(desk: CropDesk, formula_page: pymupdf.Page, line: Line) -> Line:
    (found,) = PageRereader(formula_page, 1, desk, 0).reread([line])
    return found


def test_a_doubtful_formula_waits_as_a_crop_and_is_settled_by_its_reply(
    formula_page: pymupdf.Page, desk: CropDesk
) -> None:
    certain = Formula(FormulaRegion(Box(150, 90, 160, 112), ()), "y")
    line = make_line(certain, doubtful("a 2"))
    assert reread(desk, formula_page, line) == line
    (file,) = desk.waiting.iterdir()
    assert (parse_crop_name(file.name)[:3], desk.count) == (("formula", 0, 1), 1)
    with Image.open(file) as crop:
        assert crop.size == (192, 117)
        assert crop.getpixel((0, 0)) == (255, 255, 255)
        assert crop.getpixel((96, 58)) == (0, 0, 0)
    answer(desk, "$a^2$")
    settled = reread(CropDesk(desk.waiting, desk.replies), formula_page, line)
    assert settled.text == "so $y$ and $a^2$ hold"
    assert [formula.doubts for formula in settled.formulas] == [(), ()]
    assert settled.formulas[1].latex == "a^2"
    assert settled.differences == ()


def test_the_parts_of_a_broken_formula_are_asked_for_in_one_line(
    formula_page: pymupdf.Page, desk: CropDesk
) -> None:
    second = NextLine(FormulaRegion(Box(20, 120, 60, 142), ()), 122.5, -30)
    region = FormulaRegion(BOX, (), following=(second,))
    reread(desk, formula_page, make_line(Formula(region, "a+b", ("unsure",))))
    (file,) = desk.waiting.iterdir()
    with Image.open(file) as crop:
        width, height = crop.size
        assert (round(width * 72 / 300), round(height * 72 / 300)) == (88, 28)
        assert crop.getpixel((90, 58)) == (0, 0, 0)
        assert crop.getpixel((width - 20, 58)) == (255, 255, 255)


def test_a_formula_that_is_read_differently_stays_doubtful_and_is_named(
    formula_page: pymupdf.Page, desk: CropDesk
) -> None:
    line = make_line(doubtful("a + 2"))
    reread(desk, formula_page, line)
    answer(desk, "$a - 2$")
    compared = reread(desk, formula_page, line)
    assert compared.text == line.text
    assert compared.formulas[0].doubts
    assert compared.differences[0].startswith("page 1, box (100, 90, 140, 112): the layer has")
    assert "signs" in compared.differences[0]


def test_a_reader_without_an_answer_leaves_the_doubt_and_is_not_asked_again(
    formula_page: pymupdf.Page, desk: CropDesk
) -> None:
    line = make_line(doubtful("a"))
    reread(desk, formula_page, line)
    answer(desk, None)
    again = CropDesk(desk.waiting, desk.replies)
    assert reread(again, formula_page, line) == line
    assert again.count == 0


def test_a_flattened_line_of_a_scan_is_read_as_a_whole(
    formula_page: pymupdf.Page, desk: CropDesk
) -> None:
    box = Box(50, 90, 250, 112)
    line = Line(1, box, "where v0 = 3 m", 10, engine="rapidocr", math_suspect=True)
    assert reread(desk, formula_page, line) == line
    answer(desk, "where $v_0 = 5$ m")
    found = reread(desk, formula_page, line)
    assert (found.text, found.math_suspect) == ("where $v_0 = 5$ m", False)
    assert "3 and 5" in found.differences[0]


def test_a_page_has_a_most_of_crops_and_what_lies_outside_of_it_has_none(
    formula_page: pymupdf.Page, desk: CropDesk
) -> None:
    lines = [make_line(doubtful("a", Box(k, 10, k + 9, 30))) for k in range(MOST_CROPS + 20)]
    PageRereader(formula_page, 1, desk, 0).reread(lines)
    assert desk.count == MOST_CROPS
    outside = CropDesk(desk.waiting, desk.replies)
    reread(outside, formula_page, make_line(doubtful("a", Box(900, 10, 990, 30))))
    assert outside.count == 0


# Formulas of a scan put to a reader, from the command to the problems.
pytest.importorskip("rapidocr")

FLAT = "1. A ball with the area 25 cm2 falls. How long does it fall?"

RIGHT = r"1. A ball with the area 25 cm$^2$ falls. How long does it fall?"

WRONG = RIGHT.replace("25", "26")

OTHER = "2. How far does a train go in half an hour at full speed?"


def scan(folder: Path) -> Path:
    """A page of two problems that is a picture."""
    paper = pymupdf.open()
    page = paper.new_page(width=420, height=200)
    page.insert_text((30, 60), FLAT, fontsize=12)
    page.insert_text((30, 120), OTHER, fontsize=12)
    pixels = page.get_pixmap(dpi=150)
    pdf = pymupdf.open()
    pdf.new_page(width=420, height=200).insert_image(page.rect, pixmap=pixels)
    pdf.save(folder / "scan.pdf")
    return folder / "scan.pdf"


def run(folder: Path, models: dict[str, Any], **ocr: Any) -> Result:
    params = {"study": {"store": str(folder / "store")}, "ocr": ocr, "models": models}
    verb = ["ocr", str(scan(folder)), "--out", str(folder / "out"), "--params", json.dumps(params)]
    return CliRunner().invoke(app, verb)


def ask_model(server: ServerHandle, folder: Path, **ocr: Any) -> Problem:
    """The first problem, its formulas read by a model that is served."""
    model = {"provider": "openai", "id": "m", "base_url": server.openai_url, "key_env": KEY_ENV}
    done = run(folder, {"m": model}, formula_reader="m", **ocr)
    assert done.exit_code == 0, done.output
    return read_first(folder)


def read_first(folder: Path) -> Problem:
    first, second = read_jsonl(folder / "out/problems.jsonl", Problem)
    assert second.question == OTHER[3:]
    return first


@pytest.mark.slow
def test_a_line_with_a_formula_is_asked_for_once(server: ServerHandle, tmp_path: Path) -> None:
    server.configure(replies={LINE_TEXT[:40]: RIGHT})
    first = ask_model(server, tmp_path)
    assert first.question == RIGHT[3:]
    assert first.warnings == []
    (page,) = read_jsonl(tmp_path / "out/pages.jsonl", PageText)
    assert page.engine == "rapidocr"
    assert RIGHT in page.text
    assert ask_model(server, tmp_path).question == RIGHT[3:]
    assert server.stats()["requests"] == 1


@pytest.mark.slow
def test_another_number_is_named_with_its_page_and_box(
    server: ServerHandle, tmp_path: Path
) -> None:
    server.configure(replies={"OCR:": WRONG})
    first = ask_model(server, tmp_path, formula_preset="paddleocr-vl")
    (warning,) = first.warnings
    assert warning.code == "formula_differs"
    assert warning.detail.startswith("page 1, box (")
    assert "5 and 6" in warning.detail


@pytest.mark.slow
def test_mathpix_reads_lines_of_formulas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contour = [[0, 0], [900, 0], [900, 40], [0, 40]]
    text = {"image_width": 900, "image_height": 40, "line_data": [{"cnt": contour, "text": RIGHT}]}
    with running(Mathpix(text=text)) as mathpix:
        monkeypatch.setenv(ID_ENV, ID)
        monkeypatch.setenv(MATHPIX_KEY_ENV, KEY)
        monkeypatch.setenv(URL_ENV, mathpix.url)
        assert run(tmp_path, {}, formula_reader="mathpix").exit_code == 0
        assert read_first(tmp_path).question == RIGHT[3:]
        assert mathpix.seen["/v3/text"] == 1


def test_a_reader_that_is_no_model_of_the_study_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, {}, formula_reader="nobody")
    assert "ocr.formula_reader" in str(done.exception)
