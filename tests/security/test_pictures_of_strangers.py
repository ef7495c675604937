"""Datasets of strangers: what their rows name as pictures is looked at before it is copied."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from PIL import Image
from PIL.ExifTags import GPS, IFD, Base

from omibench.datasets.registry import load_benchmark
from omibench.errors import FileFormatError, OmibenchError
from omibench.params.benchmark import BenchmarkParams
from omibench.params.study import parse_study
from omibench.schemas.problem import Answer, Choice, Figure, Question
from omibench.schemas.tables import (
    FrozenManifest,
    content_hash,
    read_jsonl,
    write_json,
    write_jsonl,
)
from omibench.stages.analyze.explorer.item import describe_item
from omibench.stages.analyze.explorer.requests import Trail
from omibench.stages.freeze import freeze_dataset

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
HTML = b"<html><script>alert(1)</script></html>"
ZERO = "00" * 32


def png() -> bytes:
    written = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(written, "PNG")
    return written.getvalue()


def release(folder: Path, file: str, content: bytes | None = None) -> Path:
    """A release that a stranger made by hand: one question, whose picture is `file`."""
    folder.mkdir(exist_ok=True)
    sha256 = ZERO if content is None else hashlib.sha256(content).hexdigest()
    figure = Figure(file=file, sha256=sha256)
    questions = [Question(id="q-1", question="[IMAGE0]?", images=[figure])]
    answers = [Answer(id="q-1", answer=["1"], answer_type="open")]
    write_jsonl(folder / "questions.jsonl", questions)
    write_jsonl(folder / "answers.jsonl", answers)
    manifest = FrozenManifest(
        name="stranger", version="1.0.0", problems=1, images=1, subjects={},
        questions_sha256=content_hash(questions), answers_sha256=content_hash(answers),
    )  # fmt: skip
    write_json(folder / "manifest.json", manifest)
    return folder


def freeze(name: str, data: Path, out: Path, **params: str) -> FrozenManifest:
    block = {"benchmark": {"name": name}, "data": str(data), "freeze": params}
    return freeze_dataset(None, out, parse_study(block, "test"))


def folder(folder: Path, file: str) -> Path:
    """A folder with a table of one question, whose picture is `file`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "problems.csv").write_text(f"id,question,answer,images\nq-1,Q?,1,{file}\n", "utf-8")
    return folder


def link_out(path: Path) -> None:
    path.symlink_to(path.parents[1] / "secret.png")


def grow(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**40)


OUT = "leads out of this folder"


@pytest.mark.parametrize(("kind", "write"), [("frozen", release), ("folder", folder)])
@pytest.mark.parametrize(
    ("file", "plant", "message"),
    [
        ("/etc/hostname", None, OUT),
        ("../secret.png", None, OUT),
        ("images/../../secret.png", None, OUT),
        ("a.png", link_out, rf"'a\.png' {OUT} by a link"),
        ("a.png", os.mkfifo, r"a\.png: cannot be read: it is a"),
        ("a.png", os.mkdir, r"a\.png: cannot be read: it is a"),
        ("a.png", grow, r"a\.png: has 1099\.5 GB"),
        ("x" * 300 + ".png", None, "is not a path of a file"),
        ("d/" * 1500 + "a.png", None, "is not a path of a file"),
    ],
)
def test_what_a_row_names_is_a_picture_of_its_folder(
    tmp_path: Path, kind: str, write: Callable[[Path, str], Path], file: str,
    plant: Callable[[Path], None] | None, message: str,
) -> None:  # fmt: skip
    (tmp_path / "secret.png").write_bytes(png())
    data = write(tmp_path / "data", file)
    if plant:
        plant(data / file)
    row = "" if kind == "folder" and "read" in message else "q-1: .*"
    with pytest.raises(OmibenchError, match=row + message):
        freeze(kind, data, tmp_path / "out")
    assert not any(path.is_file() for path in (tmp_path / "out").rglob("*"))


@pytest.mark.parametrize("name", ["problems.csv", "questions.jsonl", "physics/x.parquet"])
def test_no_table_is_a_link_that_leads_out(tmp_path: Path, name: str) -> None:
    private = tmp_path / "private.csv"
    private.write_text("id,question,answer\na,a private question,1\n")
    data = release(tmp_path / "data", "a.png", png()) if "questions" in name else tmp_path / "data"
    (data / name).parent.mkdir(parents=True, exist_ok=True)
    (data / name).unlink(missing_ok=True)
    (data / name).symlink_to(private)
    kind = {"problems.csv": "folder", "questions.jsonl": "frozen"}.get(name, "emma")
    with pytest.raises(FileFormatError, match=rf"'{name}' leads out of this folder by a link"):
        load_benchmark(BenchmarkParams(name=kind), str(data), tmp_path)


