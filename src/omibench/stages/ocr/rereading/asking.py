"""Requests for crops of formulas to a vision model, a document reader, or Mathpix."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from omibench.files.outputs import write_atomically
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.request import (
    Decoding,
    ImagePart,
    Request,
    Response,
    Tags,
    TextPart,
    converse,
)
from omibench.settings.prompts import PromptEntry, Wording, add_prompt, choose_wording
from omibench.stages.ocr.engines import mathpix, mineru
from omibench.stages.ocr.engines.page_models import Ask
from omibench.stages.ocr.rereading.crops import (
    CropKind,
    CropName,
    CropReply,
    parse_crop_name,
    reply_file,
)

ROLE: Final = "formula_reader"
DECODING: Final = Decoding(temperature=0.0, max_tokens=2048)
FORMULA_TEXT: Final = """\
The picture shows one formula of an exam paper. Write it in LaTeX, exactly as it is printed: the \
same letters, digits, signs and scripts, also where they seem wrong. Chemical formulas and \
reactions go into \\ce{...}.

Reply with the formula between two dollar signs and nothing else. Do not simplify, solve or \
explain it. Where a sign cannot be read, write \\square in its place."""
LINE_TEXT: Final = """\
The picture shows a piece of an exam paper, about a line high. Copy out its printed text from \
left to right, every formula in LaTeX between dollar signs ($v_0$, $\\frac{a}{b}$), chemical ones \
in \\ce{...}. Keep letters of choices such as (A), and leave out handwriting and lines above or \
below that are cut off.

Copy letters, digits and signs as they are printed, also where they seem wrong. Reply with the \
text alone, in one line."""
FORMULA: Final = add_prompt(
    PromptEntry(
        name="formula",
        purpose="transcribes an attached picture of a formula as LaTeX",
        text=FORMULA_TEXT,
        owner="formula reader",
    )
)
LINE: Final = add_prompt(
    PromptEntry(
        name="formula-line",
        purpose="transcribes an attached picture of a line with formulas",
        text=LINE_TEXT,
        owner="formula reader",
    )
)
NO_FILES: Final[Mapping[str, str]] = {}


class FormulaTasks(NamedTuple):
    """Task prompts of a document reader."""

    system: str
    formula: str
    line: str


PRESETS: Final = {
    "mineru": FormulaTasks(mineru.SYSTEM, mineru.FORMULA_TASK, mineru.TEXT_TASK),
    "paddleocr-vl": FormulaTasks("", "Formula Recognition:", "OCR:"),
}
"""Prompts of document readers by `ocr.formula_preset`. PaddleOCR-VL: its model card."""


class WaitingCrop(NamedTuple):
    """Crop without a reply, and its file."""

    name: CropName
    path: Path


ReadCrops = Callable[[Sequence[WaitingCrop]], Sequence[str | None]]
"""Return a reader's text for each crop, None if it gave no answer."""


def answer_crops(reader: str, read: ReadCrops, crops: Path, replies: Path) -> None:
    """Read every crop of a folder that has no reply yet.

    Args:
        reader: Name of the reader.
        read: Function that reads crops.
        crops: Folder of crops; identical ones are read once.
        replies: Folder for the replies.
    """
    waiting: dict[tuple[CropKind, str], WaitingCrop] = {}
    for path in sorted(crops.glob("*.png")):
        name = parse_crop_name(path.name)
        if not reply_file(replies, name.kind, name.sha256).is_file():
            waiting.setdefault((name.kind, name.sha256), WaitingCrop(name, path))
    if not waiting:
        return
    texts = read(list(waiting.values()))
    replies.mkdir(parents=True, exist_ok=True)
    for (kind, digest), text in zip(waiting, texts, strict=True):
        reply = CropReply(reader=reader, text=text)
        write_atomically(reply_file(replies, kind, digest), reply.model_dump_json().encode())


def build_crop_request(
    crop: WaitingCrop,
    source: str,
    study: str = "",
    prompts: Mapping[str, str] = NO_FILES,
    preset: str | None = None,
) -> Request:
    """Build the request for one crop.

    Args:
        crop: Crop to read.
        source: Name of its paper.
        study: Study that sends the request.
        prompts: Files that replace prompts, by prompt name.
        preset: Key of `PRESETS`, or None for a model that follows instructions.

    Raises:
        ParamsError: A prompt's file cannot be read or is invalid.
    """
    name = crop.name
    if preset:
        tasks = PRESETS[preset]
        wording = Wording("", tasks.formula if name.kind == "formula" else tasks.line, tasks.system)
    else:
        wording = choose_wording(prompts, FORMULA if name.kind == "formula" else LINE)
    image = ImagePart(sha256=name.sha256, path=str(crop.path))
    return Request(
        conversation=converse(wording.system, (image, TextPart(text=wording.text))),
        decoding=DECODING,
        tags=Tags(role=ROLE, problem=f"{source}#{name.place or ''}p{name.page}", study=study),
    )


def read_with_model(ask: Ask, source: str, study: str, params: OcrParams) -> ReadCrops:
    """Return a reader of crops that queries a model; see `build_crop_request`."""

    def read(crops: Sequence[WaitingCrop]) -> list[str | None]:
        words, preset = params.prompts, params.formula_preset
        requests = [build_crop_request(crop, source, study, words, preset) for crop in crops]
        return [_read_reply(response) for response in ask(requests)]

    return read


def read_with_mathpix(client: mathpix.Client) -> ReadCrops:
    """Return a reader of crops that calls Mathpix; results are cached by the crop's hash."""

    def read(crops: Sequence[WaitingCrop]) -> list[str | None]:
        texts = []
        for crop in crops:
            data = crop.path.read_bytes()
            page = mathpix.read_image(client, data, hashlib.sha256(data).hexdigest())
            texts.append(" ".join(line.text for line in page.lines) or None)
        return texts

    return read


def _read_reply(response: Response) -> str | None:
    return response.text if response.outcome == "answered" and response.text.strip() else None
