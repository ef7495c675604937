"""Files of other tools that attack who scores them: each is one line, soon, in little memory."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path

import pytest
from tests.formats.logs import HEADER, SAMPLE, zstandard_zip
from tests.security.hostile import bounded

from omibench.datasets.formats import read as packed
from omibench.datasets.formats import read as workbook
from omibench.datasets.formats.harnesses import simple_evals_examples
from omibench.datasets.formats.named import parse_columns
from omibench.datasets.formats.record import parse_list
from omibench.errors import OmibenchError
from omibench.stages.score.rows import read_rows

MIB = 2**20


def refused(path: Path, message: str, **more: object) -> None:
    with bounded(), pytest.raises(OmibenchError, match=message) as error:
        read_rows([path], **more)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 2_000


SHEET = (
    '<?xml version="1.0"?>{head}<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/'
    '2006/main">{dimension}<sheetData>{rows}</sheetData></worksheet>'
)
PARTS = {
    "[Content_Types].xml": '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/'
    'package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxml'
    'formats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="applica'
    'tion/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/'
    'worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheet'
    'ml.worksheet+xml"/></Types>',
    "_rels/.rels": '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/'
    'package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/'
    'officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": '<?xml version="1.0"?><workbook xmlns="http://schemas.openxmlformats.org/'
    'spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/'
    'relationships"><sheets><sheet name="s" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<?xml version="1.0"?><Relationships xmlns="http://schemas.'
    'openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.'
    'openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"'
    "/></Relationships>",
}


def sheet(path: Path, rows: str, dimension: str = "", head: str = "") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, text in PARTS.items():
            out.writestr(name, text)
        body = SHEET.format(head=head, dimension=dimension, rows=rows)
        out.writestr("xl/worksheets/sheet1.xml", body)
    return path


def cell(place: str, text: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'


NAMES = f'<row r="1">{cell("A1", "index")}{cell("B1", "answer")}{cell("C1", "prediction")}</row>'


@pytest.fixture(autouse=True)
def _needs_openpyxl(request: pytest.FixtureRequest) -> None:
    if "workbook" in request.node.name:
        pytest.importorskip("openpyxl")


def test_a_workbook_whose_size_is_a_lie_is_read_by_its_cells(tmp_path: Path) -> None:
    row = f'<row r="2">{cell("A2", "7")}{cell("B2", "B")}{cell("C2", "B")}</row>'
    path = sheet(tmp_path / "a.xlsx", NAMES + row, '<dimension ref="A1:XFD1048576"/>')
    with bounded():
        (found,) = read_rows([path])
    assert found.item.gold == ["B"]


def test_a_workbook_with_a_cell_in_the_last_corner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbook, "CELLS", 100_000)
    last = f'<row r="1048576">{cell("XFD1048576", "x")}</row>'
    refused(sheet(tmp_path / "a.xlsx", NAMES + last), "too many cells; save the sheet as .tsv")


@pytest.mark.slow
def test_a_workbook_that_unpacks_to_gigabytes(tmp_path: Path) -> None:
    path = sheet(tmp_path / "a.xlsx", NAMES)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as out, out.open("x", "w") as member:
        for _ in range(300):
            member.write(b"\0" * MIB)
    refused(path, "unpacks to more than 256 MiB")


def test_a_workbook_of_entities_within_entities(tmp_path: Path) -> None:
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
    head = f'<!DOCTYPE worksheet [<!ENTITY e0 "ha">{entities}]>'
    row = f'<row r="2">{cell("A2", "&e11;")}{cell("B2", "B")}{cell("C2", "B")}</row>'
    refused(sheet(tmp_path / "a.xlsx", NAMES + row, head=head), "is not an Excel workbook")


def test_a_workbook_that_reads_a_file_of_ours_holds_nothing_of_it(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("planted")
    head = f'<!DOCTYPE worksheet [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]>'
    row = f'<row r="2">{cell("A2", "1")}{cell("B2", "B")}{cell("C2", "&x;")}</row>'
    path, read = sheet(tmp_path / "a.xlsx", NAMES + row, head=head), ""
    try:
        read = str(read_rows([path]))
    except OmibenchError as error:
        read = str(error)
    assert "planted" not in read


@pytest.mark.parametrize("how", ["zstandard", "deflate"])
def test_a_log_of_inspect_that_unpacks_to_gigabytes(
    tmp_path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed.Packed.read, "__defaults__", (4 * MIB,))
    path, bomb = tmp_path / "a.eval", b" " * (64 * MIB)
    members = {"header.json": json.dumps(HEADER).encode(), "samples/a_epoch_1.json": bomb}
    if how == "zstandard":
        zstandard_zip(path, members)
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
            for name, content in members.items():
                out.writestr(name, content)
    refused(path, "unpacks to more than")


def test_a_log_of_inspect_with_a_wrong_checksum_or_a_broken_member(tmp_path: Path) -> None:
    path = tmp_path / "a.eval"
    text = json.dumps(SAMPLE).encode()
    zstandard_zip(path, {"header.json": json.dumps(HEADER).encode(), "samples/a.json": text})
    whole = path.read_bytes()
    for place in range(40, len(whole) - 1, 37):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        try:
            read_rows([path])
        except OmibenchError as error:
            assert "\n" not in str(error)  # noqa: PT017 (either is right)
    path.write_bytes(whole[:-30])
    refused(path, "is a broken zip file")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "nested"),
        ('{"id": 1, "prediction": ' + "[" * 5_000 + "]" * 5_000 + ', "gold": "B"}', "nested"),
        ('{"id": 1' + "0" * 5_000 + "}", "is not JSON"),
        ("PK\x03\x04 nothing", "is a broken zip file"),
        ("PAR1 nothing", "is not a Parquet file"),
        ("<html><body>hello</body></html>", "is a web page, but not a report of simple-evals"),
        ("\x1f\x8b nothing", "cannot be read|is not UTF-8|UTF-8"),
    ],
)
def test_hostile_texts_are_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(text.encode("latin-1"))
    refused(path, message)


def test_a_pipe_a_device_and_a_folder_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.jsonl")
    for path in (tmp_path / "a.jsonl", Path("/dev/zero"), tmp_path):
        refused(path, "named pipe|device|folder")
        refused(path, "named pipe|device|folder", answers=path)


def test_a_packed_line_without_end_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import gzip

    from omibench.datasets.formats import record as content

    monkeypatch.setattr(content, "LINE_BYTES", 4 * MIB)
    packed_line = io.BytesIO()
    with gzip.GzipFile(fileobj=packed_line, mode="wb", compresslevel=1) as out:
        for _ in range(64):
            out.write(b" " * MIB)
    (tmp_path / "a.jsonl.gz").write_bytes(packed_line.getvalue())
    refused(tmp_path / "a.jsonl.gz", "exceeds")


def test_names_of_columns_command_no_terminal(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"\x1b]0;owned\x07": 1, **{f"c{i}": 1 for i in range(500)}}))
    with pytest.raises(OmibenchError) as error:
        read_rows([path])
    assert "\x1b" not in str(error.value)
    with pytest.raises(OmibenchError) as error:
        read_rows([path], parse_columns("prediction=x,gold=y"))
    assert "\x1b" not in str(error.value)


@pytest.mark.parametrize("atom", ["<pre>", "<p>", "<div class=\"message ", "<!--", "<hr", "<a <a",
                                  "<p>Correct Answer: </p>", "&#x41;", "&lt"])  # fmt: skip
def test_a_hostile_page_costs_no_square(atom: str) -> None:
    with bounded():
        simple_evals_examples(atom * 200_000)


@pytest.mark.parametrize(
    "text",
    [
        "['" + "\\'" * 100_000,
        "[" + "'a'" * 100_000 + "x]",
        "[" + " " * 200_000 + "]",
        "['a'" + " ," * 100_000 + "]",
    ],
)
def test_a_hostile_list_in_a_text_costs_no_square(text: str) -> None:
    with bounded():
        parse_list(text)
