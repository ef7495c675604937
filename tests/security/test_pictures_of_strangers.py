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
from omibench.errors import FileFormatError, MissingInputError, OmibenchError
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


@pytest.mark.parametrize("file", ["/etc/hostname", "../secret.png", "images/../../secret.png"])
def test_a_release_names_no_file_outside_of_it(tmp_path: Path, file: str) -> None:
    (tmp_path / "secret.png").write_bytes(png())
    data = release(tmp_path / "data", file, png())
    with pytest.raises(FileFormatError, match=r"q-1: .* leads out of this folder"):
        freeze("frozen", data, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_link_of_a_release_leads_nowhere_else(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(png())
    data = release(tmp_path / "data", "a.png", png())
    (data / "a.png").symlink_to(tmp_path / "secret.png")
    with pytest.raises(FileFormatError, match=r"q-1: .*'a\.png' leads out of this folder by a"):
        freeze("frozen", data, tmp_path / "out")


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


@pytest.mark.parametrize("file", ["x" * 300 + ".png", "d/" * 1500 + "a.png"])
def test_a_name_that_no_file_can_have_is_one_line(tmp_path: Path, file: str) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "problems.csv").write_text(f"id,question,answer,images\na,Q?,1,{file}\n")
    with pytest.raises(FileFormatError, match=r"a: .* is not a path of a file"):
        load_benchmark(BenchmarkParams(name="folder"), str(data), tmp_path)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, make: Callable[[Path], None]) -> None:
    data = release(tmp_path / "data", "a.png")
    make(data / "a.png")
    with pytest.raises(MissingInputError, match=r"q-1: .*a\.png: cannot be read: it is a"):
        freeze("frozen", data, tmp_path / "out")


def test_a_file_without_end_is_not_read(tmp_path: Path) -> None:
    data = release(tmp_path / "data", "a.png")
    with (data / "a.png").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(FileFormatError, match=r"q-1: .*a\.png: has 1099\.5 GB"):
        freeze("frozen", data, tmp_path / "out")


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


def test_a_folder_and_embedded_pictures_are_looked_at_as_well(tmp_path: Path) -> None:
    import polars as pl

    data = tmp_path / "data"
    data.mkdir()
    (data / "problems.csv").write_text("id,question,answer,images\na,Q?,1,a.png\n", "utf-8")
    (data / "a.png").symlink_to("/dev/zero")
    with pytest.raises(FileFormatError, match=r"a: .*leads out of this folder by a link"):
        freeze("folder", data, tmp_path / "out")
    (data / "a.png").unlink()
    os.mkfifo(data / "a.png")
    with pytest.raises(OmibenchError, match=r"a\.png: cannot be read: it is a named pipe"):
        freeze("folder", data, tmp_path / "out")
    (data / "problems.csv").unlink()
    row = {
        "id": "a",
        "question": "Q?",
        "answer": ["1"],
        "images": [{"bytes": SVG, "path": "a.svg"}],
    }
    pl.DataFrame([row]).write_parquet(data / "problems.parquet")
    with pytest.raises(
        FileFormatError, match=r"a: picture 'a\.svg' .* is not a picture by its first"
    ):
        freeze("folder", data, tmp_path / "out")


def test_the_first_picture_of_a_name_is_no_link_that_leads_out(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "sub").mkdir(parents=True)
    (tmp_path / "secret.png").write_bytes(png())
    (data / "sub/a.png").symlink_to(tmp_path / "secret.png")
    (data / "problems.csv").write_text("id,question,answer,images\na,Q?,1,x/a.png\n", "utf-8")
    with pytest.raises(FileFormatError, match="leads out of this folder by a link"):
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
