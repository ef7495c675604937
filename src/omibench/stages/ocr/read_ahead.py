"""Requests of pages from remote engines, before the process that reads a paper.

They are separate from the stage `ocr`, so a change of model providers does not make papers be read
again that a local engine reads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from omibench.errors import ParamsError
from omibench.files.reading import hash_file
from omibench.models.client.ask import open_asker
from omibench.schemas.request import ImagePart
from omibench.schemas.validation import suggest_name
from omibench.stages.ocr.engines import mathpix, mineru, olmocr, vision
from omibench.stages.ocr.engines.page_models import Ask, PageJob, PresetPage, ReadPages
from omibench.stages.ocr.engines.readers import ReadPage, page_file
from omibench.stages.ocr.jobs import Ahead, Unread
from omibench.stages.ocr.rereading.asking import (
    ReadCrops,
    answer_crops,
    read_with_mathpix,
    read_with_model,
)
from omibench.stages.ocr.sources.files import is_photograph

if TYPE_CHECKING:
    from omibench.params.study import Study


PLAIN: Final = "plain"
PRESETS: Final[Mapping[str, ReadPages]] = {
    PLAIN: vision.read_pages,
    olmocr.NAME: olmocr.read_pages,
    mineru.NAME: mineru.read_pages,
}
"""The way a model is queried for pages, by `ocr.preset`."""


@contextmanager
def asking_ahead(study: Study) -> Iterator[Ahead | None]:
    """Return the client that requests pages and formulas from remote engines; None if not needed.

    Raises MissingInputError without the keys of mathpix, and ParamsError if `ocr.reader` or
    `ocr.formula_reader` is not a model of the study.
    """
    params = study.ocr
    if not params.asks_ahead:
        yield None
        return
    ask_pages: Ahead | None = None
    ask_formulas: Ahead | None = None
    with ExitStack() as stack:
        if mathpix.NAME in (params.engine, params.formula_reader):
            client = mathpix.open_client(Path(study.study.store) / mathpix.NAME)
        if params.engine == mathpix.NAME:
            ask_pages = partial(_read_with_mathpix, client)
        elif params.engine == vision.NAME:
            need = "`engine: vision` needs one that sees"
            ask_pages = _open_model(study, "ocr.reader", need, send_pages, stack)
        if params.formula_reader == mathpix.NAME:
            ask_formulas = partial(_answer_crops, mathpix.NAME, read_with_mathpix(client))
        elif params.formula_reader is not None:
            need = "name one that sees, or mathpix"
            ask_formulas = _open_model(study, "ocr.formula_reader", need, send_formulas, stack)

        def ahead(unread: Unread) -> None:
            if ask_pages and unread.pages:
                ask_pages(unread)
            if ask_formulas and unread.crops:
                ask_formulas(unread)

        yield ahead


def _open_model(
    study: Study,
    key: str,
    need: str,
    send: Callable[[Ask, Study, Unread], None],
    stack: ExitStack,
) -> Ahead:
    """Return what sends the pages or formulas of one source after another to a model."""
    name = getattr(study.ocr, key.removeprefix("ocr."))
    if name not in study.models:
        hint = suggest_name(name or "", study.models)
        raise ParamsError(f"{key}: {name!r} is not a model of the study; {need}{hint}")
    asker, lock = stack.enter_context(open_asker(study, name)), Lock()

    def ask(unread: Unread) -> None:
        with lock:
            send(asker, study, unread)

    return ask


def _answer_crops(reader: str, read: ReadCrops, unread: Unread) -> None:
    if unread.crops:
        answer_crops(reader, read, unread.crops, unread.readings / "formulas")


def _read_with_mathpix(client: mathpix.Client, unread: Unread) -> None:
    for place, numbers in unread.pages.items():
        path = Path(unread.source.files[place])
        if is_photograph(path):
            data = unread.picture(place, 1).read_bytes()
            pages = {1: mathpix.read_image(client, data, hashlib.sha256(data).hexdigest())}
        else:
            data = path.read_bytes()
            pages = mathpix.read_pdf(client, data, hashlib.sha256(data).hexdigest())
        for number in numbers:
            if number in pages:
                _write(unread.readings, place, number, pages[number])


def send_formulas(ask: Ask, study: Study, unread: Unread) -> None:
    """Request the crops of a source from the model in `ocr.formula_reader`, and write its replies.

    Args:
        ask: Sends requests to the model.
        study: Parameters of the stage.
        unread: Source with waiting crops.
    """
    read = read_with_model(ask, unread.source.name, study.study.name, study.ocr)
    _answer_crops(study.ocr.formula_reader or "", read, unread)


def send_pages(ask: Ask, study: Study, unread: Unread) -> None:
    """Request the waiting pages of a source from the model in `ocr.reader`, and write them.

    Args:
        ask: Sends requests to the model.
        study: Parameters of the stage.
        unread: Source with pictures of its waiting pages.

    Raises:
        ModelError: The replies are not those of the document reader in `ocr.preset`.
        ParamsError: A prompt's file cannot be read.
    """
    places = [(place, number) for place, numbers in unread.pages.items() for number in numbers]
    pages = [_page(unread, place, number) for place, number in places]
    preset = PRESETS[study.ocr.preset or PLAIN]
    job = PageJob(ask, unread.pictures, study.study.name, study.ocr.prompts)
    for read, (place, number) in zip(preset(pages, job), places, strict=True):
        if read:
            _write(unread.readings, place, number, read)


def _page(unread: Unread, place: int, number: int) -> PresetPage:
    """Return a page, named `SOURCE#p2` in the paper and `SOURCE#1p2` in its key."""
    from PIL import Image

    path = unread.picture(place, number)
    with Image.open(path) as image:
        width, height = image.size
    name = f"{unread.source.name}#{place or ''}p{number}"
    return PresetPage(name, ImagePart(sha256=hash_file(path), path=str(path)), width, height)


def _write(folder: Path, place: int, number: int, page: ReadPage) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    page_file(folder, place, number).write_text(page.model_dump_json(), "utf-8")
