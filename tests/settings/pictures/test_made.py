"""Made pictures: drawn once, found again, kept whole, and other bytes for other sources."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from PIL import Image
from tests.settings.pictures.drawn import Paint, drawn

from omibench.errors import MissingInputError, ModelError, OutputError
from omibench.schemas.problem import Figure
from omibench.schemas.request import ImagePart
from omibench.settings import pictures
from omibench.settings.pictures import Recipe, make, without_drawing


class Turn:
    """Draws the first picture upside down and counts how often."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, images: Sequence[Image.Image]) -> Image.Image:
        self.times += 1
        return images[0].transpose(Image.Transpose.ROTATE_180)


def part_of(figure: Figure, freeze: Path) -> ImagePart:
    return ImagePart(sha256=figure.sha256, path=str(freeze / figure.file))


def forget() -> None:
    """What a new process knows."""
    pictures._lists.clear()
    pictures._verified.clear()


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    forget()
    return Recipe(tmp_path / "pictures" / "turned", "a/b: ü", {"show": "turned"})


def test_it_is_drawn_once_for_all_processes(recipe: Recipe, freeze: Path, paint: Paint) -> None:
    source, turn = part_of(paint("a.png", drawn((40, 30))), freeze), Turn()
    first = make(recipe, [source], turn)
    assert make(recipe, [source], turn) == first
    forget()
    assert make(recipe, [source], turn) == first
    assert turn.times == 1
    path = Path(first.path)
    assert path.parent == recipe.folder
    assert path.name.startswith("a-b-")
    with Image.open(path) as kept:
        told = json.loads(kept.info["omibench"])
    assert told == {"v": pictures.VERSION, "show": "turned", "of": [source.sha256]}


def test_damage_and_loss_are_mended(recipe: Recipe, freeze: Path, paint: Paint) -> None:
    source, turn = part_of(paint("a.png", drawn((40, 30))), freeze), Turn()
    first = make(recipe, [source], turn)
    path = Path(first.path)
    whole = path.read_bytes()
    for harm in (lambda: path.write_bytes(whole[:-9]), path.unlink, lambda: path.write_bytes(b"")):
        harm()
        forget()
        assert make(recipe, [source], turn) == first
        assert path.read_bytes() == whole
    path.write_bytes(whole[:50])
    assert make(recipe, [source], turn) == first, "seen within a process, too"


def test_photographs_stay_jpeg_and_drawings_png(recipe: Recipe, freeze: Path, paint: Paint) -> None:
    jpeg, png = (part_of(paint(f"a.{kind}", drawn((40, 30))), freeze) for kind in ("jpg", "png"))
    assert Path(make(recipe, [jpeg], Turn()).path).read_bytes()[:2] == b"\xff\xd8"
    assert Path(make(recipe, [png], Turn()).path).suffix == ".png"


def test_many_may_draw_the_same_at_once(recipe: Recipe, freeze: Path, paint: Paint) -> None:
    source = part_of(paint("a.png", drawn((40, 30))), freeze)
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: make(recipe, [source], Turn()), range(16)))
    assert len(found) == 1
    assert len(list(recipe.folder.iterdir())) == 1


def test_what_cannot_be_opened_is_one_line(
    recipe: Recipe, freeze: Path, paint: Paint, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = part_of(paint("a.png", drawn((40, 30))), freeze)
    with pytest.raises(MissingInputError, match=r"none\.png: cannot be read: it does not exist"):
        make(recipe, [source.model_copy(update={"path": "none.png"})], Turn())
    with pytest.raises(ModelError, match=r"a\.png: its content differs from the dataset"):
        make(recipe, [source.model_copy(update={"sha256": "0" * 64})], Turn())
    with pytest.raises(ModelError, match=r"x\.png: is not a readable picture"):
        pictures.decode_picture(Path(source.path).read_bytes()[:60], "x.png")
    with pytest.raises(ModelError, match=r"x\.png: is not a readable picture"):
        pictures.decode_picture(b"<svg/>", "x.png")
    monkeypatch.setattr(pictures, "MOST_PIXELS", 1000)
    with pytest.raises(ModelError, match=r"a\.png: has more than 1,000 pixels, the supported"):
        make(recipe, [source], Turn())


def test_a_folder_that_cannot_be_written_is_one_line(
    recipe: Recipe, freeze: Path, paint: Paint
) -> None:
    source = part_of(paint("a.png", drawn((40, 30))), freeze)
    recipe.folder.parent.write_text("a file")
    with pytest.raises(OutputError, match=r"turned/a-b-.*: cannot be written"):
        make(recipe, [source], Turn())


def test_whoever_only_looks_ahead_draws_nothing(recipe: Recipe, freeze: Path, paint: Paint) -> None:
    source, turn = part_of(paint("a.png", drawn((40, 30))), freeze), Turn()
    with without_drawing():
        ahead = make(recipe, [source], turn)
        assert make(recipe, [source], turn) == ahead
    assert not recipe.folder.exists()
    assert turn.times == 0
    assert ahead.path == source.path, "its size is known from the original"
    assert ahead.sha256 != source.sha256
    watched = dict(pictures._lists)
    drawn_since = make(recipe, [source], turn)
    pictures._lists.clear()
    pictures._lists.update(watched)  # another process has drawn it
    with without_drawing():
        assert make(recipe, [source], turn) == drawn_since != ahead