@pytest.mark.parametrize("content", [SVG, HTML, b"BM" + HTML, b"GIF89a" + HTML, png()[:60]])
@pytest.mark.parametrize("file", ["a.svg", "a.html", "a.png"])
def test_what_is_no_picture_enters_no_release(tmp_path: Path, content: bytes, file: str) -> None:
    data = release(tmp_path / "data", file, content)
    (data / file).write_bytes(content)
    with pytest.raises(
        FileFormatError, match=r"q-1: .*: is (not a picture|a damaged (picture|PNG))"
    ):
        freeze("frozen", data, tmp_path / "out")
    assert not list((tmp_path / "out").rglob("*.*"))


def test_a_picture_is_named_by_what_it_is(tmp_path: Path) -> None:
    data = release(tmp_path / "data", "a.html", png())
    (data / "a.html").write_bytes(png())
    freeze("frozen", data, tmp_path / "out")
    (question,) = read_jsonl(tmp_path / "out/questions.jsonl", Question)
    assert question.images[0].file == f"images/{hashlib.sha256(png()).hexdigest()}.png"


def test_embedded_pictures_are_looked_at_as_well(tmp_path: Path) -> None:
    import polars as pl

    row = {
        "id": "a",
        "question": "Q?",
        "answer": ["1"],
        "images": [{"bytes": SVG, "path": "a.svg"}],
    }
    pl.DataFrame([row]).write_parquet(tmp_path / "problems.parquet")
    with pytest.raises(
        FileFormatError, match=r"a: picture 'a\.svg' .* is not a picture by its first"
    ):
        freeze("folder", tmp_path, tmp_path / "out")


def test_the_first_picture_of_a_name_is_no_link_that_leads_out(tmp_path: Path) -> None:
    data = folder(tmp_path / "data", "x/a.png")
    (tmp_path / "secret.png").write_bytes(png())
    (data / "sub").mkdir()
    (data / "sub/a.png").symlink_to(tmp_path / "secret.png")
    with pytest.raises(FileFormatError, match=OUT):
        load_benchmark(BenchmarkParams(name="folder"), str(data), tmp_path)


def test_places_and_devices_stay_at_home(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[Base.Make] = "secret device"
    exif[Base.Orientation] = 6
    exif.get_ifd(IFD.GPSInfo)[GPS.GPSLatitude] = (49.0, 24.0, 36.0)
    data = tmp_path / "data"
    data.mkdir()
    Image.new("RGB", (8, 4), "red").save(data / "a.jpg", exif=exif)
    Image.new("RGB", (8, 8), "red").save(data / "b.png")
    (data / "problems.csv").write_text(
        "id,question,answer,images\na,Q?,1,a.jpg\nb,Q?,1,b.png\n", "utf-8"
    )
    freeze("folder", data, tmp_path / "out")
    one, two = read_jsonl(tmp_path / "out/questions.jsonl", Question)
    bare = (tmp_path / "out" / one.images[0].file).read_bytes()
    assert hashlib.sha256(bare).hexdigest() == one.images[0].sha256
    assert b"secret" not in bare
    with Image.open(io.BytesIO(bare)) as image:
        assert dict(image.getexif()) == {Base.Orientation: 6}
    assert (tmp_path / "out" / two.images[0].file).read_bytes() == (data / "b.png").read_bytes()
    card = (tmp_path / "out/README.md").read_text("utf-8")
    assert "was removed from 1 of 2 pictures" in card
    freeze("folder", data, tmp_path / "kept", metadata="keep")
    (one, _) = read_jsonl(tmp_path / "kept/questions.jsonl", Question)
    assert (tmp_path / "kept" / one.images[0].file).read_bytes() == (data / "a.jpg").read_bytes()
    assert "with metadata of cameras and programs" in (tmp_path / "kept/README.md").read_text()


@pytest.mark.parametrize("image", [-1, -100])
def test_no_choice_counts_pictures_from_behind(image: int) -> None:
    with pytest.raises(ValueError, match="greater than or equal to 0"):
        Choice(label="A", image=image)


@pytest.mark.parametrize(
    "figure",
    [
        Figure(file="../../evil.svg", sha256=""),
        Figure(file="images/evil.svg", sha256=ZERO),
        Figure(file="/etc/a.png", sha256=ZERO),
        Figure(file="../a.png", sha256=ZERO),
        Figure(file="a.png", sha256="../a"),
    ],
)
def test_a_report_links_to_pictures_of_the_dataset_alone(tmp_path: Path, figure: Figure) -> None:
    question = Question(id="q", question="Q?", images=[figure])
    answer = Answer(id="q", answer=["1"], answer_type="open")
    (tmp_path / "a.png").write_bytes(png())
    (tmp_path / "freeze/images").mkdir(parents=True)
    (tmp_path / f"freeze/images/{ZERO}.svg").write_bytes(SVG)
    trail = Trail(tmp_path / "store", tmp_path / "pictures", tmp_path / "freeze")
    link = partial(trail.link_picture, page=tmp_path / "page.html", copies=tmp_path / "copies")
    (shown,) = describe_item(question, answer, link)["pictures"]
    assert shown["src"] is None
    assert not (tmp_path / "copies").exists()
