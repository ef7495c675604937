"""Crops of formulas put to a reader: a model that sees, a document reader's task, or Mathpix."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from omibench.files.atomic import write_atomically
from omibench.params.stages.ocr import OcrParams
from omibench.prompts.catalogue import PromptEntry, add_prompt
from omibench.prompts.wording import Wording, read_wording
from omibench.schemas.request import (
    Conversation,
    Decoding,
    ImagePart,
    Message,
    Part,
    Request,
    Response,
    Tags,
    TextPart,
)
from omibench.stages.ocr.engines import mathpix
from omibench.stages.ocr.engines.presets import mineru
from omibench.stages.ocr.engines.presets.asking import Ask
from omibench.stages.ocr.formulas.rereading.crops import (
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
        purpose="writes a formula, whose picture stands before it, in LaTeX",
        text=FORMULA_TEXT,
        owner="formula reader",
    )
)
LINE: Final = add_prompt(
    PromptEntry(
        name="formula-line",
        purpose="copies out a line with formulas, whose picture stands before it",
        text=LINE_TEXT,
        owner="formula reader",
    )
)
NO_FILES: Final[Mapping[str, str]] = {}


class FormulaTasks(NamedTuple):
    """The words by which a document reader knows its tasks."""

    system: str
    formula: str
    line: str


PRESETS: Final = {
    "mineru": FormulaTasks(mineru.SYSTEM, mineru.FORMULA_TASK, mineru.TEXT_TASK),
    "paddleocr-vl": FormulaTasks("", "Formula Recognition:", "OCR:"),
}
"""How readers are asked, by `ocr.formula_preset`. PaddleOCR-VL: its model card."""


class WaitingCrop(NamedTuple):
    """A crop without a reply, and where it lies."""

    name: CropName
    path: Path


ReadCrops = Callable[[Sequence[WaitingCrop]], Sequence[str | None]]
"""What a reader says of each crop; None where it gives no answer."""


def answer_crops(reader: str, read: ReadCrops, crops: Path, replies: Path) -> None:
    """Have every crop of a folder read for which there is no reply yet.

    Args:
        reader: The name of who reads.
        read: Reads crops.
        crops: The folder of crops; equal ones are read once.
        replies: The folder to which replies are written.
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
    """The request for one crop.

    Args:
        crop: The crop.
        source: The name of its paper.
        study: The study that asks.
        prompts: Files that take the place of prompts, by their names.
        preset: A key of `PRESETS`; None for a model that is asked in words.

    Raises:
        ParamsError: A prompt's file cannot be read or is no such prompt.
    """
    name = crop.name
    if preset:
        tasks = PRESETS[preset]
        wording = Wording("", tasks.formula if name.kind == "formula" else tasks.line, tasks.system)
    else:
        entry = FORMULA if name.kind == "formula" else LINE
        file = prompts.get(entry.name)
        wording = read_wording(file, entry) if file else Wording("", entry.text)
    image = ImagePart(sha256=name.sha256, path=str(crop.path))
    parts: tuple[Part, ...] = (image, TextPart(text=wording.text))
    head = (TextPart(text=wording.system),)
    system = (Message(role="system", parts=head),) if wording.system else ()
    return Request(
        conversation=Conversation(messages=(*system, Message(role="user", parts=parts))),
        decoding=DECODING,
        tags=Tags(role=ROLE, problem=f"{source}#{name.place or ''}p{name.page}", study=study),
    )


def read_with_model(ask: Ask, source: str, study: str, params: OcrParams) -> ReadCrops:
    """A reader of crops that asks a model; see `build_crop_request`."""

    def read(crops: Sequence[WaitingCrop]) -> list[str | None]:
        words, preset = params.prompts, params.formula_preset
        requests = [build_crop_request(crop, source, study, words, preset) for crop in crops]
        return [_read_reply(response) for response in ask(requests)]

    return read


def read_with_mathpix(client: mathpix.Client) -> ReadCrops:
    """A reader of crops that asks Mathpix; what it has read is kept by the hash of the crop."""

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
